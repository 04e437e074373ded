"""Async generators as sources, and async generators that plain ones are handed."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable
from types import TracebackType
from typing import Any, Self

from spillway import _native
from spillway.interruptions import start_thread

_LOOK_EVERY = 0.02  # seconds, while an item is awaited: whether anybody still wants it


class AsyncItems:
    """The items of an async iterable, one at a time, on an event loop of their own.

    Made, advanced, rested and closed on one thread, the generator's. One task awaits all items, so
    that what must be left where it was entered (a timeout, a task group) may span several.

    >>> async def count():
    ...     for i in range(3):
    ...         await asyncio.sleep(0)
    ...         yield i
    >>> items = AsyncItems(count())
    >>> list(items)
    [0, 1, 2]
    >>> items.close()
    """

    def __init__(self, source: AsyncIterable[Any]) -> None:
        """Nothing of `source` runs yet."""
        self._loop = asyncio.new_event_loop()
        self.source = source
        self._ready = False
        self._item: Any = None
        self._wanted: asyncio.Future[None] | None = None
        self._closing = False
        self._advancing = False
        self._timer: asyncio.TimerHandle | None = None
        self._task = self._loop.create_task(self._advance())
        self._task.add_done_callback(lambda _: self._loop.stop())

    def __iter__(self) -> Self:
        """Itself."""
        return self

    def __next__(self) -> Any:
        """The next item; errors of the source are raised as they are."""
        if self._wanted is not None and not self._wanted.done():
            self._wanted.set_result(None)
        if self._timer is None:
            self._timer = self._loop.call_later(_LOOK_EVERY, self._look)
        self._advancing = True
        try:
            while not self._ready and not self._task.done():  # user code may stop the loop
                self._loop.run_forever()
        finally:
            self._advancing = False
        if not self._ready:
            self._task.result()
            raise StopIteration
        self._ready = False
        item, self._item = self._item, None
        return item

    def __spillway_rest__(self, wake: int, seconds: float) -> None:
        """Lets the loop run until `wake` can be read, or for so long (negative: without end)."""
        self._loop.add_reader(wake, self._loop.stop)
        timer = None if seconds < 0 else self._loop.call_later(seconds, self._loop.stop)
        try:
            self._loop.run_forever()
        finally:
            self._loop.remove_reader(wake)
            if timer is not None:
                timer.cancel()

    def close(self) -> None:
        """Awaits the source's `aclose()`, ends what it left running, and closes the loop."""
        self._closing = True
        if self._wanted is not None and not self._wanted.done():
            self._wanted.set_result(None)
        told = self._task.done()  # what it ended with, __next__ has raised
        try:
            while not self._task.done():
                self._loop.run_forever()
            if not told and not self._task.cancelled():
                self._task.result()
        finally:
            _end(self._loop)

    async def _advance(self) -> None:
        items = self.source.__aiter__()
        try:
            while not self._closing:
                try:
                    item = await items.__anext__()
                except StopAsyncIteration:
                    return
                self._item = item
                del item
                self._ready = True
                self._wanted = self._loop.create_future()
                self._loop.stop()
                await self._wanted
        finally:
            aclose = getattr(items, "aclose", None)
            if aclose is not None:
                await aclose()

    def _look(self) -> None:
        """Ends an await whose item nobody wants any more."""
        self._timer = None
        if not self._advancing:
            return
        if _native.stop_wanted():
            self._closing = True
            self._task.cancel()
        else:
            self._timer = self._loop.call_later(_LOOK_EVERY, self._look)


def _end(loop: asyncio.AbstractEventLoop) -> None:
    """What `asyncio.run` does at its end."""
    try:
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        loop.close()


class AsyncGeneratorProxy(AsyncGenerator[Any, Any]):
    """An async generator that may be awaited from any event loop, one after the other.

    It runs on a loop of its own, on a thread of its own. So `asyncio.run`, which closes the async
    generators it has seen when it ends, cannot close it after its first item.

    >>> async def count():
    ...     for i in range(3):
    ...         yield i
    >>> proxy = AsyncGeneratorProxy(count())
    >>> [asyncio.run(anext(proxy)) for _ in range(3)]
    [0, 1, 2]
    """

    def __init__(self, generator: AsyncGenerator[Any, Any]) -> None:
        """`generator` is not advanced yet."""
        self._generator = generator
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.ended = False

    def __getattr__(self, name: str) -> Any:
        """What else the generator has: `ag_frame`, `ag_running`, ..."""
        return getattr(self._generator, name)

    def __aiter__(self) -> Self:
        """Itself."""
        return self

    async def __anext__(self) -> Any:
        """The next item."""
        return await self._run(self._generator.__anext__)

    async def asend(self, value: Any) -> Any:
        """Sends a value into the generator."""
        return await self._run(lambda: self._generator.asend(value))

    async def athrow(
        self,
        typ: Any,
        val: BaseException | object = None,
        tb: TracebackType | None = None,
    ) -> Any:
        """Raises an exception in the generator."""
        error = val if isinstance(val, BaseException) else typ
        return await self._run(lambda: self._generator.athrow(error))

    async def aclose(self) -> None:
        """Closes the generator."""
        await self._run(self._generator.aclose)

    async def _run(self, step: Callable[[], Awaitable[Any]]) -> Any:
        async def run() -> Any:
            return await step()

        running = asyncio.run_coroutine_threadsafe(run(), self._own_loop())
        try:
            return await asyncio.wrap_future(running)
        except StopAsyncIteration:
            self.ended = True
            raise

    def _own_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                thread = threading.Thread(
                    target=_run_until_stopped, args=(self._loop,), name="spillway-async-generator"
                )
                thread.daemon = True
                start_thread(thread)
                weakref.finalize(self, self._loop.call_soon_threadsafe, self._loop.stop)
            return self._loop


def _run_until_stopped(loop: asyncio.AbstractEventLoop) -> None:
    """Until the proxy is gone; the generator is closed then, if it has not ended."""
    try:
        loop.run_forever()
    finally:
        _end(loop)
