"""Spillway, as a user would write it: string tensors as tf.data gives them.

`numpy` is the other front, which makes a Python object of every string.
"""

from __future__ import annotations

from typing import Any

import spillway as sw
import spillway.tf as tf
from bench.file_data import FLOATS
from bench.file_tasks import FileCase
from bench.tasks import Pipeline

ENVIRONMENT = "project"
IMAGE = {
    "image": tf.io.FixedLenFeature([], tf.string),
    "label": tf.io.FixedLenFeature([], tf.int64),
}
SMALL = {
    "id": tf.io.FixedLenFeature([], tf.int64),
    "values": tf.io.FixedLenFeature([FLOATS], tf.float32),
    "name": tf.io.FixedLenFeature([], tf.string),
}


def _single(case: FileCase, features: Any) -> Any:
    return tf.data.TFRecordDataset(case.files).map(
        lambda record: tf.io.parse_single_example(record, features)
    )


def _by_batch(case: FileCase, features: Any) -> Any:
    records = tf.data.TFRecordDataset(case.files).batch(case.task.batch)
    return records.map(lambda batch: tf.io.parse_example(batch, features))


def p8a(case: FileCase) -> Pipeline:
    """TFRecordDataset."""
    return tf.data.TFRecordDataset(case.files).batch(32)


def p8a__numpy(case: FileCase) -> Pipeline:
    """Each record a bytes object."""
    return sw.Dataset.tf_record(case.files).batch(32)


def p8b(case: FileCase) -> Pipeline:
    """Records parsed one by one."""
    return _single(case, IMAGE).batch(32)


def p8b__by_batch(case: FileCase) -> Pipeline:
    """A batch of records parsed at once."""
    return _by_batch(case, IMAGE)


def small(case: FileCase) -> Pipeline:
    """TFRecordDataset."""
    return tf.data.TFRecordDataset(case.files).batch(64)


def small__numpy(case: FileCase) -> Pipeline:
    """Each record a bytes object."""
    return sw.Dataset.tf_record(case.files).batch(64)


def small_parse(case: FileCase) -> Pipeline:
    """Records parsed one by one."""
    return _single(case, SMALL).batch(64)


def small_parse__by_batch(case: FileCase) -> Pipeline:
    """A batch of records parsed at once."""
    return _by_batch(case, SMALL)


def gzip(case: FileCase) -> Pipeline:
    """TFRecordDataset."""
    return tf.data.TFRecordDataset(case.files, "GZIP").batch(64)


def p9(case: FileCase) -> Pipeline:
    """TextLineDataset."""
    return tf.data.TextLineDataset(case.files).batch(1_024)


def p9__numpy(case: FileCase) -> Pipeline:
    """Each line a bytes object."""
    return sw.Dataset.text_lines(case.files).batch(1_024)


def p10(case: FileCase) -> Pipeline:
    """Rows as NumPy arrays."""
    return sw.Dataset.from_npy(case.files).batch(32)


def p10__tensors(case: FileCase) -> Pipeline:
    """Rows as tensors."""
    return tf.data.Dataset.from_npy(case.files).batch(32)
