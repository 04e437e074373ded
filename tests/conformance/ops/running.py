"""Runs one program with either engine's `tf`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .packing import nest, pack, unpack

Data = dict[str, Any]


@dataclass(frozen=True)
class Engine:
    """A `tf`, and how its errors are told."""

    tf: Any
    classes: Callable[[Exception], list[str]]
    message: Callable[[Exception], str]

    def failed(self, error: Exception) -> Data:
        return {"error": self.classes(error), "message": self.message(error)[:200]}

    def value(self, value: Any) -> Any:
        return nest(value, lambda leaf: pack(leaf.numpy() if hasattr(leaf, "numpy") else leaf))

    def spec(self, ds: Any) -> Any:
        """The element spec as JSON: `[dtype, shape or None]` for a tensor."""
        return nest(ds.element_spec, self._leaf)

    def _leaf(self, spec: Any) -> Any:
        if type(spec).__name__ == "NoneTensorSpec":
            return "none"
        if hasattr(spec, "element_spec"):
            return ["dataset", nest(spec.element_spec, self._leaf)]
        shape = None if spec.shape.rank is None else [dim for dim in spec.shape.as_list()]
        return [spec.dtype.name, shape]

    def events(self, ds: Any, limit: int = 40) -> Iterator[Data]:
        iterator = iter(ds)
        for _ in range(limit):
            try:
                yield {"value": self.value(next(iterator))}
            except StopIteration:
                return
            except Exception as error:
                yield self.failed(error)

    def function(self, source: str, name: str = "f") -> Any:
        space: Data = {"tf": self.tf, "np": np}
        exec(compile(source, "<program>", "exec"), space)
        return space[name]


def op_function(engine: Engine, program: Data) -> Any:
    return engine.function(f"f = {program['source']}")


def eager(engine: Engine, program: Data) -> list[Data]:
    """The result of each row, one after another."""
    function = op_function(engine, program)
    stacked = [unpack(data) for data in program["operands"]]
    names = [data[0] for data in program["operands"]]
    rows: list[Data] = []
    for row in range(program["rows"]):
        try:
            given = [engine.tf.constant(operand[row], dtype=getattr(engine.tf, name))
                     for operand, name in zip(stacked, names, strict=True)]  # fmt: skip
            rows.append({"value": engine.value(function(*given))})
        except Exception as error:
            rows.append(engine.failed(error))
    return rows


def source(engine: Engine, program: Data) -> Any:
    """The rows as a dataset whose shapes are known, in part, or not at all."""
    tf = engine.tf
    stacked = tuple(unpack(data) for data in program["operands"])
    if program["known"] == "all":
        made = tuple(
            tf.constant(operand, dtype=getattr(tf, data[0]))
            for operand, data in zip(stacked, program["operands"], strict=True)
        )
        return tf.data.Dataset.from_tensor_slices(made)
    signature = []
    for operand, data in zip(stacked, program["operands"], strict=True):
        shape = [None] * (operand.ndim - 1) if program["known"] == "rank" else None
        signature.append(tf.TensorSpec(shape, getattr(tf, data[0])))

    def rows() -> Iterator[Any]:
        for row in range(program["rows"]):
            yield tuple(operand[row] for operand in stacked)

    return tf.data.Dataset.from_generator(rows, output_signature=tuple(signature))
