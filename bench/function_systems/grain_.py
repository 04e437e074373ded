"""Google's Grain with NumPy functions; without reader threads but for `sleep`."""

from __future__ import annotations

from typing import Any

import grain  # type: ignore[import-not-found, unused-ignore]
import numpy as np

from bench.function_tasks import MAPS, NOISE_SHAPE, FunctionCase, pause, vector, word_length, words
from bench.tasks import Pipeline

ENVIRONMENT = "grain"
ITEMS = {
    "p3": 100_000,
    "p4_batch": 50_000,
    "image": 320,
    "image_batch": 320,
    "image_u8": 320,
    "image_u8_batch": 320,
    "sin": 5_000,
    "strings": 50_000,
    "sleep": 128,
}
WITHOUT = {
    "p4": "nothing drains inside the engine",
    "eager": "no tensors of its own",
    "bandwidth": "a property of the machine",
}
NO_THREADS = grain.ReadOptions(num_threads=0, prefetch_buffer_size=0)


def _plain(pipeline: Any) -> Any:
    return pipeline.to_iter_dataset(NO_THREADS)


def _range(case: FunctionCase) -> Any:
    return grain.MapDataset.range(case.n)


def p3(case: FunctionCase) -> Pipeline:
    """Map, filter and batch."""
    odd = _range(case).map(lambda x: x * 2 + 1).filter(lambda x: x % 3 == 0)
    return _plain(odd).batch(256)


def p4_batch(case: FunctionCase) -> Pipeline:
    """Ten maps and batch."""
    pipeline = _range(case)
    for _ in range(MAPS):
        pipeline = pipeline.map(lambda x: x + 1)
    return _plain(pipeline.batch(256))


def image(case: FunctionCase) -> Pipeline:
    """The NumPy expression."""
    mean, std = case.channels

    def normalise(x: Any) -> Any:
        out = np.clip((x - mean) / std, -2, 2)
        return out if x.dtype == np.uint8 else out.astype(np.float16)

    return _plain(grain.MapDataset.source([case.image]).repeat(case.n).map(normalise))


def image_batch(case: FunctionCase) -> Pipeline:
    """The same and batch."""
    return image(case).batch(32)


def image_u8(case: FunctionCase) -> Pipeline:
    """The NumPy expression."""
    return image(case)


def image_u8_batch(case: FunctionCase) -> Pipeline:
    """The same and batch."""
    return image(case).batch(32)


def sin(case: FunctionCase) -> Pipeline:
    """NumPy's sine."""
    source = grain.MapDataset.source([vector()]).repeat(case.n)
    return _plain(source.map(lambda x: np.sin(x) * 2).batch(32))


def strings(case: FunctionCase) -> Pipeline:
    """Python's own methods and re.sub."""
    source = grain.MapDataset.source(words()).repeat(case.repeats)
    return _plain(source.map(word_length).batch(256))


def py(case: FunctionCase) -> Pipeline:
    """Three NumPy calls an element."""
    source = grain.MapDataset.source(np.arange(case.n, dtype=np.float32))
    return _plain(source.map(lambda x: np.maximum(np.square(x) * 0.5, 1)).batch(256))


def sleep(case: FunctionCase) -> Pipeline:
    """Grain's own sixteen threads."""

    def function(i: int) -> Any:
        pause()
        return np.random.default_rng(i).standard_normal(NOISE_SHAPE, np.float32)

    return _range(case).map(function).to_iter_dataset().batch(32)
