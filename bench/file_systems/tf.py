"""tf.data, as its guide writes it; `plain` without parallel reads and prefetch."""

from __future__ import annotations

from typing import Any

import tensorflow as tf  # type: ignore[import-not-found, import-untyped, unused-ignore]

from bench.file_data import FLOATS, NPY_COLUMNS
from bench.file_tasks import FileCase
from bench.tasks import Pipeline

ENVIRONMENT = "tf"
ITEMS = {"p10": 16_384}
AUTO = tf.data.AUTOTUNE
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
        lambda record: tf.io.parse_single_example(record, features), num_parallel_calls=AUTO
    )


def _by_batch(case: FileCase, features: Any) -> Any:
    records = tf.data.TFRecordDataset(case.files).batch(case.task.batch)
    parsed = records.map(lambda b: tf.io.parse_example(b, features), num_parallel_calls=AUTO)
    return parsed.prefetch(AUTO)


def p8a(case: FileCase) -> Pipeline:
    """TFRecordDataset and prefetch."""
    return tf.data.TFRecordDataset(case.files).batch(32).prefetch(AUTO)


def p8a__plain(case: FileCase) -> Pipeline:
    """TFRecordDataset alone."""
    return tf.data.TFRecordDataset(case.files).batch(32)


def p8b(case: FileCase) -> Pipeline:
    """Records parsed one by one."""
    return _single(case, IMAGE).batch(32).prefetch(AUTO)


def p8b__by_batch(case: FileCase) -> Pipeline:
    """A batch of records parsed at once."""
    return _by_batch(case, IMAGE)


def small(case: FileCase) -> Pipeline:
    """TFRecordDataset and prefetch."""
    return tf.data.TFRecordDataset(case.files).batch(64).prefetch(AUTO)


def small_parse(case: FileCase) -> Pipeline:
    """Records parsed one by one."""
    return _single(case, SMALL).batch(64).prefetch(AUTO)


def small_parse__by_batch(case: FileCase) -> Pipeline:
    """A batch of records parsed at once."""
    return _by_batch(case, SMALL)


def gzip(case: FileCase) -> Pipeline:
    """TFRecordDataset and prefetch."""
    return tf.data.TFRecordDataset(case.files, "GZIP").batch(64).prefetch(AUTO)


def p9(case: FileCase) -> Pipeline:
    """TextLineDataset and prefetch."""
    return tf.data.TextLineDataset(case.files).batch(1_024).prefetch(AUTO)


def p10(case: FileCase) -> Pipeline:
    """A generator over mapped arrays: tf.data has no reader of .npy files."""
    spec = tf.TensorSpec((NPY_COLUMNS,), tf.float32)
    rows = tf.data.Dataset.from_generator(case.npy_rows, output_signature=spec)
    return rows.batch(32).prefetch(AUTO)
