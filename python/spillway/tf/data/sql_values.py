"""Values of SQLite as the dtypes of TensorFlow: every value becomes one of any dtype."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

Converter = Callable[[Any], Any]

TYPES = ("string", "int8", "int16", "int32", "int64", "uint8", "uint16", "bool", "float64")


class Casting:
    """SQLite's own conversions, for values that are not stored as what is asked for.

    A database of its own does them: one in UTF-16 would take the bytes of a text for UTF-16.

    >>> casting = Casting()
    >>> casting.integer(b"12abc"), casting.integer(1e300), casting.real(b"1e3"), casting.text(1e15)
    (12, 9223372036854775807, 1000.0, b'1.0e+15')
    >>> casting.close()
    """

    def __init__(self) -> None:
        """Nothing is opened before it is needed: most columns hold what is asked for."""
        self._database: sqlite3.Connection | None = None

    def integer(self, value: Any) -> int:
        """The number that a text begins with; a real without its fraction, at most int64's."""
        return int(self._ask("SELECT CAST(? AS INTEGER)", value))

    def real(self, value: Any) -> float:
        """The number that a text begins with."""
        return float(self._ask("SELECT CAST(? AS REAL)", value))

    def text(self, value: Any) -> bytes:
        """A number in SQLite's words."""
        return bytes(self._ask("SELECT CAST(? AS TEXT)", value))

    def close(self) -> None:
        """On the thread that asked."""
        if self._database is not None:
            self._database.close()

    def _ask(self, question: str, value: Any) -> Any:
        if self._database is None:
            self._database = sqlite3.connect(":memory:")
            self._database.text_factory = bytes
        return self._database.execute(question, (value,)).fetchone()[0]


def converter(dtype: str, casting: Casting) -> Converter:
    """What makes a value of this dtype of what SQLite hands out; NULL is 0, False or b"".

    As TensorFlow does: an integer that does not fit loses its upper bits, a text that is no
    number is 0.

    >>> casting = Casting()
    >>> [converter(dtype, casting)(300) for dtype in ("int8", "bool", "float64", "string")]
    [44, True, 300.0, b'300']
    >>> [converter("uint16", casting)(value) for value in (None, -1, b"abc", 2.9)]
    [0, 65535, 0, 2]
    >>> casting.close()
    """
    if dtype == "string":
        return lambda value: value if type(value) is bytes else _text(value, casting)
    if dtype == "float64":
        return lambda value: value if type(value) is float else _real(value, casting)
    if dtype == "bool":
        return lambda value: _integer(value, casting) != 0
    signed = not dtype.startswith("u")
    span = 1 << int(dtype.lstrip("uint"))
    lowest = -span // 2 if signed else 0

    def whole(value: Any) -> int:
        number = value if type(value) is int else _integer(value, casting)
        return (number - lowest) % span + lowest

    return whole


def _integer(value: Any, casting: Casting) -> int:
    if value is None:
        return 0
    return value if type(value) is int else casting.integer(value)


def _real(value: Any, casting: Casting) -> float:
    if value is None:
        return 0.0
    return float(value) if isinstance(value, int | float) else casting.real(value)


def _text(value: Any, casting: Casting) -> bytes:
    if value is None:
        return b""
    return value if isinstance(value, bytes) else casting.text(value)
