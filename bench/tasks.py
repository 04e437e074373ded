"""The tasks: what each asks, how many items an epoch has, and what a right answer looks like.

Imported by every measuring process before the clock of the import task starts, so it loads
nothing beyond the standard library; NumPy is imported where it is first needed.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ROW_SHAPE = (224, 224, 3)
IMAGES = 60_000
PAUSE_S = 0.01


class Missing(Exception):  # noqa: N818  (not an error: the row is skipped, with this note)
    """What a task needs is not there yet."""


Pipeline = Any  # an iterable of whatever its library calls an element


@dataclass(frozen=True)
class Task:
    """One question. `batch` is 0 where elements are delivered one by one."""

    name: str
    title: str
    items: int
    warm_items: int
    batch: int = 0
    rank_by: str = "cpu_us"
    consumer_sleep_s: float = 0.0
    moves: int = 0  # bytes of an item that memory must carry, read and written once
    first: bool = False  # whether the time to the first element is of interest
    steady: bool = False  # counted from the first element on: workers run by then


TASKS = {
    task.name: task
    for task in (
        Task("p5a", "generator of 100,000 Python scalars, batch 32", 100_000, 10_000, 32),
        Task("p5b", "generator of 2,000 float32 arrays (224, 224, 3), batch 32", 2_000, 320, 32),
        Task("p6", "60,000 x 28 x 28 uint8 and labels, shuffle, batch 32", IMAGES, IMAGES, 32),
        Task(
            "p11",
            "generator and consumer each sleep 10 ms, 200 items",
            200,
            5,
            rank_by="wall_us",
            consumer_sleep_s=PAUSE_S,
        ),
        Task("range_batch", "range(10,000,000), batch 256", 10_000_000, 100_000, 256),
        Task("shuffle", "range(1,000,000), shuffle 10,000, one by one", 1_000_000, 50_000),
        Task("one_by_one", "range(1,000,000), one by one", 1_000_000, 20_000),
        Task("p12", "import, then the first element of range(10)", 10, 0, rank_by="import_cpu_ms"),
    )
}


@functools.cache
def _row() -> NDArray[np.float32]:
    import numpy as np

    return np.random.default_rng(0).random(ROW_SHAPE, np.float32)


@functools.cache
def _images() -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    import numpy as np

    x = np.random.default_rng(0).integers(0, 256, (IMAGES, 28, 28), np.uint8)
    return x, _sums(x) % 10


@dataclass(frozen=True)
class Case:
    """What a system's function receives: the number of items and where they come from."""

    task: Task
    n: int

    def scalars(self) -> Iterator[int]:
        """Python integers, the cheapest thing a generator can yield."""
        yield from range(self.n)

    def arrays(self) -> Iterator[NDArray[np.float32]]:
        """Freshly copied arrays of 600 KB, as a decoder would make them."""
        row = _row()
        for _ in range(self.n):
            yield row.copy()

    def slow(self) -> Iterator[int]:
        """Integers that take 10 ms each to make, without using the CPU."""
        for i in range(self.n):
            time.sleep(PAUSE_S)
            yield i

    @property
    def images(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Images and labels; a label follows from its image, so a wrong pairing shows."""
        return _images()

    @property
    def elements(self) -> int:
        """How many elements an epoch delivers, a short last batch included."""
        return -(-self.n // self.task.batch) if self.task.batch else self.n

    def prepare(self) -> None:
        """Make the data that belongs to the user and not to the system under test."""
        if self.task.name == "p5b":
            _row()
        if self.task.name == "p6":
            _images()

    def extra(self) -> dict[str, float]:
        """Figures beyond those of every task."""
        return {}

    def check(self, delivered: Iterable[object]) -> None:
        """Consume an epoch and raise `ValueError` unless it holds exactly the right values."""
        import numpy as np

        digests = [np.atleast_1d(self._digest(*_leaves(element))) for element in delivered]
        if len(digests) != self.elements:
            raise ValueError(f"{self.task.name}: elements must be {self.elements}: {len(digests)}")
        seen, wanted = np.concatenate(digests), self._wanted()
        if self.task.name in ("p6", "shuffle"):
            if (seen == wanted).all():
                raise ValueError(f"{self.task.name}: order must differ from the source's")
            seen, wanted = np.sort(seen), np.sort(wanted)
        if seen.shape != wanted.shape or (seen != wanted).any():
            raise ValueError(f"{self.task.name}: wrong values, the first few being: {seen[:4]}")

    def _digest(self, *leaves: Any) -> NDArray[Any]:
        """One number an item, so that checking an epoch does not hold it in memory."""
        import numpy as np

        digest: NDArray[Any] = np.asarray(leaves[0])
        if self.task.name == "p5b":
            digest = (digest == _row()).all((1, 2, 3))
        if self.task.name == "p6":
            digest = _sums(digest) * 10 + np.asarray(leaves[1])
        return digest

    def _wanted(self) -> NDArray[Any]:
        import numpy as np

        if self.task.name == "p5b":
            return np.ones(self.n, np.bool_)
        if self.task.name == "p6":
            x, y = _images()
            return _sums(x) * 10 + y
        return np.arange(self.n)


def _sums(images: NDArray[np.uint8]) -> NDArray[np.int64]:
    """The sum of each image's pixels."""
    sums: NDArray[np.int64] = images.sum((1, 2), dtype="int64")
    return sums


def _leaves(element: object) -> list[Any]:
    """The arrays of an element, dictionaries in the order of their keys."""
    if isinstance(element, dict):
        return [element[key] for key in sorted(element)]
    return list(element) if isinstance(element, tuple | list) else [element]
