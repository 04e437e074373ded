"""Apple's mlx-data on the CPU: it reads lines, and pads those of a batch to the longest."""

from __future__ import annotations

import mlx.data as dx  # type: ignore[import-not-found, unused-ignore]

from bench.file_tasks import FileCase
from bench.tasks import Pipeline

ENVIRONMENT = "mlx"
WITHOUT = {
    "p8a": "no reader of TFRecords",
    "p8b": "no reader of TFRecords",
    "small": "no reader of TFRecords",
    "small_parse": "no reader of TFRecords",
    "gzip": "no reader of TFRecords",
    "p10": "reads a file an element, not its rows",
}


def p9(case: FileCase) -> Pipeline:
    """A stream of lines."""
    return dx.stream_line_reader(case.files[0], "line").batch(1_024)


def p9__prefetch(case: FileCase) -> Pipeline:
    """The same, a thread ahead."""
    return p9(case).prefetch(4, 1)
