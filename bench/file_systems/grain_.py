"""Google's Grain: it reads TFRecords one by one, and neither lines nor rows of .npy files."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

import grain  # type: ignore[import-not-found, unused-ignore]

from bench.file_tasks import FileCase
from bench.tasks import Pipeline

ENVIRONMENT = "grain"
WITHOUT = {
    "p8b": "has no parser of Examples",
    "small_parse": "has no parser of Examples",
    "gzip": "reads no compressed records",
    "p9": "no reader of lines",
    "p10": "no reader of rows",
}


def _batches(case: FileCase) -> Iterator[object]:
    each = (grain.experimental.TFRecordIterDataset(path) for path in case.files)
    records = chain.from_iterable(each)
    while batch := list(islice(records, case.task.batch)):
        yield batch


def p8a(case: FileCase) -> Pipeline:
    """TFRecordIterDataset, lists of records."""
    return _batches(case)


def small(case: FileCase) -> Pipeline:
    """TFRecordIterDataset, lists of records."""
    return _batches(case)
