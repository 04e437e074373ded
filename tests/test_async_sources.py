"""Slow and async sources: async generators, async functions of map, generators side by side."""

from __future__ import annotations

import asyncio
import functools
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf

INT = sw.TensorSpec((), "int64")


def ints(dataset: sw.Dataset) -> list[int]:
    return [int(x) for x in dataset]


def counter() -> Any:
    """Made anew, so that it travels by value: a worker need not load this module."""

    async def count(stop: int) -> AsyncIterator[int]:
        import asyncio

        for i in range(stop):
            await asyncio.sleep(0)
            yield i

    return count


count = counter()


def counted(stop: int = 5, **more: Any) -> sw.Dataset:
    return sw.Dataset.from_generator(count, args=(stop,), output_signature=INT, **more)


# ---- Async generators


@pytest.mark.parametrize("isolate", [False, True])
def test_an_async_generator_gives_its_items_in_every_pass(isolate: bool) -> None:
    ds = counted(isolate=isolate)
    assert ints(ds) == ints(ds) == [0, 1, 2, 3, 4]


class Numbers:
    """An async iterable that is no generator; its iterator has no aclose."""

    def __init__(self, stop: int) -> None:
        self.stop = stop

    def __aiter__(self) -> AsyncIterator[int]:
        return _NumbersIterator(self.stop)


class _NumbersIterator:
    def __init__(self, stop: int) -> None:
        self.left = list(range(stop))

    def __aiter__(self) -> _NumbersIterator:
        return self

    async def __anext__(self) -> int:
        await asyncio.sleep(0)
        if not self.left:
            raise StopAsyncIteration
        return self.left.pop(0)


def test_whatever_gives_an_async_iterator_is_a_source() -> None:
    for source in (
        Numbers(3),
        lambda: Numbers(3),
        functools.partial(count, 3),
        lambda: Numbers(3).__aiter__(),
    ):
        ds = sw.Dataset.from_generator(source, output_signature=INT)
        assert ints(ds) == ints(ds) == [0, 1, 2]


def test_a_running_async_generator_is_read_once_and_says_so() -> None:
    ds = sw.Dataset.from_generator(count(3), output_signature=INT)
    assert ints(ds) == [0, 1, 2]
    with pytest.raises(TypeError, match="hand over the function that makes it"):
        ints(ds)


def test_an_async_function_without_yield_is_refused_in_words() -> None:
    async def nothing() -> int:
        return 1

    with pytest.raises(TypeError, match="async function without a `yield`"):
        ints(sw.Dataset.from_generator(nothing, output_signature=INT))


@pytest.mark.parametrize("isolate", [False, True])
def test_an_exception_arrives_at_its_element_with_class_and_line(isolate: bool) -> None:
    async def raises() -> AsyncIterator[int]:
        for i in range(5):
            await asyncio.sleep(0)
            if i == 3:
                raise KeyError(f"label {i}")
            yield i

    got = []
    ds = sw.Dataset.from_generator(raises, output_signature=INT, isolate=isolate)
    with pytest.raises(KeyError, match="label 3") as caught:
        for x in ds:
            got.append(int(x))
    assert got == [0, 1, 2]
    error: Any = caught.value
    assert error.index == 3
    shown = "".join(__import__("traceback").format_exception(error))
    assert 'raise KeyError(f"label {i}")' in shown


def test_one_task_awaits_all_items() -> None:
    seen = []

    async def watched() -> AsyncIterator[int]:
        async with asyncio.timeout(60):  # must be left in the task that entered it
            for i in range(3):
                seen.append((asyncio.current_task(), threading.get_ident()))
                yield i

    assert ints(sw.Dataset.from_generator(watched, output_signature=INT)) == [0, 1, 2]
    assert len(set(seen)) == 1
    assert seen[0][1] != threading.get_ident()


def test_what_the_generator_started_runs_on_while_the_consumer_works() -> None:
    """Many in flight: the loop does not stand still between items."""
    finished = threading.Event()

    async def background() -> None:
        for _ in range(20):
            await asyncio.sleep(0.001)
        finished.set()

    async def items() -> AsyncIterator[int]:
        task = asyncio.create_task(background())
        for i in range(3):
            yield i
        await task

    it = iter(sw.Dataset.from_generator(items, output_signature=INT, read_ahead=0))
    assert int(next(it)) == 0
    assert finished.wait(30)  # nobody asks for the next item meanwhile
    assert [int(x) for x in it] == [1, 2]


