"""Google's Grain with two prefetching processes, which it starts anew for every pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import grain  # type: ignore[import-not-found, unused-ignore]

from bench.tasks import Pipeline
from bench.worker_tasks import (
    BATCH,
    TOGETHER,
    WORKERS,
    WorkerCase,
    compute,
    make_array,
    make_small,
)

ENVIRONMENT = "grain"
ITEMS = {"arrays": 2_000, "arrays_sum": 2_000, "small": 10_000}
_NO_THREADS = grain.ReadOptions(num_threads=0, prefetch_buffer_size=0)


def _mapped(case: WorkerCase, function: Callable[[Any], Any], batch: int = 0) -> Any:
    rows = grain.MapDataset.range(case.n).map(function)
    if batch:
        rows = rows.batch(batch)
    options = grain.MultiprocessingOptions(num_workers=WORKERS, per_worker_buffer_size=4)
    return rows.to_iter_dataset(_NO_THREADS).mp_prefetch(options)


def _closed(dataset: Any) -> Iterator[Any]:
    """Iterates and ends the processes, as its guide asks for."""
    iterator = iter(dataset)
    try:
        yield from iterator
    finally:
        iterator.close()


def arrays(case: WorkerCase) -> Pipeline:
    """An array a message."""
    return case.used(_closed(_mapped(case, make_array)))


def arrays_sum(case: WorkerCase) -> Pipeline:
    """An array a message."""
    return case.used(_closed(_mapped(case, make_array)))


def gil(case: WorkerCase) -> Pipeline:
    """A batch a message."""
    return _closed(_mapped(case, compute, BATCH))


def small(case: WorkerCase) -> Pipeline:
    """An item a message."""
    return _closed(_mapped(case, make_small))


def _flat(dataset: Any) -> Iterator[object]:
    for together in _closed(dataset):
        yield from together


def small__batched(case: WorkerCase) -> Pipeline:
    """Some hundred items a message, stacked in the worker and taken apart in the loop."""
    return _flat(_mapped(case, make_small, TOGETHER))


def start(case: WorkerCase) -> Pipeline:
    """New processes each time."""
    return _closed(_mapped(case, make_small))
