"""Plain Python and NumPy: what a careful hand-written loop costs, the limit of each task."""

from __future__ import annotations

import gzip as gzip_files
import struct
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any

import google_crc32c  # type: ignore[import-not-found, import-untyped, unused-ignore]
import numpy as np

from bench.file_data import NPY_COLUMNS
from bench.file_tasks import FileCase

ENVIRONMENT = "limits"
BLOCK = 1 << 18
WITHOUT = {
    "p8b": "Python's parser of protocol buffers is no limit",
    "small_parse": "Python's parser of protocol buffers is no limit",
}


def _batched(items: Iterable[Any], size: int) -> Iterator[object]:
    source = iter(items)
    while held := list(islice(source, size)):
        yield held
        del held


def _records(path: str, open_file: Callable[..., Any] = open) -> Iterator[bytes]:
    with open_file(path, "rb") as file:
        while head := file.read(12):
            (size,) = struct.unpack("<Q", head[:8])
            data = file.read(size)
            (found,) = struct.unpack("<I", file.read(4))
            crc = google_crc32c.value(data)
            if (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF != found:
                raise ValueError(f"{path}: the checksum must be {found}: {crc}")
            yield data


def p8a__python(case: FileCase) -> Iterable[object]:
    """Python's reads, struct, and the checksum in C."""
    return _batched(chain.from_iterable(map(_records, case.files)), 32)


def p8a__readinto(case: FileCase) -> Iterator[object]:
    """Into the same array again and again: no checksum, and nothing one could keep."""
    with open(case.files[0], "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
    room = np.empty((32, size + 16), np.uint8)
    for path in case.files:
        with open(path, "rb", buffering=0) as file:
            while file.readinto(room.data):
                yield list(room[:, 12:-4])


def small__python(case: FileCase) -> Iterable[object]:
    """Python's reads, struct, and the checksum in C."""
    return _batched(chain.from_iterable(map(_records, case.files)), 64)


def gzip__python(case: FileCase) -> Iterable[object]:
    """The same through Python's gzip module."""
    records = (_records(path, gzip_files.open) for path in case.files)
    return _batched(chain.from_iterable(records), 64)


def p9__splitlines(case: FileCase) -> Iterator[object]:
    """Blocks of 256 KB, bytes.splitlines, 1,024 at a time."""
    rest, held = b"", list[bytes]()
    with open(case.files[0], "rb", buffering=0) as file:
        while block := file.read(BLOCK):
            end = block.rfind(b"\n") + 1
            lines = (rest + block[:end]).splitlines()
            rest = block[end:]
            held += lines
            begin = 0
            while len(held) - begin >= 1_024:
                yield held[begin : begin + 1_024]
                begin += 1_024
            held = held[begin:]
    if rest:
        held.append(rest)
    if held:
        yield held


def p9__python(case: FileCase) -> Iterable[object]:
    """Python's own iteration over an open file."""
    return _batched((line[:-1] for line in open(case.files[0], "rb")), 1_024)


def p10__readinto(case: FileCase) -> Iterator[object]:
    """A new array a batch, filled by the system call."""
    for path in case.files:
        with open(path, "rb", buffering=0) as file:
            file.seek(128)
            while True:
                batch = np.empty((32, NPY_COLUMNS), np.float32)
                if file.readinto(batch.data) < batch.nbytes:
                    break
                yield batch


def p10__mmap(case: FileCase) -> Iterator[object]:
    """Slices of mapped arrays, copied."""
    for path in case.files:
        rows = np.load(path, mmap_mode="r")
        for begin in range(0, len(rows), 32):
            yield np.array(rows[begin : begin + 32])
