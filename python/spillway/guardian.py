"""What the guardian of the process's memory says when it stops a thread, and to whom it may.

The engine looks at the process and its container (`memory/guardian.h`) and names the thread that
grows; here it is decided whether that thread may be stopped where it is, and what it is told.
"""

from __future__ import annotations

import gc
import sys
import time
from types import FrameType
from typing import Any

from spillway import _native, errors, libraries, memory_errors
from spillway._native import format_bytes
from spillway.config import is_guard_wanted
from spillway.largest import largest
from spillway.lines import LIBRARIES, PACKAGE, describe, users_frame, with_source

_COLLECTING_SHARE = 10  # of its time a program may spend in collections that we begin: one part

_collect_after = 0.0


def begin() -> None:
    """Starts the guardian, unless SPILLWAY_GUARD=0."""
    _native.set_library_files(
        [*LIBRARIES, PACKAGE], [__file__, libraries.__file__, memory_errors.__file__]
    )
    _native.set_alarm_hook(alarm)
    _native.set_library_hook(libraries.before_loading)
    _native.guard_process(is_guard_wanted())
    if is_guard_wanted():
        libraries.let_allocators_ask()


def alarm(facts: dict[str, Any], thread: int | None) -> BaseException | type | None:
    """What is raised in the main thread (`thread` is None), or the class to raise in another.

    None: garbage or what is ours made room, or the thread runs nothing of the user's.
    """
    frame = sys._getframe(1) if thread is None else sys._current_frames().get(thread)
    found = _interruptible(frame)
    if found is None or _make_room(facts):
        return None
    error = _error(facts, found)
    if thread is None:
        return error
    # An exception for another thread is given as a class, and made there without arguments.
    message, line = error.message, error.line

    def init(self: errors.BudgetError) -> None:
        errors.BudgetError.__init__(self, message, kind="resource", line=line)

    return type("BudgetError", (errors.BudgetError,), {"__init__": init, "__module__": __name__})


def _interruptible(frame: FrameType | None) -> FrameType | None:
    """The user's frame in which the exception would arrive; None: it must not be raised here.

    An event loop that serves a notebook lives on the same thread as its cells: between cells there
    is nobody to tell. Our own code is not interrupted: it stands between the engine's rows.
    """
    if frame is None or frame.f_code.co_filename.startswith(PACKAGE):
        return None
    found = users_frame(frame)
    if found is not None or "ipykernel" in sys.modules:
        return found
    while frame.f_back is not None:
        frame = frame.f_back
    return frame


def _make_room(facts: dict[str, Any]) -> bool:
    """Whether garbage and what is ours were enough."""
    global _collect_after
    began = time.monotonic()
    if began >= _collect_after:
        gc.collect()
        took = time.monotonic() - began
        _collect_after = began + took * (1 + _COLLECTING_SHARE)
    if _native.is_tight():
        _native.give_back(facts["kept"])
    return not _native.is_tight()


def _error(facts: dict[str, Any], frame: FrameType) -> errors.BudgetError:
    line = describe(frame.f_code, frame.f_lineno)
    lines = [
        f"spillway stopped this code before the process was killed: {format_bytes(facts['used'])} "
        f"of the {format_bytes(facts['limit'])} that {facts['bound_by']} allows are in use, and "
        f"this process grew by {format_bytes(max(facts['grew'], 0))} in the last "
        f"{facts['seconds']:.1f} s",
        f"  it grew at {with_source(line)}",
        "  " + _parts(facts),
    ]
    text = "\n".join(lines) + memory_errors.holders_and_advice(largest(frame))
    return errors.BudgetError(text, kind="resource", line=line)


def _parts(facts: dict[str, Any]) -> str:
    arrays = max(facts["grew_arrays"], 0)
    ours = max(facts["grew_ours"], 0)
    rest = max(facts["grew"] - arrays - ours, 0)
    others = max(facts["used"] - facts["own"], 0)
    parts = [
        (arrays, "NumPy arrays"),
        (ours, "pipelines and tensors"),
        (rest, "Python objects and other libraries"),
    ]
    parts.sort(reverse=True)
    said = ", ".join(f"{name} +{format_bytes(size)}" for size, name in parts if size >= 1 << 20)
    beside = f"; other processes and the system hold {format_bytes(others)}" if others else ""
    return f"{said or 'no part grew by more than 1 MiB'}{beside}"
