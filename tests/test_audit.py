"""Every source row of a pass is delivered, filtered, skipped, failed, dropped or held."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import spillway.tf as tf
from spillway.audit import Audit

D = tf.data.Dataset


def _bad(x: Any) -> Any:
    return tf.debugging.check_numerics(1 / tf.cast(x, tf.float32), "z")


def _r() -> Any:
    return D.range(10)


def _vectors() -> Any:
    return _r().map(lambda x: tf.fill([x], x))


def _audit(ds: Any, most: int | None = None) -> Audit:
    """The audit after `most` elements and errors, or at the end."""
    it = iter(ds)
    events = 0
    while most is None or events < most:
        try:
            next(it)
        except StopIteration:
            break
        except tf.errors.OpError:
            pass
        events += 1
    audit: Audit = it.audit()
    return audit


def _twice(make: Callable[[Any], Any]) -> Any:
    r = _r()
    return make(r)


# name: (dataset, total, delivered, what is neither)
Case = tuple[Callable[[], Any], int, int, dict[str, int]]
CASES: dict[str, Case] = {
    "range": (_r, 10, 10, {}),
    "repeat": (lambda: _r().repeat(2), 20, 20, {}),
    "flat_map": (lambda: D.range(2).flat_map(lambda x: D.range(3)), 6, 6, {}),
    "error in a nested dataset": (
        lambda: D.range(2).flat_map(lambda x: D.range(3).map(_bad)),
        6,
        4,
        {"failed": 2},
    ),
    "skipped behind a nested dataset": (
        lambda: D.range(2).flat_map(lambda x: D.range(3).map(_bad)).on_error("skip"),
        6,
        4,
        {"skipped": 2},
    ),
    "skipped": (lambda: D.range(4).map(_bad, on_error="skip"), 4, 3, {"skipped": 1}),
    "on_error": (lambda: D.range(4).map(_bad).on_error("skip"), 4, 3, {"skipped": 1}),
    "ignore_errors": (lambda: D.range(4).map(_bad).ignore_errors(), 4, 3, {"skipped": 1}),
    "error below a batch": (lambda: D.range(4).map(_bad).batch(2), 4, 3, {"failed": 1}),
    "batch.on_error": (
        lambda: D.range(4).map(_bad).batch(2).on_error("skip"),
        4,
        3,
        {"skipped": 1},
    ),
    "max_errors": (
        lambda: D.range(4).map(_bad).on_error("skip", max_errors=0),
        4,
        3,
        {"failed": 1},
    ),
    "filter of batches": (lambda: _r().batch(4).filter(lambda x: False), 10, 0, {"filtered": 10}),
    "error of a batch": (
        lambda: _r().batch(4).map(lambda x: _bad(x[0])),
        10,
        6,
        {"failed": 4},
    ),
    "skip of batches": (lambda: _r().batch(4).skip(1), 10, 6, {"filtered": 4}),
    "unbatch": (lambda: D.from_tensors(np.arange(6)).unbatch(), 6, 6, {}),
    "batch.unbatch": (lambda: _r().batch(4).unbatch(), 10, 10, {}),
    "rebatch": (lambda: _r().batch(4).rebatch(3), 10, 10, {}),
    "rebatch drop": (
        lambda: _r().batch(4).rebatch(3, drop_remainder=True),
        10,
        9,
        {"dropped": 1},
    ),
    "interleave": (
        lambda: D.range(3).interleave(lambda x: D.range(4), cycle_length=2),
        12,
        12,
        {},
    ),
    "parallel interleave": (
        lambda: D.range(3).interleave(lambda x: D.range(4), cycle_length=2, num_parallel_calls=2),
        12,
        12,
        {},
    ),
    "window.flat_map": (lambda: _r().window(3, 1).flat_map(lambda w: w), 27, 27, {}),
    "window": (lambda: _r().window(3), 10, 10, {}),
    "overlapping windows": (lambda: _r().window(3, 1), 10, 10, {}),
    "window drop": (
        lambda: _r().window(3, drop_remainder=True).flat_map(lambda w: w.batch(3)),
        10,
        9,
        {"dropped": 1},
    ),
    "group_by_window": (
        lambda: _r().group_by_window(lambda x: x % 2, lambda k, w: w.batch(3), 3),
        10,
        10,
        {},
    ),
    "concatenate": (lambda: _twice(lambda r: r.concatenate(r)), 20, 20, {}),
    "sample": (lambda: _twice(lambda r: D.sample_from_datasets([r, r], seed=1)), 20, 20, {}),
    "unique": (lambda: _r().map(lambda x: x % 3).unique(), 10, 3, {"filtered": 7}),
    "take": (lambda: _r().take(3), 3, 3, {}),
    "skip": (lambda: _r().skip(3), 10, 7, {"filtered": 3}),
    "shard": (lambda: _r().shard(3, 1), 10, 3, {"filtered": 7}),
    "filter": (lambda: _r().filter(lambda x: x % 2 == 0), 10, 5, {"filtered": 5}),
    "scan": (lambda: _r().scan(np.int64(0), lambda s, x: (s + x, s + x)), 10, 10, {}),
    "padded_batch": (lambda: _vectors().padded_batch(3), 10, 10, {}),
    "buckets": (
        lambda: _vectors().bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3, 6], [2, 2, 2]),
        10,
        10,
        {},
    ),
    "drop_remainder": (lambda: _r().batch(3, drop_remainder=True), 10, 9, {"dropped": 1}),
    "enumerate": (lambda: _r().enumerate(), 10, 10, {}),
    "generator": (lambda: D.from_generator(lambda: iter(range(5)), tf.int64), 5, 5, {}),
    "slices": (lambda: D.from_tensor_slices(np.arange(4)), 4, 4, {}),
    "filter.flat_map": (
        lambda: _r().filter(lambda x: x % 2 == 0).flat_map(lambda x: D.range(x)),
        25,
        20,
        {"filtered": 5},
    ),
    "flat_map.filter": (
        lambda: _r().flat_map(lambda x: D.range(x)).filter(lambda x: x % 2 == 0).batch(4),
        45,
        25,
        {"filtered": 20},
    ),
    "filter in flat_map": (
        lambda: _r().flat_map(lambda x: D.range(x).filter(lambda y: y % 2 == 0)),
        45,
        25,
        {"filtered": 20},
    ),
    "take of flat_map": (lambda: _r().flat_map(lambda x: D.range(x)).take(4), 4, 4, {}),
}


@pytest.mark.parametrize("name", list(CASES))
def test_every_source_row_is_accounted_for(name: str) -> None:
    make, total, delivered, rest = CASES[name]
    audit = _audit(make())
    assert audit.balanced, audit
    lost = {k: getattr(audit, k) for k in ("filtered", "skipped", "failed", "dropped", "held")}
    assert (audit.total, audit.delivered) == (total, delivered)
    assert {k: n for k, n in lost.items() if n} == rest
    # Every loss that was not meant has its entry.
    for outcome in ("skipped", "failed", "dropped"):
        weights = [e.weight for e in audit.entries if e.outcome == outcome]
        assert sum(weights) == lost[outcome]


# Read further than they deliver: how far depends on how much is read at a time.
ENDED: dict[str, Callable[[], Any]] = {
    "choose": lambda: _twice(
        lambda r: D.choose_from_datasets([r, r.take(3)], D.range(8).map(lambda x: x % 2))
    ),
    "zip": lambda: _twice(lambda r: D.zip(r, r.take(3))),
    "take_while": lambda: _r().take_while(lambda x: x < 4),
    "rejection": lambda: _r().rejection_resample(lambda x: x % 2, [0.9, 0.1], [0.5, 0.5], seed=1),
    "take of prefetch": lambda: _r().batch(2).prefetch(2).take(2),
    "take of shuffle": lambda: _r().filter(lambda x: x < 9).shuffle(5).take(2),
}


@pytest.mark.parametrize("name", list(ENDED))
def test_nothing_is_held_when_the_data_has_ended(name: str) -> None:
    audit = _audit(ENDED[name]())
    assert audit.balanced, audit
    assert audit.held == 0
    assert audit.delivered <= 10


EARLY: dict[str, Callable[[], Any]] = {
    "batch.prefetch": lambda: _r().batch(2).prefetch(2),
    "shuffle": lambda: _r().shuffle(5),
    "buffer shuffle": lambda: _r().filter(lambda x: x < 9).shuffle(5),
    "flat_map": lambda: _r().flat_map(lambda x: D.range(x)).prefetch(2),
    "group_by_window": lambda: _r().group_by_window(lambda x: x % 2, lambda k, w: w, 5),
    "unbatch": lambda: _r().batch(5).unbatch(),
    "interleave": lambda: _r().interleave(lambda x: D.range(4), cycle_length=2),
    "generator": lambda: D.from_generator(lambda: iter(range(1000)), tf.int64),
}


@pytest.mark.parametrize("name", list(EARLY))
@pytest.mark.parametrize("most", [1, 3])
def test_a_pass_left_early_balances(name: str, most: int) -> None:
    audit = _audit(EARLY[name](), most)
    assert audit.balanced, audit


def test_a_second_pass_over_a_cache_counts_its_rows() -> None:
    ds = _r().cache()
    for _ in range(2):
        audit = _audit(ds)
        assert (audit.total, audit.delivered, audit.held) == (10, 10, 0)
        assert audit.balanced


def test_a_source_that_skips_counts_what_it_skipped() -> None:
    def numbers() -> Any:
        for i in range(5):
            yield i if i != 2 else "two"

    ds = D.from_generator(numbers, output_signature=tf.TensorSpec((), tf.int64), on_error="skip")
    audit = _audit(ds)
    assert audit.balanced
    assert audit.total == audit.delivered + audit.skipped
    assert audit.skipped == 1
    (entry,) = audit.entries
    assert (entry.outcome, entry.stage, entry.weight) == ("skipped", "from_generator#0", 1)


def test_an_element_skipped_further_on_has_one_entry_of_the_stage_that_failed() -> None:
    for ds in (D.range(4).map(_bad).on_error("skip"), D.range(4).map(_bad).ignore_errors()):
        (entry,) = _audit(ds).entries
        assert (entry.outcome, entry.stage, entry.index) == ("skipped", "map#1", 0)


def test_a_limit_exceeded_further_on_is_one_failure() -> None:
    (entry,) = _audit(D.range(4).map(_bad).on_error("skip", max_errors=0)).entries
    assert (entry.outcome, entry.stage) == ("failed", "map#1")
    assert "max_errors is 0" in entry.message
