"""What a trace met that only Python can do: the function runs as Python, its types are known."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator


class _Notes(threading.local):
    reasons: list[str] | None = None
    size = 1


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


@contextlib.contextmanager
def noted(size: int = 1) -> Iterator[list[str]]:
    """Collects the reasons that come up inside."""
    before, _notes.reasons, _notes.size = _notes.reasons, [], size
    try:
        yield _notes.reasons
    finally:
        _notes.reasons = before
