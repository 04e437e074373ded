"""Steps that run together: in one loop, and maps in a row as one graph."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway.tf as tf
from tests.explained import how, values

D = tf.data.Dataset


ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / y,
}


@pytest.mark.parametrize("second", ARITHMETIC)
@pytest.mark.parametrize("first", ARITHMETIC)
def test_two_steps_in_one_loop_give_what_two_loops_give(first: str, second: str) -> None:
    rng = np.random.default_rng(7)
    rows = (rng.standard_normal((3, 701, 7)) * 1e3).astype(np.float32)
    one, two = ARITHMETIC[first], ARITHMETIC[second]
    for shape in ((), (7,), (701, 1), (701, 7)):
        y, z = rng.standard_normal((2, *shape)).astype(np.float32)

        def both(x: Any, y: Any = y, z: Any = z) -> Any:
            return two(one(x, tf.constant(y)), tf.constant(z))

        def squared(x: Any, y: Any = y, z: Any = z) -> Any:  # the item between is read twice
            between = one(x, tf.constant(y))
            return two(between, between) + two(between, tf.constant(z))

        got = np.stack(list(D.from_tensor_slices(rows).map(both).as_numpy_iterator()))
        between = one(rows, y)
        np.testing.assert_array_equal(got, two(between, z))
        again = np.stack(list(D.from_tensor_slices(rows).map(squared).as_numpy_iterator()))
        np.testing.assert_array_equal(again, two(between, between) + two(between, z))


def test_maps_in_a_row_all_happen() -> None:
    ds = D.range(3).map(lambda x: x + 1).map(lambda x: x * 2)
    assert how(ds) == [True]
    assert values(ds) == [2, 4, 6]


def test_maps_in_a_row_count_and_resume_like_stages_of_their_own(tmp_path: Path) -> None:
    def build() -> Any:
        ds = D.range(10).map(lambda x: x + 1).map(lambda x: (x, x * 2))
        return ds.map(lambda a, b: a + b).batch(3)

    it = iter(build())
    assert next(it).numpy().tolist() == [3, 6, 9]
    saved = tf.train.Checkpoint(iterator=it).save(str(tmp_path / "at"))
    rest = [x.numpy().tolist() for x in it]
    again = iter(build())
    tf.train.Checkpoint(iterator=again).restore(saved)
    assert [x.numpy().tolist() for x in again] == rest == [[12, 15, 18], [21, 24, 27], [30]]
