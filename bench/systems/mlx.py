"""Apple's mlx-data on the CPU; its samples are dictionaries."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import mlx.data as dx  # type: ignore[import-not-found, unused-ignore]

from bench.tasks import Case, Pipeline

ENVIRONMENT = "mlx"
ITEMS = {"range_batch": 1_000_000, "shuffle": 200_000, "one_by_one": 200_000}


def _stream(make: Callable[[], Iterable[object]]) -> Any:
    return dx.stream_python_iterable(lambda: ({"x": item} for item in make()))


@functools.cache
def _images(case: Case) -> Any:
    """Built once, in the warm epoch: a sample a row, each a copy."""
    x, y = case.images
    return dx.buffer_from_vector([{"x": a, "y": b} for a, b in zip(x, y, strict=True)])


def p5a(case: Case) -> Pipeline:
    """A stream of scalars."""
    return _stream(case.scalars).batch(32)


def p5b(case: Case) -> Pipeline:
    """A stream of 600 KB arrays."""
    return _stream(case.arrays).batch(32)


def p6(case: Case) -> Pipeline:
    """A buffer permuted and batched in this thread."""
    return _images(case).shuffle().batch(32)


def p6__prefetch(case: Case) -> Pipeline:
    """The same, two threads ahead."""
    return _images(case).shuffle().batch(32).ordered_prefetch(4, 2)


def p11(case: Case) -> Pipeline:
    """Overlap through one prefetching thread."""
    return _stream(case.slow).prefetch(4, 1)


def range_batch(case: Case) -> Pipeline:
    """A stream over Python's range: mlx-data has no range of its own."""
    return _stream(lambda: range(case.n)).batch(256)


def shuffle(case: Case) -> Pipeline:
    """A shuffle buffer of 10,000."""
    return _stream(lambda: range(case.n)).shuffle(10_000)


def one_by_one(case: Case) -> Pipeline:
    """A stream without batching."""
    return _stream(lambda: range(case.n))


def p12(case: Case) -> Pipeline:
    """A buffer of ten samples."""
    return dx.buffer_from_vector([{"x": i} for i in range(case.n)])
