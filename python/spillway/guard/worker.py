"""A worker process, from its fork on."""

from __future__ import annotations

import contextlib
import faulthandler
import functools
import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from spillway import _native, config
from spillway.guard import draws, plain, travel

_DIES_FIRST = 800  # oom_score_adj: when memory runs out, the kernel takes this process


def environment() -> bytes:
    """What a worker must know of the process it works for."""
    facts = {
        "cwd": _folder(),
        "path": [p for p in sys.path if isinstance(p, str)],
        "argv": list(sys.argv),
        "env": dict(os.environ),
    }
    return json.dumps(facts).encode("utf-8", "surrogateescape")


def _folder() -> str | None:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return None


def main(parent: int, facts: bytes, channel: int, memory: int, stacks: int) -> None:
    """Lives as long as the process at the other end of the channel."""
    _native.die_with_parent(parent)
    # What user code starts belongs to this worker, and ends with it.
    with contextlib.suppress(OSError):
        os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.enable(file=stacks, all_threads=True)
    faulthandler.register(signal.SIGUSR1, file=stacks, all_threads=True, chain=False)
    _native.mark_end_of_stacks(signal.SIGUSR1, stacks)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write(str(_DIES_FIRST))
    _adopt(json.loads(facts.decode("utf-8", "surrogateescape")))
    _native.report_sandbox_to(stacks)
    _tell_errors_by(travel.pack_exception)
    draws.start_afresh()
    _native.serve(channel, memory, load, answer, become, draws.seed)


def _tell_errors_by(pack: Callable[[BaseException], bytes]) -> None:
    unpack = travel.unpack_exception
    _native.set_worker_hooks(environment, pack, unpack, unpack, print)


def _adopt(facts: dict[str, Any]) -> None:
    if facts["cwd"] is not None:
        with contextlib.suppress(OSError):
            os.chdir(facts["cwd"])
    sys.path[:] = facts["path"]
    sys.argv[:] = facts["argv"]
    for name in set(os.environ) - set(facts["env"]):
        del os.environ[name]
    os.environ.update(facts["env"])
    config.settings.isolate = False  # user code is where it should be


def load(text: bytes, parts: list[Any]) -> Any:
    """The function that was sent here, or the generator with its arguments."""
    from spillway.guard.rules import Started, ToTrace

    sent = travel.loads(text, parts)
    if isinstance(sent, ToTrace):
        return sent()
    if isinstance(sent, Started):
        start, args = sent()
        return _told(start), args
    return _told(sent)


_called: Callable[..., Any] | None = None
_memory_limit: int | None = None
_pack_values = travel.pack_values


def become(memory_limit: int, sandboxed: bool) -> None:
    """What kind of worker this is to be."""
    global _memory_limit, _pack_values
    if sandboxed:
        _tell_errors_by(plain.pack_exception)
        _pack_values = plain.pack_values
    if memory_limit:
        _memory_limit = memory_limit
        _limit_memory(memory_limit)


def _told(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function; a MemoryError in it says which limit it met."""
    if _memory_limit is None:
        return function
    allowed = _native.format_bytes(_memory_limit)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except MemoryError as error:
            told = f"the worker may allocate no more: memory_limit is {allowed}"
            error.args = (told,) if not str(error) else error.args
            raise

    return call


def answer(text: bytes, parts: list[Any]) -> tuple[bytes, list[Any]]:
    """What `guarded` asks: first to set the callable up, then to call it."""
    global _called
    if _called is None:
        _called = _told(travel.loads(text, parts)())
        return b"", []
    args, kwargs = travel.unpack_values(text, parts)
    result = _called(*args, **kwargs)
    return _pack_values(result, travel.name_of(_called))


def _limit_memory(limit: int) -> None:
    """From now on at most so many bytes more: beyond, allocating is an ordinary MemoryError."""
    import resource

    with open("/proc/self/status") as file:
        held = next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmData:"))
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (held + limit, hard))
