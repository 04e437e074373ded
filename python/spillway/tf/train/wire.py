"""Protocol buffers' wire format: fields of untrusted bytes, every length checked.

>>> list(fields(b"\\x08\\x96\\x01\\x12\\x02hi"))
[(1, 0, 150), (2, 2, b'hi')]
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

from spillway.errors import DataError

VARINT, FIXED64, BYTES, GROUP, END_GROUP, FIXED32 = range(6)
_DEEPEST = 100  # nested groups, as protobuf's own limit
_MASK = 2**64 - 1

Field = tuple[int, int, int | bytes]


def _corrupt(what: str, at: int) -> DataError:
    return DataError(f"protobuf: {what}", offset=at)


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of up to 64 bits, and where the next byte is."""
    value = 0
    for shift in range(0, 70, 7):
        if at + shift // 7 >= len(data):
            raise _corrupt("a number must end within its message", at)
        byte = data[at + shift // 7]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & _MASK, at + shift // 7 + 1
    raise _corrupt("a number must have at most 10 bytes", at)


def fields(data: bytes) -> Iterator[Field]:
    """(number, wire type, value) of each field; groups, which nobody writes, are passed over.

    DataError where the bytes are no message.
    """
    at, open_groups = 0, list[int]()
    while at < len(data):
        begin = at
        tag, at = read_varint(data, at)
        number, kind = tag >> 3, tag & 7
        if not 0 < number < 2**29:
            raise _corrupt(f"a field's number must be from 1 to 536870911: {number}", begin)
        if kind == GROUP:
            open_groups.append(number)
            if len(open_groups) > _DEEPEST:
                raise _corrupt(f"groups must be at most {_DEEPEST} deep", begin)
            continue
        if kind == END_GROUP:
            if not open_groups or open_groups.pop() != number:
                raise _corrupt(f"the end of a group must have a beginning: field {number}", begin)
            continue
        value, at = _value(data, at, kind, begin)
        if not open_groups:
            yield number, kind, value
    if open_groups:
        raise _corrupt(f"a group must end: field {open_groups[-1]}", at)


def _value(data: bytes, at: int, kind: int, begin: int) -> tuple[int | bytes, int]:
    if kind == VARINT:
        return read_varint(data, at)
    if kind == BYTES:
        size, at = read_varint(data, at)
    elif kind in (FIXED64, FIXED32):
        size = 8 if kind == FIXED64 else 4
    else:
        raise _corrupt(f"a wire type must be from 0 to 5: {kind}", begin)
    if size > len(data) - at:
        raise _corrupt(f"a field must end within its message: {size} bytes", begin)
    return bytes(data[at : at + size]), at + size


def signed(value: int) -> int:
    """A number of 64 bits as int64.

    >>> signed(2**64 - 1)
    -1
    """
    return value - 2**64 if value >= 2**63 else value


def read_packed_ints(data: bytes) -> list[int]:
    """The int64 numbers of a packed field."""
    out, at = list[int](), 0
    while at < len(data):
        value, at = read_varint(data, at)
        out.append(signed(value))
    return out


def read_packed_floats(data: bytes) -> list[float]:
    """The float numbers of a packed field."""
    if len(data) % 4:
        raise _corrupt(f"packed floats must have 4 bytes each: {len(data)} bytes", 0)
    return list(struct.unpack(f"<{len(data) // 4}f", data))


def varint(value: int) -> bytes:
    """A number as it is written; negative ones take ten bytes.

    >>> varint(150), len(varint(-1))
    (b'\\x96\\x01', 10)
    """
    value &= _MASK
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number: int, payload: bytes) -> bytes:
    """A field of bytes or of a message."""
    return varint(number << 3 | BYTES) + varint(len(payload)) + payload


def packed_ints(values: Iterable[int]) -> bytes:
    """int64 numbers as a packed field holds them."""
    return b"".join([varint(value) for value in values])


def packed_floats(values: list[float]) -> bytes:
    """Floats as a packed field holds them."""
    return struct.pack(f"<{len(values)}f", *values)
