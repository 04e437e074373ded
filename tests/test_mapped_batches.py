"""Rows of a traced map are made in their places in the batch: nobody can tell, but for the time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf

ROW = (64, 96)  # float32: large enough to have a place


def rows(n: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(1).uniform(-3, 3, (n, *ROW)).astype(np.float32)


def source(items: np.ndarray[Any, Any], one_by_one: bool) -> Any:
    if one_by_one:
        return sw.Dataset.from_generator(
            lambda: iter(items), output_signature=tf.TensorSpec(ROW, tf.float32)
        )
    return sw.Dataset.from_tensor_slices(items)


@pytest.mark.parametrize("one_by_one", [False, True])
@pytest.mark.parametrize("size", [1, 7, 32, 100])
def test_batches_hold_what_the_map_gives(one_by_one: bool, size: int) -> None:
    items = rows(50)
    pipeline = source(items, one_by_one).map(lambda x: {"a": x * 2 + 1, "b": tf.cast(x, tf.int32)})
    batches = list(pipeline.batch(size).as_numpy_iterator())
    assert [len(batch["a"]) for batch in batches] == [
        min(size, 50 - first) for first in range(0, 50, size)
    ]
    np.testing.assert_array_equal(np.concatenate([batch["a"] for batch in batches]), items * 2 + 1)
    np.testing.assert_array_equal(
        np.concatenate([batch["b"] for batch in batches]), items.astype(np.int32)
    )


@pytest.mark.parametrize("one_by_one", [False, True])
def test_rows_that_fail_leave_no_hole(one_by_one: bool) -> None:
    items = rows(40)
    bad = [0, 5, 6, 19, 39]
    items[bad, 3, 4] = np.nan
    pipeline = source(items, one_by_one).map(
        lambda x: tf.debugging.check_numerics(x * 2, "bad row"), on_error="skip"
    )
    batches = list(pipeline.batch(8).as_numpy_iterator())
    np.testing.assert_array_equal(np.concatenate(batches), np.delete(items, bad, axis=0) * 2)


def test_batches_that_are_kept_do_not_change() -> None:
    items = rows(48)
    kept = list(source(items, False).map(lambda x: x - 1).batch(16).as_numpy_iterator())
    again = [batch.copy() for batch in kept]
    for _ in source(items * 0, False).map(lambda x: x - 1).batch(16):
        continue
    for before, now in zip(again, kept, strict=True):
        np.testing.assert_array_equal(before, now)


def test_a_batch_resumes_in_the_middle() -> None:
    items = rows(30)
    pipeline = source(items, False).map(lambda x: x * 3).batch(4)
    iterator = iter(pipeline)
    first = [np.asarray(next(iterator)) for _ in range(3)]
    state = iterator.save()
    resumed = iter(pipeline)
    resumed.restore(state)
    rest = [np.asarray(batch) for batch in resumed]
    np.testing.assert_array_equal(np.concatenate(first + rest), items * 3)


@pytest.mark.parametrize("bounds", [(-1.0, 1.0), (1.0, -1.0), (0.0, np.inf)])
def test_operations_in_one_loop_give_what_numpy_gives(bounds: tuple[float, float]) -> None:
    low, high = np.float32(bounds[0]), np.float32(bounds[1])
    items = rows(5)
    items[1, :, 3] = np.nan
    items[2, 0] = np.inf
    mean = np.linspace(-1, 1, ROW[1], dtype=np.float32)
    std = np.linspace(0.2, 3, ROW[1], dtype=np.float32)

    def clipped(function: Any) -> Any:
        return lambda x: tf.clip_by_value(function(x), low, high)

    for function, expected in (
        (lambda x: (x - mean) / std, (items - mean) / std),
        (lambda x: (x * std) + mean, (items * std) + mean),
        (lambda x: (x / std) * mean, (items / std) * mean),
    ):
        pipeline = source(items, False).map(clipped(function))
        assert "Python" not in str(pipeline.explain())
        with np.errstate(invalid="ignore"):
            right = np.where(high < expected, high, expected)
            right = np.where(right < low, low, right)
        np.testing.assert_array_equal(np.stack(list(pipeline.as_numpy_iterator())), right)
