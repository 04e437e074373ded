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


def test_a_filter_behind_a_map_counts_and_resumes_like_a_stage_of_its_own(tmp_path: Path) -> None:
    def build() -> Any:
        ds = D.range(20).map(lambda x: {"n": x + 1, "name": tf.strings.as_string(x)})
        return ds.filter(lambda row: row["n"] % 3 == 0).batch(2)

    def shown(batch: Any) -> Any:
        return batch["n"].numpy().tolist(), batch["name"].numpy().tolist()

    it = iter(build())
    assert shown(next(it)) == ([3, 6], [b"2", b"5"])
    saved = tf.train.Checkpoint(iterator=it).save(str(tmp_path / "at"))
    rest = [shown(batch) for batch in it]
    again = iter(build())
    tf.train.Checkpoint(iterator=again).restore(saved)
    assert [shown(batch) for batch in again] == rest
    assert rest == [([9, 12], [b"8", b"11"]), ([15, 18], [b"14", b"17"])]
    audit = it.audit()
    assert (audit.total, audit.delivered, audit.filtered) == (20, 6, 14)


def test_a_filter_that_keeps_few_of_many_large_rows_keeps_the_limit() -> None:
    ds = D.range(400).map(lambda x: tf.fill([256, 1024], tf.cast(x, tf.float32)))
    kept = [x.numpy() for x in ds.filter(lambda x: x[0, 0] % 100 == 7)]
    assert [float(x[5, 9]) for x in kept] == [7, 107, 207, 307]
