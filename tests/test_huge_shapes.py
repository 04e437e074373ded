"""Shapes that cannot exist are refused where they are written, by every op and source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf

WIDE = 2**31
Make = Callable[[], Any]

TOO_MANY: dict[str, Make] = {
    "zeros": lambda: tf.zeros([WIDE, WIDE, 8]),
    "ones": lambda: tf.ones([2**62, 4], tf.uint8),
    "fill": lambda: tf.fill([WIDE, WIDE, 8], 1),
    "an empty one": lambda: tf.zeros([2**32, 2**32, 0]),
    "reshape": lambda: tf.reshape(tf.zeros([0]), [2**32, 2**32]),
    "tile": lambda: tf.tile(tf.zeros([3]), [2**62]),
    "tile of two axes": lambda: tf.tile(tf.zeros([1, 1]), [2**40, 2**40]),
    "pad": lambda: tf.pad(tf.zeros([2]), [[2**62, 2**62]]),
    "broadcast_to": lambda: tf.broadcast_to(tf.zeros([1]), [WIDE, WIDE, 8]),
    "one_hot": lambda: tf.one_hot([[1, 2]] * 3, depth=2**62),
    "eye": lambda: tf.eye(2**40, 2**40),
    "a batch of eyes": lambda: tf.eye(2, batch_shape=[2**40, 2**40]),
    "linspace": lambda: tf.linspace([0.0, 1.0], [1.0, 2.0], 2**62 + 1),
    "range": lambda: tf.range(-(2**63), 2**63 - 1),
    "repeat": lambda: tf.repeat([1, 2, 3], 2**62),
    "repeat of each": lambda: tf.repeat([1, 2], [2**62, 2**62 + 1]),
    "random.normal": lambda: tf.random.normal([WIDE, WIDE, 8]),
    "random.uniform": lambda: tf.random.uniform([WIDE, WIDE, 8], maxval=5, dtype=tf.int32),
    "stateless": lambda: tf.random.stateless_uniform([WIDE, WIDE, 8], [1, 2]),
    "scatter_nd": lambda: tf.scatter_nd([[0, 0, 0]], [1], [WIDE, WIDE, 8]),
    "resize": lambda: tf.image.resize(tf.zeros([4, 4, 8]), [2**31 - 1, 2**31 - 1]),
    "sequence_mask": lambda: tf.sequence_mask([[1, 2]] * 4, 2**61),
    "outer product": lambda: tf.random.normal([2**33, 1, 1]) * tf.random.normal([2**33, 1]),
}
TOO_LARGE: dict[str, Make] = {
    "zeros": lambda: tf.zeros([WIDE, WIDE]),
    "strings": lambda: tf.fill([2**62], "a"),
    "random.normal": lambda: tf.random.normal([2**60]),
    "one_hot": lambda: tf.one_hot([1, 2], depth=2**60),
    "complex": lambda: tf.zeros([2**60], tf.complex128),
}


@pytest.mark.parametrize("name", TOO_MANY)
def test_more_elements_than_can_be_counted_are_an_invalid_argument(name: str) -> None:
    with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.ResourceExhaustedError)) as found:
        TOO_MANY[name]().numpy()
    words = ("2**63 - 1", "2^63", "no machine", "to shape [4294967296,4294967296]")
    assert any(word in str(found.value) for word in words)


@pytest.mark.parametrize("name", TOO_LARGE)
def test_more_bytes_than_any_machine_has_are_exhausted_resources(name: str) -> None:
    with pytest.raises(tf.errors.ResourceExhaustedError, match="does not fit"):
        TOO_LARGE[name]().numpy()


def test_the_error_names_the_line_and_the_op() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError) as found:
        tf.zeros([WIDE, WIDE, 8])
    assert "test_huge_shapes.py" in str(found.value)
    assert str(found.value).startswith("spread: ")


def test_the_size_of_what_cannot_exist_is_never_zero() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.size(tf.zeros([2**32, 2**32]))


def test_shapes_that_come_with_the_element_are_that_elements_error() -> None:
    ds = tf.data.Dataset.from_tensor_slices([[2, 3], [2**40, 2**40], [1, 1]])
    ds = ds.map(lambda s: tf.zeros(tf.cast(s, tf.int64)), on_error="skip")
    assert [x.shape for x in ds] == [(2, 3), (1, 1)]


def test_padding_to_what_cannot_exist_is_refused() -> None:
    ds = tf.data.Dataset.range(3).map(lambda x: tf.fill([x], 1))
    with pytest.raises(sw.errors.SpillwayError):
        list(ds.padded_batch(3, padded_shapes=[2**62]))
    with pytest.raises(sw.errors.SpillwayError):
        list(ds.padded_batch(2**40, padded_shapes=[2**40]))


def test_what_just_fits_is_not_refused() -> None:
    assert tf.zeros([0, 2**40]).shape == (0, 2**40)
    assert tf.size(tf.zeros([0, 2**40])).numpy() == 0
    assert tf.reshape(tf.zeros([0, 2**20]), [2**20, 0]).shape == (2**20, 0)
    assert np.shape(tf.broadcast_to(tf.zeros([1, 3]), [2, 3]).numpy()) == (2, 3)
