"""Async functions of map and other stages."""

from __future__ import annotations

import asyncio
import functools
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw

INT = sw.TensorSpec((), "int64")


def ints(dataset: sw.Dataset) -> list[int]:
    return [int(x) for x in dataset]


async def double(x: Any) -> Any:
    await asyncio.sleep(0)
    return x * 2


@pytest.mark.parametrize("calls", [None, 1, 7, sw.AUTOTUNE])
def test_an_async_function_maps_every_element_in_order(calls: int | None) -> None:
    async def late(x: Any) -> Any:
        await asyncio.sleep(0.001 * (5 - int(x) % 5))
        return x * 2

    ds = sw.Dataset.range(50).map(late, num_parallel_calls=calls)
    assert ints(ds) == [2 * i for i in range(50)]


def test_as_many_calls_are_in_flight_as_asked_for_on_one_thread() -> None:
    """Each of 200 waits for all the others: with fewer in flight none would ever return."""
    state: dict[str, Any] = {"inside": 0, "threads": set()}

    async def meet(x: Any) -> Any:
        gate = state.setdefault("gate", asyncio.Event())
        state["threads"].add(threading.get_ident())
        state["inside"] += 1
        if state["inside"] == 200:
            gate.set()
        await gate.wait()
        return x

    before = threading.active_count()
    ds = sw.Dataset.range(200).map(meet, num_parallel_calls=200, output_signature=INT)
    assert ints(ds) == [*range(200)]
    assert len(state["threads"]) == 1
    assert threading.active_count() <= before + 1


def test_no_more_calls_are_in_flight_than_asked_for() -> None:
    inside, most = 0, 0

    async def watched(x: Any) -> Any:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0.001)
        inside -= 1
        return x

    for calls, bound in ((None, 1), (1, 1), (3, 3)):
        most = 0
        assert ints(sw.Dataset.range(30).map(watched, num_parallel_calls=calls)) == [*range(30)]
        assert most <= bound


def test_autotune_keeps_more_awaits_in_flight_than_there_are_cpus() -> None:
    async def wait(x: Any) -> Any:
        await asyncio.sleep(0.02)
        return x

    ds = sw.Dataset.range(400).map(wait, num_parallel_calls=sw.AUTOTUNE)
    assert ints(ds) == [*range(400)]
    stage = next(s for s in ds.audit().stages if s.name.startswith("map"))
    assert stage.parallelism > 16


def test_an_error_is_its_elements_and_policies_apply() -> None:
    async def fails(x: Any) -> Any:
        await asyncio.sleep(0)
        if int(x) % 4 == 2:
            raise LookupError(f"no {int(x)}")
        return x

    for calls in (None, 4):
        it = iter(sw.Dataset.range(8).map(fails, num_parallel_calls=calls))
        got: list[Any] = []
        for _ in range(8):
            try:
                got.append(int(next(it)))
            except LookupError as error:
                got.append((error.index, type(error.__cause__)))  # type: ignore[attr-defined]
        assert got == [0, 1, (2, LookupError), 3, 4, 5, (6, LookupError), 7]
        skipping = sw.Dataset.range(8).map(fails, num_parallel_calls=calls, on_error="skip")
        assert ints(skipping) == [0, 1, 3, 4, 5, 7]
        assert skipping.audit().skipped == 2


def test_a_failing_call_is_tried_again_and_counted() -> None:
    tries: dict[int, int] = {}

    async def flaky(x: Any) -> Any:
        n = int(x)
        tries[n] = tries.get(n, 0) + 1
        await asyncio.sleep(0)
        if tries[n] <= n % 3:
            raise OSError("later")
        return x

    ds = sw.Dataset.range(9).map(
        flaky, num_parallel_calls=4, on_error="retry", retries=2, backoff=0
    )
    assert ints(ds) == [*range(9)]
    assert tries == {n: n % 3 + 1 for n in range(9)}


def test_what_stays_bad_goes_to_quarantine(tmp_path: Path) -> None:
    async def fails(x: Any) -> Any:
        if int(x) == 3:
            raise ValueError("bad")
        return x

    bad = tmp_path / "bad.jsonl"
    ds = sw.Dataset.range(6).map(
        fails, num_parallel_calls=3, on_error="quarantine", quarantine=bad, retries=1, backoff=0
    )
    assert ints(ds) == [0, 1, 2, 4, 5]
    assert ints(sw.Dataset.from_quarantine(bad)) == [3]


def test_closing_early_ends_the_calls_in_flight() -> None:
    begun, ended = 0, 0

    async def wait(x: Any) -> Any:
        nonlocal begun, ended
        if int(x) == 0:
            return x
        begun += 1
        try:
            await asyncio.sleep(3600)
        finally:
            ended += 1

    with iter(sw.Dataset.range(8).map(wait, num_parallel_calls=4, output_signature=INT)) as it:
        assert int(next(it)) == 0
    assert begun == ended


def test_a_loop_that_user_code_blocks_is_left_behind() -> None:
    release, blocked = threading.Event(), threading.Event()

    async def blocks(x: Any) -> Any:
        blocked.set()
        release.wait(300)  # holds up the loop, which nobody may do
        return x

    it = iter(sw.Dataset.range(2).map(blocks, num_parallel_calls=2))
    thread = threading.Thread(target=lambda: next(it, None))
    thread.start()
    assert blocked.wait(300)
    it.close()
    assert not release.wait(2.1)  # the loop has two seconds to answer
    try:
        assert ints(sw.Dataset.range(3).map(double)) == [0, 2, 4]
    finally:
        release.set()
        thread.join(300)


