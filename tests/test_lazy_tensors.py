"""Tensors that wait until their value is asked for."""

from __future__ import annotations

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf


def test_large_expressions_wait_until_their_value_is_asked_for() -> None:
    x = tf.zeros([300, 1000]) + 1.5
    total = tf.reduce_sum(x * 2)
    assert not x._known
    assert float(total) == 900_000.0
    assert not x._known


def test_what_cannot_fit_is_refused_at_once_with_the_numbers() -> None:
    huge = tf.random.normal([10000, 10000, 10000])
    with pytest.raises(MemoryError) as refused:
        huge.numpy()
    text = str(refused.value)
    assert "3.64 TiB" in text
    assert "operations" in text
    assert "test_lazy_tensors.py" in text
    assert isinstance(refused.value, tf.errors.ResourceExhaustedError)


def test_a_sum_of_more_than_memory_runs_in_pieces_and_the_same_everywhere() -> None:
    with sw.configure(memory_limit="64MiB"):
        total = float(tf.reduce_sum(tf.random.normal([2000, 1000, 20], seed=3)))
        with sw.configure(threads=1):
            assert float(tf.reduce_sum(tf.random.normal([2000, 1000, 20], seed=3))) == total
    assert abs(total) < 5 * (40_000_000**0.5)


def test_a_map_that_found_no_memory_goes_on_with_the_same_element() -> None:
    with sw.configure(memory_limit="64MiB"):
        ds = sw.Dataset.range(4).map(lambda x: tf.zeros([5, 1024, 1024]) + tf.cast(x, tf.float32))
        it = iter(ds)
        kept = [next(it), next(it)]
        with pytest.raises(sw.errors.BudgetError):
            next(it)
        kept.clear()
        assert [float(next(it)[0, 0, 0]) for _ in range(2)] == [2.0, 3.0]
        audit = ds.audit()
        assert (audit.delivered, audit.failed, audit.dropped) == (4, 0, 0)


def test_long_chains_of_tensors_neither_recurse_nor_grow_without_end() -> None:
    x = tf.zeros([100, 1000])
    for _ in range(5000):
        x = x + 1.0
    assert float(x[0, 0]) == 5000.0


def test_a_constant_is_the_array_as_it_was_at_the_line() -> None:
    array = np.zeros(200_000)
    x = tf.constant(array)
    y = x + 1.0
    array[:] = 7
    assert float(y[0]) == 1.0


def test_a_constant_that_cannot_fit_is_refused_before_it_is_copied() -> None:
    array = np.ones([4 << 20])
    with sw.configure(memory_limit="16MiB"):
        with pytest.raises(sw.errors.BudgetError, match=r"32\.0 MiB"):
            tf.constant(array)
        assert float(tf.constant(1.0)) == 1.0


def test_constants_make_room_for_each_other() -> None:
    with sw.configure(memory_limit="16MiB"):
        kept = [tf.constant(np.full([1 << 17], float(at))) for at in range(40)]
        assert sw.memory().used <= 16 << 20
        assert [float(x[0]) for x in kept] == list(range(40))


def _held() -> int:
    """Bytes of tensors that have a value."""
    return sum(row["held"] for row in sw.memory().rows if row["name"] == "tensors")


def test_a_network_with_ways_around_its_layers_waits_as_a_whole() -> None:
    x = tf.zeros([1000, 500]) + 1.0
    before = _held()
    y = x
    for _ in range(40):  # counted along every way, 2 ** 40 nodes
        y = tf.nn.relu(y) * 0.5 + y * 0.5
    assert _held() - before < 1 << 20, "half of it was computed as it was written"
    assert float(tf.reduce_max(y)) == 1.0


def test_a_thousand_waiting_nodes_are_computed() -> None:
    y = tf.zeros([1000, 500])
    before = _held()
    for _ in range(1100):
        y = y + 1.0
    assert _held() - before >= 1000 * 500 * 4
    assert float(tf.reduce_min(y)) == 1100.0