def test_a_closed_iterator_awaits_aclose_of_a_generator_between_items() -> None:
    seen: list[str] = []
    threads = set()

    async def items() -> AsyncIterator[int]:
        threads.add(threading.get_ident())
        try:
            for i in range(10**9):
                yield i
        finally:
            await asyncio.sleep(0)
            seen.append("closed")
            threads.add(threading.get_ident())

    with iter(sw.Dataset.from_generator(items, output_signature=INT, read_ahead=0)) as it:
        next(it)
    assert seen == ["closed"]
    assert len(threads) == 1


def test_a_dropped_iterator_ends_a_generator_in_the_middle_of_an_await() -> None:
    waiting, closed = threading.Event(), threading.Event()

    async def items() -> AsyncIterator[int]:
        yield 0
        try:
            waiting.set()
            await asyncio.sleep(3600)
        finally:
            closed.set()
        yield 1

    it = iter(sw.Dataset.from_generator(items, output_signature=INT))
    next(it)
    assert waiting.wait(30)
    del it
    assert closed.wait(30)


def test_what_the_generator_left_running_is_ended_with_it() -> None:
    ended = threading.Event()

    async def forever() -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            ended.set()

    async def items() -> AsyncIterator[int]:
        items.task = asyncio.create_task(forever())  # type: ignore[attr-defined]
        await asyncio.sleep(0)
        yield 0

    assert ints(sw.Dataset.from_generator(items, output_signature=INT)) == [0]
    assert ended.wait(30)


def test_take_advances_it_ten_times() -> None:
    advanced = []

    async def items() -> AsyncIterator[int]:
        for i in range(100):
            advanced.append(i)
            yield i

    assert ints(sw.Dataset.from_generator(items, output_signature=INT).take(10)) == [*range(10)]
    assert len(advanced) == 10


@pytest.mark.parametrize("isolate", [False, True])
def test_a_checkpoint_of_an_async_generator_restores(isolate: bool) -> None:
    ds = counted(40, isolate=isolate)
    it = iter(ds)
    before = [int(next(it)) for _ in range(17)]
    again = iter(counted(40, isolate=isolate))
    again.restore(it.save())
    assert before + [int(x) for x in again] == [*range(40)]


def test_a_dataset_may_be_iterated_inside_an_async_generator() -> None:
    async def outer() -> AsyncIterator[int]:
        for x in sw.Dataset.range(4).map(double, num_parallel_calls=2):
            yield int(x)

    assert ints(sw.Dataset.from_generator(outer, output_signature=INT)) == [0, 2, 4, 6]


# ---- Ctrl-C


