"""`isolate=`, `sandbox=` and their companions: where a stage's function runs, and how long."""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from spillway import _native, errors, flight, functions, policies
from spillway.guard import draws, plain, travel, where, worker
from spillway.shown import shown
from spillway.structures import from_structure, to_structure
from spillway.tensor_convert import integer
from spillway.traveling import Recipe

REPORT_AFTER = _native.report_after()  # seconds without a word from an element

_COMMAND = (
    "import json, os, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "os.environ['SPILLWAY_FLIGHT_RECORDER'] = '0'; "  # the notebook's record tells of workers
    "from spillway.guard.fork_server import main; main()"
)


def take(given: dict[str, Any]) -> dict[str, Any]:
    """Takes the rules out of a method's keywords and checks them."""
    rules = {name: given.pop(name, None) for name in policies.GUARD_NAMES}
    isolate = rules["isolate"]
    if not (isolate is None or isinstance(isolate, (bool, np.bool_)) or is_auto(isolate)):
        raise TypeError(f"isolate must be True, False or 'auto', found {shown(isolate)}")
    boxed = rules["sandbox"] is not None and rules["sandbox"] is not False
    if boxed and rules["isolate"] is False:
        raise ValueError("sandbox= runs in a worker process: isolate=False cannot be")
    workers = _workers(rules["num_workers"], rules["isolate"])
    by_hand = any(value is not None for value in rules.values())
    if rules["isolate"] is None:
        rules["isolate"] = boxed or workers is not None or where.chosen()
    if not rules["isolate"]:
        for name in ("timeout", "restarts", "memory_limit"):
            if rules[name] is not None:
                raise ValueError(f"{name}= is for worker processes: it needs isolate=True")
        return {}
    restarts = 1 if rules["restarts"] is None else rules["restarts"]
    return {
        **checked(rules["timeout"], restarts, rules["memory_limit"], rules["sandbox"]),
        "auto": is_auto(rules["isolate"]) and not boxed,
        "num_workers": workers,
        "by_hand": by_hand,
    }


def is_auto(isolate: Any) -> bool:
    """Whether the code decides."""
    return isinstance(isolate, str) and isolate == "auto"


def _workers(number: Any, isolate: Any) -> int | None:
    """How many workers a stage is given."""
    if number is None:
        return None
    if isinstance(number, bool) or not hasattr(number, "__index__"):
        raise TypeError(f"num_workers must be a number of processes: {shown(number)}")
    count = integer(number, "num_workers")
    if count < 1:
        raise ValueError(f"num_workers must be at least 1: {count}")
    if isolate is not None and not isolate:
        raise ValueError(
            f"num_workers={count} starts worker processes, and isolate={isolate!r} keeps the "
            "function in this one: give one of them"
        )
    return count


def checked(timeout: Any, restarts: Any, memory_limit: Any, sandbox: Any) -> dict[str, Any]:
    """The rules as the engine reads them."""
    from spillway import seeds
    from spillway.config import as_bytes

    try:
        timeout = None if timeout is None else policies.seconds(timeout)
    except (TypeError, ValueError) as error:
        raise TypeError(f"timeout must be seconds, found {shown(timeout)}") from error
    if timeout is not None and not 0 < timeout < 2**31:
        raise ValueError(f"timeout must be seconds, more than 0: {shown(timeout)}")
    restarts = integer(restarts, "restarts")
    if restarts < 0:
        raise ValueError(f"restarts must not be negative: {restarts}")
    limit = 0 if memory_limit is None else as_bytes(memory_limit)
    if memory_limit is not None and limit <= 0:
        raise ValueError(f"memory_limit must be bytes, more than 0: {shown(memory_limit)}")
    return {
        "timeout": float(timeout or 0),
        "restarts": restarts,
        "most": 1,
        "report_after": REPORT_AFTER,
        "memory_limit": limit,
        "seed": seeds.given(),
        **boxed_in(sandbox),
    }


def boxed_in(sandbox: Any) -> dict[str, Any]:
    """`sandbox=` as the engine reads it: True, or the folders whose files may be read."""
    if sandbox is None or sandbox is False:
        return {}
    folders: list[str] = []
    if sandbox is not True:
        given = [sandbox] if isinstance(sandbox, str | bytes | os.PathLike) else list(sandbox)
        folders = [os.path.realpath(os.fsdecode(folder)) for folder in given]
        for folder in folders:
            if not os.path.exists(folder):
                raise ValueError(f"sandbox: no such folder: {folder}")
        if not folders:
            raise ValueError("sandbox: no folders to read from; True allows any")
    refused = _native.sandbox_refusal(bool(folders))
    if refused:
        raise errors.FailedPreconditionError(f"sandbox: {refused}")
    return {"sandbox": True, "folders": folders + _interpreters(folders)}


