"""`guarded`: any callable in a worker process of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from spillway import _native, errors
from spillway.guard import plain, rules, travel
from spillway.shown import shown

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor
    from types import TracebackType

P = ParamSpec("P")
R = TypeVar("R")


class Guarded(Generic[P, R]):
    """A callable that runs in a worker process, kept warm between calls; see `guarded`."""

    def __init__(self, make: _native.Cargo, name: str, how: dict[str, Any]) -> None:
        """Nothing is started before the first call."""
        rules.install_hooks()
        self._name = name
        self._unpack = plain.unpack_values if how.get("sandbox") else travel.unpack_values
        self._native = _native.GuardedCall(make, rules.command(), name, how)
        self._threads: ThreadPoolExecutor | None = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Calls it in the worker and waits for the result."""
        text, buffers = travel.pack_values((args, kwargs), self._name)
        try:
            packed = self._native.call(text, buffers)
        except errors.UserFunctionError as error:
            cause = error.__cause__
            if cause is None:
                raise
            raise cause from None
        answer: R = self._unpack(*packed)
        return answer

    def submit(self, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Calls it in the worker; the result comes later. Calls run one after the other."""
        from concurrent.futures import ThreadPoolExecutor

        if self._threads is None:
            self._threads = ThreadPoolExecutor(1, "spillway-guarded")
        return self._threads.submit(self, *args, **kwargs)

    def close(self) -> None:
        """Ends the worker. What it had in memory is gone; calls fail from now on."""
        self._native.close()
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)

    def __enter__(self) -> Guarded[P, R]:
        """Itself, to be closed at the end of the block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Ends the worker."""
        self.close()

    def __repr__(self) -> str:
        """Names what it calls."""
        return f"guarded({self._name})"


def guarded(
    function: Callable[P, R] | None = None,
    *,
    factory: Callable[[], Callable[P, R]] | None = None,
    method: str | None = None,
    memory_limit: int | str | None = None,
    timeout: float | None = None,
    restarts: int = 0,
    sandbox: bool | str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = False,
) -> Guarded[P, R]:
    """Runs a callable in a process of its own: it may crash, leak or hang, and the notebook lives.

    Arguments and results travel by cloudpickle, arrays through shared memory. The call works on
    copies: what it changes in its arguments, or in the notebook's variables, stays in the worker.
    State the callable keeps itself lives as long as its worker: between calls, until one kills it
    or `close()`.

    factory: makes the callable inside the worker, for what cannot travel: a model, a connection.
    method: calls this method of what the factory made, instead of the object itself.
    memory_limit: bytes (or "1GiB") the worker may allocate; beyond, it gets a MemoryError.
    timeout: seconds for a call; then the worker is ended and the call raises `StallError`. The
        factory has at least 300 seconds.
    restarts: how often a call is tried again after it killed its worker. The default, 0, tells
        you at once: `WorkerDied`, with what is known of the reason.
    sandbox: for callables that read files of strangers. Once set up, the worker may only compute
        and read files (a folder or several: only those in them); it gives back arrays, numbers,
        text and containers of them.

    >>> import spillway as sw
    >>> with sw.guarded(lambda x: x + 1) as add:
    ...     add(2)
    3
    """
    if (function is None) == (factory is None):
        raise TypeError("guarded needs a function, or factory= to make one in the worker")
    if method is not None and factory is None:
        raise TypeError(
            f"guarded: method={shown(method)} is one of what factory= makes; give a factory"
        )
    how = rules.checked(timeout, restarts, memory_limit, sandbox)
    given: Any = function if factory is None else factory
    name = travel.name_of(given)
    if method is not None:
        name = f"{name}().{method}"
    make = travel.pack(_Maker(given, factory is not None, method), f"guarded({name})", of=given)
    return Guarded(make, name, how)


class _Maker:
    """Makes the callable on the other side."""

    def __init__(self, given: Callable[..., Any], is_factory: bool, method: str | None) -> None:
        self.given = given
        self.is_factory = is_factory
        self.method = method

    def __call__(self) -> Callable[..., Any]:
        made: Callable[..., Any] = self.given() if self.is_factory else self.given
        if self.method is not None:
            made = getattr(made, self.method)
        if not callable(made):
            raise TypeError(f"factory must make something that can be called: {shown(made)}")
        return made
