"""A worker process, from its fork on."""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import pickle
import signal
import sys
from collections.abc import Callable
from typing import Any

from spillway import _native
from spillway.guard import travel

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
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.enable(file=stacks, all_threads=True)
    faulthandler.register(signal.SIGUSR1, file=stacks, all_threads=True, chain=False)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write(str(_DIES_FIRST))
    _adopt(json.loads(facts.decode("utf-8", "surrogateescape")))
    _native.set_worker_hooks(environment, travel.pack_exception, travel.unpack_exception, print)
    _native.serve(channel, memory, load, answer)


def _adopt(facts: dict[str, Any]) -> None:
    if facts["cwd"] is not None:
        with contextlib.suppress(OSError):
            os.chdir(facts["cwd"])
    sys.path[:] = facts["path"]
    sys.argv[:] = facts["argv"]
    for name in set(os.environ) - set(facts["env"]):
        del os.environ[name]
    os.environ.update(facts["env"])


def load(packed: bytes) -> Any:
    """The function that was sent here, or the generator with its arguments."""
    from spillway.guard.rules import Started

    sent = pickle.loads(packed)
    return sent() if isinstance(sent, Started) else sent


_called: Callable[..., Any] | None = None
_memory_limit: int | None = None


def answer(text: bytes, parts: list[Any]) -> tuple[bytes, list[Any]]:
    """What `guarded` asks: first to set the callable up, then to call it."""
    global _called, _memory_limit
    if _called is None:
        make, _memory_limit = pickle.loads(text)
        if _memory_limit is not None:
            _limit_memory(_memory_limit)
        _called = pickle.loads(make)()
        return b"", []
    args, kwargs = travel.unpack_values(text, parts)
    try:
        result = _called(*args, **kwargs)
    except MemoryError as error:
        if _memory_limit is None or str(error):
            raise
        allowed = _native.format_bytes(_memory_limit)
        raise MemoryError(f"the worker may allocate no more: memory_limit is {allowed}") from error
    return travel.pack_values(result, travel.name_of(_called))


def _limit_memory(limit: int) -> None:
    """From now on at most so many bytes more: beyond, allocating is an ordinary MemoryError."""
    import resource

    with open("/proc/self/status") as file:
        held = next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmData:"))
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (held + limit, hard))
