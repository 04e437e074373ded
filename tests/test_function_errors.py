"""What is known of a function when its line is written, and where it fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf
from tests.explained import how, values

D = tf.data.Dataset


# ---- What is known before anything runs


def test_element_specs_are_known_when_the_line_is_written() -> None:
    ds = D.from_tensor_slices(np.zeros((4, 3, 2), np.float32)).batch(2)
    assert ds.map(lambda x: tf.reduce_sum(x, axis=1)).element_spec.shape.as_list() == [None, 2]
    assert ds.map(lambda x: tf.transpose(x, [2, 0, 1])).element_spec.shape.as_list() == [2, None, 3]
    assert ds.map(lambda x: tf.reshape(x, [-1])).element_spec.shape.as_list() == [None]
    flat = D.range(3).flat_map(lambda x: D.from_tensor_slices([[x, x], [x, x + 1]]))
    assert flat.element_spec == tf.TensorSpec([2], tf.int64)
    windows = D.range(7).window(3).flat_map(lambda w: w.batch(3))
    assert windows.element_spec == tf.TensorSpec([None], tf.int64)


def test_a_shape_error_is_raised_where_it_is_written_with_both_operands() -> None:
    ds = D.from_tensor_slices(np.zeros((4, 3), np.float32))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)\[3\] vs\. \[2\].*operand 1"):
        ds.map(lambda x: x + tf.zeros([2]))


def test_an_undefined_key_is_found_when_the_line_is_written() -> None:
    ds = D.from_tensor_slices({"a": [1, 2]})
    with pytest.raises(KeyError) as found:
        ds.map(lambda element: element["b"])
    (note,) = found.value.__notes__
    assert "test_function_errors.py" in note
    assert "'a': TensorSpec" in note or '"a"' in note or "a" in note.split("elements:")[1]


# The mistakes of docs/mistakes.md: what is raised, and words a user needs.
def _raise(x: Any) -> Any:
    raise ValueError("bad record")


MISTAKES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "wrong shape": (
        lambda: D.from_tensor_slices(np.zeros((2, 3), np.float32)).map(lambda x: x + tf.zeros([2])),
        ValueError,
        r"(?s)\[3\] vs\. \[2\].*operand 1.*made at",
    ),
    "wrong dtype": (lambda: D.range(3).map(lambda x: x + 1.5), TypeError, "float.*int64"),
    "undefined key": (
        lambda: D.from_tensor_slices({"a": [1]}).map(lambda e: e["b"]),
        KeyError,
        "b",
    ),
    "wrong arity": (
        lambda: D.from_tensor_slices(([1], [2])).map(lambda x: x),
        TypeError,
        "takes 1 positional argument but 2 were given",
    ),
    "strings and numbers": (
        lambda: D.from_tensor_slices(["a"]).map(lambda s: s + 1),
        TypeError,
        "cannot convert int to string",
    ),
    "a filter that is not a question": (
        lambda: D.range(3).filter(lambda x: x + 1),
        ValueError,
        "must return a `tf.bool` scalar",
    ),
    "a batch of different shapes": (
        lambda: list(D.range(1, 4).map(lambda x: tf.fill([x], 1)).batch(3)),
        tf.errors.InvalidArgumentError,
        r"(?s)\[1\].*\[2\].*batch#2, written at.*element 1",
    ),
    "an index out of range": (
        lambda: list(D.range(3).map(lambda x: tf.gather([1, 2], x))),
        tf.errors.InvalidArgumentError,
        r"(?s)= 2 is not in \[0, 2\).*map#1, written at.*element 2",
    ),
    "integers divided by zero": (
        lambda: list(D.range(3).map(lambda x: 6 // x)),
        tf.errors.InvalidArgumentError,
        r"(?s)Integer division by zero.*written at.*element 0",
    ),
    "not a number": (
        lambda: list(
            D.from_tensor_slices([1.0, float("nan")]).map(
                lambda x: tf.debugging.check_numerics(x, "loss")
            )
        ),
        tf.errors.InvalidArgumentError,
        r"(?s)loss : Tensor had NaN values.*written at.*element 1",
    ),
    "an exception of one's own": (
        lambda: list(D.range(3).map(lambda x: tf.py_function(_raise, [x], tf.int64))),
        ValueError,
        r"(?s)bad record.*map#1, written at.*element 0",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_with_what_a_user_needs(name: str) -> None:
    make, kind, words = MISTAKES[name]
    with pytest.raises(kind, match=words):
        make()


def test_a_policy_for_errors_leaves_them_to_the_elements() -> None:
    ds = sw.Dataset.from_tensor_slices([1, 0, 2]).map(lambda x: 6 // x, on_error="skip")
    assert how(ds) == [True]
    assert values(ds) == [6, 3]
    assert ds.audit().skipped == 1


def test_an_error_in_a_traced_function_comes_in_its_place_and_the_rest_goes_on() -> None:
    ds = sw.Dataset.from_tensor_slices([1, 2, 0, 3, 0, 4]).map(lambda x: 12 // x)
    it = iter(ds)
    got: list[Any] = []
    for _ in range(6):
        try:
            got.append(int(next(it)))
        except sw.errors.InvalidArgumentError as error:
            got.append(error.index)
    assert got == [12, 6, 2, 4, 4, 3]
    assert next(it, None) is None


# ---- What fails on constants fails where it is used ----------------------------------------------


def test_an_op_on_constants_that_fails_and_is_not_used_is_dropped() -> None:
    def shrug(x: Any) -> Any:
        tf.constant(1) // tf.constant(0)
        tf.gather(tf.constant([1, 2]), 7)
        return x

    ds = D.range(3).map(shrug)
    assert how(ds) == [True]
    assert values(ds) == [0, 1, 2]


def test_an_op_on_constants_that_fails_and_is_used_fails_for_each_element() -> None:
    ds = D.range(2).map(lambda x: x + tf.cast(tf.constant(1) // tf.constant(0), tf.int64))
    assert how(ds) == [True]
    elements = iter(ds)
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
            next(elements)


def test_an_op_on_constants_that_fails_in_a_branch_not_taken_does_not_fail() -> None:
    def choose(x: Any) -> Any:
        return tf.cond(x < 9, lambda: x, lambda: x // tf.constant(0, tf.int64))

    assert values(D.range(2).map(choose)) == [0, 1]


def test_checks_are_made_though_nothing_uses_them() -> None:
    def check(x: Any) -> Any:
        tf.debugging.check_numerics(tf.math.log(tf.cast(x, tf.float32)), "bad")
        return x

    elements = iter(D.range(2).map(check))
    with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
        next(elements)
    assert int(next(elements)) == 1
