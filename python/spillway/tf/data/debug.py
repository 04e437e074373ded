"""Debug mode: every function is called as Python, one element at a time."""

from __future__ import annotations

from typing import Any

_enabled = False


def enable_debug_mode() -> None:
    """Makes the datasets that are built from now on call their functions in Python, one by one.

    For breakpoints and prints within functions; it stays on until the process ends.
    """
    global _enabled
    _enabled = True


def enabled() -> bool:
    """Whether `enable_debug_mode` was called."""
    return _enabled


def one_by_one(arguments: dict[str, Any]) -> dict[str, Any]:
    """A method's keywords without parallelism."""
    return {key: value for key, value in arguments.items() if key != "num_parallel_calls"}
