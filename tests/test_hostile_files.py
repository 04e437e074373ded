"""Files of strangers: each refused with its name, or harmless, within a small memory limit."""

from __future__ import annotations

import gzip
import io
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf
from tests.tar_files import archive

LIMIT = 32 << 20


@pytest.fixture(autouse=True)
def little_memory() -> Iterator[None]:
    """Whatever a file claims, the ledger never holds more than this."""
    before = sw.memory().peak
    with sw.configure(memory_limit=LIMIT):
        yield
    assert sw.memory().peak <= max(before, LIMIT)


def refused(make: Callable[[], Any], *words: str) -> sw.errors.SpillwayError:
    """What building or reading it raises; every word is in the text."""
    with pytest.raises(sw.errors.SpillwayError) as caught:
        list(make())
    for word in words:
        assert word in str(caught.value), f"{word!r} is not in: {caught.value}"
    return caught.value


# ---- tar


def header(name: str, size: bytes, kind: bytes = b"0", link: str = "") -> bytes:
    """A header with its checksum and `size` as it is given."""
    out = bytearray(tarfile.TarInfo(name).tobuf(tarfile.USTAR_FORMAT))
    out[124:136] = size.ljust(12, b"\0")
    out[156:157] = kind
    out[157 : 157 + len(link)] = link.encode()
    out[148:156] = b" " * 8
    out[148:156] = b"%06o\0 " % sum(out)
    return bytes(out)


def samples(path: Path) -> sw.Dataset:
    return sw.Dataset.from_tar(path, keys="txt")


@pytest.mark.parametrize(
    "name", ["../../../etc/passwd.txt", "/etc/passwd.txt", "a/../../b.txt", "C:\\x.txt"]
)
def test_a_name_that_climbs_out_is_only_a_key(tmp_path: Path, name: str) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    path = archive(inner / "x.tar", [(name, b"content")])
    assert [s["__key__"] for s in samples(Path(path))] == [name.removesuffix(".txt").encode()]
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["a", "b", "x.tar"]


@pytest.mark.parametrize("kind", [b"1", b"2", b"3", b"4", b"6"])
def test_links_and_devices_are_never_followed(tmp_path: Path, kind: bytes) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    path = tmp_path / "x.tar"
    path.write_bytes(header("a.txt", b"00000000006", kind, str(secret)) + bytes(1024))
    assert list(samples(path)) == []


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (b"77777777777", "is truncated: expected 8589934591 bytes"),
        (b"\x80" + b"\x7f" * 11, "expected octal digits"),
        (b"\x80" + bytes(3) + b"\x0f" + b"\xff" * 7, "is truncated: expected 11529215046068469"),
        (b"\xff" * 12, "expected octal digits"),
        (b"-0000000001", "expected octal digits"),
        (b"0x100000000", "expected octal digits"),
    ],
)
def test_a_forged_size_in_a_tar_header(tmp_path: Path, size: bytes, words: str) -> None:
    path = tmp_path / "x.tar"
    path.write_bytes(header("a.txt", size) + bytes(2048))
    error = refused(lambda: samples(path), words, str(path))
    assert (error.file, error.offset) == (str(path), 0)


def test_a_pax_header_that_lies_about_its_length(tmp_path: Path) -> None:
    path = tmp_path / "x.tar"
    for record in (
        b"9999999 path=a\n",
        b"-3 path=a\n",
        b"11 path=a\n",
        b"18446744073709551615 a=b\n",
    ):
        body = header("x", b"%011o" % len(record), b"x") + record.ljust(512, b"\0")
        path.write_bytes(body + header("a.txt", b"0") + bytes(1024))
        refused(lambda: samples(path), "a pax header: expected")


def test_a_million_headers_before_a_member(tmp_path: Path) -> None:
    path = tmp_path / "x.tar"
    many = header("x", b"00000000000", b"g") * 100_000
    path.write_bytes(many + header("a.txt", b"00000000000") + bytes(1024))
    assert [s["__key__"] for s in samples(path)] == [b"a"]


