"""The event loop of async functions: `map(async_function, num_parallel_calls=k)`.

One for the process, on a thread of its own. The engine puts calls into a queue and wakes the loop;
each becomes a task here, and its result goes back from here, so that no other thread of the
engine's needs the interpreter.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from typing import TYPE_CHECKING, Any

from spillway import _native
from spillway.interruptions import start_thread

if TYPE_CHECKING:
    import asyncio

_numbers = itertools.count()


def is_async(function: Any) -> bool:
    """Whether calling `function` gives a coroutine: an `async def`, also as a method or a partial.

    >>> async def fetch(x): ...
    >>> is_async(fetch), is_async(print)
    (True, False)
    """
    while not inspect.iscoroutinefunction(function):
        inner = getattr(function, "func", None)  # functools.partial, and what fronts wrap
        if inner is None or inner is function:
            call = getattr(type(function), "__call__", None)  # noqa: B004
            return not isinstance(function, type) and inspect.iscoroutinefunction(call)
        function = inner
    return True


def start(calls: _native.AsyncLoop) -> None:
    """Starts the thread of a loop that takes `calls`."""
    import threading

    name = f"spillway-async-{next(_numbers)}"
    start_thread(threading.Thread(target=_live, args=(calls,), name=name, daemon=True))


def _live(calls: _native.AsyncLoop) -> None:
    import asyncio

    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    awaited = _Awaited(calls, loop)
    loop.add_reader(calls.wake, awaited.take)
    loop.call_soon(awaited.take)
    while True:  # user code may stop the loop, which others still need
        try:
            loop.run_forever()
        except (KeyboardInterrupt, SystemExit):
            continue  # of a task that user code began: it has its exception, for who awaits it


class _Awaited:
    """What is under way on the loop."""

    def __init__(self, calls: _native.AsyncLoop, loop: asyncio.AbstractEventLoop) -> None:
        self._calls = calls
        self._loop = loop
        self._tasks: dict[_native.AsyncCall, asyncio.Task[None]] = {}
        self._ended: list[_native.AsyncCall] = []

    def take(self) -> None:
        """Begins what was asked for, and tells what is not wanted any more to end."""
        begun, unwanted = self._calls.take()
        for call in begun:
            task = self._loop.create_task(_run(call))
            self._tasks[call] = task
            task.add_done_callback(functools.partial(self._end, call))
        for call in unwanted:
            if call in self._tasks:
                self._tasks[call].cancel()

    def _end(self, call: _native.AsyncCall, task: asyncio.Task[None]) -> None:
        del self._tasks[call]
        if task.cancelled():  # before it began
            call.fail(_cancelled())
        if not self._ended:
            self._loop.call_soon(self._settle)
        self._ended.append(call)

    def _settle(self) -> None:
        """Hands on what has ended since the last time, all at once."""
        ended, self._ended = self._ended, []
        self._calls.settle(ended)


async def _run(call: _native.AsyncCall) -> None:
    try:
        coroutine: Any = call.start()
        # In one expression: nobody else holds the result, so its arrays need not be copied.
        call.finish(await coroutine)
    except BaseException as error:  # told in this element's place; the loop is everybody's
        trace = error.__traceback__
        call.fail(error.with_traceback(trace.tb_next if trace is not None else None))


def _cancelled() -> BaseException:
    import asyncio

    return asyncio.CancelledError()
