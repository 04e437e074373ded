"""Sorts of axes that are too long to be sorted in one go, against NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import spillway.tf as tf

N = 200_000
RANDOM = np.random.default_rng(1)
ITEMS: dict[str, Any] = {
    "random": RANDOM.random(N, np.float32),
    "in order": np.arange(N, dtype=np.int32),
    "in reverse": np.arange(N, dtype=np.int64)[::-1].copy(),
    "all equal": np.full(N, 7, np.uint8),
    "two values": RANDOM.integers(0, 2, N).astype(np.int16),
    "few values": RANDOM.integers(0, 40, N).astype(np.float64),
    "up and down": np.concatenate([np.arange(N // 2), np.arange(N // 2)[::-1]]).astype(np.int32),
    "saw": (np.arange(N) % 1000).astype(np.float32),
    "mostly one": np.where(RANDOM.random(N) < 0.99, 5, RANDOM.integers(0, 9, N)).astype(np.int32),
    "with NaN": np.where(RANDOM.random(N) < 0.3, np.nan, RANDOM.random(N)).astype(np.float32),
    "all NaN": np.full(N, np.nan, np.float64),
    "just one stretch more": RANDOM.random(65537).astype(np.float32),
}


@pytest.mark.parametrize("name", ITEMS)
def test_a_long_axis_is_sorted_as_numpy_sorts_it(name: str) -> None:
    items = ITEMS[name]
    np.testing.assert_array_equal(tf.sort(items).numpy(), np.sort(items))
    places = np.argsort(items, kind="stable")
    np.testing.assert_array_equal(tf.argsort(items).numpy(), places)
    down = tf.sort(items, direction="DESCENDING").numpy()
    there = items[~np.isnan(items)]
    np.testing.assert_array_equal(down[: len(there)], np.sort(there)[::-1])


@pytest.mark.parametrize("name", ITEMS)
@pytest.mark.parametrize("k", [0, 1, 50, N // 80, N // 3, N])
def test_the_largest_of_a_long_axis_come_in_order_and_the_first_of_equal_ones_first(
    name: str, k: int
) -> None:
    items = ITEMS[name]
    k = min(k, len(items))
    kept = np.where(np.isnan(items), -np.inf, items) if items.dtype.kind == "f" else items
    places = np.argsort(-kept.astype(np.float64), kind="stable")[:k]
    values, found = tf.math.top_k(items, k)
    np.testing.assert_array_equal(found.numpy(), places)
    np.testing.assert_array_equal(values.numpy(), items[places])


def test_columns_are_sorted_one_by_one() -> None:
    items = RANDOM.random((70_000, 3)).astype(np.float32)
    np.testing.assert_array_equal(tf.sort(items, axis=0).numpy(), np.sort(items, axis=0))
    np.testing.assert_array_equal(
        tf.argsort(items, axis=0).numpy(), np.argsort(items, axis=0, kind="stable")
    )


@pytest.mark.parametrize("name", ITEMS)
def test_many_items_are_numbered_as_they_are_first_seen(name: str) -> None:
    items = ITEMS[name]
    values, index = tf.unique(items)
    seen: dict[Any, int] = {}
    numbers = []
    for at, item in enumerate(items.tolist()):
        key = ("NaN", at) if item != item else item
        numbers.append(seen.setdefault(key, len(seen)))
    np.testing.assert_array_equal(index.numpy(), numbers)
    assert values.shape == (len(seen),)
    np.testing.assert_array_equal(values.numpy()[index.numpy()], items)


def test_strings_are_numbered_as_they_are_first_seen() -> None:
    words = [f"word {i % 5000}" for i in range(20_000)]
    values, index = tf.unique(words)
    assert values.numpy().tolist() == [word.encode() for word in words[:5000]]
    assert index.numpy().tolist() == [i % 5000 for i in range(20_000)]
