"""`tf.compat`: TensorFlow 1's names that are still met."""

from __future__ import annotations

from typing import Any

from spillway.dimensions import Dimension
from spillway.shown import shown
from spillway.tf import _names
from spillway.tf.compat import v1

__all__ = ["as_bytes", "as_str", "as_str_any", "as_text", "dimension_value", "v1"]


def dimension_value(dimension: Any) -> int | None:
    """The length of a `Dimension`, or of what already is one.

    >>> dimension_value(Dimension(3)), dimension_value(3)
    (3, 3)
    """
    value: int | None = dimension.value if isinstance(dimension, Dimension) else dimension
    return value


def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """Text encoded, bytes as they are.

    >>> as_bytes("é")
    b'\\xc3\\xa9'
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes | bytearray):
        return bytes(bytes_or_text)
    raise TypeError(f"Expected binary or unicode string, got {shown(bytes_or_text)}")


def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """Bytes decoded, text as it is.

    >>> as_text(b"a")
    'a'
    """
    if isinstance(bytes_or_text, bytes | bytearray):
        return bytes(bytes_or_text).decode(encoding)
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    raise TypeError(f"Expected binary or unicode string, got {shown(bytes_or_text)}")


as_str = as_text


def as_str_any(value: Any, encoding: str = "utf-8") -> str:
    """Bytes and text as text, anything else by `str`."""
    return as_text(value, encoding) if isinstance(value, bytes | bytearray) else str(value)


def __getattr__(name: str) -> Any:
    raise _names.missing(__name__, name)
