"""tf.data, as its guide writes it; `by_batch` is vectorised by hand, `lean` without autotuning."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf  # type: ignore[import-not-found, import-untyped, unused-ignore]

from bench.function_tasks import (
    JOINT,
    MAPS,
    NOISE_SHAPE,
    PATTERN,
    REPLACEMENT,
    TAIL,
    FunctionCase,
    pause,
    vector,
    words,
)
from bench.tasks import Pipeline

ENVIRONMENT = "tf"
# an epoch of a few seconds; figures are an item
ITEMS = {
    "p3": 50_000,
    "p4": 10_000,
    "p4_batch": 10_000,
    "image": 320,
    "image_batch": 320,
    "image_u8": 320,
    "image_u8_batch": 320,
    "sin": 5_000,
    "strings": 50_000,
    "py": 3_000,
    "eager": 20_000,
    "sleep": 64,
}
WITHOUT = {"bandwidth": "a property of the machine"}
Data = tf.data.Dataset


def _lean(pipeline: Any) -> Any:
    options = tf.data.Options()
    options.autotune.enabled = False
    options.experimental_optimization.apply_default_optimizations = False
    options.threading.private_threadpool_size = 1
    return pipeline.with_options(options)


def p3(case: FunctionCase) -> Pipeline:
    """Map, filter and batch."""
    return Data.range(case.n).map(lambda x: x * 2 + 1).filter(lambda x: x % 3 == 0).batch(256)


def p3__lean(case: FunctionCase) -> Pipeline:
    """The same without autotuning."""
    return _lean(p3(case))


def p3__by_batch(case: FunctionCase) -> Pipeline:
    """Batched first; a mask in the place of the filter."""

    def function(x: Any) -> Any:
        x = x * 2 + 1
        return tf.boolean_mask(x, x % 3 == 0)

    return Data.range(case.n).batch(4_096).map(function).rebatch(256)


def _maps(case: FunctionCase) -> Any:
    pipeline = Data.range(case.n)
    for _ in range(MAPS):
        pipeline = pipeline.map(lambda x: x + 1)
    return pipeline


def p4(case: FunctionCase) -> Pipeline:
    """Ten maps, drained inside the engine."""
    return _maps(case).skip(case.n - 1)


def p4__lean(case: FunctionCase) -> Pipeline:
    """The same without autotuning."""
    return _lean(p4(case))


def p4_batch(case: FunctionCase) -> Pipeline:
    """Ten maps and batch."""
    return _maps(case).batch(256)


def p4_batch__lean(case: FunctionCase) -> Pipeline:
    """The same without autotuning."""
    return _lean(p4_batch(case))


def image(case: FunctionCase) -> Pipeline:
    """One function of four ops on each image."""
    mean, std = case.channels

    def normalise(x: Any) -> Any:
        return tf.cast(tf.clip_by_value((x - mean) / std, -2.0, 2.0), tf.float16)

    return Data.from_tensors(case.image).repeat(case.n).map(normalise)


def image_batch(case: FunctionCase) -> Pipeline:
    """The same and batch."""
    return image(case).batch(32)


def image_u8(case: FunctionCase) -> Pipeline:
    """One function of four ops on each image of bytes."""
    mean, std = case.channels

    def normalise(x: Any) -> Any:
        return tf.clip_by_value((tf.cast(x, tf.float32) - mean) / std, -2.0, 2.0)

    return Data.from_tensors(case.image).repeat(case.n).map(normalise)


def image_u8_batch(case: FunctionCase) -> Pipeline:
    """The same and batch."""
    return image_u8(case).batch(32)


def sin(case: FunctionCase) -> Pipeline:
    """tf.sin."""
    return Data.from_tensors(vector()).repeat(case.n).map(lambda x: tf.sin(x) * 2).batch(32)


def _length(word: Any) -> Any:
    lower = tf.strings.lower(word)
    changed = tf.strings.regex_replace(lower, PATTERN, REPLACEMENT)
    return tf.strings.length(tf.strings.join([changed, TAIL], JOINT))


def strings(case: FunctionCase) -> Pipeline:
    """Four ops on each string."""
    return Data.from_tensor_slices(words()).repeat(case.repeats).map(_length).batch(256)


def strings__by_batch(case: FunctionCase) -> Pipeline:
    """Four ops on each batch."""
    return Data.from_tensor_slices(words()).repeat(case.repeats).batch(256).map(_length)


def py(case: FunctionCase) -> Pipeline:
    """py_function, in which ops run eagerly."""

    def function(x: Any) -> Any:
        return tf.maximum(tf.square(x) * 0.5, 1.0)

    items = np.arange(case.n, dtype=np.float32)
    called = Data.from_tensor_slices(items).map(lambda x: tf.py_function(function, [x], tf.float32))
    return called.batch(256)


def eager(case: FunctionCase) -> Pipeline:
    """A constant and a Python number."""
    return (float(tf.constant(1.0) + 2.0) for _ in range(case.n))


def sleep(case: FunctionCase) -> Pipeline:
    """py_function, or the sleep would happen once, in the trace. No limit can be set."""

    def function(_: Any) -> Any:
        pause()
        return tf.random.normal(NOISE_SHAPE)

    noise = Data.range(case.n).map(
        lambda i: tf.ensure_shape(tf.py_function(function, [i], tf.float32), NOISE_SHAPE),
        num_parallel_calls=tf.data.AUTOTUNE,
    )
    return noise.batch(32).prefetch(tf.data.AUTOTUNE)
