"""The envelopes of saved states, as src/spillway/pipeline/sealed_state.h has them."""

from __future__ import annotations

import struct
from collections.abc import Iterator

HEADER = struct.Struct("<8sIIQQ")


def _table() -> list[int]:
    out = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
        out.append(byte)
    return out


_TABLE = _table()


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def content(state: bytes) -> bytes:
    """What the operators wrote."""
    return state[HEADER.size :]


def resealed(state: bytes, new: bytes) -> bytes:
    """A state of the same pipeline and version, with other content and the right checksum."""
    magic: bytes
    magic, version, _, pipeline, _ = HEADER.unpack_from(state)
    covered = struct.pack("<QQ", pipeline, len(new)) + new
    checksum = crc32c(struct.pack("<I", version) + covered)
    return magic + struct.pack("<II", version, checksum) + covered


def flipped(data: bytes) -> Iterator[bytes]:
    """`data` with one bit changed: each of them in turn."""
    for at in range(len(data)):
        for bit in range(8):
            yield data[:at] + bytes([data[at] ^ (1 << bit)]) + data[at + 1 :]


def other_lengths(data: bytes) -> Iterator[bytes]:
    """`data` cut off at every byte, and with more behind it."""
    for size in range(len(data)):
        yield data[:size]
    yield from (data + b"\0", data + b"x", data + data)
