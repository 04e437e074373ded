"""The tasks about images: what each asks, and what a right answer looks like.

Loads nothing beyond the standard library, as `bench.tasks`.
"""

from __future__ import annotations

import math
import os
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench import image_data
from bench.tasks import Case, Task

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    from numpy.typing import NDArray

SIDE, CROP = 256, 224
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
AREA, RATIO = (0.08, 1.0), (3 / 4, 4 / 3)
SOAK_LIMIT = "512MiB"

TASKS = {
    task.name: task
    for task in (
        Task(
            "p1",
            "JPEG files: decode, resize to 256 x 256, / 255, batch 32",
            2_000,
            96,
            32,
            first=True,
        ),
        Task("p1_tfrecord", "the same from TFRecord files, parsed", 2_000, 96, 32, first=True),
        Task("p1_tar", "the same from tar shards", 2_000, 96, 32, first=True),
        Task(
            "p2",
            "JPEG files: random resized crop 224, flip, normalise, batch 64",
            2_000,
            128,
            64,
            first=True,
        ),
        Task(
            "p1_100k", "p1 over 100,000 paths (repeated) under 512 MiB", 100_000, 96, 32, first=True
        ),
    )
}


def crop_box(width: int, height: int) -> tuple[int, int, int, int]:
    """A random part for systems without one of their own: x, y, width, height."""
    for _ in range(10):
        area = width * height * random.uniform(*AREA)
        ratio = math.exp(random.uniform(math.log(RATIO[0]), math.log(RATIO[1])))
        wide, high = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < wide <= width and 0 < high <= height:
            return random.randint(0, width - wide), random.randint(0, height - high), wide, high
    return 0, 0, width, height


class Growth:
    """The resident size while an epoch runs: what it gains from its first quarter to its end."""

    def __init__(self) -> None:
        self.samples: list[tuple[int, float]] = []

    def watched(self, batches: Iterable[Any], size: int) -> Iterator[Any]:
        """The same batches; every 32nd is looked at."""
        page_mb = os.sysconf("SC_PAGE_SIZE") / 2**20
        self.samples = []
        for i, batch in enumerate(batches):
            yield batch
            if i % 32 == 0:
                resident = int(Path("/proc/self/statm").read_text().split()[1])
                self.samples.append((i * size, resident * page_mb))

    def slope_mb(self) -> float:
        """Megabytes gained for 10,000 items, by least squares."""
        later = self.samples[len(self.samples) // 4 :]
        if len(later) < 3:
            return 0.0
        x = [item / 10_000 for item, _ in later]
        middle, mean = sum(x) / len(x), sum(mb for _, mb in later) / len(later)
        over = sum((a - middle) * (mb - mean) for a, (_, mb) in zip(x, later, strict=True))
        return over / sum((a - middle) ** 2 for a in x)


growth = Growth()


class ImageCase(Case):
    """What a system's function receives: the number of pictures and where they lie."""

    @property
    def paths(self) -> list[str]:
        """Their files, repeated as often as needed."""
        files = image_data.paths()
        return [files[i % len(files)] for i in range(self.n)]

    @property
    def records(self) -> list[str]:
        """The TFRecord files."""
        return image_data.records()

    @property
    def shards(self) -> list[str]:
        """The tar files."""
        return image_data.shards()

    def prepare(self) -> None:
        """The pictures were made before any system was started."""

    def extra(self) -> dict[str, float]:
        """How memory grew, where that is the question."""
        return {"slope_mb": growth.slope_mb()} if self.task.name == "p1_100k" else {}

    def _digest(self, *leaves: Any) -> NDArray[Any]:
        """Whether each picture is one of ours, whatever decoder and filter made it."""
        import numpy as np

        images: NDArray[Any] = np.asarray(leaves[0])
        side = CROP if self.task.name == "p2" else SIDE
        if images.shape[1:] != (side, side, 3) or images.dtype != np.float32:
            raise ValueError(
                f"{self.task.name}: rows must be float32 ({side}, {side}, 3): "
                f"{images.dtype} {images.shape[1:]}"
            )
        mean = images.mean((1, 2, 3))
        return np.asarray(np.abs(mean) < 2.5) if self.task.name == "p2" else np.asarray(mean)

    def check(self, delivered: Iterable[object]) -> None:
        """A warm epoch: pictures in order, each with about the mean it was drawn with."""
        import numpy as np

        from bench.tasks import _leaves

        seen = np.concatenate([self._digest(*_leaves(element)) for element in delivered])
        if len(seen) != self.n:
            raise ValueError(f"{self.task.name}: pictures must be {self.n}: {len(seen)}")
        if self.task.name == "p2":
            right = seen
        else:
            wanted = image_data.means()
            if self.task.name in ("p1_tfrecord", "p1_tar"):  # each system reads shards its own way
                right = np.array([np.abs(wanted - mean).min() < 0.01 for mean in seen])
            else:
                right = np.abs(seen - wanted[np.arange(self.n) % len(wanted)]) < 0.01
        if not right.all():
            raise ValueError(f"{self.task.name}: wrong pictures, the first: {np.argmin(right)}")


def batched(rows: Iterable[Any], size: int) -> Iterator[NDArray[np.float32]]:
    """Stacks of `size` arrays."""
    import numpy as np

    held: list[Any] = []
    for row in rows:
        held.append(row)
        if len(held) == size:
            yield np.stack(held)
            held = []
    if held:
        yield np.stack(held)
