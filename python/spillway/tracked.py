"""What lives in this process, and the line that made it: variables, sessions, graphs, iterators.

Tracking holds nothing alive. It costs about two microseconds an object: the line is kept as a code
object and a number, and put into words when somebody asks.

>>> class Thing:
...     size = 8
>>> thing = Thing()
>>> _ = track("tensor", thing, lambda it: it.size)
>>> live("tensor")[-1].nbytes
8
>>> del thing
>>> [found for found in live("tensor") if isinstance(found.obj, Thing)]
[]
"""

from __future__ import annotations

import itertools
import sys
import weakref
from collections.abc import Callable
from types import CodeType
from typing import Any

from spillway.lines import PACKAGE, describe

KINDS = ("variable", "session", "graph", "iterator", "tensor")
_serials = itertools.count()
# By kind, oldest first. Only single dict operations change them: a finalizer may run anywhere.
_live: dict[str, dict[int, Tracked]] = {kind: {} for kind in KINDS}


class Tracked(weakref.ref[Any]):
    """One object: what it is, where it was made, what it holds now."""

    __slots__ = ("_nbytes", "_number", "_site", "serial", "what")

    what: str
    serial: int
    _nbytes: Callable[[Any], int]
    _site: CodeType | None
    _number: int

    @property
    def obj(self) -> Any:
        """The object; None once it is gone."""
        return self()

    @property
    def line(self) -> str:
        """Where it was made, `train.py:12` or `In[5] line 7`."""
        return "" if self._site is None else describe(self._site, self._number)

    @property
    def nbytes(self) -> int:
        """What it holds at this moment; 0 once it is gone."""
        obj = self()
        return 0 if obj is None else self._nbytes(obj)

    def __repr__(self) -> str:
        """What, where, how much."""
        return f"Tracked({self.what}, {self.line}, {self.nbytes} bytes)"


def track(what: str, obj: object, nbytes: Callable[[Any], int]) -> Tracked:
    """Knows `obj` by the user's line that made it for as long as it lives.

    nbytes: asked when somebody looks; must not hold `obj`.
    """
    made = Tracked(obj, _forget)
    made.what = what
    made.serial = next(_serials)
    made._nbytes = nbytes
    made._site, made._number = _site()
    _live[what][made.serial] = made
    return made


def _forget(gone: Any) -> None:
    _live[gone.what].pop(gone.serial, None)


def live(what: str) -> list[Tracked]:
    """What is tracked and alive, the oldest first."""
    return [found for found in list(_live[what].values()) if found() is not None]


def _site() -> tuple[CodeType | None, int]:
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return (None, 0) if frame is None else (frame.f_code, frame.f_lineno)
