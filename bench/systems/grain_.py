"""Google's Grain without reader threads, which only cost CPU time on small elements.

`by_batch` shuffles and batches indices and gathers once a batch, vectorised by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import grain  # type: ignore[import-not-found, unused-ignore]

from bench.tasks import Case, Pipeline

ENVIRONMENT = "grain"
ITEMS = {"range_batch": 500_000, "shuffle": 200_000, "one_by_one": 200_000}
NO_THREADS = grain.ReadOptions(num_threads=0, prefetch_buffer_size=0)


class _Stream(grain.IterDataset):  # type: ignore[misc, unused-ignore]
    """A Python generator as a dataset; Grain has none of its own."""

    def __init__(self, make: Callable[[], Iterable[object]]) -> None:
        super().__init__()
        self.make = make

    def __iter__(self) -> _StreamIterator:
        return _StreamIterator(iter(self.make()))


class _StreamIterator(grain.DatasetIterator):  # type: ignore[misc, unused-ignore]
    def __init__(self, items: Iterator[object]) -> None:
        super().__init__()
        self.items = items

    def __next__(self) -> object:
        return next(self.items)

    def get_state(self) -> dict[str, Any]:
        return {}

    def set_state(self, state: dict[str, Any]) -> None:
        raise NotImplementedError(f"a generator cannot be set to a state: {state}")


class _Rows:
    def __init__(self, case: Case) -> None:
        self.x, self.y = case.images

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, i: int) -> tuple[object, object]:
        return self.x[i], self.y[i]


def _range(n: int) -> Any:
    return grain.MapDataset.range(n)


def p5a(case: Case) -> Pipeline:
    """A hand-written dataset over the generator of scalars."""
    return _Stream(case.scalars).batch(32)


def p5b(case: Case) -> Pipeline:
    """A hand-written dataset over the generator of 600 KB arrays."""
    return _Stream(case.arrays).batch(32)


def p6(case: Case) -> Pipeline:
    """Rows one by one in a permuted order, batched."""
    rows = grain.MapDataset.source(_Rows(case))
    return rows.shuffle(seed=1).batch(32).to_iter_dataset(NO_THREADS)


def p6__by_batch(case: Case) -> Pipeline:
    """One gather a batch."""
    x, y = case.images
    order = _range(len(x)).shuffle(seed=1).batch(32)
    return order.map(lambda rows: (x[rows], y[rows])).to_iter_dataset(NO_THREADS)


def p11(case: Case) -> Pipeline:
    """Overlap through one prefetching thread."""
    return grain.experimental.ThreadPrefetchIterDataset(_Stream(case.slow), prefetch_buffer_size=4)


def range_batch(case: Case) -> Pipeline:
    """Range and batch."""
    return _range(case.n).batch(256).to_iter_dataset(NO_THREADS)


def shuffle(case: Case) -> Pipeline:
    """A permutation of everything."""
    return _range(case.n).shuffle(seed=1).to_iter_dataset(NO_THREADS)


def one_by_one(case: Case) -> Pipeline:
    """Range."""
    return _range(case.n).to_iter_dataset(NO_THREADS)


def p12(case: Case) -> Pipeline:
    """Range."""
    return _range(case.n).to_iter_dataset(NO_THREADS)
