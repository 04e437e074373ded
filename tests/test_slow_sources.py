"""The programs of people with slow sources: waiting, threads with queues, asyncio by hand."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf


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
    both = threading.Barrier(2, timeout=300)

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
