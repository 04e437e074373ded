"""torch's DataLoader with two workers, and the decoders its users take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch  # type: ignore[import-not-found, unused-ignore]
from torch.utils.data import (  # type: ignore[import-not-found, unused-ignore]
    DataLoader,
    Dataset,
)

from bench import image_arrays as arrays
from bench.image_tasks import ImageCase
from bench.tasks import Pipeline

ENVIRONMENT = "torch"
WITHOUT = {
    "p1_tfrecord": "no reader of TFRecord files",
    "p1_tar": "no reader of tar files",
    "p1_100k": "no limit on memory",
}
torch.set_num_threads(1)


class _Files(Dataset):  # type: ignore[misc, unused-ignore]
    def __init__(self, paths: list[str], load: Callable[[str], arrays.Image]) -> None:
        self.paths, self.load = paths, load

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, i: int) -> Any:
        return torch.from_numpy(self.load(self.paths[i]))


def p1__pil(case: ImageCase) -> Pipeline:
    """Pillow."""
    return DataLoader(_Files(case.paths, arrays.load_pil), 32, num_workers=2)


def p1__opencv(case: ImageCase) -> Pipeline:
    """OpenCV."""
    return DataLoader(_Files(case.paths, arrays.load_opencv), 32, num_workers=2)


def p2__pil(case: ImageCase) -> Pipeline:
    """Pillow."""
    return DataLoader(_Files(case.paths, arrays.augment_pil), 64, num_workers=2)


def p2__opencv(case: ImageCase) -> Pipeline:
    """OpenCV."""
    return DataLoader(_Files(case.paths, arrays.augment_opencv), 64, num_workers=2)
