"""tf.data, as its guide writes it. TensorFlow decodes with the fast DCT, as Spillway does."""

from __future__ import annotations

from typing import Any

import tensorflow as tf  # type: ignore[import-not-found, import-untyped, unused-ignore]

from bench.image_tasks import AREA, CROP, MEAN, RATIO, SIDE, STD, ImageCase
from bench.tasks import Pipeline

ENVIRONMENT = "tf"
WITHOUT = {"p1_tar": "no reader of tar files", "p1_100k": "no limit on memory"}
AUTO = tf.data.AUTOTUNE
FEATURES = {
    "image": tf.io.FixedLenFeature([], tf.string),
    "label": tf.io.FixedLenFeature([], tf.int64),
}


def _loaded(data: Any) -> Any:
    image = tf.io.decode_jpeg(data, channels=3)
    return tf.cast(tf.image.resize(image, [SIDE, SIDE]), tf.float32) / 255.0


def _read(path: Any) -> Any:
    return _loaded(tf.io.read_file(path))


def _parsed(record: Any) -> Any:
    return _loaded(tf.io.parse_single_example(record, FEATURES)["image"])


def _batches(source: Any, load: Any, size: int) -> Pipeline:
    return source.map(load, num_parallel_calls=AUTO).batch(size).prefetch(AUTO)


def p1(case: ImageCase) -> Pipeline:
    """Files."""
    return _batches(tf.data.Dataset.from_tensor_slices(case.paths), _read, 32)


def p1_tfrecord(case: ImageCase) -> Pipeline:
    """Records."""
    return _batches(tf.data.TFRecordDataset(case.records).take(case.n), _parsed, 32)


def _box(size: Any) -> Any:
    begin, lengths, _ = tf.image.sample_distorted_bounding_box(
        size,
        tf.zeros([1, 0, 4]),
        min_object_covered=0.0,
        aspect_ratio_range=RATIO,
        area_range=AREA,
        use_image_if_no_bounding_boxes=True,
    )
    return begin, lengths


def _finished(image: Any) -> Any:
    image = tf.image.random_flip_left_right(tf.image.resize(image, [CROP, CROP]))
    return (image / 255.0 - tf.constant(MEAN)) / tf.constant(STD)


def _crop_while_decoding(path: Any) -> Any:
    data = tf.io.read_file(path)
    begin, size = _box(tf.io.extract_jpeg_shape(data))
    window = tf.stack([begin[0], begin[1], size[0], size[1]])
    return _finished(tf.io.decode_and_crop_jpeg(data, window, channels=3))


def _crop_decoded(path: Any) -> Any:
    image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    begin, size = _box(tf.shape(image))
    return _finished(tf.slice(image, begin, size))


def p2(case: ImageCase) -> Pipeline:
    """The window alone is decoded."""
    return _batches(tf.data.Dataset.from_tensor_slices(case.paths), _crop_while_decoding, 64)


def p2__slice(case: ImageCase) -> Pipeline:
    """Written as a decode and a slice."""
    return _batches(tf.data.Dataset.from_tensor_slices(case.paths), _crop_decoded, 64)
