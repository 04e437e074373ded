"""The file of one checkpoint: named byte strings under a checksum, written whole or not at all.

Layout, little endian: magic, version (u32), number of entries (u32); for each entry the length of
its name (u32), the name, the length of its content (u64), the content; last a CRC-32 of all before
(u32). Nothing in it is ever unpickled.
"""

from __future__ import annotations

import errno
import os
import secrets
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO

from spillway.errors import CorruptFile, DiskFull, MissingFile
from spillway.plain_files import open_plain

SUFFIX = ".index"
_MAGIC = b"SPILLCKP"
_VERSION = 1
_HEADER = struct.Struct("<8sII")
_LONGEST_NAME = 1 << 16
_STEP = 1 << 20
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def write_atomically(path: str, parts: list[bytes]) -> None:
    """Puts a file of mode 0600 in place when all of it is on disk; before that, nothing changes."""
    folder = os.path.dirname(path) or "."
    temporary = f"{path}.{secrets.token_hex(8)}.tmp"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(descriptor, "wb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException as error:
        os.unlink(temporary)
        if isinstance(error, OSError) and error.errno in _FULL:
            raise DiskFull(f"checkpoint: no room for it: {error}", file=path) from error
        raise
    entry = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(entry)
    finally:
        os.close(entry)


def write(prefix: str, entries: Mapping[str, bytes]) -> None:
    """Writes the checkpoint `prefix`, folder included."""
    os.makedirs(os.path.dirname(prefix) or ".", exist_ok=True)
    parts = [_HEADER.pack(_MAGIC, _VERSION, len(entries))]
    for name, content in entries.items():
        encoded = name.encode()
        parts += [
            struct.pack("<I", len(encoded)),
            encoded,
            struct.pack("<Q", len(content)),
            content,
        ]
    checksum = 0
    for part in parts:
        checksum = zlib.crc32(part, checksum)
    write_atomically(prefix + SUFFIX, [*parts, struct.pack("<I", checksum)])


@dataclass(frozen=True, slots=True)
class CheckpointFile:
    """A checkpoint that was found whole; contents are read when asked for.

    CorruptFile, a DataLossError, for anything else; MissingFile when there is none.
    """

    path: str
    where: Mapping[str, tuple[int, int]]  # name: offset and length of the content

    @staticmethod
    def open(prefix: str) -> CheckpointFile:
        """Checks all of the file: magic, version, lengths, checksum."""
        path = prefix + SUFFIX
        try:
            with open_plain(path) as file:
                size = os.fstat(file.fileno()).st_size
                return CheckpointFile(path, _entries(file, path, size))
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
            raise MissingFile(
                f"Error when restoring from checkpoint at {prefix}: Failed to find any matching "
                "files for it. Please double-check that the path is correct. You may be missing "
                "the checkpoint suffix (e.g. the '-1' in 'path/to/ckpt-1').",
                file=path,
            ) from error

    def read(self, name: str) -> bytes:
        """The content of an entry."""
        offset, length = self.where[name]
        try:
            with open_plain(self.path) as file:
                file.seek(offset)
                content: bytes = file.read(length)
        except FileNotFoundError as error:
            raise MissingFile("checkpoint: the file is gone", file=self.path) from error
        if len(content) != length:
            raise CorruptFile("checkpoint: the file became shorter", file=self.path, offset=offset)
        return content


def _entries(file: IO[bytes], path: str, size: int) -> dict[str, tuple[int, int]]:
    def corrupt(what: str, at: int) -> CorruptFile:
        return CorruptFile(f"checkpoint: {what}", file=path, offset=at)

    end = size - 4
    if end < _HEADER.size:
        raise corrupt(f"a file must have at least {_HEADER.size + 4} bytes: {size}", 0)
    magic, version, count = _HEADER.unpack(file.read(_HEADER.size))
    if magic != _MAGIC:
        raise corrupt(f"the file must begin with {_MAGIC!r}: {magic!r}", 0)
    if version != _VERSION:
        raise corrupt(f"the version must be {_VERSION}: {version}", 8)
    _verify_checksum(file, end, corrupt(f"the checksum at byte {end} must be that of the file", 0))
    file.seek(_HEADER.size)
    at, found = _HEADER.size, dict[str, tuple[int, int]]()
    for _ in range(count):
        if at + 4 > end:
            raise corrupt(f"{count} entries must end before the checksum", at)
        (length,) = struct.unpack("<I", file.read(4))
        if length > min(_LONGEST_NAME, end - at - 4):
            raise corrupt(f"a name must end within the file: {length} bytes", at)
        name = file.read(length)
        at += 4 + length
        if at + 8 > end:
            raise corrupt("an entry must have a length", at)
        (length,) = struct.unpack("<Q", file.read(8))
        if length > end - at - 8:
            raise corrupt(f"an entry must end within the file: {length} bytes", at)
        try:
            found[name.decode()] = (at + 8, length)
        except UnicodeDecodeError as error:
            raise corrupt(f"a name must be UTF-8: {name!r}", at) from error
        at += 8 + length
        file.seek(at)
    if at != end:
        raise corrupt(f"the entries must end at the checksum: {end - at} bytes are left", at)
    return found


def _verify_checksum(file: IO[bytes], end: int, error: CorruptFile) -> None:
    file.seek(0)
    checksum, left = 0, end
    while left > 0:
        part = file.read(min(_STEP, left))
        if not part:
            raise error
        checksum = zlib.crc32(part, checksum)
        left -= len(part)
    if file.read(4) != struct.pack("<I", checksum):
        raise error
