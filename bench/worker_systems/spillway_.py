"""Spillway: `map(..., isolate=True)`, whose workers stay from pipeline to pipeline."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import spillway as sw
from bench.tasks import Pipeline
from bench.worker_tasks import BATCH, WORKERS, WorkerCase, compute, make_array, make_small

ENVIRONMENT = "project"


def _mapped(case: WorkerCase, function: Callable[[Any], Any], calls: int | None = WORKERS) -> Any:
    rows = sw.Dataset.range(case.n)
    return rows.map(function, num_parallel_calls=calls, isolate=True)


def arrays(case: WorkerCase) -> Pipeline:
    """Two workers."""
    return case.used(_mapped(case, make_array))


def arrays__one(case: WorkerCase) -> Pipeline:
    """One worker."""
    return case.used(_mapped(case, make_array, None))


def arrays_sum(case: WorkerCase) -> Pipeline:
    """Two workers."""
    return case.used(_mapped(case, make_array))


def gil(case: WorkerCase) -> Pipeline:
    """Two workers."""
    return _mapped(case, compute).batch(BATCH)


def small(case: WorkerCase) -> Pipeline:
    """Two workers."""
    return _mapped(case, make_small)


def small__one(case: WorkerCase) -> Pipeline:
    """One worker."""
    return _mapped(case, make_small, None)


def start(case: WorkerCase) -> Pipeline:
    """Two workers; the first pipeline starts the process that forks them."""
    return _mapped(case, make_small)
