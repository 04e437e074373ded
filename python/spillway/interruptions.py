"""Which exceptions of user code mean more than that its element failed."""

from __future__ import annotations

import opcode
import sys
import threading
from types import CodeType, FrameType, TracebackType
from typing import Any

_MAIN = threading.main_thread()
_MOST_SIGNALS = 65
_RAISES = {opcode.opmap[name] for name in ("RAISE_VARARGS", "RERAISE")}
_HAS_VARARGS = 0x04


def meaning_of(error: BaseException) -> str:
    """What `error`, out of a function, a generator or a call, means to the element being made.

    "": the element failed. "raised": what is not an `Exception` (SystemExit, GeneratorExit, the
    outcomes of test frameworks) is for the caller, as it is, in the element's place. "signal": a
    handler raised it, Ctrl-C's or the program's own; that has nothing to do with the element.

    >>> meaning_of(ValueError()), meaning_of(SystemExit(3))
    ('', 'raised')
    """
    on_main = threading.get_ident() == _MAIN.ident
    if isinstance(error, Exception):
        return "signal" if on_main and raised_by_handler(error) else ""
    if _is_cancelled_task(error):
        return ""
    if not on_main:
        return "raised"
    if raised_by_handler(error):
        return "signal"
    by_default = isinstance(error, KeyboardInterrupt) and not _raised_by_statement(error)
    return "signal" if by_default else "raised"


def pass_on(error: BaseException) -> None:
    """Raises `error` again where it is nothing that its `except` clause may answer.

    >>> try:
    ...     1 / 0
    ... except Exception as error:
    ...     pass_on(error)  # a failure: goes on here
    """
    if meaning_of(error):
        raise error


def start_thread(thread: threading.Thread) -> None:
    """Starts it; what a signal's handler raises meanwhile comes as it is.

    `Thread.start` takes that for a thread that could not be started, and where it runs already its
    clean-up fails with a KeyError, which says nothing.

    >>> begun = threading.Thread(target=print, args=("begun",))
    >>> start_thread(begun)
    begun
    >>> begun.join()
    """
    try:
        thread.start()
    except KeyError as error:
        if error.__context__ is None:
            raise
        raise error.__context__ from None


def raised_by_handler(error: BaseException) -> bool:
    """Whether a handler written in Python, that the interpreter called for a signal, raised it.

    Such a handler is given the frame that it interrupts, the one before it in the traceback.
    """
    before: FrameType | None = None
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        frame = trace.tb_frame
        if before is not None and _may_be_handler(frame.f_code) and _was_given(frame, before):
            return True
        before, trace = frame, trace.tb_next
    return False


def _may_be_handler(code: CodeType) -> bool:
    return code.co_argcount >= 2 or bool(code.co_flags & _HAS_VARARGS)


def _was_given(frame: FrameType, interrupted: FrameType) -> bool:
    """Whether `frame` has been called with the number of a signal, and `interrupted`."""
    code, values = frame.f_code, frame.f_locals
    names = code.co_varnames[: code.co_argcount]
    given: list[Any] = [values.get(name) for name in names]
    if code.co_flags & _HAS_VARARGS:
        more = values.get(code.co_varnames[code.co_argcount + code.co_kwonlyargcount])
        given += more if isinstance(more, tuple) else ()
    return any(value is interrupted for value in given) and any(
        isinstance(value, int) and 0 < value < _MOST_SIGNALS for value in given
    )


def _raised_by_statement(error: BaseException) -> bool:
    """Whether a `raise` raised it. Ctrl-C comes between any two instructions."""
    trace = error.__traceback__
    if trace is None:
        return True
    while trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame.f_code.co_code[trace.tb_lasti] in _RAISES


def _is_cancelled_task(error: BaseException) -> bool:
    """An `await` that was cancelled: this element's, whoever did it."""
    asyncio = sys.modules.get("asyncio.exceptions")
    return asyncio is not None and isinstance(error, asyncio.CancelledError)
