"""Plain Python and NumPy: what a careful hand-written loop costs, the limit of each task."""

from __future__ import annotations

import queue
import random
import threading
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from bench.tasks import Case

ENVIRONMENT = "limits"


def _batched(
    items: Iterable[Any], size: int, stack: Callable[[list[Any]], object]
) -> Iterator[object]:
    source = iter(items)
    while held := list(islice(source, size)):
        batch = stack(held)
        held.clear()  # or two batches' rows live at once and malloc returns pages it needs again
        yield batch
        del batch


def p5a__generator(case: Case) -> Iterable[object]:
    """The bare generator, 32 at a time into an array."""
    return _batched(case.scalars(), 32, np.array)


def p5b__generator(case: Case) -> Iterable[object]:
    """The bare generator and np.stack."""
    return _batched(case.arrays(), 32, np.stack)


def p6__fancy_index(case: Case) -> Iterator[object]:
    """A permutation, then one gather a batch."""
    x, y = case.images
    order = np.random.default_rng(1).permutation(len(x))
    for i in range(0, len(x), 32):
        rows = order[i : i + 32]
        yield x[rows], y[rows]


def p11__thread_queue(case: Case) -> Iterator[object]:
    """One producer thread and a queue of four."""
    ready: queue.Queue[int | None] = queue.Queue(4)

    def produce() -> None:
        for item in case.slow():
            ready.put(item)
        ready.put(None)

    threading.Thread(target=produce, daemon=True).start()
    while (item := ready.get()) is not None:
        yield item


def p11__serial(case: Case) -> Iterable[object]:
    """No overlap: what a plain loop over the generator gives."""
    return case.slow()


def range_batch__arange_sliced(case: Case) -> Iterator[object]:
    """One np.arange of everything, cut into views."""
    everything = np.arange(case.n)
    for i in range(0, case.n, 256):
        yield everything[i : i + 256]


def range_batch__arange_each(case: Case) -> Iterator[object]:
    """An np.arange a batch: the same in constant memory."""
    for i in range(0, case.n, 256):
        yield np.arange(i, min(i + 256, case.n))


def shuffle__python_buffer(case: Case) -> Iterator[object]:
    """A shuffle buffer as a Python generator."""
    source = iter(range(case.n))
    held = list(islice(source, 10_000))
    size, draw = len(held), random.Random(1).random
    for item in source:
        i = int(draw() * size)
        yield held[i]
        held[i] = item
    random.shuffle(held)
    yield from held


def one_by_one__range(case: Case) -> Iterable[object]:
    """Python's own range."""
    return range(case.n)


def one_by_one__arange(case: Case) -> Iterable[object]:
    """A NumPy array iterated, which makes a NumPy scalar an element."""
    return np.arange(case.n)


def p12(case: Case) -> Iterable[object]:
    """NumPy's import; a first element that costs nothing."""
    return range(case.n)
