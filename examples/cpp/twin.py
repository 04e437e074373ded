"""The Python twin of pipeline.cc: the same pipelines, the same lines."""

from __future__ import annotations

from typing import Any

import numpy as np

import spillway as sw


def label(batch: Any) -> tuple[str, Any]:
    total = int(np.sum(batch.numpy()))
    if total == 12:
        raise sw.errors.DataLossError("twelve is not allowed")
    return f"sum {total}", batch


def show(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {show(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(show, value)) + ")"
    if isinstance(value, np.ndarray) and value.ndim > 0:
        return "[" + " ".join(map(show, value)) + "]"
    return repr(value.decode()) if isinstance(value, bytes) else str(value)


def print_all(title: str, dataset: sw.Dataset) -> None:
    print(title)
    elements = iter(dataset)
    while True:
        try:
            print(" ", show(next(elements)))
        except StopIteration:
            return
        except sw.errors.DataLossError as error:
            print("  failed:", error.__cause__)


def main() -> None:
    dataset = sw.Dataset.range(10).shuffle(4, seed=42).batch(3).repeat(2).take(6)
    print(f"spec {dataset.spec_hash():016x}")
    print_all("elements", dataset)

    print_all("labelled", dataset.map(label))

    table = sw.Dataset.from_tensor_slices(
        {"name": ["a", "b"], "weight": np.array([0.5, 1.5], "float32")}
    )
    print(f"spec {table.spec_hash():016x}")
    print_all("table", table)

    first = iter(dataset)
    for _ in range(3):
        next(first)
    second = iter(dataset)
    second.restore(first.save())
    print("after the checkpoint\n ", show(next(second)))


if __name__ == "__main__":
    main()
