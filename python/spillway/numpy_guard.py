"""What NumPy's own MemoryError says when the guard refused the array."""

from __future__ import annotations

from typing import Any

from spillway import _native


def explain_refusals() -> None:
    """Adds the size, the limit and who holds the memory to NumPy's message.

    NumPy builds its error after the allocator said no and has no place for a reason; its class is
    private, so without it the message stays NumPy's own.
    """
    try:
        from numpy._core._exceptions import _ArrayMemoryError as Refused
    except ImportError:
        return
    if getattr(Refused, "_spillway", False):
        return
    first_init, first_str = Refused.__init__, Refused.__str__

    def init(self: Any, *args: Any) -> None:
        first_init(self, *args)
        self.reason = _native.numpy_refusal()

    def text(self: Any) -> str:
        reason = getattr(self, "reason", "")
        return f"{first_str(self)}\n{reason}" if reason else first_str(self)

    refused: Any = Refused
    refused.__init__, refused.__str__, refused._spillway = init, text, True
