"""SPDL: its pipeline on two threads, FFmpeg's decoder and scaler."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import spdl.io  # type: ignore[import-not-found, unused-ignore]
from spdl.pipeline import PipelineBuilder  # type: ignore[import-not-found, unused-ignore]

from bench.image_data import HEIGHT, WIDTH
from bench.image_tasks import CROP, MEAN, SIDE, STD, ImageCase, crop_box
from bench.tasks import Pipeline

ENVIRONMENT = "spdl"
WITHOUT = {
    "p1_tfrecord": "no reader of TFRecord files",
    "p1_tar": "its reader wants the whole archive in memory",
    "p1_100k": "no limit on memory",
}
_SCALE = spdl.io.get_video_filter_desc(
    scale_width=SIDE, scale_height=SIDE, scale_algo="bilinear", scale_mode=None, pix_fmt="rgb24"
)


def _run(builder: Any) -> Iterator[Any]:
    pipeline = builder.add_sink(4).build(num_threads=2)
    with pipeline.auto_stop():
        yield from pipeline


def _load(paths: list[str]) -> Any:
    pixels = spdl.io.load_image_batch(
        paths, width=None, height=None, pix_fmt=None, filter_desc=_SCALE
    )
    return spdl.io.to_numpy(pixels).astype(np.float32) / 255


def p1(case: ImageCase) -> Pipeline:
    """Files, a batch a call."""
    source = PipelineBuilder().add_source(case.paths).aggregate(32)
    return _run(source.pipe(_load, concurrency=2, output_order="input"))


def _augment(path: str) -> Any:
    x, y, wide, high = crop_box(WIDTH, HEIGHT)
    flip = "hflip," if random.random() < 0.5 else ""
    steps = f"crop={wide}:{high}:{x}:{y}:exact=1,scale={CROP}:{CROP}:flags=bilinear,{flip}"
    pixels = spdl.io.to_numpy(spdl.io.load_image(path, filter_desc=steps + "format=pix_fmts=rgb24"))
    mean, std = np.array(MEAN, np.float32), np.array(STD, np.float32)
    return (pixels.astype(np.float32) / 255 - mean) / std


def p2(case: ImageCase) -> Pipeline:
    """Files, one a call."""
    source = PipelineBuilder().add_source(case.paths)
    mapped = source.pipe(_augment, concurrency=2, output_order="input")
    return _run(mapped.aggregate(64).pipe(np.stack))
