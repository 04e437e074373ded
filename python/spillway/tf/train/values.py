"""The messages that hold values: BytesList, FloatList, Int64List."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, SupportsIndex

import numpy as np

from spillway.tf.train import wire
from spillway.tf.train.message import Message


class Repeated(list[Any]):
    """The values of a list message: each is checked when it is put in."""

    __slots__ = ("_changed", "_check")

    def __init__(self, check: Callable[[Any], Any], changed: Callable[[], None]) -> None:
        """Empty; `changed` is called before each change."""
        super().__init__()
        self._check = check
        self._changed = changed

    def append(self, value: Any) -> None:
        """Adds one value."""
        self[len(self) :] = [value]

    def extend(self, values: Iterable[Any]) -> None:
        """Adds values."""
        self[len(self) :] = values

    def insert(self, index: SupportsIndex, value: Any) -> None:
        """Adds a value before the one at `index`."""
        self[index:index] = [value]

    def __iadd__(self, values: Iterable[Any]) -> Repeated:  # type: ignore[misc]
        """Adds values."""
        self.extend(values)
        return self

    def __setitem__(self, key: Any, value: Any) -> None:
        """Replaces a value or a part."""
        checked: Any
        if isinstance(key, slice):
            if isinstance(value, str | bytes) or not hasattr(value, "__iter__"):
                raise TypeError("must assign iterable")
            checked = [self._check(item) for item in value]
        else:
            checked = self._check(value)
        self._changed()
        super().__setitem__(key, checked)


class ListMessage(Message):
    """`value`: values of one type."""

    __slots__ = ("_when_changed", "value")

    _fields: ClassVar[tuple[str, ...]] = ("value",)
    value: Repeated

    def __init__(self, value: Iterable[Any] | None = None) -> None:
        """Holds `value`."""
        self._when_changed: Callable[[], None] | None = None
        self.value = Repeated(self._check, self._changed)
        if value is not None:
            self.value.extend(value)

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuses to replace `value`: change what is in it."""
        if name == "value" and hasattr(self, "value") and value is not self.value:
            raise AttributeError(
                'Assignment not allowed to repeated field "value" in protocol message object.'
            )
        object.__setattr__(self, name, value)

    def _changed(self) -> None:
        if self._when_changed is not None:
            self._when_changed()

    @staticmethod
    def _check(value: Any) -> Any:
        raise NotImplementedError

    @staticmethod
    def _shown(value: Any) -> str:
        return str(value)

    def _lines(self) -> list[str]:
        return [f"value: {self._shown(value)}" for value in self.value]

    def Clear(self) -> None:  # noqa: N802
        """Forgets all values."""
        self.value[:] = []


class BytesList(ListMessage):
    """A list of byte strings.

    >>> BytesList(value=[b"a"]).SerializeToString()
    b'\\n\\x01a'
    """

    __slots__ = ()

    @staticmethod
    def _check(value: Any) -> bytes:
        if not isinstance(value, bytes):
            raise TypeError(f"expected bytes, {type(value).__name__} found")
        return bytes(value)

    def SerializeToString(self, deterministic: bool | None = None) -> bytes:  # noqa: N802
        """The message as bytes."""
        return b"".join([wire.field(1, value) for value in self.value])

    def _merge_field(self, number: int, kind: int, value: Any) -> None:
        if number == 1 and kind == wire.BYTES:
            self.value.append(value)

    @staticmethod
    def _shown(value: bytes) -> str:
        return f'"{escaped(value)}"'


class FloatList(ListMessage):
    """A list of float32 numbers.

    >>> FloatList(value=[0.1]).value
    [0.10000000149011612]
    """

    __slots__ = ()

    @staticmethod
    def _check(value: Any) -> float:
        if isinstance(value, str | bytes) or not hasattr(value, "__float__"):
            raise TypeError(f"expected a number, {type(value).__name__} found")
        with np.errstate(over="ignore"):
            return float(np.float32(float(value)))

    def SerializeToString(self, deterministic: bool | None = None) -> bytes:  # noqa: N802
        """The message as bytes."""
        return wire.field(1, wire.packed_floats(self.value)) if self.value else b""

    def _merge_field(self, number: int, kind: int, value: Any) -> None:
        if number == 1 and kind in (wire.BYTES, wire.FIXED32):
            self.value.extend(wire.read_packed_floats(value))

    @staticmethod
    def _shown(value: float) -> str:
        return str(np.float32(value)).removesuffix(".0")


class Int64List(ListMessage):
    """A list of int64 numbers.

    >>> Int64List(value=[1, -1]) == Int64List.FromString(
    ...     Int64List(value=[1, -1]).SerializeToString())
    True
    """

    __slots__ = ()

    @staticmethod
    def _check(value: Any) -> int:
        if isinstance(value, bool | np.bool_):
            raise TypeError("Field tensorflow.Int64List.value: Expected an int, got a boolean.")
        number = operator.index(value)
        if not -(2**63) <= number < 2**63:
            raise ValueError(f"Value out of range: {number}")
        return number

    def SerializeToString(self, deterministic: bool | None = None) -> bytes:  # noqa: N802
        """The message as bytes."""
        return wire.field(1, wire.packed_ints(self.value)) if self.value else b""

    def _merge_field(self, number: int, kind: int, value: Any) -> None:
        if number == 1 and kind == wire.BYTES:
            self.value.extend(wire.read_packed_ints(value))
        elif number == 1 and kind == wire.VARINT:
            self.value.append(wire.signed(value))


_ESCAPES = {9: "\\t", 10: "\\n", 13: "\\r", 34: '\\"', 39: "\\'", 92: "\\\\"}


def escaped(value: bytes) -> str:
    """Bytes as protobuf's text format shows them.

    >>> print(escaped(b"a\\n\\xff"))
    a\\n\\377
    """
    return "".join(
        [
            _ESCAPES.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}")
            for byte in value
        ]
    )
