"""Functions that make datasets: as forms where they can be, else as Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import spillway.tf as tf
from tests.explained import how, values

D = tf.data.Dataset


FORMS: dict[str, tuple[Callable[[], Any], list[Any]]] = {
    "a size": (lambda: D.range(4).flat_map(lambda x: D.range(x)), [0, 0, 1, 0, 1, 2]),
    "a computed size": (
        lambda: D.range(3).flat_map(lambda x: D.from_tensors(x).repeat(x * x)),
        [1, 2, 2, 2, 2],
    ),
    "rows of the element": (
        lambda: D.from_tensor_slices([[1, 2], [3, 4]]).flat_map(D.from_tensor_slices),
        [1, 2, 3, 4],
    ),
    "a value used inside": (
        lambda: D.range(2).flat_map(lambda x: D.range(2).map(lambda y: x * 10 + y)),
        [0, 1, 10, 11],
    ),
    "a value that is the result": (
        lambda: D.range(1, 3).flat_map(lambda x: D.range(x).map(lambda y: x)),
        [1, 2, 2],
    ),
    "a predicate": (
        lambda: D.range(3).flat_map(lambda x: D.range(4).filter(lambda y: y > x)),
        [1, 2, 3, 2, 3, 3],
    ),
    "a window": (
        lambda: D.range(5).window(2).flat_map(lambda w: w.map(lambda y: y * 2).batch(2)),
        [[0, 2], [4, 6], [8]],
    ),
    "several sources": (
        lambda: D.range(1, 3).flat_map(lambda x: D.zip(D.range(x), D.range(x, x * 2))),
        [[0, 1], [0, 2], [1, 3]],
    ),
    "one inside another": (
        lambda: D.range(2).flat_map(
            lambda x: D.range(2).flat_map(lambda y: D.from_tensors(y).repeat(2))
        ),
        [0, 0, 1, 1, 0, 0, 1, 1],
    ),
    "strings": (
        lambda: D.from_tensor_slices(["a b", "c"]).flat_map(
            lambda s: D.from_tensors(s).map(lambda t: tf.strings.join([t, s]))
        ),
        [b"a ba b", b"cc"],
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_a_function_that_makes_datasets_runs_without_python(name: str) -> None:
    build, expected = FORMS[name]
    assert how(build()) == [True]
    assert values(build()) == expected


NOT_FORMS: dict[str, tuple[Callable[[], Any], list[Any]]] = {
    "types that differ with the size": (
        lambda: D.range(1, 3).flat_map(
            lambda x: D.range(4).batch(x, drop_remainder=True).map(lambda y: y + x)
        ),
        [[1], [2], [3], [4], [2, 3], [4, 5]],
    ),
    "a seed": (
        lambda: D.range(2).flat_map(lambda x: D.range(1).shuffle(1, seed=3)),
        [0, 0],
    ),
    "a generator": (
        lambda: D.range(2).flat_map(
            lambda x: D.from_generator(
                lambda: iter([5]), output_signature=tf.TensorSpec((), "int64")
            )
        ),
        [5, 5],
    ),
    "an effect inside": (
        lambda: D.range(2).flat_map(lambda x: D.range(1).map(lambda y: int(y) + 7)),
        [7, 7],
    ),
    "a dataset inside an element": (
        lambda: (
            D.range(3).window(2).flat_map(lambda w: D.from_tensors(w)).map(lambda w: w.batch(2))
        ).flat_map(lambda w: D.from_tensors(w).flat_map(lambda v: v)),
        [[0, 1], [2]],
    ),
    "a value of the outermost one": (
        lambda: D.range(2).flat_map(
            lambda x: D.range(1).flat_map(lambda y: D.from_tensors(x).repeat(2))
        ),
        [0, 0, 1, 1],
    ),
}


@pytest.mark.parametrize("name", NOT_FORMS)
def test_what_a_form_cannot_hold_is_left_to_python(name: str) -> None:
    build, expected = NOT_FORMS[name]
    assert how(build()) == [False]
    assert values(build()) == expected


def test_an_element_whose_dataset_cannot_be_made_fails_in_its_place() -> None:
    ds = D.range(3).flat_map(lambda x: D.range(2).batch(x))
    it = iter(ds)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Batch size must be greater") as e:
        next(it)
    assert "test_forms.py" in str(e.value) and "range#0 element 0" in str(e.value)
    assert [x.numpy().tolist() for x in it] == [[0], [1], [0, 1]]
