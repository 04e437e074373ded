"""mlx-data on two threads."""

from __future__ import annotations

from typing import Any

import mlx.data as dx  # type: ignore[import-not-found, unused-ignore]
import numpy as np

from bench.image_tasks import AREA, CROP, MEAN, RATIO, SIDE, STD, ImageCase
from bench.tasks import Pipeline

ENVIRONMENT = "mlx"
WITHOUT = {
    "p1_tfrecord": "no reader of TFRecord files",
    "p1_tar": "its reader wants the names of all members first",
    "p1_100k": "no limit on memory",
}


def _files(case: ImageCase) -> Any:
    return dx.buffer_from_vector([{"image": path.encode()} for path in case.paths]).load_image(
        "image"
    )


def p1(case: ImageCase) -> Pipeline:
    """Files."""
    resized = _files(case).image_resize("image", SIDE, SIDE).batch(32)
    return resized.key_transform("image", lambda x: x.astype(np.float32) / 255).ordered_prefetch(
        4, 2
    )


def _normalised(x: Any) -> Any:
    return (x.astype(np.float32) / 255 - np.array(MEAN, np.float32)) / np.array(STD, np.float32)


def p2(case: ImageCase) -> Pipeline:
    """Files."""
    cropped = _files(case).image_random_area_crop("image", AREA, RATIO)
    flipped = cropped.image_resize("image", CROP, CROP).image_random_h_flip("image", 0.5)
    return flipped.batch(64).key_transform("image", _normalised).ordered_prefetch(4, 2)