@pytest.mark.parametrize("then", ["list(ds.take(3))", "next(iter(ds))"])
def test_the_interpreter_ends_though_the_loop_is_at_work(then: str) -> None:
    code = f"""
import asyncio, spillway as sw
async def wait(x):
    await asyncio.sleep(0 if int(x) < 3 else 3600)
    return x
ds = sw.Dataset.range(64).map(wait, num_parallel_calls=8)
kept = {then}
"""
    for _ in range(3):
        assert subprocess.run([sys.executable, "-c", code], timeout=500).returncode == 0


def test_a_dataset_inside_an_async_function_is_refused_with_what_to_write() -> None:
    async def iterates(x: Any) -> Any:
        return sum(sw.Dataset.range(3))

    with pytest.raises(RuntimeError, match=r"asyncio\.to_thread\(list, dataset\)"):
        ints(sw.Dataset.range(1).map(iterates))

    async def elsewhere(x: Any) -> Any:
        inner = sw.Dataset.range(3).map(double, num_parallel_calls=2)
        return np.int64(sum(int(y) for y in await asyncio.to_thread(list, inner)))

    assert ints(sw.Dataset.range(4).map(elsewhere, num_parallel_calls=2)) == [6] * 4


def test_what_one_function_makes_for_the_loop_serves_another() -> None:
    shared: dict[str, asyncio.Semaphore] = {}

    async def first(x: Any) -> Any:
        async with shared.setdefault("gate", asyncio.Semaphore(2)):
            await asyncio.sleep(0.001)
        return x

    async def second(x: Any) -> Any:
        async with shared["gate"]:
            await asyncio.sleep(0.001)
        return x

    for _ in range(2):
        ds = sw.Dataset.range(6).map(first, num_parallel_calls=6)
        assert ints(ds.map(second, num_parallel_calls=6)) == [*range(6)]


def test_explain_says_that_it_is_async() -> None:
    for signature in (None, INT):
        ds = sw.Dataset.range(3).map(double, output_signature=signature)
        assert "double runs as Python: is async" in str(ds.explain())


def test_methods_partials_and_callable_objects_count_as_async() -> None:
    class Scaled:
        def __init__(self, by: int) -> None:
            self.by = by

        async def scale(self, x: Any) -> Any:
            return x * self.by

        async def __call__(self, x: Any) -> Any:
            return x * self.by

    async def times(by: int, x: Any) -> Any:
        return x * by

    for function in (Scaled(3), Scaled(3).scale, functools.partial(times, 3)):
        ds = sw.Dataset.range(4).map(function, num_parallel_calls=2)
        assert ints(ds) == [0, 3, 6, 9]


def test_a_coroutine_that_nobody_awaits_is_refused_in_words() -> None:
    with pytest.raises(TypeError, match="hand over the `async def` function itself"):
        ints(sw.Dataset.range(3).map(lambda x: double(x)))


def test_other_stages_await_one_element_at_a_time() -> None:
    async def even(x: Any) -> Any:
        await asyncio.sleep(0)
        return x % 2 == 0

    async def rows(x: Any) -> Any:
        await asyncio.sleep(0)
        return sw.Dataset.range(int(x))

    async def add(state: Any, x: Any) -> Any:
        await asyncio.sleep(0)
        return state + x

    assert ints(sw.Dataset.range(6).filter(even)) == [0, 2, 4]
    assert ints(sw.Dataset.range(4).flat_map(rows)) == [0, 0, 1, 0, 1, 2]
    assert int(sw.Dataset.range(5).reduce(np.int64(0), add)) == 10


def test_an_async_function_runs_in_workers_too() -> None:
    async def where(x: Any) -> Any:
        import os

        await asyncio.sleep(0)
        if int(x) == 5:
            raise KeyError("five")
        return np.int64(os.getpid())

    import os

    ds = sw.Dataset.range(8).map(where, num_parallel_calls=2, isolate=True, on_error="skip")
    assert os.getpid() not in ints(ds)
    assert ds.audit().skipped == 1


def test_rows_of_an_async_function_travel_together_to_workers() -> None:
    async def rows(x: Any) -> Any:
        await asyncio.sleep(0)
        return np.full(20_000 if int(x) % 97 == 0 else 1, int(x), np.int64)

    for calls in (None, 2):
        got = list(sw.Dataset.range(500).map(rows, num_parallel_calls=calls, isolate=True))
        assert [int(x[0]) for x in got] == list(range(500))
        assert [len(x) for x in got] == [20_000 if i % 97 == 0 else 1 for i in range(500)]


def test_large_results_are_taken_over_without_a_copy() -> None:
    addresses = set()

    async def make(x: Any) -> Any:
        made = np.full(1 << 20, int(x), np.int64)
        addresses.add(made.__array_interface__["data"][0])
        return made

    got = list(sw.Dataset.range(2).map(make, num_parallel_calls=2))
    assert [int(x[7]) for x in got] == [0, 1]
    assert {x.__array_interface__["data"][0] for x in got} <= addresses
