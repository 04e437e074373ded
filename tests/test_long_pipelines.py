"""A pipeline may be thousands of stages long: work and memory grow with its length, no faster."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from typing import Any

import cloudpickle
import pytest

import spillway as sw

Step = Callable[[sw.Dataset], sw.Dataset]


def _first(a: Any, b: Any) -> Any:
    return a


KINDS: dict[str, Step] = {
    "map": lambda ds: ds.map(lambda x: x + 1),
    "map in Python": lambda ds: ds.map(lambda x: int(x) + 1),
    "parallel map": lambda ds: ds.map(lambda x: int(x) + 1, num_parallel_calls=2),
    "filter": lambda ds: ds.filter(lambda x: x >= 0),
    "take": lambda ds: ds.take(1000),
    "skip": lambda ds: ds.skip(0),
    "batch": lambda ds: ds.batch(2).unbatch(),
    "zip": lambda ds: sw.Dataset.zip(ds, sw.Dataset.range(1000)).map(_first),
    "concatenate": lambda ds: ds.concatenate(sw.Dataset.range(1)),
    "shuffle": lambda ds: ds.shuffle(1, seed=3),
    "enumerate": lambda ds: ds.enumerate().map(lambda i, x: x),
}


def chain(kind: str, stages: int) -> sw.Dataset:
    ds = sw.Dataset.range(8)
    for _ in range(stages):
        ds = KINDS[kind](ds)
    return ds


def expected(kind: str, stages: int) -> list[int]:
    added = stages if "map" in kind else 0
    return [x + added for x in range(8)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_chain_of_many_stages_runs(kind: str) -> None:
    stages = 40 if kind == "parallel map" else 1500
    ds = chain(kind, stages)
    assert [int(x) for x in ds][:8] == expected(kind, stages)


@pytest.mark.soak
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "parallel map"])
def test_a_chain_of_twenty_thousand_stages_runs(kind: str) -> None:
    ds = chain(kind, 20_000)
    assert [int(x) for x in ds.take(8)] == expected(kind, 20_000)


def test_twenty_thousand_stages_are_built_run_and_dropped() -> None:
    ds = chain("take", 20_000)
    assert [int(x) for x in ds] == expected("take", 20_000)
    assert len(ds.to_json()) > 20_000
    assert repr(ds).count("\ntake#") == 20_000
    assert ds.spec_hash() == chain("take", 20_000).spec_hash()


def calls(work: Callable[[], object]) -> int:
    """How many functions were called, Python's and C's."""
    count = 0

    def seen(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("kind", KINDS)
def test_building_a_chain_calls_python_in_proportion(kind: str) -> None:
    chain(kind, 5)  # what is made once
    few, many = calls(lambda: chain(kind, 100)), calls(lambda: chain(kind, 400))
    assert many < 4.4 * few, f"{few} calls for 100 stages, {many} for 400"


@pytest.mark.parametrize("kind", ["map in Python", "take", "batch", "zip"])
def test_a_state_grows_in_proportion_to_the_chain(kind: str) -> None:
    sizes = []
    for stages in (100, 400):
        iterator = iter(chain(kind, stages))
        assert int(next(iterator)) == expected(kind, stages)[0]
        state = iterator.save()
        sizes.append(len(state))
        again = iter(chain(kind, stages))
        again.restore(state)
        assert [int(x) for x in again][:7] == expected(kind, stages)[1:]
    assert sizes[1] < 6 * sizes[0], sizes


def test_a_long_chain_goes_on_where_it_was_saved_and_through_a_pickle() -> None:
    ds = chain("map in Python", 2000)
    iterator = iter(ds)
    assert [int(next(iterator)) for _ in range(3)] == [2000, 2001, 2002]
    state = iterator.save()
    del iterator
    again = iter(pickle.loads(cloudpickle.dumps(ds)))
    again.restore(state)
    assert int(next(again)) == 2003
