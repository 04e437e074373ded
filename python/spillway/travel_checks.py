"""A checksum over the parts of a pickled dataset: one that was damaged on its way is refused."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from spillway.errors import DataLossError

_PLAIN = (bool, int, float, complex, str, type(None))


def checksum(value: Any, before: int = 0) -> int:
    """CRC-32 of plain values, bytes and arrays; of other objects the class alone.

    Those are pickled by functions of their own, and checked there.

    >>> checksum((1, "a")) == checksum((1, "a")), checksum((1, "a")) == checksum((1, "b"))
    (True, False)
    >>> checksum(np.zeros(3)) == checksum(np.zeros(2))
    False
    """
    kind = type(value)
    if kind in _PLAIN:
        text = f"{kind.__name__} {value!r}"
        return zlib.crc32(text.encode("utf-8", "surrogatepass"), before)
    if isinstance(value, bytes | bytearray):
        return zlib.crc32(value, zlib.crc32(b"bytes %d" % len(value), before))
    if isinstance(value, np.ndarray | np.generic):
        return _of_array(np.asarray(value), before)
    if isinstance(value, Mapping):
        value = [part for item in value.items() for part in item]
    if isinstance(value, list | tuple):
        before = zlib.crc32(f"{kind.__name__} {len(value)}".encode(), before)
        for part in value:
            before = checksum(part, before)
        return before
    return zlib.crc32(f"{kind.__module__}.{kind.__qualname__}".encode(), before)


def _of_array(array: np.ndarray[Any, Any], before: int) -> int:
    before = zlib.crc32(f"{array.dtype.str} {array.shape}".encode(), before)
    if array.dtype.hasobject:
        return checksum(array.ravel().tolist(), before)
    return zlib.crc32(np.ascontiguousarray(array).view(np.uint8).data, before)


def sealed(make: Callable[..., Any], parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """What `__reduce__` returns for `make(*parts)`, which are compared where they arrive.

    >>> opened, args = sealed(complex, (1.0, 2.0))
    >>> opened(*args)
    (1+2j)
    """
    return opened, (make, checksum((make.__name__, parts)), *parts)


def opened(make: Callable[..., Any], expected: int, *parts: Any) -> Any:
    """`make(*parts)`, if the parts are those that were sealed; else DataLossError."""
    if checksum((make.__name__, parts)) != expected:
        raise damaged()
    return make(*parts)


def damaged() -> DataLossError:
    """What is raised for a pickle that is not as it was written."""
    return DataLossError(
        None,
        None,
        "pickled dataset: the pickle is damaged: a part of it does not have the checksum that was "
        "pickled with it; pickle the dataset again",
    )