def _interpreters(folders: list[str]) -> list[str]:
    """What the interpreter and libraries read for themselves."""
    if not folders:
        return []
    own = [sys.prefix, sys.base_prefix, sys.exec_prefix, os.path.dirname(__file__)]
    own += [p or os.curdir for p in sys.path if isinstance(p, str)]
    system = ["/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/sys/devices/system"]
    devices = ["/dev/null", "/dev/zero", "/dev/urandom", "/proc/cpuinfo", "/proc/meminfo"]
    found = {os.path.realpath(p) for p in [*own, *system, *devices] if p and os.path.exists(p)}
    return sorted(found - {"/"})


def isolated(
    function: Any,
    call: Callable[..., Any],
    rules: dict[str, Any],
    op: str,
    calls: int | None,
    of: Any = None,
) -> Any:
    """The engine's function `function`, of the callable `call`, run in workers.

    `calls`: how many at a time; None or AUTOTUNE: as many as there are CPUs. `of`: what it is
    called with; given for one that was traced, and is traced there again.
    """
    if rules["auto"]:
        why = where.stays(call)
        if why:
            return where.staying(function, why)
    traced = of is not None and not _native.is_python(function)
    sent = ToTrace(call, from_structure(of), op, secrets.randbits(63)) if traced else call
    drawn = 0 if traced else draws.draws(call)
    packed = travel.pack(sent, op, of=call)
    return _isolated(function, packed, {**rules, "draws": drawn}, rules["num_workers"] or calls)


def _isolated(
    function: Any, packed: _native.Cargo, rules: dict[str, Any], calls: int | None
) -> Any:
    install_hooks()
    made = _native.guarded_function(
        function,
        packed,
        command(),
        {**rules, "most": max(calls or 0, 0)},
    )
    kind, parts, output, code, name = _native.function_parts(function)
    why = parts[2] if kind == "python" else ""
    again = Recipe(_isolated_again, (packed, output, code, name, why, rules, calls))
    return _native.function_with_recipe(made, again)


def _isolated_again(
    packed: _native.Cargo,
    output: Any,
    code: str,
    name: str,
    why: str,
    rules: dict[str, Any],
    calls: int | None,
) -> Any:
    """The same in another process: the function is unpacked in the workers only."""
    function = _native.function(_only_in_workers, output, code, name, False, why)
    return _isolated(function, packed, rules, calls)


def _only_in_workers(*_: Any) -> Any:
    raise RuntimeError("this function runs in worker processes only")


def isolated_generator(
    native: Any, generator: Any, args: Any, structure: Any, rules: dict[str, Any]
) -> Any:
    """The engine's generator `native`, of `generator` and `args`, run in a worker."""
    if rules["num_workers"] is not None:
        raise ValueError(
            "from_generator: a generator has one worker, num_workers= is for functions: "
            "parallel=k runs k generators over slices of args[0]"
        )
    if rules["auto"]:
        why = where.stays(generator, tuple(args or ()))
        if why:
            return where.staying_generator(native, why)
    running = isinstance(generator, Iterator) or hasattr(generator, "__anext__")
    stateful = hasattr(generator, "state_dict") and hasattr(generator, "load_state_dict")
    if running and not callable(generator) and not stateful:
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
    code, name = functions.fingerprint(generator), functions.name_of(generator)
    return _isolated_generator(packed, structure, rules, code, name)


def _isolated_generator(
    packed: _native.Cargo, structure: Any, rules: dict[str, Any], code: str, name: str
) -> Any:
    install_hooks()
    made = _native.guarded_generator(
        _native.generator(_only_in_workers, (), structure, code, name),
        packed,
        structure,
        command(),
        rules,
    )
    says = "runs in a worker process"
    again = Recipe(_isolated_generator, (packed, structure, rules, code, name), says=says)
    return _native.object_with_recipe(made, again)


class ToTrace:
    """A function on its way to be traced in a worker as it was here."""

    def __init__(self, call: Callable[..., Any], spec: Any, op: str, number: int) -> None:
        """`number`: what seeds drawn in the trace follow from, the same in every worker."""
        self.call, self.spec, self.op, self.number = call, spec, op, number

    def __call__(self) -> Any:
        """The engine's function."""
        from spillway import building, seeds

        seeds.begin_element(self.number)
        return building.function(self.call, None, to_structure(self.spec, lists=True), self.op)


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
            worker.environment,
            travel.pack_exception,
            travel.unpack_exception,
            plain.unpack_exception,
            flight.warn,
        )
        _installed = True
