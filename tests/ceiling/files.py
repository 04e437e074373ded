"""Cases: files that are far larger than the limit, read a few rows at a time."""

from __future__ import annotations

import io
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

import spillway as sw
import spillway.tf as tf
from tests.ceiling.case import MIB, Facts, case, number_of, numbered


def counted(rows: Iterable[Any], count: int) -> Facts:
    return Facts([number_of(np.asarray(row)) for row in rows], range(count))


def many_rows(folder: Path, count: int) -> Path:
    """`count` rows of a MiB that say their number."""
    path = folder / "x.npy"
    out = np.lib.format.open_memmap(str(path), "w+", np.int64, (count, MIB // 8))
    for i in range(count):
        out[i] = i
    del out
    return path


@case(limit=32 * MIB)
def rows_of_an_npy_file(limit: int) -> Facts:
    """Rows of a file of eight times the limit."""
    count = 8 * limit // MIB
    with tempfile.TemporaryDirectory() as folder:
        path = many_rows(Path(folder), count)
        return counted(sw.Dataset.from_npy(path), count)


def zipped(folder: Path, count: int, method: int) -> Path:
    path = folder / "x.npz"
    with zipfile.ZipFile(path, "w", method, compresslevel=1) as out:
        out.write(many_rows(folder, count), "x.npy")
    return path


@case(limit=32 * MIB)
def rows_of_a_stored_archive(limit: int) -> Facts:
    """Rows of an .npz of eight times the limit."""
    count = 8 * limit // MIB
    with tempfile.TemporaryDirectory() as folder:
        path = zipped(Path(folder), count, zipfile.ZIP_STORED)
        return counted((row["x"] for row in sw.Dataset.from_npz(path)), count)


@case(limit=32 * MIB)
def rows_of_a_deflated_archive(limit: int) -> Facts:
    """Rows of a compressed .npz that expands to eight times the limit."""
    count = 8 * limit // MIB
    with tempfile.TemporaryDirectory() as folder:
        path = zipped(Path(folder), count, zipfile.ZIP_DEFLATED)
        return counted((row["x"] for row in sw.Dataset.from_npz(path)), count)


def tarred(folder: Path, count: int, mode: str) -> Path:
    path = folder / ("x.tar.gz" if mode == "w:gz" else "x.tar")
    more: dict[str, Any] = {"compresslevel": 1} if mode == "w:gz" else {}
    with tarfile.open(path, mode, **more) as out:  # type: ignore[call-overload]
        for i in range(count):
            for extension, content in (("bin", numbered(i).tobytes()), ("cls", b"%d" % i)):
                member = tarfile.TarInfo(f"{i:06}.{extension}")
                member.size = len(content)
                out.addfile(member, io.BytesIO(content))
    return path


def samples(path: Path, count: int) -> Facts:
    ds = sw.Dataset.from_tar(path, keys=("bin", "cls"))
    seen = []
    for sample in ds.prefetch(sw.AUTOTUNE):
        seen.append(number_of(np.frombuffer(sample["bin"], np.int64)))
        assert seen[-1] == int(sample["cls"])
    return Facts(seen, range(count))


@case(limit=32 * MIB)
def samples_of_a_tar_archive(limit: int) -> Facts:
    """Samples of an archive of eight times the limit, read ahead."""
    count = 8 * limit // MIB
    with tempfile.TemporaryDirectory() as folder:
        return samples(tarred(Path(folder), count, "w"), count)


@case(limit=32 * MIB)
def samples_of_a_compressed_tar_archive(limit: int) -> Facts:
    """The same, compressed."""
    count = 8 * limit // MIB
    with tempfile.TemporaryDirectory() as folder:
        return samples(tarred(Path(folder), count, "w:gz"), count)


@case(limit=32 * MIB)
def a_member_larger_than_the_limit(limit: int) -> Facts:
    """One member that cannot fit is one error; the samples around it come."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.tar"
        with path.open("wb") as out:
            for i in range(5):
                content = b"%d" % i
                member = tarfile.TarInfo(f"{i}.bin")
                member.size = 16 * limit if i == 2 else len(content)
                out.write(member.tobuf(tarfile.USTAR_FORMAT))
                out.write(content)
                out.truncate(out.tell() - len(content) + -(-member.size // 512) * 512)
                out.seek(0, io.SEEK_END)
            out.write(bytes(1024))
        ds = sw.Dataset.from_tar(path, keys="bin").on_error("skip")
        seen = [int(sample["bin"]) for sample in ds]
        assert ds.audit().skipped == 1
    return Facts(seen, [0, 1, 3, 4])


@case(limit=32 * MIB)
def records_of_a_tfrecord_file(limit: int) -> Facts:
    """Records of a compressed file that expands to eight times the limit."""
    count = 8 * limit // MIB
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/x.tfrecord"
        with tf.io.TFRecordWriter(path, "GZIP") as writer:
            for i in range(count):
                writer.write(numbered(i).tobytes())
        ds = tf.data.TFRecordDataset(path, "GZIP").prefetch(sw.AUTOTUNE)
        rows = (np.frombuffer(record, np.int64) for record in ds.as_numpy_iterator())
        return counted(rows, count)
