"""Functions on their way to workers, counted while they are pickled.

A small one is bytes. Of a large one nothing is copied but into its place: first it is pickled into
nowhere, which says how much it takes; then that much is reserved, in memory that workers map; then
it is pickled into that. Arrays and other large buffers go there straight from where they are.
"""

from __future__ import annotations

import contextlib
import io
import pickle
from collections.abc import Callable
from typing import Any

from spillway import _native

_LEAST_PART = 32 * 1024  # bytes: smaller buffers go with the text

Dump = Callable[..., None]  # (value, file, buffer_callback=)


class _Counter(io.BytesIO):
    """A file that keeps what is little, and of more only counts the bytes."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self.parts: list[memoryview] = []

    def write(self, data: Any, /) -> int:
        size = memoryview(data).nbytes
        self.count += size
        if self.count <= _native.MOST_IN_MESSAGE:
            super().write(data)
        return size

    def aside(self, buffer: pickle.PickleBuffer) -> bool:
        """Whether a buffer goes with the text; else it is one of the parts."""
        return goes_along(buffer, self.parts)


def goes_along(buffer: pickle.PickleBuffer, parts: list[memoryview]) -> bool:
    """Whether a buffer goes with the text; else it is added to the parts, on pages of its own."""
    try:
        raw = buffer.raw()
    except BufferError:  # with gaps
        return True
    if raw.nbytes < _LEAST_PART:
        return True
    parts.append(raw)
    return False


def packed(value: Any, dump: Dump) -> _native.Cargo:
    """A value for workers. BudgetError: there is no room for it."""
    first = _Counter()
    dump(value, first, protocol=5, buffer_callback=first.aside)
    if first.count <= _native.MOST_IN_MESSAGE and not first.parts:
        return _native.Cargo(first.getvalue())
    writer = _native.begin_cargo(first.count, [part.nbytes for part in first.parts])
    if first.count <= _native.MOST_IN_MESSAGE:
        writer.write(first.getvalue())
        parts = first.parts
    else:
        again = _Counter()
        dump(value, writer, protocol=5, buffer_callback=again.aside)
        parts = again.parts
    return _filled(writer, parts)


def _filled(writer: _native.CargoWriter, parts: list[Any]) -> _native.Cargo:
    for part in parts:
        writer.begin_part()
        writer.write(part)
    return writer.seal()


def size_of(value: Any, dump: Dump) -> int:
    """Bytes that a value takes on its way, as far as it can be packed."""
    count = _Counter()
    with contextlib.suppress(Exception):
        dump(value, count, protocol=5, buffer_callback=count.aside)
    least = getattr(value, "nbytes", 0)  # of an array that there is no room to copy
    counted = count.count + sum(part.nbytes for part in count.parts)
    return max(counted, least if isinstance(least, int) else 0)


def again(text: Any, parts: list[Any]) -> _native.Cargo:
    """The same in another process, of what `Cargo.open` says here."""
    if len(text):
        return _native.Cargo(text)
    writer = _native.begin_cargo(parts[0].nbytes, [part.nbytes for part in parts[1:]])
    writer.write(parts[0])
    return _filled(writer, parts[1:])
