"""NVIDIA DALI, its CPU operators on two threads. A pipeline lives across epochs, so it is warm."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from nvidia.dali import fn, pipeline_def, types  # type: ignore[import-not-found, unused-ignore]

from bench import image_data
from bench.image_tasks import AREA, CROP, MEAN, RATIO, SIDE, STD, ImageCase
from bench.tasks import Pipeline

ENVIRONMENT = "dali"
WITHOUT = {
    "p1_tfrecord": "needs an index of each file, made before",
    "p1_tar": "needs an index of each file, made before",
    "p1_100k": "no limit on memory",
}
_built: dict[str, Any] = {}


def _batches(case: ImageCase, size: int, steps: Callable[[Any], Any]) -> Iterator[Any]:
    name = case.task.name
    if name not in _built:

        @pipeline_def(batch_size=size, num_threads=2, device_id=None, prefetch_queue_depth=2)  # type: ignore[untyped-decorator, unused-ignore]
        def pipe() -> Any:
            data, _ = fn.readers.file(files=image_data.paths(), pad_last_batch=True)
            return steps(data)

        _built[name] = pipe()
        _built[name].build()
    else:
        _built[name].reset()
    done = 0
    while done < case.n:
        batch = _built[name].run()[0].as_array()
        some = min(size, case.n - done)
        done += some
        yield batch[:some]


def p1(case: ImageCase) -> Pipeline:
    """Files."""

    def steps(data: Any) -> Any:
        image = fn.decoders.image(data, device="cpu")
        image = fn.resize(
            image, size=(SIDE, SIDE), interp_type=types.INTERP_LINEAR, antialias=False
        )
        return fn.cast(image, dtype=types.FLOAT) / 255.0

    return _batches(case, 32, steps)


def p2(case: ImageCase) -> Pipeline:
    """Files; the window alone is decoded."""

    def steps(data: Any) -> Any:
        image = fn.decoders.image_random_crop(
            data, device="cpu", random_area=AREA, random_aspect_ratio=RATIO
        )
        image = fn.resize(
            image, size=(CROP, CROP), interp_type=types.INTERP_LINEAR, antialias=False
        )
        return fn.crop_mirror_normalize(
            image,
            dtype=types.FLOAT,
            output_layout="HWC",
            mirror=fn.random.coin_flip(),
            mean=[255 * mean for mean in MEAN],
            std=[255 * std for std in STD],
        )

    return _batches(case, 64, steps)
