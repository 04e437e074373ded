"""NVIDIA DALI, CPU operators only: it reads through an index and compares no checksums.

A pipeline lives across epochs, so that building it belongs to the warm one.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nvidia.dali.tfrecord as tfrec  # type: ignore[import-not-found, unused-ignore]
from nvidia.dali import fn, pipeline_def  # type: ignore[import-not-found, unused-ignore]

from bench.file_data import FLOATS
from bench.file_tasks import FileCase
from bench.tasks import Pipeline

ENVIRONMENT = "dali"
THREADS = 2
WITHOUT = {
    "p8a": "reads records only to parse them",
    "small": "reads records only to parse them",
    "gzip": "reads no compressed records",
    "p9": "no reader of lines",
    "p10": "reads a file an element, not its rows",
}


def _index(path: str) -> str:
    """Where each record begins and how long it is, as DALI wants to be told."""
    index = Path(path + ".idx")
    if not index.exists():
        lines = []
        with open(path, "rb") as file:
            while head := file.read(8):
                size = int.from_bytes(head, "little")
                lines.append(f"{file.tell() - 8} {size + 16}\n")
                file.seek(size + 8, 1)
        index.write_text("".join(lines))
    return str(index)


STRINGS = {"image", "name"}
FEATURES = {
    "p8b": {
        "image": tfrec.FixedLenFeature((), tfrec.string, ""),
        "label": tfrec.FixedLenFeature([1], tfrec.int64, -1),
    },
    "small_parse": {
        "id": tfrec.FixedLenFeature([1], tfrec.int64, -1),
        "name": tfrec.FixedLenFeature((), tfrec.string, ""),
        "values": tfrec.FixedLenFeature([FLOATS], tfrec.float32, 0.0),
    },
}


@functools.cache
def _pipeline(task: str, files: tuple[str, ...], batch: int) -> Any:
    features = FEATURES[task]

    @pipeline_def(batch_size=batch, num_threads=THREADS, device_id=None)  # type: ignore[untyped-decorator, unused-ignore]
    def build() -> Any:
        found = fn.readers.tfrecord(
            path=list(files), index_path=[_index(path) for path in files], features=features
        )
        return tuple(found[key] for key in sorted(features))

    made = build()
    made.build()
    return made


def _epoch(case: FileCase) -> Iterator[object]:
    pipeline = _pipeline(case.task.name, tuple(case.files), case.task.batch)
    for _ in range(case.elements):
        found = dict(zip(sorted(FEATURES[case.task.name]), pipeline.run(), strict=True))
        yield {key: each if key in STRINGS else each.as_array() for key, each in found.items()}


def p8b(case: FileCase) -> Pipeline:
    """The reader of TFRecords."""
    return _epoch(case)


def small_parse(case: FileCase) -> Pipeline:
    """The reader of TFRecords."""
    return _epoch(case)
