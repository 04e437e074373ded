"""Spillway, as a user would write it."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import spillway as sw
import spillway.tf as tf
from bench.function_tasks import (
    JOINT,
    MAPS,
    NOISE_LIMIT,
    NOISE_SHAPE,
    PATTERN,
    REPLACEMENT,
    SLEEP_S,
    TAIL,
    FunctionCase,
    calls,
    vector,
    words,
)
from bench.tasks import Missing, Pipeline

ENVIRONMENT = "project"
WITHOUT = {"bandwidth": "a property of the machine"}
Data = sw.Dataset
counter = {"calls": 0}


def p3(case: FunctionCase) -> Pipeline:
    """Map, filter and batch."""
    return Data.range(case.n).map(lambda x: x * 2 + 1).filter(lambda x: x % 3 == 0).batch(256)


def _maps(case: FunctionCase) -> Any:
    pipeline = Data.range(case.n)
    for _ in range(MAPS):
        pipeline = pipeline.map(lambda x: x + 1)
    return pipeline


def p4(case: FunctionCase) -> Pipeline:
    """Ten maps, drained inside the engine."""
    return _maps(case).skip(case.n - 1)


def p4_batch(case: FunctionCase) -> Pipeline:
    """Ten maps and batch."""
    return _maps(case).batch(256)


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
    """A NumPy function of the traced tensor."""
    return Data.from_tensors(vector()).repeat(case.n).map(lambda x: np.sin(x) * 2).batch(32)


def sin__tf(case: FunctionCase) -> Pipeline:
    """The engine's own sine."""
    return Data.from_tensors(vector()).repeat(case.n).map(lambda x: tf.sin(x) * 2).batch(32)


def _length(word: Any) -> Any:
    lower = tf.strings.lower(word)
    changed = tf.strings.regex_replace(lower, PATTERN, REPLACEMENT)
    return tf.strings.length(tf.strings.join([changed, TAIL], JOINT))


def strings(case: FunctionCase) -> Pipeline:
    """Four ops on each string."""
    if not hasattr(tf.strings, "regex_replace"):
        raise Missing("no string ops in this build")
    return Data.from_tensor_slices(words()).repeat(case.repeats).map(_length).batch(256)


def strings__by_batch(case: FunctionCase) -> Pipeline:
    """Four ops on each batch."""
    if not hasattr(tf.strings, "regex_replace"):
        raise Missing("no string ops in this build")
    return Data.from_tensor_slices(words()).repeat(case.repeats).batch(256).map(_length)


def py(case: FunctionCase) -> Pipeline:
    """Counting the calls keeps the function in Python."""

    def function(x: Any) -> Any:
        counter["calls"] += 1
        return tf.maximum(tf.square(x) * 0.5, 1.0)

    items = np.arange(case.n, dtype=np.float32)
    return tf.data.Dataset.from_tensor_slices(items).map(function).batch(256)


def eager(case: FunctionCase) -> Pipeline:
    """A constant and a Python number."""
    return (float(tf.constant(1.0) + 2.0) for _ in range(case.n))


def sleep(case: FunctionCase) -> Pipeline:
    """The noise is the library's."""
    try:
        tf.random.normal([1])
    except (AttributeError, KeyError, NotImplementedError):
        raise Missing("no tf.random.normal in this build") from None

    def function(_: Any) -> Any:
        with calls:
            time.sleep(SLEEP_S)
        return tf.random.normal(NOISE_SHAPE)

    return _sleep(case, function)


def sleep__numpy(case: FunctionCase) -> Pipeline:
    """The noise is NumPy's."""

    def function(i: Any) -> Any:
        with calls:
            time.sleep(SLEEP_S)
        return np.random.default_rng(int(i)).standard_normal(NOISE_SHAPE, np.float32)

    return _sleep(case, function)


def _sleep(case: FunctionCase, function: Any) -> Pipeline:
    sw.configure(memory_limit=NOISE_LIMIT)
    noise = tf.data.Dataset.range(case.n).map(function, num_parallel_calls=tf.data.AUTOTUNE)
    return noise.batch(32).prefetch(tf.data.AUTOTUNE)
