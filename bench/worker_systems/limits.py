"""The same functions in a plain loop: what workers are measured against.

`two_copies` is the physical limit of handing an array over: made once, copied once into memory
that another process sees.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from bench.tasks import ROW_SHAPE
from bench.worker_tasks import BATCH, WorkerCase, compute, make_array, make_small

ENVIRONMENT = "limits"
WITHOUT = {"start": "nothing is started"}


def arrays__serial(case: WorkerCase) -> Iterable[object]:
    """Made where they are used."""
    return case.used(map(make_array, range(case.n)))


def _copied(case: WorkerCase) -> Iterator[object]:
    places = [np.zeros(ROW_SHAPE, np.float32) for _ in range(4)]
    for i in range(case.n):
        place = places[i % 4]
        np.copyto(place, make_array(i))
        yield place


def arrays__two_copies(case: WorkerCase) -> Iterable[object]:
    """Made, and copied once into memory that stays."""
    return case.used(_copied(case))


def arrays_sum__serial(case: WorkerCase) -> Iterable[object]:
    """Made where they are used."""
    return case.used(map(make_array, range(case.n)))


def arrays_sum__two_copies(case: WorkerCase) -> Iterable[object]:
    """Made, and copied once into memory that stays."""
    return case.used(_copied(case))


def gil__serial(case: WorkerCase) -> Iterator[object]:
    """One call after the other, 32 to an array."""
    for begin in range(0, case.n, BATCH):
        yield np.array([compute(i) for i in range(begin, min(begin + BATCH, case.n))])


def small__serial(case: WorkerCase) -> Iterable[object]:
    """Made where they are used."""
    return map(make_small, range(case.n))
