"""Spillway, as a user would write it."""

from __future__ import annotations

import spillway as sw
from bench.tasks import ROW_SHAPE, Case, Pipeline

ENVIRONMENT = "project"
SCALAR = sw.TensorSpec((), "int64")


def p5a(case: Case) -> Pipeline:
    """from_generator of scalars."""
    return sw.Dataset.from_generator(case.scalars, output_signature=SCALAR).batch(32)


def p5b(case: Case) -> Pipeline:
    """from_generator of 600 KB arrays."""
    spec = sw.TensorSpec(ROW_SHAPE, "float32")
    return sw.Dataset.from_generator(case.arrays, output_signature=spec).batch(32)


def p6(case: Case) -> Pipeline:
    """A buffer that holds every row, so all orders are equally likely."""
    return sw.Dataset.from_tensor_slices(case.images).shuffle(60_000, seed=1).batch(32)


def p6__buffer_10k(case: Case) -> Pipeline:
    """The smaller buffer that is common in practice."""
    return sw.Dataset.from_tensor_slices(case.images).shuffle(10_000, seed=1).batch(32)


def p11(case: Case) -> Pipeline:
    """Overlap asked for with prefetch."""
    source = sw.Dataset.from_generator(case.slow, output_signature=SCALAR)
    return source.prefetch(sw.AUTOTUNE)


def p11__no_prefetch(case: Case) -> Pipeline:
    """Whatever overlap there is without asking."""
    return sw.Dataset.from_generator(case.slow, output_signature=SCALAR)


def range_batch(case: Case) -> Pipeline:
    """Range and batch."""
    return sw.Dataset.range(case.n).batch(256)


def shuffle(case: Case) -> Pipeline:
    """A shuffle buffer of 10,000, element by element."""
    return sw.Dataset.range(case.n).shuffle(10_000, seed=1)


def one_by_one(case: Case) -> Pipeline:
    """A plain loop over the dataset."""
    return sw.Dataset.range(case.n)


def one_by_one__numpy(case: Case) -> Pipeline:
    """The same through as_numpy_iterator."""
    return sw.Dataset.range(case.n).as_numpy_iterator()


def p12(case: Case) -> Pipeline:
    """Range."""
    return sw.Dataset.range(case.n)
