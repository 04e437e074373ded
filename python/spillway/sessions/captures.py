"""Variables that a function reads while it is traced: their values come with each call."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from spillway import opaque
from spillway.native_ops import native


class _Tracing(threading.local):
    reads: dict[int, tuple[Any, Any]] | None = None  # by variable: itself and its parameter
    calls = 0  # functions running as Python on this thread that have run before


_tracing = _Tracing()


@contextlib.contextmanager
def collected() -> Iterator[dict[int, tuple[Any, Any]]]:
    """Collects the variables that are read inside, each with the parameter that stands for it."""
    before, _tracing.reads = _tracing.reads, {}
    try:
        yield _tracing.reads
    finally:
        _tracing.reads = before


def read(variable: Any) -> Any:
    """What a traced function sees of a variable.

    Inside a dataset's function a variable is read for every element, which Python does.
    """
    reads = _tracing.reads
    if reads is None:
        opaque.note("reads a variable, whose value may change from element to element")
        return _parameter(variable)
    key = variable._serial
    if key not in reads:
        reads[key] = (variable, _parameter(variable))
    return reads[key][1]


def _parameter(variable: Any) -> Any:
    shape = variable.shape
    return native.parameter(variable._dtype_name, None if shape.rank is None else shape.as_list())


@contextlib.contextmanager
def called_again() -> Iterator[None]:
    """Inside, a function runs as Python that has run before."""
    _tracing.calls += 1
    try:
        yield
    finally:
        _tracing.calls -= 1


def made_variable() -> None:
    """Refuses variables that a function would make at every call."""
    if _tracing.calls:
        raise ValueError(
            "tf.function only supports singleton tf.Variables created on the first call. Make sure "
            "the tf.Variable is only created once or created outside tf.function."
        )
