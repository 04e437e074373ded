"""A value that is another one as the dtype that was declared for it is an error, never changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf

CHANGED: list[tuple[Any, str]] = [
    (100000, "int16"),
    (-1, "uint8"),
    (300, "uint8"),
    (float("nan"), "int32"),
    (float("inf"), "int64"),
    (1e30, "int32"),
    (71.9, "int32"),
    (10**30, "int64"),
    (2**63, "int64"),
    (-1, "uint64"),
    (2**64, "uint64"),
    (1e300, "float32"),
    (70000.0, "float16"),
    (70000, "float16"),
    (1j, "float32"),
    (np.int64(100000), "int16"),
    (np.float64(71.9), "int32"),
    (np.uint64(2**63), "int64"),
    (ml_dtypes.bfloat16(2.5), "int32"),
]
KEPT: list[tuple[Any, str, Any]] = [
    (-32768, "int16", -32768),
    (32767, "int16", 32767),
    (255, "uint8", 255),
    (2**64 - 1, "uint64", float(2**64 - 1)),
    (-(2**63), "int64", -(2**63)),
    (np.float64(71.0), "int32", 71),
    (np.int64(7), "uint8", 7),
    (16777217, "float32", 16777216.0),
    (0.1, "float16", float(np.float16(0.1))),
    (float("inf"), "float16", float("inf")),
    (65519.0, "float16", 65504.0),
    (np.float32(3e38), "bfloat16", float(ml_dtypes.bfloat16(3e38))),
]


def generated(value: Any, dtype: str, shape: Any = ()) -> Any:
    def rows() -> Iterator[Any]:
        yield value

    signature = tf.TensorSpec(shape, dtype)
    (found,) = sw.Dataset.from_generator(rows, output_signature=signature)
    return found


@pytest.mark.parametrize(("value", "dtype"), CHANGED)
def test_a_yielded_number_that_does_not_survive_is_that_elements_error(
    value: Any, dtype: str
) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected type was " + dtype):
        generated(value, dtype)
    with pytest.raises(tf.errors.InvalidArgumentError):
        generated([0, value], dtype, (2,))
    if isinstance(value, (np.generic, float)):
        with pytest.raises(tf.errors.InvalidArgumentError):
            generated(np.array([[0, value]]), dtype, (1, 2))


@pytest.mark.parametrize(("value", "dtype", "kept"), KEPT)
def test_a_number_that_survives_is_kept(value: Any, dtype: str, kept: Any) -> None:
    assert float(generated(value, dtype)) == kept
    assert float(generated(np.array([value]), dtype, (1,))[0]) == kept


def test_the_message_names_the_number_and_its_place() -> None:
    wide = np.zeros((3, 5000), np.int64)
    wide[2, 4500] = 40000
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"40000 at \[2, 4500\] does not fit"):
        generated(wide, "int16", (3, 5000))
    with pytest.raises(tf.errors.InvalidArgumentError, match="nan does not fit int32"):
        generated(float("nan"), "int32")


def test_only_the_element_is_lost_under_a_policy() -> None:
    def rows() -> Iterator[int]:
        yield from (1, 70000, 3)

    ds = sw.Dataset.from_generator(
        rows, output_signature=tf.TensorSpec((), "int16"), on_error="skip"
    )
    assert [int(x) for x in ds] == [1, 3]


def test_functions_with_a_signature_keep_their_values_or_fail() -> None:
    seen: list[int] = []

    def run(x: Any) -> Any:
        seen.append(1)
        return int(x) * 40000

    ds = sw.Dataset.range(2).map(run, output_signature=tf.TensorSpec((), "int16"))
    it = iter(ds)
    assert int(next(it)) == 0
    with pytest.raises((TypeError, ValueError)):
        next(it)


def test_a_number_without_a_dtype_becomes_no_infinity() -> None:
    for value in (1e300, [1e300], [0.0, -1e39]):
        with pytest.raises(ValueError, match="does not fit float32"):
            tf.constant(value)
        with pytest.raises(ValueError, match="does not fit float32"):
            sw.Dataset.from_tensors(value)


def test_a_dtype_that_is_asked_for_wraps_as_in_tensorflow() -> None:
    assert tf.constant(300, tf.uint8).numpy() == 44
    assert (tf.constant([1.0], tf.float16) * -1e9).numpy() == [-np.inf]
    assert tf.cast(300, tf.uint8).numpy() == 44
    assert tf.cast(71.9, tf.int32).numpy() == 71
    with pytest.raises(TypeError):
        tf.constant(71.9, tf.int32)
    with pytest.raises(ValueError):
        tf.constant(10**30, tf.int64)


def test_padding_values_must_be_values_of_the_component() -> None:
    ds = sw.Dataset.range(3).map(lambda x: tf.cast(tf.fill([x], 1), tf.uint8))
    with pytest.raises((TypeError, ValueError)):
        ds.padded_batch(3, padding_values=300)
    assert next(iter(ds.padded_batch(3, padding_values=255)))[0].tolist() == [255, 255]


def test_defaults_of_parsers_must_be_values_of_their_feature() -> None:
    with pytest.raises((TypeError, ValueError)):
        tf.io.parse_single_example(b"", {"a": tf.io.FixedLenFeature([], tf.int64, 2.5)})
    with pytest.raises((TypeError, ValueError)):
        tf.io.decode_csv("1,", [[0], [2.5, 1]])


def test_a_bad_column_of_a_table_is_named_with_its_row() -> None:
    table = {"price": [1.5, 2.5], "name": np.array(["a", 2.5], object)}
    with pytest.raises((TypeError, ValueError), match=r"'name'.*\[1\]"):
        sw.Dataset.from_tensor_slices(table)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"price": [1, 2, 3], "name": ["a", None, "c"]})
    with pytest.raises((TypeError, ValueError), match=r"'name'.*\[1\]"):
        sw.Dataset.from_tensor_slices(dict(frame))
