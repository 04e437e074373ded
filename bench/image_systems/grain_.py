"""Grain has no decoders of its own: simplejpeg and OpenCV on two of its threads."""

from __future__ import annotations

from typing import Any

import grain  # type: ignore[import-not-found, unused-ignore]

from bench import image_arrays as arrays
from bench.image_tasks import ImageCase
from bench.tasks import Pipeline

ENVIRONMENT = "grain"
WITHOUT = {
    "p1_tfrecord": "its reader is experimental, and has no parser",
    "p1_tar": "no reader of tar files",
    "p1_100k": "no limit on memory",
}


def _two_threads(mapped: Any, size: int) -> Pipeline:
    options = grain.ReadOptions(num_threads=2, prefetch_buffer_size=64)
    return mapped.to_iter_dataset(options).batch(size)


def p1(case: ImageCase) -> Pipeline:
    """Files."""
    return _two_threads(grain.MapDataset.source(case.paths).map(arrays.load_simplejpeg), 32)


def p2(case: ImageCase) -> Pipeline:
    """Files."""
    return _two_threads(grain.MapDataset.source(case.paths).map(arrays.augment_simplejpeg), 64)
