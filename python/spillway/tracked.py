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
from collections import Counter, deque
from collections.abc import Callable
from types import CodeType
from typing import Any

from spillway.lines import PACKAGE, describe

Key = tuple[str, str, int]  # what, file, line

KINDS = ("variable", "session", "graph", "iterator", "tensor")
_serials = itertools.count()
# By kind, oldest first. Only single dict operations change them: a finalizer may run anywhere.
_live: dict[str, dict[int, Tracked]] = {kind: {} for kind in KINDS}
# The same by line; there are at most so many, the rest counts as one, of the file "".
MOST_LINES = 1024
_by_line: dict[Key, dict[int, Tracked]] = {}
_changed: set[Key] = set()
_MANY = 1024
# Sessions that went without being closed, until somebody counts them.
_dropped: deque[Key] = deque(maxlen=10_000)
_dropped_counts: Counter[Key] = Counter()


class Tracked(weakref.ref[Any]):
    """One object: what it is, where it was made, what it holds now."""

    __slots__ = ("_nbytes", "_number", "_site", "key", "serial", "what")

    what: str
    key: Key
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
    key = (what, "" if made._site is None else made._site.co_filename, made._number)
    made.key = key = key if key in _by_line or _has_room() else (what, "", 0)
    _live[what][made.serial] = made
    line = _by_line.setdefault(key, {})
    line[made.serial] = made
    _changed.add(key)
    count = len(line)
    if count >= _MANY and count & (count - 1) == 0:
        from spillway import growth

        growth.look(False)
    return made


def _forget(gone: Any) -> None:
    if _drop(gone) and gone.what == "session":
        _dropped.append(gone.key)


def _has_room() -> bool:
    if len(_by_line) < MOST_LINES:
        return True
    for key in [key for key, line in list(_by_line.items()) if not line]:
        _by_line.pop(key, None)
    return len(_by_line) < MOST_LINES


def _drop(gone: Any) -> bool:
    _by_line.get(gone.key, {}).pop(gone.serial, None)
    _changed.add(gone.key)
    return _live[gone.what].pop(gone.serial, None) is not None


def untrack(obj: object) -> None:
    """Forgets an object that holds nothing any more, though somebody still has it: it was closed.

    >>> class Thing: pass
    >>> thing = Thing()
    >>> _ = track("session", thing, lambda it: 1)
    >>> untrack(thing)
    >>> [found for found in live("session") if found.obj is thing]
    []
    """
    for ref in weakref.getweakrefs(obj):
        if isinstance(ref, Tracked):
            _drop(ref)


def changed() -> list[tuple[Key, int]]:
    """Lines of which more or fewer objects live than when this was last asked, and how many."""
    found = []
    while _changed:
        try:
            key = _changed.pop()
        except KeyError:
            break
        found.append((key, len(_by_line.get(key, ()))))
    return found


def at_line(key: Key) -> list[Tracked]:
    """What lives of one line, the oldest first."""
    return [found for found in list(_by_line.get(key, {}).values()) if found() is not None]


def dropped_sessions() -> dict[Key, int]:
    """Sessions that nobody closed and nobody could reach any more: freed. By their line."""
    while _dropped:
        try:
            key = _dropped.popleft()
            known = key in _dropped_counts or len(_dropped_counts) < MOST_LINES
            _dropped_counts[key if known else ("session", "", 0)] += 1
        except IndexError:
            break
    return dict(_dropped_counts)


def live(what: str) -> list[Tracked]:
    """What is tracked and alive, the oldest first."""
    return [found for found in list(_live[what].values()) if found() is not None]


def any_live(what: str) -> bool:
    """Whether there may be any."""
    return bool(_live[what])


def _site() -> tuple[CodeType | None, int]:
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return (None, 0) if frame is None else (frame.f_code, frame.f_lineno)
