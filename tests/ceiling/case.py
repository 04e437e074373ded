"""What a case is, and the elements they share.

An element carries its number in every byte or every word, so that a mixed-up or half-written one
is found too.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import spillway as sw

MIB = 1 << 20
WORDS = MIB // 8  # int64 in a MiB


@dataclass
class Facts:
    """What a case saw."""

    seen: list[int]
    expected: Iterable[int]
    effective: str = ""
    more: dict[str, Any] = field(default_factory=dict)

    def report(self) -> dict[str, Any]:
        wanted, found = Counter(self.expected), Counter(self.seen)
        return {
            "elements": len(self.seen),
            "lost": sum((wanted - found).values()),
            "doubled": sum((found - wanted).values()),
            "order": zlib.crc32(np.asarray(self.seen, "int64").tobytes()),
            "effective": self.effective,
            **self.more,
        }


@dataclass(frozen=True)
class Case:
    """A function and the limit it is made for."""

    body: Callable[[int], Facts]
    limit: int

    @property
    def says(self) -> str:
        return (self.body.__doc__ or "").strip().rstrip(".")


CASES: dict[str, Case] = {}


def case(limit: int) -> Callable[[Callable[[int], Facts]], Callable[[int], Facts]]:
    def add(body: Callable[[int], Facts]) -> Callable[[int], Facts]:
        CASES[body.__name__] = Case(body, limit)
        return body

    return add


# ---- Elements


def numbered(number: int, size: int = MIB) -> np.ndarray[Any, Any]:
    """An array of `size` bytes that says its number everywhere."""
    return np.full(size // 8, number, "int64")


def number_of(array: np.ndarray[Any, Any]) -> int:
    first = int(array.flat[0])
    if not (array == first).all():
        raise AssertionError(f"element {first} is not whole")
    return first


def generated(count: int, size: int = MIB, declared: bool = True) -> sw.Dataset:
    def elements() -> Iterator[np.ndarray[Any, Any]]:
        for number in range(count):
            yield numbered(number, size)

    spec = sw.TensorSpec((size // 8,), "int64") if declared else None
    return sw.Dataset.from_generator(elements, output_signature=spec)


def mapped(count: int, size: int = MIB, calls: int | None = None) -> sw.Dataset:
    def make(number: Any) -> np.ndarray[Any, Any]:
        return numbered(int(number), size)

    return sw.Dataset.range(count).map(make, num_parallel_calls=calls)


def stage(dataset: sw.Dataset, name: str) -> Any:
    """The last pass's report of the stage that runs this operator."""
    return next(s for s in dataset.audit().stages if s.name.startswith(name))


def spilled(dataset: sw.Dataset, name: str) -> str:
    return f"{stage(dataset, name).spilled_bytes / MIB:.0f} MiB spilled"
