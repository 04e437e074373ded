"""`on_error=` on any stage."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import spillway as sw

INT = sw.TensorSpec((), "int64")


def bad_at(*positions: int) -> Callable[..., Any]:
    def call(x: Any, *_: Any) -> Any:
        if int(x) in positions:
            raise ValueError(f"bad {int(x)}")
        return x

    return call


def _scan(state: Any, x: Any) -> Any:
    return state + 1, bad_at(3)(x)


def _group(policy: dict[str, Any]) -> sw.Dataset:
    return sw.Dataset.range(6).group_by_window(
        lambda x: bad_at(3)(x) * 0, lambda _, window: window.batch(9), 9, **policy
    )


STAGES: dict[str, tuple[Callable[[dict[str, Any]], sw.Dataset], list[Any]]] = {
    "map": (lambda p: sw.Dataset.range(6).map(bad_at(3), **p), [0, 1, 2, 4, 5]),
    "parallel map": (
        lambda p: sw.Dataset.range(6).map(bad_at(3), num_parallel_calls=2, **p),
        [0, 1, 2, 4, 5],
    ),
    "filter": (
        lambda p: sw.Dataset.range(6).filter(lambda x: bad_at(3)(x) >= 0, **p),
        [0, 1, 2, 4, 5],
    ),
    "flat_map": (
        lambda p: sw.Dataset.range(6).flat_map(
            lambda x: sw.Dataset.from_tensors(bad_at(3)(x)), **p
        ),
        [0, 1, 2, 4, 5],
    ),
    "interleave": (
        lambda p: sw.Dataset.range(6).interleave(
            lambda x: sw.Dataset.from_tensors(bad_at(3)(x)), cycle_length=1, **p
        ),
        [0, 1, 2, 4, 5],
    ),
    "scan": (
        lambda p: sw.Dataset.range(6).scan(0, _scan, **p),
        [0, 1, 2, 4, 5],
    ),
    "group_by_window": (_group, [[0, 1, 2, 4, 5]]),
    "take_while": (
        lambda p: sw.Dataset.range(6).take_while(lambda x: bad_at(3)(x) < 5, **p),
        [0, 1, 2, 4],
    ),
}


def plain(ds: sw.Dataset) -> list[Any]:
    return [getattr(value, "tolist", lambda value=value: value)() for value in ds]


@pytest.mark.parametrize("stage", list(STAGES))
def test_any_stage_skips_what_fails_in_it_and_accounts_for_it(stage: str) -> None:
    build, expected = STAGES[stage]
    ds = build({"on_error": "skip"})
    assert plain(ds) == expected
    audit = ds.audit()
    assert audit.skipped == 1
    assert audit.balanced
    assert ds.cardinality() == sw.UNKNOWN_CARDINALITY
    with pytest.raises(ValueError, match="bad 3"):
        plain(build({}))


def test_a_batch_that_cannot_be_made_is_skipped_whole() -> None:
    rows = [[1], [2], [3, 3], [4], [5]]
    ds = sw.Dataset.from_generator(
        lambda: iter(rows), output_signature=sw.TensorSpec((None,), "int32")
    ).batch(2, on_error="skip")
    assert plain(ds) == [[[1], [2]], [[5]]]
    audit = ds.audit()
    assert (audit.delivered, audit.balanced) == (3, True)


def test_a_stage_minds_only_its_own_errors() -> None:
    ds = sw.Dataset.range(6).map(bad_at(3)).filter(lambda x: bad_at(1)(x) >= 0, on_error="skip")
    it = iter(ds)
    assert [int(next(it)) for _ in range(2)] == [0, 2]
    with pytest.raises(ValueError, match="bad 3"):
        next(it)
    assert [int(x) for x in it] == [4, 5]


def test_a_whole_policy_travels_as_one_value(tmp_path: Path) -> None:
    policy = sw.OnError("quarantine", retries=1, backoff=0, quarantine=tmp_path / "bad.jsonl")
    ds = sw.Dataset.range(6).filter(lambda x: bad_at(3)(x) >= 0, on_error=policy)
    assert plain(ds) == [0, 1, 2, 4, 5]
    assert plain(sw.Dataset.from_quarantine(tmp_path / "bad.jsonl")) == [3]
    (entry,) = ds.audit().entries
    assert "filter" in str(entry.stage)
    assert plain(sw.Dataset.range(6).map(bad_at(3)).on_error(policy)) == [0, 1, 2, 4, 5]


def test_a_stage_inside_a_nested_dataset_has_its_policy_too() -> None:
    def inner(x: Any) -> sw.Dataset:
        return sw.Dataset.range(3).map(lambda y: bad_at(1)(y) + 10 * int(x), on_error="skip")

    assert plain(sw.Dataset.range(2).flat_map(inner)) == [0, 2, 10, 12]


def test_a_policy_is_part_of_the_spec() -> None:
    def build(**policy: Any) -> sw.Dataset:
        return sw.Dataset.range(3).filter(_positive, output_signature=None, **policy)

    skipping = build(on_error="skip")
    assert skipping.spec_hash() != build().spec_hash()
    assert skipping.spec_hash() == build(on_error="skip", max_errors=5).spec_hash()
    again = sw.Dataset.from_json(skipping.to_json(), {"_positive": _positive})
    assert again.spec_hash() == skipping.spec_hash()
    assert "on_error='skip'" in repr(skipping)


def _positive(x: Any) -> Any:
    return x > 0


@pytest.mark.parametrize(
    ("policy", "error", "words"),
    [
        ({"on_error": "ignore"}, ValueError, "must be 'raise', 'skip'"),
        ({"on_error": "quarantine"}, ValueError, "quarantine=<file>"),
        ({"on_error": 3}, TypeError, "on_error must be str"),
        ({"on_error": "skip", "max_errors": -1}, ValueError, "max_errors must not be negative"),
        ({"on_error": "skip", "retries": "x"}, TypeError, "retries must be int"),
        ({"on_error": sw.OnError("skip"), "retries": 1}, ValueError, "whole policy"),
    ],
)
def test_a_wrong_policy_is_refused_where_it_is_written(
    policy: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        sw.Dataset.range(3).filter(_positive, **policy)
