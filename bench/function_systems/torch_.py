"""torch's DataLoader in the process itself, with torch's functions; workers for `sleep`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import torch  # type: ignore[import-not-found, unused-ignore]
from torch.utils.data import (  # type: ignore[import-not-found, unused-ignore]
    DataLoader,
    Dataset,
    IterableDataset,
)

from bench.function_tasks import MAPS, NOISE_SHAPE, FunctionCase, pause, vector, word_length
from bench.tasks import Pipeline

ENVIRONMENT = "torch"
ITEMS = {
    "p4_batch": 200_000,
    "image": 320,
    "image_batch": 320,
    "image_u8": 320,
    "image_u8_batch": 320,
    "sin": 5_000,
    "strings": 100_000,
    "sleep": 64,
}
WITHOUT = {
    "p4": "nothing drains inside the engine",
    "bandwidth": "a property of the machine",
}
torch.set_num_threads(1)


class _Stream(IterableDataset):  # type: ignore[misc, unused-ignore]
    def __init__(self, make: Callable[[], Iterable[object]]) -> None:
        self.make = make

    def __iter__(self) -> Iterator[object]:
        return iter(self.make())


class _Noise(Dataset):  # type: ignore[misc, unused-ignore]
    def __init__(self, n: int) -> None:
        self.n = n

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, _: int) -> Any:
        pause()
        return torch.randn(NOISE_SHAPE)


def p3(case: FunctionCase) -> Pipeline:
    """A generator with both functions."""
    doubled = (x * 2 + 1 for x in range(case.n))
    return DataLoader(_Stream(lambda: (x for x in doubled if x % 3 == 0)), 256)


def p4_batch(case: FunctionCase) -> Pipeline:
    """Ten generators one over the other."""
    items: Iterable[int] = range(case.n)
    for _ in range(MAPS):
        items = (x + 1 for x in items)
    return DataLoader(_Stream(lambda: items), 256)


def _images(case: FunctionCase) -> Any:
    mean, std = map(torch.from_numpy, case.channels)
    half = case.image.dtype != np.uint8

    def normalise(x: Any) -> Any:
        out = ((x - mean) / std).clip(-2, 2)
        return out.half() if half else out

    return _Stream(lambda: (normalise(torch.from_numpy(image)) for image in case.image_stream()))


def image(case: FunctionCase) -> Pipeline:
    """torch's functions."""
    return DataLoader(_images(case), None)


def image_batch(case: FunctionCase) -> Pipeline:
    """The same and batch."""
    return DataLoader(_images(case), 32)


def image_u8(case: FunctionCase) -> Pipeline:
    """torch's functions."""
    return DataLoader(_images(case), None)


def image_u8_batch(case: FunctionCase) -> Pipeline:
    """The same and batch."""
    return DataLoader(_images(case), 32)


def sin(case: FunctionCase) -> Pipeline:
    """torch's sine."""
    x = torch.from_numpy(vector())
    return DataLoader(_Stream(lambda: (torch.sin(x) * 2 for _ in range(case.n))), 32)


def strings(case: FunctionCase) -> Pipeline:
    """Python's own methods and re.sub."""
    return DataLoader(_Stream(lambda: map(word_length, case.words())), 256)


def py(case: FunctionCase) -> Pipeline:
    """Three torch calls an element."""
    items = torch.arange(case.n, dtype=torch.float32)
    one = torch.tensor(1.0)
    return DataLoader(_Stream(lambda: (torch.maximum(x.square() * 0.5, one) for x in items)), 256)


def eager(case: FunctionCase) -> Pipeline:
    """A constant and a Python number."""
    return (float(torch.tensor(1.0) + 2.0) for _ in range(case.n))


def sleep__8workers(case: FunctionCase) -> Pipeline:
    """Eight worker processes."""
    return DataLoader(_Noise(case.n), 32, num_workers=8)
