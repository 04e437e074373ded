"""Async generators as sources."""

from __future__ import annotations

import asyncio
import functools
import signal
import threading
from collections.abc import AsyncIterator
from typing import Any

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


async def double(x: Any) -> Any:
    await asyncio.sleep(0)
    return x * 2


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
    assert finished.wait(300)  # nobody asks for the next item meanwhile
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
    assert waiting.wait(300)
    del it
    assert closed.wait(300)


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
    assert ended.wait(300)


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
        waiting.wait(300)
        signal.pthread_kill(main.ident or 0, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    it = iter(ds)
    with pytest.raises(KeyboardInterrupt):
        next(it)
    thread.join()
    it.close()
    assert ended.wait(300)


def test_the_other_front_takes_async_functions_and_generators() -> None:
    mapped = tf.data.Dataset.range(4).map(double, num_parallel_calls=tf.data.AUTOTUNE)
    assert [int(x) for x in mapped] == [0, 2, 4, 6]
    spec = tf.TensorSpec([], tf.int64)
    made = tf.data.Dataset.from_generator(count, args=(3,), output_signature=spec)
    assert [int(x) for x in made.map(double)] == [0, 2, 4]
