"""SPDL: its pipeline over a pool of two processes, and a source in a subprocess of its own.

`segments` hands arrays over in a pool of shared memory segments; that is one process, for SPDL
has no such way for a pool of them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
from spdl.pipeline import (  # type: ignore[import-not-found, unused-ignore]
    PipelineBuilder,
    SharedMemorySegmentPool,
    iterate_in_subprocess,
)

from bench.tasks import Pipeline
from bench.worker_tasks import (
    ARRAY_BYTES,
    BATCH,
    WORKERS,
    WorkerCase,
    compute,
    make_array,
    make_small,
)

ENVIRONMENT = "spdl"
ITEMS = {"arrays": 2_000, "arrays_sum": 2_000, "small": 5_000}


@functools.cache
def _pool() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(WORKERS)


def _run(builder: Any) -> Iterator[Any]:
    pipeline = builder.add_sink(4).build(num_threads=WORKERS)
    with pipeline.auto_stop():
        yield from pipeline


def _mapped(case: WorkerCase, function: Callable[[Any], Any]) -> Any:
    source = PipelineBuilder().add_source(range(case.n))
    return source.pipe(function, executor=_pool(), concurrency=2 * WORKERS, output_order="input")


class _Source:
    """Makes the items where it is iterated."""

    def __init__(self, n: int, function: Callable[[int], Any]) -> None:
        self.n, self.function = n, function

    def __iter__(self) -> Iterator[Any]:
        return map(self.function, range(self.n))


@functools.cache
def _subprocess(n: int, function: Callable[[int], Any], segments: int) -> Iterable[Any]:
    arena = SharedMemorySegmentPool(2 * ARRAY_BYTES, segments) if segments else None
    source: Iterable[Any] = iterate_in_subprocess(
        functools.partial(_Source, n, function), buffer_size=4, arena=arena
    )
    return source


def arrays(case: WorkerCase) -> Pipeline:
    """A pool of processes."""
    return case.used(_run(_mapped(case, make_array)))


def arrays__segments(case: WorkerCase) -> Pipeline:
    """One process, arrays in shared segments."""
    return case.used(_subprocess(case.n, make_array, 8))


def arrays_sum(case: WorkerCase) -> Pipeline:
    """A pool of processes."""
    return case.used(_run(_mapped(case, make_array)))


def arrays_sum__segments(case: WorkerCase) -> Pipeline:
    """One process, arrays in shared segments."""
    return case.used(_subprocess(case.n, make_array, 8))


def gil(case: WorkerCase) -> Pipeline:
    """A pool of processes."""
    return _run(_mapped(case, compute).aggregate(BATCH).pipe(np.array))


def small(case: WorkerCase) -> Pipeline:
    """A pool of processes."""
    return _run(_mapped(case, make_small))


def small__subprocess(case: WorkerCase) -> Pipeline:
    """One process."""
    return _subprocess(case.n, make_small, 0)


def start(case: WorkerCase) -> Pipeline:
    """The pool is made by the first pipeline."""
    return _run(_mapped(case, make_small))
