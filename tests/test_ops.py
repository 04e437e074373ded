"""Functions of tensors where TensorFlow 2.21 has a rule of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import spillway.tf as tf

Fixed, Sequence = tf.io.FixedLenFeature, tf.io.FixedLenSequenceFeature


@pytest.mark.parametrize(
    ("minval", "maxval", "dtype"),
    [(0, 3, "uint32"), (0, 3, "uint8"), (0, None, "int32"), (None, 3, "int32"), (0, 1, "string")],
)
def test_stateless_uniform_refuses_bounds_that_do_not_go_with_the_dtype(
    minval: Any, maxval: Any, dtype: str
) -> None:
    with pytest.raises(ValueError, match=r"dtype|minval"):
        tf.random.stateless_uniform([2], [1, 2], minval, maxval, dtype)


def test_bounds_of_a_clip_must_not_make_the_tensor_larger() -> None:
    with pytest.raises(ValueError, match="incompatible"):
        tf.clip_by_value(tf.zeros([2, 1]), tf.zeros([3]), 1.0)


def test_lengths_of_complex_vectors_take_the_conjugate() -> None:
    x = tf.constant([1 + 1j, 2])
    assert tf.norm(x).numpy() == pytest.approx(6**0.5)
    assert np.abs(tf.math.l2_normalize(x).numpy()) == pytest.approx(
        [(1 / 3) ** 0.5, (2 / 3) ** 0.5]
    )
    assert tf.math.reduce_variance(tf.constant([1 + 2j, 3])).numpy() == 2.0


def test_lengths_of_a_mask_may_be_floats() -> None:
    assert tf.sequence_mask([0.5, 2.0]).numpy().tolist() == [[True, False], [True, True]]
    assert tf.sequence_mask([1.9], 2).numpy().tolist() == [[True, False]]


def test_a_true_division_gives_its_first_number_a_dtype_of_its_own() -> None:
    assert tf.divide(0.5, tf.constant([2.0], tf.float64)).dtype == tf.float64
    with pytest.raises(TypeError, match="the same dtype"):
        tf.truediv(0.5, tf.constant([2.0], tf.float64))


def test_strings_move_as_numbers_do() -> None:
    x = tf.constant(["a", "b", "c"])
    assert tf.roll(x, 1, 0).numpy().tolist() == [b"c", b"a", b"b"]
    assert tf.repeat(x, [1, 0, 2], axis=0).numpy().tolist() == [b"a", b"c", b"c"]
    assert tf.gather_nd(x, [[2], [0]]).numpy().tolist() == [b"c", b"a"]
    assert tf.reverse_sequence([x], [2], seq_axis=1).numpy().tolist() == [[b"b", b"a", b"c"]]
    assert tf.tensor_scatter_nd_update(x, [[1]], ["q"]).numpy().tolist() == [b"a", b"q", b"c"]


def test_a_default_of_a_feature_must_fill_its_shape() -> None:
    with pytest.raises(ValueError, match="must fill"):
        tf.io.parse_example([b""], {"v": tf.io.FixedLenFeature([2], tf.float32, 3.0)})


@pytest.mark.parametrize(
    ("features", "kind", "text"),
    [
        ({"a": 3}, ValueError, "feature a:3"),
        ({"a": Fixed(None, tf.int64)}, ValueError, "Missing shape for feature a"),
        ({"a": Fixed([], None)}, ValueError, "Missing type for feature a"),
        ({"a": Fixed([None], tf.int64)}, ValueError, "First dimension .* Consider using FixedLenS"),
        ({"a": Fixed([2, None], tf.int64)}, ValueError, "All dimensions of shape for feature a"),
        ({"a": Sequence([], tf.int64)}, ValueError, "requires allow_missing"),
        (
            {"a": Sequence([None], tf.int64, True)},
            tf.errors.InvalidArgumentError,
            "All dimensions of shape",
        ),
        ({"a": Fixed([], tf.int32)}, tf.errors.InvalidArgumentError, "int32"),
        ({3: Fixed([], tf.int64)}, TypeError, "must be a dict of names"),
        ([1], TypeError, "must be a dict of names"),
    ],
)
def test_features_that_cannot_be_are_refused(features: Any, kind: Any, text: str) -> None:
    with pytest.raises(kind, match=text):
        tf.io.parse_example([b""], features)
    with pytest.raises(kind, match=text):
        tf.io.parse_single_example(b"", features)


def test_a_text_is_formatted_inside_a_traced_map() -> None:
    ds = tf.data.Dataset.range(2).map(lambda x: tf.strings.format("x is {}", tf.stack([x, x])))
    assert [bytes(text) for text in ds.as_numpy_iterator()] == [b"x is [0 0]", b"x is [1 1]"]
    assert ds.explain().stages[-1]["functions"][0]["native"]


def test_a_constant_that_holds_tensors_refuses_a_shape_as_tensorflow_refuses_the_list() -> None:
    a = tf.constant(3)
    assert tf.constant([a, 2], shape=[1, 2]).numpy().tolist() == [[3, 2]]
    for value, error in (([a, a], ValueError), ([1, 2], TypeError)):
        with pytest.raises(error, match="unsupported shape"):
            tf.constant(value, shape=[])


def test_what_is_not_complex_has_a_zero_for_its_imaginary_part() -> None:
    assert tf.math.imag(["a"]).numpy().tolist() == [b""]
    assert tf.math.imag([True]).numpy().tolist() == [False]
    assert tf.math.imag([2]).numpy().tolist() == [0]
    assert tf.math.imag([1 + 2j]).numpy().tolist() == [2.0]


def test_a_sum_of_one_tensor_is_that_tensor_whatever_its_dtype() -> None:
    assert tf.add_n([["a", "b"]]).numpy().tolist() == [b"a", b"b"]
    assert tf.add_n([[True]]).numpy().tolist() == [True]
    with pytest.raises(tf.errors.InvalidArgumentError, match="not defined for string"):
        tf.add_n([["a"], ["b"]])


@pytest.mark.parametrize(("row", "new"), [([2], [7, 7]), ([3, 2], [4]), ([0], [1])])
def test_a_reshape_out_of_reach_of_an_unknown_dimension_is_refused_when_written(
    row: list[int], new: list[int]
) -> None:
    ds = tf.data.Dataset.from_tensors(tf.zeros(row)).batch(2)
    with pytest.raises(ValueError, match="must be divisible by"):
        ds.map(lambda x: tf.reshape(x, new))


def test_a_reshape_within_reach_of_an_unknown_dimension_waits_for_it() -> None:
    ds = tf.data.Dataset.from_tensors(tf.zeros([3])).repeat(4).batch(4)
    assert next(iter(ds.map(lambda x: tf.reshape(x, [2, 6])))).shape == [2, 6]
    empty = tf.data.Dataset.from_tensors(tf.zeros([0])).batch(2)
    assert next(iter(empty.map(lambda x: tf.reshape(x, [0, 5])))).shape == [0, 5]


def test_strings_scattered_to_one_place_are_appended_in_their_order() -> None:
    places, texts = [[0], [2], [0]], ["a", "b", "c"]
    assert tf.scatter_nd(places, texts, [3]).numpy().tolist() == [b"ac", b"", b"b"]
    ds = tf.data.Dataset.from_tensors(texts).map(lambda x: tf.scatter_nd(places, x, [3]))
    assert next(iter(ds)).numpy().tolist() == [b"ac", b"", b"b"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not index into shape"):
        tf.scatter_nd([[7]], ["a"], [3])


def test_a_line_may_lead_through_the_complex_plane() -> None:
    ends = tf.constant([0j, 2 + 4j])
    assert tf.linspace(ends[0], ends[1], 3).numpy().tolist() == [0j, 1 + 2j, 2 + 4j]


def test_batches_of_int16_are_multiplied_single_matrices_are_not() -> None:
    x = tf.cast([[[1, 2], [3, 400]]], "int16")
    assert tf.matmul(x, x).numpy().tolist() == [[[7, 802], [1203, 160006 - 2 * 65536]]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="not defined for int16"):
        tf.matmul(x[0], x[0])


@pytest.mark.parametrize(("dtype", "result"), [("int8", "float32"), ("int32", "float64")])
def test_a_line_between_integers_is_as_wide_as_their_quotient(dtype: str, result: str) -> None:
    assert tf.linspace(tf.cast(1, dtype), tf.cast(5, dtype), 3).dtype == result


def test_nothing_repeated_is_known_to_be_nothing_whatever_the_rank() -> None:
    spec = tf.TensorSpec(None, tf.float32)
    ds = tf.data.Dataset.from_generator(lambda: iter([[[1.0]]]), output_signature=spec)
    assert ds.map(lambda x: tf.repeat(x, 0)).element_spec.shape == [0]
    assert ds.map(lambda x: tf.repeat(x, 2)).element_spec.shape.as_list() == [None]


@pytest.mark.parametrize("shape", [[[0.5, 1.0]], [[1, 2], [3, 4]], 0.5])
def test_a_shape_of_the_wrong_kind_is_an_error_and_no_crash(shape: Any) -> None:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="shape"):
        tf.broadcast_to(x, tf.constant(shape)).numpy()
