"""Ray Data on two CPUs of this machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ray  # type: ignore[import-not-found, unused-ignore]
import ray.data  # type: ignore[import-not-found, unused-ignore]

from bench import image_arrays as arrays
from bench.environments import ROOT
from bench.image_tasks import ImageCase
from bench.tasks import Pipeline

ENVIRONMENT = "ray"
WITHOUT = {
    "p1_tfrecord": "its reader needs TensorFlow",
    "p1_tar": "its reader holds whole shards",
    "p1_100k": "no limit on memory",
}


def _mapped(paths: list[str], load: Callable[[str], arrays.Image]) -> Any:
    if not ray.is_initialized():
        ray.init(
            num_cpus=2,
            include_dashboard=False,
            log_to_driver=False,
            object_store_memory=2 << 30,
            logging_level="error",
            runtime_env={"env_vars": {"PYTHONPATH": str(ROOT)}},
        )
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.execution_options.preserve_order = True
    items = ray.data.from_items([{"path": path} for path in paths], override_num_blocks=16)
    return items.map(lambda row: {"image": load(row["path"])})


def p1(case: ImageCase) -> Pipeline:
    """Files."""
    mapped = _mapped(case.paths, arrays.load_opencv)
    return mapped.iter_batches(batch_size=32, prefetch_batches=2)


def p2(case: ImageCase) -> Pipeline:
    """Files."""
    mapped = _mapped(case.paths, arrays.augment_opencv)
    return mapped.iter_batches(batch_size=64, prefetch_batches=2)