def test_a_gzip_bomb_of_a_member(tmp_path: Path) -> None:
    path = tmp_path / "x.tar.gz"
    with gzip.open(path, "wb", compresslevel=9) as out:
        size = 4 * LIMIT
        out.write(header("a.txt", b"%011o" % size))
        for _ in range(size >> 20):
            out.write(bytes(1 << 20))
        out.write(bytes(1024))
    assert path.stat().st_size < LIMIT // 16
    error = refused(lambda: samples(path))
    assert isinstance(error, sw.errors.ElementTooLarge)
    assert error.file == str(path)


def test_a_gzip_bomb_of_zeros_is_an_empty_archive(tmp_path: Path) -> None:
    path = tmp_path / "x.tar.gz"
    path.write_bytes(gzip.compress(bytes(LIMIT), 9) * 4)
    assert list(samples(path)) == []


def test_an_archive_in_an_archive_is_a_member(tmp_path: Path) -> None:
    content = b"deep"
    for depth in range(20):
        inner = archive(tmp_path / "inner.tar", [(f"{depth}.txt", content)])
        content = Path(inner).read_bytes()
    path = tmp_path / "x.tar"
    path.write_bytes(content)
    (only,) = samples(path)
    assert only["__key__"] == b"19"


# ---- npz


def npy(array: Any) -> bytes:
    out = io.BytesIO()
    np.save(out, array, allow_pickle=True)
    return out.getvalue()