@pytest.mark.parametrize("what", ["generator", "map", "parallel map"])
def test_ctrl_c_is_answered_while_something_is_awaited(what: str) -> None:
    waiting, ended = threading.Event(), threading.Event()

    async def wait(x: Any) -> Any:
        try:
            waiting.set()
            await asyncio.sleep(3600)
        finally:
            ended.set()
        return x

    async def items() -> AsyncIterator[int]:
        yield await wait(1)

    if what == "generator":
        ds = sw.Dataset.from_generator(items, output_signature=INT)
    else:
        calls = 4 if what == "parallel map" else None
        ds = sw.Dataset.range(8).map(wait, num_parallel_calls=calls)
    main = threading.main_thread()

    def interrupt() -> None:
        waiting.wait(30)
        signal.pthread_kill(main.ident or 0, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    it = iter(ds)
    with pytest.raises(KeyboardInterrupt):
        next(it)
    thread.join()
    it.close()
    assert ended.wait(30)


# ---- Async functions of map


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
        release.wait(60)  # holds up the loop, which nobody may do
        return x

    it = iter(sw.Dataset.range(2).map(blocks, num_parallel_calls=2))
    thread = threading.Thread(target=lambda: next(it, None))
    thread.start()
    assert blocked.wait(30)
    it.close()
    assert not release.wait(2.1)  # the loop has two seconds to answer
    try:
        assert ints(sw.Dataset.range(3).map(double)) == [0, 2, 4]
    finally:
        release.set()
        thread.join(30)


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
        assert subprocess.run([sys.executable, "-c", code], timeout=120).returncode == 0


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


def test_the_other_front_takes_async_functions_and_generators() -> None:
    mapped = tf.data.Dataset.range(4).map(double, num_parallel_calls=tf.data.AUTOTUNE)
    assert [int(x) for x in mapped] == [0, 2, 4, 6]
    spec = tf.TensorSpec([], tf.int64)
    made = tf.data.Dataset.from_generator(count, args=(3,), output_signature=spec)
    assert [int(x) for x in made.map(double)] == [0, 2, 4]


# ---- Generators side by side


def reader() -> Any:
    """Made anew, so that it travels by value."""

    def read(items: Any, scale: int = 1) -> Iterator[int]:
        for item in items:
            yield int(item) * scale

    return read


read = reader()


@pytest.mark.parametrize("isolate", [False, True])
@pytest.mark.parametrize("parallel", [1, 2, 3, 9])
def test_parallel_generators_take_turns(parallel: int, isolate: bool) -> None:
    ds = sw.Dataset.from_generator(
        read,
        args=([*range(7)], 10),
        output_signature=INT,
        parallel=parallel,
        isolate=isolate,
    )
    assert ints(ds) == ints(ds) == [10 * i for i in range(7)]


def test_their_order_is_that_of_interleave() -> None:
    def lines(files: Any) -> Iterator[int]:
        for file in files:
            yield from (int(file) * 10 + i for i in range(int(file)))

    files = [1, 4, 2, 0, 3]
    ds = sw.Dataset.from_generator(lines, args=[files], output_signature=INT, parallel=2)
    slices = [list(lines(files[i::2])) for i in range(2)]
    inner = sw.Dataset.range(2).interleave(
        lambda i: sw.Dataset.from_generator(lambda: slices[int(i)], output_signature=INT),
        cycle_length=2,
        block_length=1,
    )
    assert ints(ds) == ints(inner)


def test_parallel_generators_run_at_the_same_time() -> None:
    met = threading.Barrier(4, timeout=60)

    def meets(items: Any) -> Iterator[int]:
        for item in items:
            met.wait()  # for the other three
            yield item

    ds = sw.Dataset.from_generator(meets, args=[[*range(12)]], output_signature=INT, parallel=4)
    assert ints(ds) == [*range(12)]


def test_async_generators_run_side_by_side_too() -> None:
    async def items(given: list[int]) -> AsyncIterator[int]:
        for item in given:
            await asyncio.sleep(0)
            yield item

    ds = sw.Dataset.from_generator(items, args=[[*range(9)]], output_signature=INT, parallel=3)
    assert ints(ds) == [*range(9)]


def test_an_error_names_the_generator_and_its_element() -> None:
    def fails(items: Any) -> Iterator[int]:
        for item in items:
            if item == 7:
                raise KeyError("seven")
            yield item

    it = iter(
        sw.Dataset.from_generator(fails, args=[[*range(10)]], output_signature=INT, parallel=3)
    )
    assert [int(next(it)) for _ in range(7)] == [*range(7)]
    with pytest.raises(KeyError, match="seven") as caught:
        next(it)
    error: Any = caught.value
    assert (error.stage, error.index) == ("from_generator#1", 2)
    assert [int(x) for x in it] == [8, 9]


def test_a_checkpoint_of_parallel_generators_restores() -> None:
    def build() -> sw.Dataset:
        return sw.Dataset.from_generator(
            read, args=[[*range(20)]], output_signature=INT, parallel=3
        )

    for at in (0, 1, 8, 19, 20):
        it = iter(build())
        before = [int(next(it)) for _ in range(at)]
        again = iter(build())
        again.restore(it.save())
        assert before + [int(x) for x in again] == [*range(20)]


@pytest.mark.parametrize(
    ("more", "error", "text"),
    [
        ({"parallel": 0, "args": [[1]]}, ValueError, "parallel must be 1 or more: 0"),
        ({"parallel": 2}, ValueError, r"pass what they share .* as args=\[items\]"),
        ({"parallel": 2, "args": [{1, 2}]}, TypeError, "a set cannot be sliced"),
        ({"parallel": 2, "args": [5]}, TypeError, "a int cannot be sliced"),
        ({"parallel": 2, "args": ["ab"]}, TypeError, "'ab' is one string"),
        ({"parallel": 2, "args": [[1]], "read_ahead": 0}, ValueError, "read_ahead=0"),
    ],
)
def test_what_cannot_be_shared_out_is_refused(more: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        sw.Dataset.from_generator(read, output_signature=INT, **more)


def test_the_other_front_slices_what_tensorflow_would_pass() -> None:
    ds = tf.data.Dataset.from_generator(
        read, args=[[5, 6, 7]], output_signature=tf.TensorSpec([], tf.int64), parallel=2
    )
    assert [int(x) for x in ds] == [5, 6, 7]


# ---- The programs of people with slow sources


def both_fronts() -> list[Any]:
    return [(sw.Dataset, sw.TensorSpec), (tf.data.Dataset, tf.TensorSpec)]


def specs(spec: Any) -> tuple[Any, Any]:
    return spec((10, 10), "float64"), spec((), "int32")


def sample(number: int) -> tuple[Any, int]:
    return np.full((10, 10), number, np.float64), number


@pytest.mark.parametrize("front", both_fronts())
def test_a_slow_generator_runs_while_the_consumer_works(front: Any) -> None:
    """Program 4.1. The consumer's work and the generator's next item meet: neither waits first."""
    dataset, spec = front
    both = threading.Barrier(2, timeout=60)

    def slow(n: int) -> Iterator[Any]:
        for i in range(n):
            if i > 0:
                both.wait()  # comes only while the consumer is at work with the item before
            yield sample(i)

    ds = dataset.from_generator(slow, args=[100], output_signature=specs(spec)).take(10)
    got = []
    for _, label in ds:
        got.append(int(label))
        if len(got) < 10:
            both.wait()
    assert got == [*range(10)]


@pytest.mark.parametrize("front", both_fronts())
def test_a_thread_and_its_queue_go_through_args(front: Any) -> None:
    """Program 4.2."""
    dataset, spec = front
    feed: queue.Queue[Any] = queue.Queue(maxsize=10)

    def produce() -> None:
        for i in range(100):
            feed.put(sample(i))

    def drain(source: queue.Queue[Any]) -> Iterator[Any]:
        while True:
            yield source.get()

    threading.Thread(target=produce, daemon=True).start()
    ds = dataset.from_generator(drain, output_signature=specs(spec), args=[feed])
    assert [int(label) for _, label in ds.take(10)] == [*range(10)]


async def samples(n: int) -> AsyncIterator[Any]:
    for i in range(n):
        await asyncio.sleep(0.001)
        yield sample(i)


def item_by_item(source: Any) -> Iterator[Any]:
    """What people write: an event loop for each item, and a StopIteration that cannot leave it."""
    items = source.__aiter__()

    async def following() -> Any:
        try:
            return await items.__anext__()
        except StopAsyncIteration:
            raise StopIteration from None

    while True:
        yield asyncio.run(following())


@pytest.mark.parametrize("front", both_fronts())
def test_an_async_generator_in_args_outlives_asyncio_run(front: Any) -> None:
    """Program 4.3: ten items, where plain Python gives one."""
    dataset, spec = front
    ds = dataset.from_generator(item_by_item, output_signature=specs(spec), args=[samples(100)])
    assert [int(label) for _, label in ds.take(10)] == [*range(10)]


def test_its_end_is_explained_where_the_wrapper_cannot_say_it() -> None:
    ds = sw.Dataset.from_generator(item_by_item, args=[samples(3)])
    got = []
    with pytest.raises(RuntimeError, match="coroutine raised StopIteration") as caught:
        for _, label in ds:
            got.append(int(label))
    assert got == [0, 1, 2]
    assert "from_generator takes the async generator function itself" in str(caught.value)


def test_an_async_generator_that_asyncio_run_closed_is_explained() -> None:
    """The same with the async generator in a closure, where nobody can stand in for it."""
    source = samples(100)
    ds = sw.Dataset.from_generator(lambda: item_by_item(source))
    got = []
    with pytest.raises(RuntimeError) as caught:
        for _, label in ds:
            got.append(int(label))
    assert got == [0]
    assert "asyncio.run closes every async generator it has seen" in str(caught.value)


def test_a_proxy_is_an_async_generator_on_its_own_thread() -> None:
    threads = set()

    async def echo() -> Any:
        got = None
        try:
            while True:
                threads.add(threading.get_ident())
                got = yield got
        finally:
            threads.add(threading.get_ident())

    from spillway.async_items import AsyncGeneratorProxy

    proxy = AsyncGeneratorProxy(echo())

    async def talk() -> list[Any]:
        heard = [await anext(proxy), await proxy.asend(1)]
        with pytest.raises(KeyError):
            await proxy.athrow(KeyError("x"))
        await proxy.aclose()
        return heard

    assert asyncio.run(talk()) == [None, 1]
    assert len(threads) == 1
    assert threading.get_ident() not in threads


def test_an_async_generator_in_args_cannot_go_to_a_worker() -> None:
    with pytest.raises(TypeError, match="async_generator"):
        sw.Dataset.from_generator(item_by_item, args=[samples(3)], isolate=True)
