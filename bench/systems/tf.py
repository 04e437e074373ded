"""tf.data, as its guide writes it; `lean` turns off what costs CPU time on small elements."""

from __future__ import annotations

from typing import Any

import tensorflow as tf  # type: ignore[import-not-found, import-untyped, unused-ignore]

from bench.tasks import ROW_SHAPE, Case, Pipeline

ENVIRONMENT = "tf"
# an epoch of a few seconds; figures are an item
ITEMS = {"p5a": 10_000, "range_batch": 1_000_000, "shuffle": 100_000, "one_by_one": 100_000}
Data = tf.data.Dataset
SCALAR = tf.TensorSpec((), tf.int64)


def _lean(pipeline: Any) -> Any:
    options = tf.data.Options()
    options.autotune.enabled = False
    options.experimental_optimization.apply_default_optimizations = False
    options.threading.private_threadpool_size = 1
    return pipeline.with_options(options)


def p5a(case: Case) -> Pipeline:
    """from_generator of scalars."""
    return Data.from_generator(case.scalars, output_signature=SCALAR).batch(32)


def p5a__lean(case: Case) -> Pipeline:
    """The same without autotuning."""
    return _lean(p5a(case))


def p5b(case: Case) -> Pipeline:
    """from_generator of 600 KB arrays."""
    spec = tf.TensorSpec(ROW_SHAPE, tf.float32)
    return Data.from_generator(case.arrays, output_signature=spec).batch(32)


def p6(case: Case) -> Pipeline:
    """A buffer that holds every row."""
    return Data.from_tensor_slices(case.images).shuffle(60_000).batch(32).prefetch(tf.data.AUTOTUNE)


def p6__buffer_10k(case: Case) -> Pipeline:
    """The smaller buffer that is common in practice."""
    return Data.from_tensor_slices(case.images).shuffle(10_000).batch(32).prefetch(tf.data.AUTOTUNE)


def p6__lean(case: Case) -> Pipeline:
    """Without autotuning and prefetch."""
    return _lean(Data.from_tensor_slices(case.images).shuffle(60_000).batch(32))


def p11(case: Case) -> Pipeline:
    """Overlap asked for with prefetch."""
    return Data.from_generator(case.slow, output_signature=SCALAR).prefetch(tf.data.AUTOTUNE)


def range_batch(case: Case) -> Pipeline:
    """Range and batch."""
    return Data.range(case.n).batch(256)


def range_batch__lean(case: Case) -> Pipeline:
    """The same without autotuning."""
    return _lean(range_batch(case))


def shuffle(case: Case) -> Pipeline:
    """A shuffle buffer of 10,000, element by element."""
    return Data.range(case.n).shuffle(10_000)


def shuffle__lean(case: Case) -> Pipeline:
    """The same without autotuning."""
    return _lean(shuffle(case))


def one_by_one(case: Case) -> Pipeline:
    """A plain loop over the dataset."""
    return Data.range(case.n)


def one_by_one__lean(case: Case) -> Pipeline:
    """The same without autotuning."""
    return _lean(one_by_one(case))


def one_by_one__numpy(case: Case) -> Pipeline:
    """The same through as_numpy_iterator."""
    return Data.range(case.n).as_numpy_iterator()


def p12(case: Case) -> Pipeline:
    """Range."""
    return Data.range(case.n)
