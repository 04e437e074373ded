"""Python's own pool of processes, forked once and kept."""

from __future__ import annotations

import functools
import multiprocessing
from collections.abc import Iterator
from multiprocessing.pool import Pool

import numpy as np

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

ENVIRONMENT = "limits"
ITEMS = {"arrays": 2_000, "arrays_sum": 2_000, "small": 20_000}


@functools.cache
def _pool() -> Pool:
    return multiprocessing.get_context("fork").Pool(WORKERS)


def arrays(case: WorkerCase) -> Pipeline:
    """An array a message, pickled into a pipe."""
    return case.used(_pool().imap(make_array, range(case.n)))


def arrays_sum(case: WorkerCase) -> Pipeline:
    """An array a message, pickled into a pipe."""
    return case.used(_pool().imap(make_array, range(case.n)))


def _batched(case: WorkerCase, results: Iterator[object]) -> Iterator[object]:
    for begin in range(0, case.n, BATCH):
        yield np.array([next(results) for _ in range(min(BATCH, case.n - begin))])


def gil(case: WorkerCase) -> Pipeline:
    """A call a message."""
    return _batched(case, iter(_pool().imap(compute, range(case.n))))


def gil__chunks(case: WorkerCase) -> Pipeline:
    """A batch of calls a message."""
    return _batched(case, iter(_pool().imap(compute, range(case.n), BATCH)))


def small(case: WorkerCase) -> Pipeline:
    """An item a message."""
    return _pool().imap(make_small, range(case.n))


def small__chunks(case: WorkerCase) -> Pipeline:
    """Some hundred items a message."""
    return _pool().imap(make_small, range(case.n), TOGETHER)


def start(case: WorkerCase) -> Pipeline:
    """The pool is made by the first pipeline."""
    return _pool().imap(make_small, range(case.n))
