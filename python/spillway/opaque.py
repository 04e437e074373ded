"""What a trace met that only Python can do: the function runs as Python, its types are known."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any


class _Notes(threading.local):
    reasons: list[str] | None = None
    size = 1
    tensors: list[Any] | None = None
    form: Any = None


_notes = _Notes()


def note(why: str) -> None:
    """Says, inside a trace, that the function has to run as Python."""
    if _notes.reasons is not None:
        _notes.reasons.append(why)


def tracing() -> bool:
    """Whether a function is being traced on this thread."""
    return _notes.reasons is not None


def size() -> int:
    """What stands for a size nobody knows, where a dataset is made inside a trace.

    Another one in every pass: what differs between two passes is not known.
    """
    return _notes.size


def form() -> Any:
    """The form that the function being traced is made into, if it is."""
    return _notes.form


@contextlib.contextmanager
def noted(size: int = 1, form: Any = None) -> Iterator[list[str]]:
    """Collects the reasons that come up inside; `form` what makes a dataset there."""
    before = _notes.reasons, _notes.size, _notes.form
    _notes.reasons, _notes.size, _notes.form = [], size, form
    try:
        yield _notes.reasons
    finally:
        _notes.reasons, _notes.size, _notes.form = before


def keep(tensor: Any) -> None:
    """Has a traced tensor computed though no result depends on it: an assertion."""
    if _notes.tensors is not None:
        _notes.tensors.append(tensor)


@contextlib.contextmanager
def kept() -> Iterator[list[Any]]:
    """Collects what must be computed inside."""
    before, _notes.tensors = _notes.tensors, []
    try:
        yield _notes.tensors
    finally:
        _notes.tensors = before
