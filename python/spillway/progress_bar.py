"""A line that says how far something is: counts, rate, time left, and how many were bad."""

from __future__ import annotations

import html
import importlib
import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

_LEAST_S = 0.1
_BLOCKS = " ▏▎▍▌▋▊▉█"
_BAR = 20


def seconds(value: float) -> str:
    """A time as tqdm writes it.

    >>> seconds(75), seconds(3700)
    ('01:15', '1:01:40')
    """
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"


def rate(value: float, unit: str) -> str:
    """How many a second, or how long each takes where that says more.

    >>> rate(1234.5, "files"), rate(0.5, "files")
    ('1,234 files/s', '2.00 s/file')
    """
    if value >= 100:
        return f"{int(value):,} {unit}/s"
    if value >= 1 or value <= 0:
        return f"{value:.1f} {unit}/s"
    return f"{1 / value:.2f} s/{unit.removesuffix('s')}"


class ProgressBar:
    """Draws itself over its last line; in a notebook, in its own output. Not from two threads."""

    def __init__(
        self,
        label: str,
        total: int | None = None,
        unit: str = "elements",
        shown: bool | None = None,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
        tells: Callable[[], list[str]] | None = None,
    ) -> None:
        """`shown`: None shows it on a terminal and in a notebook only.

        `tells` is asked, when the line is drawn, for what stands at its end; else the bad are.
        """
        self.label, self.total, self.unit = label, total, unit
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._display: Any = None if shown is False else _notebook_display()
        self._shown = shown is True or (
            shown is None and (self._display is not None or _is_terminal(self._stream))
        )
        self._handle: Any = None
        self._tells = tells
        self._closed = False
        self._begun = clock()
        self._drawn = -1e9
        self._width = 0
        self._before = 0
        self.done = 0
        self.bad = 0

    def begin_at(self, done: int, bad: int) -> None:
        """What an earlier run did counts, but not for the rate."""
        self.done = self._before = done
        self.bad = bad

    def update(self, done: int, bad: int) -> None:
        """Where it is now; drawn at most ten times a second."""
        self.done, self.bad = done, bad
        now = self._clock()
        if self._shown and now - self._drawn >= _LEAST_S:
            self._drawn = now
            self._draw(False)

    def close(self) -> None:
        """Draws the last state, and leaves the line; again, it does nothing."""
        if self._shown and not self._closed:
            self._draw(True)
        self._closed = True

    @property
    def shown(self) -> bool:
        """Whether anything is drawn at all."""
        return self._shown

    @property
    def elapsed(self) -> float:
        """Seconds so far."""
        return self._clock() - self._begun

    def text(self) -> str:
        """The line without the bar's blocks."""
        return "".join(self._parts(bar=False))

    def _parts(self, *, bar: bool) -> list[str]:
        passed = max(self.elapsed, 1e-9)
        speed = (self.done - self._before) / passed
        parts = [f"{self.label}: "] if self.label else []
        if self.total:
            share = min(self.done / self.total, 1.0)
            parts.append(f"{share:4.0%} ")
            if bar:
                parts.append(f"|{_blocks(share)}| ")
            parts.append(f"{self.done:,}/{self.total:,}")
            left = seconds((self.total - self.done) / speed) if speed > 0 else "?"
            parts.append(f" [{seconds(passed)}<{left}, ")
        else:
            parts.append(f"{self.done:,} [{seconds(passed)}, ")
        told = [f"{self.bad:,} bad"] if self._tells is None else self._tells()
        parts.append(", ".join([rate(speed, self.unit), *told]) + "]")
        return parts

    def _draw(self, last: bool) -> None:
        if self._display is not None:
            self._draw_html()
            return
        terminal = _is_terminal(self._stream)
        line = "".join(self._parts(bar=True))
        # A line that wraps is not drawn over, but again below: the bar goes first, then the end.
        room = _columns(self._stream) - 1 if terminal else len(line)
        if len(line) > room:
            line = self.text()
        if len(line) > room:
            line = line[: max(0, room - 1)] + "…"
        # What was drawn before and is longer has to go.
        padding = " " * max(0, self._width - len(line))
        self._width = len(line)
        if terminal or last:
            begin, end = ("\r", "\n" if last else "") if terminal else ("", "\n")
            self._stream.write(begin + line + padding + end)
            self._stream.flush()

    def _draw_html(self) -> None:
        value = f' value="{self.done}" max="{self.total}"' if self.total else ""
        page = f"<progress{value}></progress> <code>{html.escape(self.text())}</code>"
        shown = {"text/html": page, "text/plain": self.text()}
        if self._handle is None:
            self._handle = self._display(shown, raw=True, display_id=True)
        else:
            self._handle.update(shown, raw=True)


def _blocks(share: float) -> str:
    eighths = round(share * _BAR * 8)
    whole, part = divmod(eighths, 8)
    return ("█" * whole + (_BLOCKS[part] if part else "")).ljust(_BAR)


def _columns(stream: TextIO) -> int:
    """How wide the terminal is."""
    import os
    import shutil

    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return shutil.get_terminal_size().columns


def _is_terminal(stream: TextIO) -> bool:
    return bool(getattr(stream, "isatty", lambda: False)())


def _notebook_display() -> Any:
    """IPython's `display` in a notebook's kernel; None anywhere else."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or getattr(shell, "kernel", None) is None:
        return None
    return importlib.import_module("IPython.display").display
