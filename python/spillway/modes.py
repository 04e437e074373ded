"""Whether what is written here runs at once, or becomes part of a graph.

A thread writes a graph inside `with graph.as_default()`, or everywhere once eager execution was
switched off. The functions of a dataset and traced functions are never part of it.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

from spillway import opaque
from spillway.native_ops import native


class _Stack(threading.local):
    """The graphs being written on a thread, the innermost last; None: eager, as in `init_scope`."""

    def __init__(self) -> None:
        self.graphs: list[Any] = []


_stack = _Stack()
_lock = threading.Lock()
_eager = True
_writing = 0  # how many scopes are open, in all threads
_recorder: Callable[[Any, str], Any] | None = None
_default: Callable[[], Any] | None = None  # makes or finds the default graph


def install(recorder: Callable[[Any, str], Any], default: Callable[[], Any]) -> None:
    """Says who is told of nodes, and which graph is written where none was named."""
    global _recorder, _default
    _recorder, _default = recorder, default


def graph() -> Any:
    """The graph that is written on this thread now; None: nothing is."""
    graphs = _stack.graphs
    if (_eager and not graphs) or opaque.tracing() or native.in_stage():
        return None
    if graphs:
        return graphs[-1]
    return None if _default is None else _default()


def innermost() -> Any:
    """The graph whose scope is open on this thread, also where nothing is written."""
    graphs = _stack.graphs
    return graphs[-1] if graphs else None


def deferring() -> bool:
    """Whether ops become nodes without a value here: a function is traced, or a graph written."""
    return opaque.tracing() or graph() is not None


def eager() -> bool:
    """Whether eager execution is on where no graph is named."""
    return _eager


def set_eager(on: bool) -> None:
    """Switches eager execution for the whole process."""
    global _eager
    with _lock:
        _eager = on
        _told()


@contextlib.contextmanager
def writing(graph: Any) -> Iterator[Any]:
    """Writes `graph` on this thread inside; None: eager inside."""
    global _writing
    _stack.graphs.append(graph)
    with _lock:
        _writing += 1
        _told()
    try:
        yield graph
    finally:
        _stack.graphs.pop()
        with _lock:
            _writing -= 1
            _told()


def _told() -> None:
    """Ops pay for a recorder only while somebody writes a graph."""
    native.set_recorder(_recorder if _writing or not _eager else None)
