"""torch's DataLoader with two workers, which it keeps from epoch to epoch."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch  # type: ignore[import-not-found, unused-ignore]
from torch.utils.data import (  # type: ignore[import-not-found, unused-ignore]
    DataLoader,
    Dataset,
)

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

ENVIRONMENT = "torch"
ITEMS = {"arrays": 2_000, "arrays_sum": 2_000, "small": 5_000}
torch.set_num_threads(1)


class _Calls(Dataset):  # type: ignore[misc, unused-ignore]
    def __init__(self, n: int, function: Callable[[int], Any]) -> None:
        self.n, self.function = n, function

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, i: int) -> Any:
        return self.function(i)


def _tensor(i: int) -> Any:
    return torch.from_numpy(make_array(i))


def _small_tensor(i: int) -> Any:
    return torch.from_numpy(make_small(i))


@functools.cache
def _loader(n: int, function: Callable[[int], Any], batch: int | None, collate: Any = None) -> Any:
    return DataLoader(
        _Calls(n, function),
        batch,
        num_workers=WORKERS,
        collate_fn=collate,
        persistent_workers=True,
    )


def arrays(case: WorkerCase) -> Pipeline:
    """A tensor a message, in a shared memory file of its own."""
    return case.used(_loader(case.n, _tensor, None))


def arrays_sum(case: WorkerCase) -> Pipeline:
    """A tensor a message, in a shared memory file of its own."""
    return case.used(_loader(case.n, _tensor, None))


def gil(case: WorkerCase) -> Pipeline:
    """A batch a message."""
    return _loader(case.n, compute, BATCH)


def small(case: WorkerCase) -> Pipeline:
    """A tensor a message."""
    return _loader(case.n, _small_tensor, None)


def _flat(loader: Any) -> Iterator[object]:
    for together in loader:
        yield from together


def small__batched(case: WorkerCase) -> Pipeline:
    """Some hundred items a message, stacked in the worker and taken apart in the loop."""
    return _flat(_loader(case.n, _small_tensor, TOGETHER))


def start(case: WorkerCase) -> Pipeline:
    """A new loader each time: workers belong to it."""
    return DataLoader(_Calls(case.n, _small_tensor), None, num_workers=WORKERS)
