"""The tasks about user functions: what each asks, and what a right answer looks like.

Loads nothing beyond the standard library, as `bench.tasks`.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from bench.tasks import ROW_SHAPE, Case, Task

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAPS = 10  # of p4
BATCH = 256
IMAGE_BATCH = 32
SLEEP_S = 0.1
NOISE_SHAPE = (1024, 1024)
NOISE_LIMIT = "512MiB"
WORDS = 1_000
PATTERN, REPLACEMENT, TAIL, JOINT = "[0-9]+", "#", "end", "-"
_PIXELS = ROW_SHAPE[0] * ROW_SHAPE[1] * ROW_SHAPE[2]

TASKS = {
    task.name: task
    for task in (
        Task("p3", "range, x * 2 + 1, filter x % 3 == 0, batch 256", 1_000_000, 30_000, BATCH),
        Task("p4", "range, ten maps x + 1, only the last element taken", 1_000_000, 3_000),
        Task("p4_batch", "range, ten maps x + 1, batch 256", 1_000_000, 3_000, BATCH),
        Task(
            "image",
            "float32 (224, 224, 3): (x - mean) / std, clip, to float16; one by one",
            2_000,
            64,
            moves=_PIXELS * (4 + 2),
        ),
        Task("image_batch", "the same, batch 32", 2_000, 64, IMAGE_BATCH, moves=_PIXELS * (4 + 2)),
        Task(
            "image_u8",
            "uint8 (224, 224, 3) to float32: (x - mean) / std, clip; one by one",
            2_000,
            64,
            moves=_PIXELS * (1 + 4),
        ),
        Task(
            "image_u8_batch", "the same, batch 32", 2_000, 64, IMAGE_BATCH, moves=_PIXELS * (1 + 4)
        ),
        Task("sin", "np.sin(x) * 2 of 1,000 float64, batch 32", 20_000, 320, 32),
        Task("strings", "lower, regex_replace, join, length; batch 256", 1_000_000, 2_000, BATCH),
        Task("py", "a function that stays Python, three ops a call, batch 256", 20_000, 512, BATCH),
        Task("eager", "float(tf.constant(1.) + 2.)", 50_000, 100),
        Task(
            "sleep",
            "sleep 0.1 s, then 4 MB of normal noise; AUTOTUNE, batch 32, prefetch",
            256,
            32,
            32,
            rank_by="wall_us",
        ),
        Task("bandwidth", "the memory of this machine; an item is 1 MB", 1_024, 256, BATCH),
    )
}


class Concurrency:
    """Counts how many calls are under way, and the most there were."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.now = self.most = 0

    def __enter__(self) -> None:
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self.now -= 1


calls = Concurrency()


def pause() -> None:
    """Wait as a download would: without using the CPU."""
    with calls:
        time.sleep(SLEEP_S)


@functools.cache
def pixels(dtype: str) -> NDArray[Any]:
    """One image: 0..255 as uint8, or 0..1 as float32."""
    import numpy as np

    whole = np.random.default_rng(0).integers(0, 256, ROW_SHAPE, np.uint8)
    return whole if dtype == "uint8" else whole.astype(np.float32) / np.float32(255)


@functools.cache
def channels(dtype: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Mean and deviation of each channel, in the range of `pixels`."""
    import numpy as np

    scale = np.float32(255 if dtype == "uint8" else 1)
    mean = np.array([0.485, 0.456, 0.406], np.float32) * scale
    return mean, np.array([0.229, 0.224, 0.225], np.float32) * scale


@functools.cache
def normalised(dtype: str) -> NDArray[Any]:
    """What the image tasks have to deliver."""
    import numpy as np

    mean, std = channels(dtype)
    right: NDArray[Any] = np.clip((pixels(dtype).astype(np.float32) - mean) / std, -2, 2)
    return right if dtype == "uint8" else right.astype(np.float16)


@functools.cache
def vector() -> NDArray[np.float64]:
    """A thousand numbers whose sines are wanted."""
    import numpy as np

    return np.random.default_rng(0).uniform(-10, 10, 1_000)


@functools.cache
def words() -> list[bytes]:
    """Short strings, which are repeated."""
    return [f"Item {i * 7_919 % 100_003} of Lot {i}".encode() for i in range(WORDS)]


def word_length(word: bytes) -> int:
    """What `strings` has to deliver, in plain Python."""
    import re

    changed = re.sub(PATTERN.encode(), REPLACEMENT.encode(), word.lower())
    return len(changed + JOINT.encode() + TAIL.encode())


class FunctionCase(Case):
    """What a system's function receives: the number of items and the data they come from."""

    @property
    def image_dtype(self) -> str:
        """The type of the pixels that go in."""
        return "uint8" if "u8" in self.task.name else "float32"

    @property
    def image(self) -> NDArray[Any]:
        """The array that is repeated."""
        return pixels(self.image_dtype)

    @property
    def channels(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Mean and deviation of each channel."""
        return channels(self.image_dtype)

    @property
    def repeats(self) -> int:
        """How often the words are repeated."""
        return self.n // WORDS

    def image_stream(self) -> Iterator[NDArray[Any]]:
        """The same image again and again, never copied."""
        image = self.image
        for _ in range(self.n):
            yield image

    def words(self) -> Iterator[bytes]:
        """The words again and again."""
        for _ in range(self.repeats):
            yield from words()

    @property
    def elements(self) -> int:
        """How many elements an epoch delivers, a short last batch included."""
        if self.task.name == "p4":
            return 1
        if self.task.name == "p3":
            return -(-len(range(1, self.n, 3)) // self.task.batch)
        return super().elements

    def prepare(self) -> None:
        """Make the data that belongs to the user and not to the system under test."""
        pixels(self.image_dtype), vector(), words()

    def extra(self) -> dict[str, float]:
        """Figures of this suite alone."""
        return {"window": calls.most} if self.task.name == "sleep" else {}

    def _digest(self, *leaves: Any) -> NDArray[Any]:
        import numpy as np

        digest: NDArray[Any] = np.asarray(leaves[0])
        axes = tuple(range(1 if self.task.batch else 0, digest.ndim))
        if self.task.name.startswith("image"):
            right = normalised(self.image_dtype)
            if digest.dtype != right.dtype:
                raise ValueError(f"{self.task.name}: dtype must be {right.dtype}: {digest.dtype}")
            # a reciprocal in the place of the division is allowed
            return np.asarray(np.isclose(digest, right, rtol=2e-3, atol=1e-3).all(axes))
        if self.task.name == "sin":
            return np.asarray(np.isclose(digest, np.sin(vector()) * 2, rtol=1e-12).all(axes))
        if self.task.name == "sleep":
            fits = digest.shape[1:] == NOISE_SHAPE and digest.dtype == np.float32
            return np.asarray((abs(digest.std(axes) - 1) < 0.01) & fits)
        if self.task.name == "bandwidth":
            return np.ones(BATCH, np.bool_)
        return digest

    def _wanted(self) -> NDArray[Any]:
        import numpy as np

        match self.task.name:
            case "p3":
                return np.arange(1, self.n, 3) * 2 + 1
            case "p4":
                return np.array([self.n - 1 + MAPS])
            case "p4_batch":
                return np.arange(self.n) + MAPS
            case "strings":
                return np.tile([word_length(word) for word in words()], self.repeats)
            case "py":
                return np.maximum(np.square(np.arange(self.n, dtype=np.float32)) * 0.5, 1)
            case "eager":
                return np.full(self.n, 3.0)
        return np.ones(self.n, np.bool_)
