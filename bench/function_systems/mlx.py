"""Apple's mlx-data with Python functions: `key_transform` calls them with arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import mlx.data as dx  # type: ignore[import-not-found, unused-ignore]
import numpy as np

from bench.function_tasks import MAPS, NOISE_SHAPE, FunctionCase, pause, vector, word_length
from bench.tasks import Pipeline

ENVIRONMENT = "mlx"
ITEMS = {
    "p3": 100_000,
    "p4_batch": 50_000,
    "image_u8": 320,
    "image_u8_batch": 320,
    "sin": 5_000,
    "strings": 50_000,
    "sleep": 128,
}
WITHOUT = {
    "p4": "nothing drains inside the engine",
    "image": "no float16",
    "image_batch": "no float16",
    "eager": "no tensors of its own",
    "bandwidth": "a property of the machine",
}


def _stream(make: Callable[[], Iterable[object]]) -> Any:
    return dx.stream_python_iterable(lambda: ({"x": item} for item in make()))


def p3(case: FunctionCase) -> Pipeline:
    """A transform that may drop samples; mlx-data drops those that come back empty."""

    def function(sample: Any) -> Any:
        x = sample["x"] * 2 + 1
        return {"x": x} if x % 3 == 0 else {}

    return _stream(lambda: range(case.n)).sample_transform(function).batch(256)


def p4_batch(case: FunctionCase) -> Pipeline:
    """Ten maps and batch."""
    pipeline = _stream(lambda: range(case.n))
    for _ in range(MAPS):
        pipeline = pipeline.key_transform("x", lambda x: x + 1)
    return pipeline.batch(256)


def image_u8(case: FunctionCase) -> Pipeline:
    """The NumPy expression."""
    mean, std = case.channels
    source = _stream(case.image_stream)
    return source.key_transform("x", lambda x: np.clip((x - mean) / std, -2, 2))


def image_u8_batch(case: FunctionCase) -> Pipeline:
    """The same and batch."""
    return image_u8(case).batch(32)


def sin(case: FunctionCase) -> Pipeline:
    """NumPy's sine."""
    source = _stream(lambda: (vector() for _ in range(case.n)))
    return source.key_transform("x", lambda x: np.sin(x) * 2).batch(32)


def strings(case: FunctionCase) -> Pipeline:
    """Python's own methods and re.sub; a string is an array of bytes."""
    source = _stream(case.words)
    return source.key_transform("x", lambda x: np.int32(word_length(bytes(x)))).batch(256)


def py(case: FunctionCase) -> Pipeline:
    """Three NumPy calls an element."""
    source = _stream(lambda: np.arange(case.n, dtype=np.float32))
    return source.key_transform("x", lambda x: np.maximum(np.square(x) * np.float32(0.5), 1)).batch(
        256
    )


def sleep(case: FunctionCase) -> Pipeline:
    """Thirty-two prefetching threads, in whatever order they end."""

    def function(i: Any) -> Any:
        pause()
        return np.random.default_rng(int(i)).standard_normal(NOISE_SHAPE, np.float32)

    source = _stream(lambda: range(case.n)).key_transform("x", function)
    return source.prefetch(32, 32).batch(32)
