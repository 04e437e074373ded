"""`sw.leaks()` and `sw.open_sessions()`: what is never let go of, by the line that makes it."""

from __future__ import annotations

import gc
import html
import time
from collections.abc import Iterable
from dataclasses import dataclass

from spillway import _native, growth, tracked
from spillway.holders import holders
from spillway.lines import describe_at, with_source

_LOOKED_UP = 10  # lines whose holders are looked for
_MOST_SECONDS = 2.0  # of this thread's own time


@dataclass(frozen=True)
class Leak:
    """A line that holds more and more.

    `what` is tensor, variable, session, graph, iterator or node (of a graph). `bytes` are in
    memory; `on_disk` was moved there to make room. `bytes_per_step` is what a step adds; where
    `grows` says "each", what one of them takes.
    """

    what: str
    line: str
    count: int
    bytes: int
    bytes_per_step: float
    holders: tuple[str, ...] = ()
    on_disk: int = 0
    grows: str = ""

    @property
    def advice(self) -> str:
        """What to do about it."""
        return growth.ADVICE[self.what]

    def __str__(self) -> str:
        """In a sentence.

        >>> print(Leak("variable", "train.py:7", 1000, 4 << 20, 4096.0, grows="+4.00 KiB a step"))
        variable created 1,000 x at train.py:7 (4.00 MiB live, +4.00 KiB a step)
        """
        size = f"{_native.format_bytes(self.bytes)} live, {self.grows}"
        if self.what == "node":
            return (
                f"adding nodes to a graph in a loop: {self.count:,} nodes at {self.line} ({size})"
            )
        return f"{self.what} created {self.count:,} x at {self.line} ({size})"


class Leaks(list[Leak]):
    """What grows, the fastest first: empty, and so false, when nothing does.

    >>> Leaks([Leak("tensor", "train.py:7", 3, 96, 32.0, ("list 'kept' in train.py (3 items)",),
    ...     grows="+32 B a step")], steps=3, limit=1 << 30)
    1 line holds more and more: 3 steps, memory limit 1.00 GiB
      tensor created 3 x at train.py:7 (96 B live, +32 B a step)
        held by list 'kept' in train.py (3 items)
        let them go once they were used, or keep only what you need: float(x), x.numpy()
    """

    def __init__(
        self, found: Iterable[Leak] = (), notes: Iterable[str] = (), steps: int = 0, limit: int = 0
    ) -> None:
        """`notes`: what is no leak any more, and still good to know."""
        super().__init__(found)
        self.notes = list(notes)
        self.steps, self.limit = steps, limit

    def _head(self) -> str:
        size = f"{self.steps:,} steps, memory limit {_native.format_bytes(self.limit)}"
        if not self:
            return f"no line holds more and more: {size}"
        few = "1 line holds" if len(self) == 1 else f"{len(self)} lines hold"
        return f"{few} more and more: {size}"

    def __repr__(self) -> str:
        """The table."""
        rows = [self._head()]
        for leak in self:
            rows.append(f"  {leak}")
            source = with_source(leak.line)
            if source != leak.line:
                rows.append(f"    {source[len(leak.line) + 2 :]}")
            if leak.on_disk:
                rows.append(f"    {_native.format_bytes(leak.on_disk)} more of them wait on disk")
            if leak.holders:
                rows.append(f"    held by {'; '.join(leak.holders)}")
            rows.append(f"    {leak.advice}")
        return "\n".join(rows + [f"  {note}" for note in self.notes])

    def _repr_html_(self) -> str:
        titles = ("what", "alive", "bytes", "on disk", "growth", "line", "held by", "what to do")
        head = "".join(f"<th style='text-align:left'>{title}</th>" for title in titles)
        rows = []
        for leak in self:
            cells = (
                leak.what,
                f"{leak.count:,}",
                _native.format_bytes(leak.bytes),
                _native.format_bytes(leak.on_disk) if leak.on_disk else "",
                leak.grows,
                with_source(leak.line),
                "; ".join(leak.holders),
                leak.advice,
            )
            filled = "".join(f"<td style='text-align:left'>{html.escape(c)}</td>" for c in cells)
            rows.append(f"<tr>{filled}</tr>")
        table = f"<table><tr>{head}</tr>{''.join(rows)}</table>" if rows else ""
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        return f"<b>{html.escape(self._head())}</b>{table}{notes}"


def leaks() -> Leaks:
    """Lines that hold more and more tensors, variables, sessions, graphs or iterators.

    A line is listed when more of it lived after each of three steps: a step is a `session.run`, a
    pass over a dataset, or a call of this. Also when it made 100 and keeps them. Prints as a table
    with the text of the line, how much it grows, who holds it and what to do (docs/leaks.md).

    >>> import spillway as sw
    >>> kept = []
    >>> for step in range(4):
    ...     kept.append(sw.Tensor([1.0, 2.0]) + 1.0)
    ...     found = sw.leaks()
    >>> [(leak.what, leak.count) for leak in found if "doctest" in leak.line][0]
    ('tensor', 4)
    """
    gc.collect()
    growth.look(True, warns=False)  # the report itself says it
    until = time.thread_time() + _MOST_SECONDS
    found = []
    for at, line in enumerate(growth.leaking()):
        looked = at < _LOOKED_UP and time.thread_time() < until
        found.append(
            Leak(
                line.key[0],
                line.place,
                line.count,
                line.bytes,
                line.bytes_per_step,
                tuple(holders(line.key)) if looked else (),
                line.on_disk,
                line.growth(),
            )
        )
    return Leaks(found, _notes(), growth.steps(), _native.memory_limit())


def _notes() -> Iterable[str]:
    for session in open_sessions():
        size = _native.format_bytes(session.bytes)
        yield f"session made at {with_source(session.line)} is open and holds {size}"
    for (_, file, number), count in tracked.dropped_sessions().items():
        line = with_source(describe_at(file, number)) if file else "elsewhere"
        few, them = ("1 session was", "it") if count == 1 else (f"{count:,} sessions were", "them")
        yield f"{few} never closed; freed when nobody could reach {them} any more: {line}"


@dataclass(frozen=True)
class OpenSession:
    """A session that was not closed: the line that made it and the bytes it holds."""

    line: str
    bytes: int


def open_sessions() -> list[OpenSession]:
    """Sessions that are not closed, the oldest first.

    >>> import spillway as sw
    >>> sw.open_sessions()
    []
    """
    return [
        OpenSession(found.line, found.nbytes)
        for found in tracked.live("session")
        if not getattr(found.obj, "closed", False)
    ]
