"""torch's DataLoader in the process itself; a worker only where nothing else overlaps.

`by_batch` hands the sampler's index list to the tensors at once. One intra-op thread, as torch
sets in its own workers: a second one doubles the CPU time of a small copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import torch  # type: ignore[import-not-found, unused-ignore]
from torch.utils.data import (  # type: ignore[import-not-found, unused-ignore]
    BatchSampler,
    DataLoader,
    IterableDataset,
    RandomSampler,
    TensorDataset,
)

from bench.tasks import Case, Pipeline

ENVIRONMENT = "torch"
ITEMS = {"range_batch": 2_000_000, "shuffle": 200_000, "one_by_one": 200_000}
torch.set_num_threads(1)


class _Stream(IterableDataset):  # type: ignore[misc, unused-ignore]
    def __init__(self, make: Callable[[], Iterable[object]]) -> None:
        self.make = make

    def __iter__(self) -> Iterator[object]:
        return iter(self.make())


def _tensors(case: Case) -> TensorDataset:
    return TensorDataset(*map(torch.from_numpy, case.images))


def p5a(case: Case) -> Pipeline:
    """An iterable dataset of scalars."""
    return DataLoader(_Stream(case.scalars), 32)


def p5b(case: Case) -> Pipeline:
    """An iterable dataset of 600 KB arrays."""
    return DataLoader(_Stream(case.arrays), 32)


def p6(case: Case) -> Pipeline:
    """Rows one by one, collated."""
    return DataLoader(_tensors(case), 32, shuffle=True)


def p6__by_batch(case: Case) -> Pipeline:
    """One gather a batch."""
    rows = _tensors(case)
    return DataLoader(rows, sampler=BatchSampler(RandomSampler(rows), 32, False), batch_size=None)


def p11__1worker(case: Case) -> Pipeline:
    """Overlap through a worker process."""
    return DataLoader(_Stream(case.slow), None, num_workers=1)


def range_batch(case: Case) -> Pipeline:
    """An iterable dataset over Python's range."""
    return DataLoader(_Stream(lambda: range(case.n)), 256)


def shuffle(case: Case) -> Pipeline:
    """A permutation of everything: torch's loader has no shuffle buffer."""
    return DataLoader(range(case.n), None, shuffle=True)


def one_by_one(case: Case) -> Pipeline:
    """An iterable dataset without batching."""
    return DataLoader(_Stream(lambda: range(case.n)), None)


def p12(case: Case) -> Pipeline:
    """A loader over Python's range."""
    return DataLoader(range(case.n), None)
