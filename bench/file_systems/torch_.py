"""torch's DataLoader in the process itself, around Python's own readers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import torch  # type: ignore[import-not-found, unused-ignore]
from torch.utils.data import (  # type: ignore[import-not-found, unused-ignore]
    DataLoader,
    IterableDataset,
)

from bench.file_tasks import FileCase
from bench.tasks import Pipeline

ENVIRONMENT = "torch"
ITEMS = {"p10": 32_768}
WITHOUT = {
    "p8a": "no reader of TFRecords",
    "p8b": "no reader of TFRecords",
    "small": "no reader of TFRecords",
    "small_parse": "no reader of TFRecords",
    "gzip": "no reader of TFRecords",
}
torch.set_num_threads(1)


class _Stream(IterableDataset):  # type: ignore[misc, unused-ignore]
    def __init__(self, make: Callable[[], Iterable[object]]) -> None:
        self.make = make

    def __iter__(self) -> Iterator[object]:
        return iter(self.make())


def p9(case: FileCase) -> Pipeline:
    """An open text file: its lines keep their ends."""
    return DataLoader(_Stream(lambda: map(str.rstrip, open(case.files[0]))), 1_024)


def p10(case: FileCase) -> Pipeline:
    """Rows of mapped arrays, collated."""
    return DataLoader(_Stream(case.npy_rows), 32)
