"""`isolate=`, `timeout=` and `restarts=` of a stage: where its function runs, and how long."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from spillway import _native, flight, policies
from spillway.guard import draws, travel, worker

REPORT_AFTER = _native.report_after()  # seconds without a word from an element

_COMMAND = (
    "import json, os, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "os.environ['SPILLWAY_FLIGHT_RECORDER'] = '0'; "  # the notebook's record tells of workers
    "from spillway.guard.fork_server import main; main()"
)


def take(given: dict[str, Any]) -> dict[str, Any]:
    """Takes the rules out of a method's keywords and checks them."""
    rules = {name: given.pop(name, None) for name in policies.GUARD_NAMES}
    if not rules["isolate"]:
        for name in ("timeout", "restarts", "memory_limit"):
            if rules[name] is not None:
                raise ValueError(f"{name}= is for worker processes: it needs isolate=True")
        return {}
    return checked(
        rules["timeout"],
        1 if rules["restarts"] is None else rules["restarts"],
        rules["memory_limit"],
    )


def checked(timeout: Any, restarts: Any, memory_limit: Any) -> dict[str, Any]:
    """The rules as the engine reads them."""
    from spillway import seeds
    from spillway.config import as_bytes

    if timeout is not None and not float(timeout) > 0:
        raise ValueError(f"timeout must be seconds, more than 0: {timeout!r}")
    if int(restarts) < 0:
        raise ValueError(f"restarts must not be negative: {restarts!r}")
    limit = 0 if memory_limit is None else as_bytes(memory_limit)
    if memory_limit is not None and limit <= 0:
        raise ValueError(f"memory_limit must be bytes, more than 0: {memory_limit!r}")
    return {
        "timeout": float(timeout or 0),
        "restarts": int(restarts),
        "most": 1,
        "report_after": REPORT_AFTER,
        "memory_limit": limit,
        "seed": seeds.given(),
    }


def isolated(
    function: Any, call: Callable[..., Any], rules: dict[str, Any], op: str, calls: int | None
) -> Any:
    """The engine's Python function `function`, of the callable `call`, run in workers.

    `calls`: how many at a time; None or AUTOTUNE: as many as there are CPUs.
    """
    install_hooks()
    return _native.guarded_function(
        function,
        travel.pack(call, op),
        command(),
        {**rules, "most": max(calls or 0, 0), "draws": draws.draws(call)},
    )


def isolated_generator(
    native: Any, generator: Any, args: Any, structure: Any, rules: dict[str, Any]
) -> Any:
    """The engine's generator `native`, of `generator` and `args`, run in a worker."""
    install_hooks()
    repeatable = hasattr(generator, "__aiter__") and not hasattr(generator, "__anext__")
    if not callable(generator) and not hasattr(generator, "__getitem__") and not repeatable:
        raise TypeError(
            "from_generator: a running iterator cannot go to a worker process: hand over the "
            "function that makes it"
        )
    given = tuple(args) if args is not None else ()
    try:
        packed = travel.pack(Started(generator, given), "from_generator", of=generator)
    except TypeError:
        for value in given:
            travel.check_argument(value, "from_generator")
        raise
    return _native.guarded_generator(
        native,
        packed,
        structure,
        command(),
        rules,
    )


class Started:
    """A generator and its arguments, on their way."""

    def __init__(self, generator: Any, args: tuple[Any, ...]) -> None:
        """Nothing is started yet."""
        self.generator = generator
        self.args = args

    def __call__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """The callable that starts it, and what with."""
        from spillway.generators import as_callable

        return as_callable(self.generator), self.args


def command() -> list[str]:
    """How the process that forks workers is started."""
    path = json.dumps([p for p in sys.path if isinstance(p, str)])
    return [sys.executable, "-c", _COMMAND, path]


_installed = False


def install_hooks() -> None:
    """Tells the engine, once, what only Python can do for it."""
    global _installed
    if not _installed:
        _native.set_worker_hooks(
            worker.environment, travel.pack_exception, travel.unpack_exception, flight.warn
        )
        _installed = True