def npz(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as out:
        for name, content in members.items():
            out.writestr(name, content)
    return path


def bomb(path: Path, shape: tuple[int, ...], zeros: int) -> Path:
    """An array of bytes of this shape, and so many zeros for it."""
    head = io.BytesIO()
    said = {"descr": "|u1", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(head, said)
    opened = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
    with opened, opened.open("x.npy", "w") as out:
        out.write(head.getvalue())
        for _ in range(zeros >> 20):
            out.write(bytes(1 << 20))
    assert path.stat().st_size < LIMIT // 8
    return path


def test_a_member_that_expands_further_than_its_header_says(tmp_path: Path) -> None:
    path = bomb(tmp_path / "x.npz", (10,), 8 * LIMIT)
    error = refused(
        lambda: sw.Dataset.from_npz(path), "uint8 (10,) takes 138 bytes", "found 268435"
    )
    assert error.file == f"{path}:x.npy"


def test_rows_of_a_bomb_come_one_by_one(tmp_path: Path) -> None:
    rows = 8 * LIMIT >> 20
    path = bomb(tmp_path / "x.npz", (rows, 1 << 20), 8 * LIMIT)
    assert sum(1 for _ in sw.Dataset.from_npz(path)) == rows


def test_a_row_of_a_bomb_that_cannot_fit(tmp_path: Path) -> None:
    path = bomb(tmp_path / "x.npz", (1, 4 * LIMIT), 4 * LIMIT)
    error = refused(lambda: sw.Dataset.from_npz(path), "limit")
    assert isinstance(error, sw.errors.BudgetError)


def test_sizes_that_directory_and_header_do_not_agree_on(tmp_path: Path) -> None:
    content = npy(np.arange(100))
    path = tmp_path / "x.npz"
    size = struct.pack("<I", len(content))
    for put in (b"\xff\xff\xff\x7f", b"\0\0\0\0", struct.pack("<I", len(content) - 1)):
        npz(path, {"x.npy": content}, zipfile.ZIP_STORED)
        where = path.read_bytes().index(b"PK\x01\x02") + 24
        whole = bytearray(path.read_bytes())
        assert whole[where : where + 4] == size
        whole[where : where + 4] = put
        path.write_bytes(whole)
        refused(lambda: sw.Dataset.from_npz(path), "corrupted zip archive", str(path))


def test_members_that_overlap(tmp_path: Path) -> None:
    path = npz(tmp_path / "x.npz", {"x.npy": npy(np.zeros(9)), "y.npy": npy(np.zeros(9))})
    whole = bytearray(path.read_bytes())
    second = whole.rindex(b"PK\x01\x02")
    whole[second + 42 : second + 46] = bytes(4)  # both begin at 0
    path.write_bytes(whole)
    refused(lambda: sw.Dataset.from_npz(path), "'y.npy' begins within 'x.npy'")


def test_an_archive_that_holds_itself_is_never_expanded_twice(tmp_path: Path) -> None:
    content = npz(tmp_path / "x.npz", {"x.npy": npy(np.zeros(3))}).read_bytes()
    for _ in range(20):
        content = npz(tmp_path / "x.npz", {"x.npy": content}).read_bytes()
    refused(lambda: sw.Dataset.from_npz(tmp_path / "x.npz"), "x.npz:x.npy", "a zip archive")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_methods_are_refused_by_name(tmp_path: Path, method: int) -> None:
    path = npz(tmp_path / "x.npz", {"x.npy": npy(np.zeros(3))}, method)
    refused(lambda: sw.Dataset.from_npz(path), "bzip2" if method == 12 else "lzma")


def test_an_encrypted_member(tmp_path: Path) -> None:
    path = npz(tmp_path / "x.npz", {"x.npy": npy(np.zeros(3))})
    whole = bytearray(path.read_bytes())
    whole[whole.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(whole)
    refused(lambda: sw.Dataset.from_npz(path), "'x.npy' is encrypted")


def test_names_in_an_npz_are_only_keys(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    path = npz(inner / "x.npz", {"../../x.npy": npy(np.arange(3)), "/abs.npy": npy(np.arange(3))})
    assert [sorted(row) for row in sw.Dataset.from_npz(path).take(1)] == [["../../x", "/abs"]]
    assert [p.name for p in tmp_path.iterdir()] == ["inner"]


class Evil:
    def __reduce__(self) -> Any:
        return (print, ("unpickled",))


def test_objects_in_an_npz_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = npz(tmp_path / "x.npz", {"x.npy": npy(np.array([Evil()], object))})
    refused(lambda: sw.Dataset.from_npz(path), "nothing is unpickled")
    assert capsys.readouterr().out == ""


# ---- npy


def npy_file(path: Path, dictionary: str, data: bytes = b"", length: int | None = None) -> Path:
    text = dictionary.encode()
    said = len(text) if length is None else length
    path.write_bytes(b"\x93NUMPY\x02\0" + struct.pack("<I", said) + text + data)
    return path


@pytest.mark.parametrize(
    ("dictionary", "words"),
    [
        ("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "objects are refused"),
        ("{'descr': [('a', '|O')], 'fortran_order': False, 'shape': (1,), }", "must be numbers"),
        ("{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (1,), }", "must be numbers"),
        ("{'descr': '<U10', 'fortran_order': False, 'shape': (1,), }", "must be numbers"),
        ("{'descr': '<f4', 'fortran_order': True, 'shape': (1000, 1000), }", "too short"),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", "tuple of sizes"),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }", "short"),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", "tuple"),
        ("{'descr': '<f4', 'fortran_order': 1, 'shape': (1,), }", "True or False"),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': __import__('os'), }", "tuple of sizes"),
        ("{" * 5000, "must be text"),
        ("", "dictionary"),
    ],
)
def test_forged_headers_of_npy_files(tmp_path: Path, dictionary: str, words: str) -> None:
    path = npy_file(tmp_path / "x.npy", dictionary, bytes(100))
    error = refused(lambda: sw.Dataset.from_npy(path), words)
    assert error.file == str(path)


@pytest.mark.parametrize("length", [0, 1, 2**31, 2**32 - 1])
def test_forged_lengths_of_npy_headers(tmp_path: Path, length: int) -> None:
    good = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }"
    path = npy_file(tmp_path / "x.npy", good, bytes(16), length)
    assert refused(lambda: sw.Dataset.from_npy(path)).file == str(path)


# ---- TFRecord


def test_a_compressed_record_that_cannot_fit(tmp_path: Path) -> None:
    path = tmp_path / "x.tfrecord"
    with tf.io.TFRecordWriter(str(path), "GZIP") as writer:
        writer.write(b"good")
    import spillway._native as _native

    frame = _native.framed_tfrecord(bytes(2 * LIMIT))
    path.write_bytes(path.read_bytes() + gzip.compress(frame, 9))
    del frame
    it = tf.data.TFRecordDataset(str(path), "GZIP").as_numpy_iterator()
    assert next(it) == b"good"
    with pytest.raises(sw.errors.BudgetError):
        next(it)


def test_a_length_without_its_bytes(tmp_path: Path) -> None:
    import spillway._native as _native

    path = tmp_path / "x.tfrecord"
    length = (1 << 40).to_bytes(8, "little")
    crc = _native.framed_tfrecord(length)[-4:]  # masked, as a length's is
    for content, kind in ((length + crc, ""), (gzip.compress(length + crc), "GZIP")):
        path.write_bytes(content)
        with pytest.raises(sw.errors.SpillwayError) as caught:
            list(tf.data.TFRecordDataset(str(path), kind))
        assert isinstance(caught.value, sw.errors.DataError | sw.errors.BudgetError)


def test_gzip_that_is_damaged_or_nested(tmp_path: Path) -> None:
    path = tmp_path / "x.tfrecord"
    path.write_bytes(gzip.compress(gzip.compress(bytes(LIMIT), 9), 9))
    refused(lambda: tf.data.TFRecordDataset(str(path), "GZIP"), str(path))
    path.write_bytes(zlib.compress(bytes(100))[:-4] + b"????")
    refused(lambda: tf.data.TFRecordDataset(str(path), "ZLIB"), "inflate() failed")


# ---- images


def png(width: int, height: int, data: bytes) -> bytes:
    def chunk(kind: bytes, content: bytes) -> bytes:
        body = kind + content
        return struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body))

    size = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    end = chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + chunk(b"IDAT", data) + end


BOMBS = {
    "png": png(20_000, 20_000, zlib.compress(bytes(1000))),
    "png_of_the_largest_size": png(2**31 - 1, 2**31 - 1, b""),
    "gif": b"GIF89a\xff\xff\xff\xff\x80\0\0" + bytes(6)
           + b",\0\0\0\0\xff\xff\xff\xff\0\x02\x01D\0;",
    "bmp": b"BM" + struct.pack("<IIIIiiHHIIiiII", 54, 0, 54, 40, 60_000, 60_000, 1, 24, 0, 0, 0, 0,
                               0, 0),
    "bmp_of_negative_size": b"BM" + struct.pack("<IIIIiiHHIIiiII", 54, 0, 54, 40, -5, -(2**31), 1,
                                                24, 0, 0, 0, 0, 0, 0),
    "jpeg": b"\xff\xd8\xff\xc0\0\x11\x08\xff\xff\xff\xff\x03\x01\x11\0\x02\x11\1\x03\x11\1"
            b"\xff\xd9",
}  # fmt: skip


@pytest.mark.parametrize("kind", list(BOMBS))
def test_an_image_that_claims_more_than_there_is(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x.img"
    path.write_bytes(BOMBS[kind])
    load = lambda p: tf.io.decode_image(tf.io.read_file(p), expand_animations=False)  # noqa: E731
    error = refused(lambda: tf.data.Dataset.from_tensors(str(path)).map(load))
    assert str(path) in str(error)
    assert isinstance(error, tf.errors.InvalidArgumentError | sw.errors.BudgetError)
