"""A file that is written to or replaced while it is used is DATA_LOSS that says what changed."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf

ROWS = 200_000


def array(value: float) -> np.ndarray:
    return np.full((ROWS, 4), value, np.float32)


def rewrite(path: Path) -> None:
    """As long as before, in place."""
    with path.open("r+b") as file:
        file.seek(-4, os.SEEK_END)
        file.write(b"1234")


def rewrite_and_hide(path: Path) -> None:
    before = path.stat()
    rewrite(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def replace(path: Path) -> None:
    other = path.with_suffix(".new")
    other.write_bytes(path.read_bytes())
    os.replace(other, path)


def append(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"more")


def shorten(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 100)


CHANGES: dict[str, tuple[Callable[[Path], None], str]] = {
    "rewritten": (rewrite, "the time of its last change"),
    "rewritten, with its time put back": (rewrite_and_hide, "its status was changed"),
    "replaced": (replace, "another file has its name now"),
    "longer": (append, "the size: expected"),
    "shorter": (shorten, "the size: expected"),
}
changed = pytest.mark.parametrize("change", list(CHANGES))


def check(error: sw.errors.SpillwayError, path: Path, words: str) -> None:
    assert isinstance(error, sw.errors.CorruptFile) and isinstance(error, tf.errors.DataLossError)
    assert error.file == str(path) and words in error.message, error


@changed
def test_load_npy(tmp_path: Path, change: str) -> None:
    make, words = CHANGES[change]
    path = tmp_path / "a.npy"
    np.save(path, array(1))
    loaded = sw.load_npy(path)
    assert float(tf.reduce_sum(loaded)) == ROWS * 4
    loaded = sw.load_npy(path)
    make(path)
    with pytest.raises(sw.errors.SpillwayError) as caught:
        float(tf.reduce_sum(loaded))
    check(caught.value, path, words)


def readers(path: Path) -> dict[str, Any]:
    return {
        "npy": lambda: sw.Dataset.from_npy(path),
        "text": lambda: tf.data.TextLineDataset(str(path), buffer_size=4096),
        "records": lambda: tf.data.TFRecordDataset(str(path), buffer_size=4096),
        "fixed": lambda: tf.data.FixedLengthRecordDataset(str(path), 16, buffer_size=4096),
    }


def write(path: Path, reader: str) -> None:
    if reader == "npy":
        np.save(path.with_suffix(".npy"), array(1))
        path.with_suffix(".npy").rename(path)
    elif reader == "records":
        with tf.io.TFRecordWriter(str(path)) as writer:
            for _ in range(20_000):
                writer.write(b"x" * 100)
    else:
        path.write_bytes((b"x" * 15 + b"\n") * ROWS)


@changed
@pytest.mark.parametrize("reader", ["npy", "text", "records", "fixed"])
def test_in_the_middle_of_a_pass(tmp_path: Path, reader: str, change: str) -> None:
    make, words = CHANGES[change]
    path = tmp_path / "data"
    write(path, reader)
    it = iter(readers(path)[reader]())
    next(it)
    make(path)
    with pytest.raises(sw.errors.SpillwayError) as caught:
        for _ in it:
            pass
    check(caught.value, path, words)


@changed
def test_from_npy_between_two_epochs(tmp_path: Path, change: str) -> None:
    make, words = CHANGES[change]
    path = tmp_path / "a.npy"
    np.save(path, array(1))
    ds = sw.Dataset.from_npy(path).batch(1000)
    assert sum(1 for _ in ds) == ROWS // 1000
    make(path)
    with pytest.raises(sw.errors.SpillwayError) as caught:
        list(ds)
    shorter = "the file is too short" if change == "shorter" else words
    check(caught.value, path, shorter)
    if change != "shorter":
        assert "since the dataset was built" in str(caught.value)
        assert "build the dataset again" in str(caught.value)
        assert sum(1 for _ in sw.Dataset.from_npy(path).batch(1000)) == ROWS // 1000


@changed
def test_random_access_and_an_archive(tmp_path: Path, change: str) -> None:
    make, _ = CHANGES[change]
    path = tmp_path / "a.npz"
    np.savez(path, x=array(1))
    ds = sw.Dataset.from_npz(path)
    assert ds._at(5)["x"].tolist() == [1, 1, 1, 1]
    if change in ("longer", "shorter"):
        return  # no zip archive then
    make(path)
    with pytest.raises(sw.errors.SpillwayError) as caught:
        ds._at(6)
    assert isinstance(caught.value, sw.errors.CorruptFile) and str(path) in str(caught.value)


def test_permissions_links_and_removal_change_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, array(1))
    ds = sw.Dataset.from_npy(path)
    loaded = sw.load_npy(path)
    it = iter(ds)
    next(it)
    os.link(path, tmp_path / "backup.npy")
    path.chmod(0o640)
    assert sum(1 for _ in it) == ROWS - 1
    assert sum(1 for _ in ds.batch(1000)) == ROWS // 1000
    (tmp_path / "backup.npy").unlink()
    path.unlink()  # what is open stays whole
    assert float(tf.reduce_sum(loaded)) == ROWS * 4
    with pytest.raises(sw.errors.MissingFile):
        list(ds)


def test_a_quarantine_may_grow_while_it_is_read(tmp_path: Path) -> None:
    """Several processes may share one: each appends whole lines."""
    path = tmp_path / "q.jsonl"
    path.write_bytes(b'{"stage": "another"}\n' * 20_000)
    stop = threading.Event()

    def append_lines() -> None:
        with path.open("ab", buffering=0) as file:
            while not stop.is_set():
                file.write(b'{"stage": "another"}\n')

    other = threading.Thread(target=append_lines)
    other.start()
    try:
        for _ in range(5):
            bad = tf.data.Dataset.range(3).map(lambda x: tf.debugging.assert_equal(x, x + 1))
            ds = bad.on_error("quarantine", quarantine=path)
            assert list(ds) == [] and ds.audit().skipped == 3
    finally:
        stop.set()
        other.join()
