"""Forty kinds of damaged files, and how each is read. docs/damaged-files.md shows what is said.

`python -m tests.damage` writes that page anew. A format is added with its good file, its reader and
its kinds.
"""

from __future__ import annotations

import base64
import gzip
import io
import os
import struct
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import spillway as sw
import spillway.tf as tf
from spillway import _native

PAGE = Path(__file__).resolve().parent.parent / "docs" / "damaged-files.md"


# ---- Good files


def photo(height: int, width: int) -> np.ndarray:
    y, x = np.mgrid[0:height, 0:width]
    waves = [128 + 100 * np.sin(x / (7 + 3 * k) + y / (11 + 2 * k)) for k in range(3)]
    return np.stack(waves, -1).astype(np.uint8)


def a_bmp() -> bytes:
    pixels = photo(6, 8).tobytes()
    head = struct.pack("<2sIHHI", b"BM", 54 + len(pixels), 0, 0, 54)
    return head + struct.pack("<IiiHHIIiiII", 40, 8, 6, 1, 24, 0, len(pixels), 0, 0, 0, 0) + pixels


def a_gif() -> bytes:
    """4 x 4 pixels of two colors; the codes are written out, without compression."""
    head = b"GIF89a" + struct.pack("<HHBBB", 4, 4, 0x80, 0, 0) + b"\0\0\0\xff\xff\xff"
    codes = [4, 0, 1] * 8 + [5]  # begun anew every two pixels: the codes stay 3 bits wide
    bits = sum(code << (3 * i) for i, code in enumerate(codes))
    data = bits.to_bytes((3 * len(codes) + 7) // 8, "little")
    image = b"\x2c" + struct.pack("<HHHHB", 0, 0, 4, 4, 0)
    return head + image + b"\x02" + bytes([len(data)]) + data + b"\0\x3b"


def a_webp() -> bytes:
    """Two pixels, lossless."""
    return base64.b64decode(
        "UklGRiwAAABXRUJQVlA4TCAAAAAvAQAAAA+gEEAAFDQKAQRAQaMQQAAUNPMf+R8qENH/AA=="
    )


def an_npy() -> bytes:
    out = io.BytesIO()
    np.save(out, np.arange(60, dtype=np.float32).reshape(20, 3))
    return out.getvalue()


RECORDS = b"".join(_native.framed_tfrecord(bytes([65 + i]) * 40) for i in range(3))
JPEG = tf.io.encode_jpeg(photo(40, 60)).numpy()
PNG = tf.io.encode_png(photo(40, 60)).numpy()
GIF, BMP, WEBP, NPY = a_gif(), a_bmp(), a_webp(), an_npy()
TEXT = "Zürich, Genève, Łódź, 東京, 😀\n".encode() * 3


# ---- How they are read: a pipeline over paths, one element or more a file


def decode(path: Any) -> Any:
    return tf.io.decode_image(tf.io.read_file(path), channels=3, expand_animations=False)


def strict(path: Any) -> Any:
    return tf.strings.unicode_transcode(tf.io.read_file(path), "UTF-8", "UTF-8", errors="strict")


def of_paths(function: Callable[[Any], Any]) -> Callable[[list[str]], tf.data.Dataset]:
    return lambda paths: tf.data.Dataset.from_tensor_slices(paths).map(function)


READERS: dict[str, Callable[[list[str]], tf.data.Dataset]] = {
    "image": of_paths(decode),
    "text": of_paths(strict),
    "bytes": of_paths(tf.io.read_file),
    "tfrecord": tf.data.TFRecordDataset,
    "tfrecord.gz": lambda paths: tf.data.TFRecordDataset(paths, "GZIP"),
    "fixed": lambda paths: tf.data.FixedLengthRecordDataset(paths, 10, 4),
    "npy": lambda paths: tf.data.Dataset.from_npy(paths),
}


# ---- The kinds


@dataclass(frozen=True)
class Damage:
    """A bad file. `offset`: None where no place can be told; `check`: how the tool reads it."""

    name: str
    reader: str
    suffix: str
    good: bytes
    bad: Callable[[Path], object]  # makes the file
    says: tuple[str, ...]
    offset: bool = True
    iterates: bool = True  # False: only a check finds it
    built: bool = False  # found when the dataset is built
    check: bool = True
    eighths: bool = False  # shown once, tested for every eighth


def content(data: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(data)


def at(data: bytes, offset: int, new: bytes) -> bytes:
    return data[:offset] + new + data[offset + len(new) :]


def flip(data: bytes, offset: int) -> bytes:
    return at(data, offset, bytes([data[offset] ^ 0xFF]))


def cut(data: bytes, eighth: int) -> bytes:
    return data[: max(1, len(data) * eighth // 8)]


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def forged_length(length: int) -> bytes:
    """A record's header with the right checksum of a wrong length."""
    name = _native.framed_tfrecord(struct.pack("<Q", length))
    return struct.pack("<Q", length) + name[20:24]


def npy_with(header: str) -> bytes:
    text = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + bytes(240)


def _images() -> Iterator[Damage]:
    def image(
        name: str, suffix: str, good: bytes, bad: bytes, *says: str, offset: bool = True
    ) -> Damage:
        return Damage(name, "image", suffix, good, content(bad), says, offset)

    scan = JPEG.index(b"\xff\xda")
    frame = JPEG.index(b"\xff\xc0")
    data = PNG.index(b"IDAT")
    yield image("no bytes", ".jpg", JPEG, b"", "empty", "found 0 bytes")
    yield image("nothing but zeros", ".jpg", JPEG, bytes(len(JPEG)), "expected", "found 0x00")
    yield image(
        "a web page named .jpg", ".jpg", JPEG, b"<html>404</html>", "expected", "found 0x3C 0x68"
    )
    yield image("only the header", ".jpg", JPEG, JPEG[:scan], "ends too soon", "byte")
    yield image("without its end mark", ".jpg", JPEG, JPEG[:-2], "ends too soon")
    yield image("zeros instead of its end", ".jpg", JPEG, JPEG[:700] + bytes(500), "JPEG data")
    noise = at(JPEG, scan + 200, b"\xff\xd9\x12\x34")
    yield image("an end mark in the middle", ".jpg", JPEG, noise, "JPEG data")
    left = JPEG[:-2] + b"xyz" + JPEG[-2:]
    yield image("coded data left before its end mark", ".jpg", JPEG, left, "coded bytes are left")
    yield image(
        "a segment's length is wrong", ".jpg", JPEG, at(JPEG, frame + 2, b"\xff\xff"), "JPEG data"
    )
    huge = at(JPEG, frame + 5, b"\xff\xdc\xff\xdc")
    yield image("a huge size in the header", ".jpg", JPEG, huge, "too large", offset=False)
    yield image("no bytes", ".png", PNG, b"", "empty")
    yield image("the header's checksum is wrong", ".png", PNG, flip(PNG, 30), "PNG data", "CRC")
    yield image("the data's checksum is wrong", ".png", PNG, flip(PNG, len(PNG) - 14), "PNG data")
    yield image("a bit of the data is flipped", ".png", PNG, flip(PNG, data + 40), "PNG data")
    yield image("a chunk's length is wrong", ".png", PNG, at(PNG, data - 4, b"\x7f"), "PNG data")
    big = chunk(b"IHDR", struct.pack(">IIBBBBB", 1 << 30, 1 << 30, 8, 2, 0, 0, 0))
    yield image("a huge size in the header", ".png", PNG, PNG[:8] + big + PNG[33:], "PNG")
    yield image("without its end", ".png", PNG, PNG[:-12], "ends too soon")
    yield image("no picture in it", ".gif", GIF, GIF[:19] + b"\x3b", "GIF data")
    yield image("a code that cannot be", ".gif", GIF, at(GIF, 29, b"\x0d"), "GIF data")
    yield image("16 bits a pixel", ".bmp", BMP, at(BMP, 28, b"\x10\x00"), "BMP data", "must be")
    yield image("no width", ".bmp", BMP, at(BMP, 18, bytes(4)), "BMP data", "must be positive")
    yield image(
        "a size that the rows do not fill", ".bmp", BMP, at(BMP, 22, b"\x63"), "expected", "found"
    )
    yield image("damaged bits", ".webp", WEBP, flip(WEBP, 30), "WebP data")
    for suffix, good in (
        (".jpg", JPEG),
        (".png", PNG),
        (".gif", GIF),
        (".bmp", BMP),
        (".webp", WEBP),
    ):
        yield from _cut(Damage("cut off", "image", suffix, good, content(b""), (" byte",)))


def _cut(kind: Damage) -> Iterator[Damage]:
    """One for every eighth."""
    for eighth in range(1, 8):
        yield replace(
            kind,
            name=f"{kind.name} at {eighth}/8",
            bad=content(cut(kind.good, eighth)),
            eighths=eighth != 4,
        )


def _records() -> Iterator[Damage]:
    def records(name: str, bad: bytes, *says: str) -> Damage:
        return Damage(name, "tfrecord", ".tfrecord", RECORDS, content(bad), says)

    frame = len(RECORDS) // 3
    yield records("a length's checksum is wrong", flip(RECORDS, frame + 8), "expected", "found")
    yield records("a length is wrong", flip(RECORDS, frame), "the length's checksum", "expected")
    yield records("a record's byte is wrong", flip(RECORDS, frame + 20), "the record's checksum")
    yield records(
        "a length beyond the end, rightly summed",
        forged_length(1 << 60) + RECORDS[12:],
        "truncated record",
        "expected",
    )
    yield records("something behind the last record", RECORDS + b"more", "truncated record")
    yield records("nothing but zeros", bytes(64), "checksum", "expected")
    yield from _cut(
        Damage("cut off", "tfrecord", ".tfrecord", RECORDS, content(b""), ("record at", "expected"))
    )
    packed = gzip.compress(RECORDS, mtime=0)
    zipped = Damage("", "tfrecord.gz", ".tfrecord.gz", packed, content(b""), ("inflate",))
    for name, bad in (
        ("not gzip", RECORDS),
        ("a bit is flipped", flip(packed, 30)),
        ("the checksum is wrong", flip(packed, len(packed) - 8)),
    ):
        yield replace(zipped, name=name, bad=content(bad))
    yield from _cut(replace(zipped, name="cut off", says=("truncated",)))
    yield Damage(
        "no whole number of records",
        "fixed",
        ".bin",
        b"head" + bytes(30),
        content(b"head" + bytes(33)),
        ("not an exact multiple",),
        check=False,
    )


def _arrays() -> Iterator[Damage]:
    def array(name: str, bad: bytes, *says: str, offset: bool = True) -> Damage:
        return Damage(name, "npy", ".npy", NPY, content(bad), says, offset, built=True)

    described = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }"
    yield array("another magic", at(NPY, 0, b"\x89HDF\0\0"), "not an .npy file", "found")
    zipped = at(NPY, 0, b"PK\x03\x04\0\0")
    yield array("an .npz named .npy", zipped, "expected an .npy file", "found a zip archive")
    yield array("an unknown version", at(NPY, 6, b"\x09"), "expected version 1 to 3, found 9")
    yield array("a header longer than the file", at(NPY, 8, b"\xff\xff"), "does not fit")
    yield array("a header that is no dictionary", at(NPY, 10, b"x"), "a dictionary must follow")
    yield array("pickled objects", npy_with(described % ("|O", "(3,)")), "objects are refused")
    yield array("a huge shape", npy_with(described % ("<f4", "(1 << 60,)")), "sizes")
    forged = npy_with(described % ("<f4", f"({1 << 40}, {1 << 20})"))
    yield array("a shape beyond the file", forged, "too short", "expected", "found")
    yield from _cut(Damage("cut off", "npy", ".npy", NPY, content(b""), (": ",), built=True))


def _texts() -> Iterator[Damage]:
    def text(name: str, bad: bytes, *says: str, iterates: bool = True) -> Damage:
        return Damage(name, "text", ".txt", TEXT, content(bad), says, iterates=iterates)

    yield text("Latin-1 instead of UTF-8", b"Z\xfcrich", "expected UTF-8, found 0xFC")
    yield text("cut inside a character", TEXT[:-3], "ends inside a character", "0xF0 0x9F")
    yield text("UTF-16 instead of UTF-8", "Zürich".encode("utf-16"), "found 0xFF")
    yield text("a surrogate", b"abc\xed\xa0\x80", "found 0xED")
    yield text("a NUL", b"abc\0def", "no NUL", iterates=False)
    yield text("no bytes", b"", "empty", iterates=False)


def _anything() -> Iterator[Damage]:
    def file(name: str, make: Callable[[Path], object], *says: str) -> Damage:
        return Damage(name, "bytes", ".jpg", JPEG, make, says, offset=False)

    yield file("missing", lambda path: None, "No such file")
    folder = file("a folder", lambda path: path.mkdir(), "Is a directory")
    yield replace(folder, check=False)  # the tool looks into folders
    yield file("a link to nowhere", lambda path: path.symlink_to("nowhere"), "No such file")
    yield file("a link to itself", lambda path: path.symlink_to(path), "symbolic links")
    yield file("a pipe", lambda path: os.mkfifo(path), "expected a regular file, found a FIFO")
    yield file("a device", lambda path: path.symlink_to("/dev/zero"), "found a character device")
    yield file("a file of /proc", lambda path: path.symlink_to("/proc/self/status"), "0 bytes")


DAMAGES = [*_images(), *_records(), *_arrays(), *_texts(), *_anything()]


def make(damage: Damage, folder: Path) -> list[str]:
    """A good file, the bad one, a good one."""
    paths = [folder / f"{name}{damage.suffix}" for name in ("a", "bad", "c")]
    for path in (paths[0], paths[2]):
        path.write_bytes(damage.good)
    damage.bad(paths[1])
    return [str(path) for path in paths]


def error_of(damage: Damage, paths: list[str]) -> sw.errors.SpillwayError:
    """What reading them raises."""
    try:
        list(READERS[damage.reader](paths))
    except sw.errors.SpillwayError as error:
        return error
    raise AssertionError(f"{damage.name}: no error")


# ---- The page

_ABOUT = """\
Each is read by a pipeline that is not told of it (`tests/damage.py`), as the second of three files.
The text is that of the exception without the lines that every error has: the stage with your line,
the element's index, and the file with the offset. With `on_error="skip"` or `"quarantine"` the
other files are delivered and the audit balances; `ds.check()` and `spillway check` find every one.
`tests/test_damaged_files.py` keeps this page; `python -m tests.damage` writes it.

*Check*: iterating delivers the bytes, as TensorFlow does; a check finds it. *Built*: raised at the
line that makes the dataset. "Cut off" is tested at every eighth of the file and shown at the half.

A warning of libjpeg counts as damage: the pixels are not those that were stored.
`tf.io.decode_jpeg(..., try_recover_truncated=True)` takes such files as they are, and makes up
what is missing. Coded bytes that are left behind the last pixel are damage, too; in progressive
files, and others that libjpeg decodes, from the ninth byte on. Bytes behind the end mark, fill
bytes before a mark and stray bytes in the header are not.

**Only regular files are opened.** A FIFO, a device or a socket is refused before it is opened,
wherever a path is taken: opening one may wait for ever. So is a file of `/proc` that says it has
no bytes and has some. Copy the content to a file first.

**A file that changes while it is used** is DATA_LOSS that says what changed: its size, the time of
its last change, its status (ctime, for a time that was put back), or another file of its name.
`from_npy` and `from_npz` remember the files of the line that made the dataset, `load_npy` that of
its own line: in a later epoch a changed file is the same error, and the dataset has to be built
again. New permissions and links change nothing, and a file that was only removed is read to its
end while it is open. Files that grow, such as logs, are read from a copy. Before Linux 6.13 a
file's times move on every few milliseconds, and two writes of the same size within one such step
look alike.

**An element that is larger than the memory limit** is one `ElementTooLarge` with the file, where
the element begins, how much of it was read and the limit: a line without an end, a quote that is
never closed, a record that claims a terabyte, a compressed bomb. With `on_error="skip"` the next
line follows; of records and CSV files the next file, or with `resynchronise=True` the next good
record. Ctrl-C is heard meanwhile.

| file | damage | when | said |
|---|---|---|---|
"""


def page() -> str:
    shown = [damage for damage in DAMAGES if not damage.eighths]
    lines = [f"# {len(shown)} kinds of damaged files, and what is said", "", *_ABOUT.splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        for number, damage in enumerate(shown):
            own = Path(folder) / str(number)
            own.mkdir()
            paths = make(damage, own)
            lines.append(_row(damage, paths, str(own)))
    return "\n".join([*lines, "", *_CHECKSUMS.splitlines(), *_what_may_pass()]) + "\n"


_CHECKSUMS = """\
## What damage may pass for

`tests/random_damage.py` damages a good file of every format at random: flipped bits, a cut, zeros,
bytes inserted or removed. Reading it gives the same elements (where the damage lies in what nobody
reads), an error that names the file, or what this table allows. It never crashes, hangs, or takes
more than the memory limit. Elements before the error may have been delivered.

| format | may pass for |
|---|---|
"""


def _what_may_pass() -> Iterator[str]:
    from tests.random_damage import FORMATS

    for format in FORMATS.values():
        allowed = [
            *["another value"] * (not format.checked),
            *["fewer elements"] * (not format.whole),
        ]
        yield f"| {format.name} | {' or '.join(allowed) or 'nothing else'} |"


def _row(damage: Damage, paths: list[str], folder: str) -> str:
    if damage.iterates:
        error = error_of(damage, paths)
        text, place = error.message, error.offset
        when = "built" if damage.built else "run"
    else:
        found = READERS[damage.reader](paths).check(progress=False, text="utf-8")
        text, place, when = found[0].reason, found[0].offset, "check"
    text = text.replace(folder + "/", "").replace("|", "\\|")
    where = "" if place is None or f"byte {place}" in text else f" (byte {place})"
    kind = damage.suffix if damage.reader != "bytes" else "any"
    return f"| {kind} | {damage.name} | {when} | {text}{where} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
