"""What a MemoryError says: what is in use, the largest holders, and what would help.

NumPy's own error is explained when it is made. Any other library's (a list, a string, a tensor of
torch) is explained when it is shown: in a notebook's cell, at the end of a script or of a thread.
"""

from __future__ import annotations

import contextlib
import errno
import linecache
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any

from spillway import _native, errors
from spillway._native import format_bytes
from spillway.largest import Holder, largest
from spillway.lines import LIBRARIES

_WITHOUT_NUMBERS = (
    "spillway: the allocation was refused before the process was killed, and no memory is left to "
    "say who holds it: delete what you do not need (del NAME), then go on"
)
# What the system's own words are where the kernel or the loader of libraries gets no memory.
_NO_MEMORY = (
    "Cannot allocate memory",
    "can't allocate memory",
    "failed to map segment",
    "cannot map zero-fill pages",
    "out of memory",
)
_MOST_CAUSES = 8
_FOR_PARSING = 128 << 20
_LOOK_EVERY = 1.0  # seconds between two searches for the largest values: one takes up to 0.1
_next_look = 0.0


def explain() -> None:
    """Explains NumPy's errors from now on, and those that nobody catches."""
    _explain_refusals()
    _explain_in_notebook()
    shown, shown_in_thread = sys.excepthook, threading.excepthook

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        _add_note_if_it_fits(error)
        shown(kind, error, trace)

    def show_in_thread(what: threading.ExceptHookArgs) -> None:
        if what.exc_value is not None:
            _add_note_if_it_fits(what.exc_value)
        shown_in_thread(what)

    sys.excepthook, threading.excepthook = show, show_in_thread


def add_note(error: BaseException) -> None:
    """Tells of the process's memory where the error does not.

    >>> error = MemoryError()
    >>> add_note(error)
    >>> error.__notes__[0].startswith("spillway")
    True
    """
    if not _is_memory(error) or isinstance(error, errors.SpillwayError):
        return
    if getattr(error, "reason", "") or getattr(error, "__notes__", None):
        return
    refused = "spillway: the allocation was refused before the process was killed: "
    error.add_note(
        (_native.last_refusal() or refused + in_use(_native.fullest_room()))
        + holders_and_advice(largest(_innermost(error)))
    )


def _innermost(error: BaseException) -> FrameType | None:
    """The frame that raised it; None while it was not raised by any."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame if trace is not None else None


def _add_note_if_it_fits(error: BaseException) -> None:
    """The error itself is shown in any case, and what it was raised from above it."""
    shown: BaseException | None = error
    for _ in range(_MOST_CAUSES):
        if shown is None:
            return
        _add_to_one(shown)
        shown = shown.__cause__ or (None if shown.__suppress_context__ else shown.__context__)


def _add_to_one(error: BaseException) -> None:
    if not _is_memory(error):
        return
    _native.error_is_told()
    try:
        add_note(error)
    except MemoryError:
        # A text that is there already: nothing is made for it.
        error.add_note(_WITHOUT_NUMBERS)


def in_use(facts: dict[str, Any]) -> str:
    """How full the container is, as a clause."""
    said = (
        f"{format_bytes(facts['used'])} of the {format_bytes(facts['limit'])} that "
        f"{facts['bound_by']} allows are in use, {format_bytes(facts['own'])} by this process"
    )
    if facts.get("untouched", 0) >= 1 << 20:
        said += f", and {format_bytes(facts['untouched'])} are allocated but not filled yet"
    return said


def holders_and_advice(holders: list[Holder]) -> str:
    """The largest values, a line, and what to do, a line."""
    advice = "work on smaller pieces, or stream them through a dataset (docs/memory.md)"
    if not holders:
        return f"\n  keep less, {advice}"
    return (
        "\n  largest: "
        + ", ".join(str(each) for each in holders)
        + f"\n  free what is not needed (del {holders[0].name.split(' ')[0]}), {advice}"
    )


def _is_memory(error: BaseException) -> bool:
    if isinstance(error, OSError) and error.errno == errno.ENOMEM:
        return True
    # torch has no class of its own for it, a library that cannot be loaded is an ImportError, and
    # what pandas cannot parse a ValueError.
    if isinstance(error, RuntimeError | OSError | ImportError | ValueError):
        text = str(error)[:1000]
        if "can't start new thread" in text:
            return bool(_native.is_tight())
        return any(words in text for words in _NO_MEMORY)
    return isinstance(error, MemoryError)


def _explain_refusals() -> None:
    """Adds size, limit and holders to NumPy's message.

    NumPy builds its error after the allocator said no and has no place for a reason; its class is
    private, so without it the message stays NumPy's own.
    """
    try:
        from numpy._core._exceptions import _ArrayMemoryError as Refused
    except ImportError:
        return
    if getattr(Refused, "_spillway", False):
        return
    first_init, first_str = Refused.__init__, Refused.__str__

    def init(self: Any, *args: Any) -> None:
        first_init(self, *args)
        self.reason = _native.last_refusal()
        self.holders = _holders_now(sys._getframe().f_back) if self.reason else []

    def text(self: Any) -> str:
        reason = getattr(self, "reason", "")
        if not reason:
            return first_str(self)
        # Where C code called the function, the error is made when the function has ended already.
        if not self.holders and (frame := _innermost(self)) is not None:
            self.holders = _holders_now(frame)
        return f"{first_str(self)}\n{reason}{holders_and_advice(self.holders)}"

    refused: Any = Refused
    refused.__init__, refused.__str__, refused._spillway = init, text, True


def _holders_now(frame: FrameType | None) -> list[Holder]:
    """Not for each of many refusals: a program may try smaller and smaller arrays."""
    global _next_look
    if time.monotonic() < _next_look:
        return []
    found = largest(frame)
    if found:
        _next_look = time.monotonic() + _LOOK_EVERY
    return found


@contextlib.contextmanager
def _briefly_if_full(traceback: Any) -> Iterator[None]:
    """IPython parses the whole file of every frame to show its lines in colour: up to 100 MiB.

    The lines of libraries' files that were read for it, which are 10 MiB, are not kept either.
    """
    facts, mode = _native.room(), traceback.mode
    if facts["limit"] - facts["used"] >= facts["kept"] + _FOR_PARSING:
        yield
        return
    traceback.set_mode("Plain")
    try:
        yield
    finally:
        traceback.set_mode(mode)
        for name in [each for each in linecache.cache if each.startswith(LIBRARIES)]:
            linecache.cache.pop(name, None)


def _explain_in_notebook() -> None:
    """IPython shows errors itself: those of cells, and of results that it cannot display."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or getattr(shell, "_spillway_explains", False):
        return
    shown = shell.showtraceback

    def show(exc_tuple: Any = None, *args: Any, **more: Any) -> None:
        error = exc_tuple[1] if exc_tuple else sys.exc_info()[1]
        if isinstance(error, BaseException):
            _add_note_if_it_fits(error)
        with _briefly_if_full(shell.InteractiveTB):
            shown(exc_tuple, *args, **more)

    shell.showtraceback, shell._spillway_explains = show, True
