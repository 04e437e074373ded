"""The flight recorder and the watchdog, from Python's side: set up before the first pass.

What runs is written to a small file in memory that outlives the process (`observe/flight_file.h`);
an orderly end removes it. `look` finds those of processes that died.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from spillway import _native, competitors
from spillway.config import settings
from spillway.lines import PACKAGE, describe

_MOST_FRAMES = 40

# Asked once: a worker process is not recorded, whatever its environment is made to be.
_OFF = os.environ.get("SPILLWAY_FLIGHT_RECORDER") == "0"

why_not = ""  # nothing is recorded


def folder() -> str | None:
    """Where records lie: in `cache_dir`, else the user's cache; None: turned off, or no home.

    >>> import spillway as sw
    >>> with sw.configure(cache_dir="/somewhere"):
    ...     folder()
    '/somewhere/spillway/flight'
    """
    if _OFF:
        return None
    base = settings.cache_dir or os.environ.get("SPILLWAY_CACHE_DIR")
    if not base:
        base = os.environ.get("XDG_CACHE_HOME", "")
        if not os.path.isabs(base):
            base = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "spillway", "flight") if os.path.isabs(base) else None


def look() -> None:
    """Says in three lines what this program, or notebook, did when it died; only once.

    Other programs are told when they run again. Cheap where none died.
    """
    where = folder()
    if where is None:
        return
    try:
        found = any(name.endswith(".flight") for name in os.listdir(where))
    except OSError:
        return
    if found:
        from spillway import flight_report

        flight_report.tell(where, _program())


def begin() -> None:
    """Before the first pass: reports of stalls can be made, and the record is begun."""
    global why_not
    _native.set_watchdog_hooks(stack_of, warn, PACKAGE)
    competitors.begin()
    _prepare_stacks()
    where = folder()
    if where is None:
        why_not = "recording is turned off"
    else:
        why_not = str(_native.begin_flight(where, _program(), sys.executable or ""))
        _remove_at_the_end_of_a_child()


def warn(text: str) -> None:
    """What a user should know while it lasts."""
    import logging

    from spillway.lines import in_cells

    logging.getLogger("spillway").warning("%s", in_cells(text))


def stack_of(ident: int) -> str:
    """The frames of a thread that are not this package's, innermost first."""
    import linecache

    lines: list[str] = []
    for frame in _frames_of(sys._current_frames().get(ident)):
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE):
            where = describe(code, frame.f_lineno)
            if not where.startswith("In["):
                where = f'File "{code.co_filename}", line {frame.f_lineno}'
            text = linecache.getline(code.co_filename, frame.f_lineno, frame.f_globals).strip()
            lines.append(f"  {where} in {code.co_name}{': ' + text if text else ''}\n")
        if len(lines) == _MOST_FRAMES:
            break
    return "".join(lines)


def _frames_of(frame: FrameType | None) -> Iterator[FrameType]:
    """A thread's frames, innermost first; where it runs an event loop, those that wait there."""
    from spillway.async_items import AsyncItems

    while frame is not None:
        if frame.f_code.co_filename.startswith(PACKAGE):
            items = frame.f_locals.get("self")
            if isinstance(items, AsyncItems):
                yield from reversed(_awaiting(items.source))
        yield frame
        frame = frame.f_back


def _awaiting(awaited: Any) -> list[FrameType]:
    """The frames of what `awaited` awaits, the innermost last.

    >>> async def read():
    ...     await asyncio.sleep(9)
    >>> async def rows():
    ...     yield await read()
    >>> import asyncio
    >>> [frame.f_code.co_name for frame in _awaiting(rows())]
    ['rows']
    """
    frames: list[FrameType] = []
    while awaited is not None and len(frames) < _MOST_FRAMES:
        for kind, inner in (("cr", "cr_await"), ("ag", "ag_await"), ("gi", "gi_yieldfrom")):
            if hasattr(awaited, inner):
                frame = getattr(awaited, kind + "_frame")
                if frame is None:
                    return frames
                frames.append(frame)
                awaited = getattr(awaited, inner)
                break
        else:
            awaited = _step_of(awaited)
    return frames


def _step_of(awaited: Any) -> Any:
    """The async generator that `awaited` is a step of; None: it is something else."""
    import gc

    if not type(awaited).__name__.startswith("async_generator_"):
        return None
    return next((each for each in gc.get_referents(awaited) if hasattr(each, "ag_await")), None)


def _prepare_stacks() -> None:
    """Where code that is not Python holds the interpreter, faulthandler still sees all stacks."""
    import faulthandler

    number = _native.free_signal()
    if number == 0:
        return
    file = os.memfd_create("spillway-stacks", os.MFD_CLOEXEC)
    faulthandler.register(number, file=file, all_threads=True, chain=False)
    _native.set_stack_signal(number, file)


def _program() -> str:
    notebook = os.environ.get("JPY_SESSION_NAME", "") if "ipykernel" in sys.modules else ""
    main: Any = sys.modules.get("__main__")
    path = notebook or getattr(main, "__file__", None)
    return os.path.abspath(path) if path else " ".join(sys.argv[:1]) or "python"


def _remove_at_the_end_of_a_child() -> None:
    """Processes of multiprocessing end without atexit, and orderly all the same."""
    process = sys.modules.get("multiprocessing.process")
    if process is not None and process.parent_process() is not None:
        from multiprocessing import util

        util.Finalize(None, _native.end_flight, exitpriority=0)
