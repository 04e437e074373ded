"""The tasks about worker processes: what each asks, and what a right answer looks like.

Loads nothing beyond the standard library, as `bench.tasks`. The functions that workers call lie
here under their names, so that every library can send them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from bench.tasks import ROW_SHAPE, Case, Pipeline, Task

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WORKERS = 2
BATCH = 32  # of `gil`
TOGETHER = 256  # small items that a peer's user sends in one message
ARRAY_BYTES = ROW_SHAPE[0] * ROW_SHAPE[1] * ROW_SHAPE[2] * 4
SMALL_ITEMS = 8  # of 8 bytes
_LOOPS = 11_000  # about a millisecond

TASKS = {
    task.name: task
    for task in (
        Task(
            "arrays",
            "600 KB float arrays, one by one; the loop looks at both ends",
            4_000,
            200,
            rank_by="wall_us",
            steady=True,
        ),
        Task(
            "arrays_sum",
            "600 KB float arrays, one by one; the loop sums them up",
            4_000,
            200,
            rank_by="wall_us",
            steady=True,
        ),
        Task(
            "gil",
            "a function that holds the GIL for about 1 ms, batch 32",
            2_048,
            128,
            BATCH,
            rank_by="wall_us",
        ),
        Task(
            "small", "items of 64 bytes, one by one", 50_000, 2_000, rank_by="wall_us", steady=True
        ),
        Task("start", "from writing a pipeline to its first element", 64, 0, rank_by="warm_ms"),
    )
}


def make_array(i: Any) -> NDArray[np.float32]:
    """A fresh array, filled: what is cheapest to make and still written once."""
    import numpy as np

    return np.full(ROW_SHAPE, int(i), np.float32)


def compute(i: Any) -> NDArray[np.int64]:
    """Pure Python, which holds the GIL all the time."""
    import numpy as np

    total = int(i)
    for step in range(_LOOPS):
        total = (total + step * step) & 0xFFFFFFFF
    return np.asarray(total, np.int64)


def make_small(i: Any) -> NDArray[np.int64]:
    """64 bytes."""
    import numpy as np

    return np.full(SMALL_ITEMS, int(i), np.int64)


class WorkerCase(Case):
    """What a system's function receives: how many items, and how the loop uses them."""

    def used(self, pipeline: Pipeline) -> Iterator[object]:
        """The elements, each looked at as the task says."""
        if self.task.name == "arrays_sum":
            for element in pipeline:
                element.sum()
                yield element
        elif self.task.name == "arrays":
            for element in pipeline:
                element[0, 0, 0] + element[-1, -1, -1]
                yield element
        else:
            yield from pipeline

    def _digest(self, *leaves: Any) -> NDArray[Any]:
        import numpy as np

        found = np.asarray(leaves[0])
        if self.task.name == "gil":
            return found
        first: NDArray[Any] = found.reshape(-1)[0]
        return np.where((found == first).all(), first, np.nan)

    def _wanted(self) -> NDArray[Any]:
        import numpy as np

        if self.task.name == "gil":
            return np.array([compute(i) for i in range(self.n)])
        return np.arange(self.n)
