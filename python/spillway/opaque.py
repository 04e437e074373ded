"""What a trace met that only Python can do: the function runs as Python, its types are known."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator


class _Notes(threading.local):
    reasons: list[str] | None = None


_notes = _Notes()


def note(why: str) -> None:
    """Says, inside a trace, that the function has to run as Python."""
    if _notes.reasons is not None:
        _notes.reasons.append(why)


def tracing() -> bool:
    """Whether a function is being traced on this thread."""
    return _notes.reasons is not None


@contextlib.contextmanager
def noted() -> Iterator[list[str]]:
    """Collects the reasons that come up inside."""
    before, _notes.reasons = _notes.reasons, []
    try:
        yield _notes.reasons
    finally:
        _notes.reasons = before
