"""FIFOs, devices and sockets are refused before they are opened, wherever a path is taken."""

from __future__ import annotations

import os
import socket
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf
from spillway import __main__ as cli
from spillway.check import file_pass
from spillway.manifest import Expected, compare, read_manifest
from spillway.plain_files import refuse_special


def of_paths(function: Callable[[Any], Any]) -> Callable[[str], Any]:
    return lambda path: list(tf.data.Dataset.from_tensors(path).map(function))


def csv_types(path: str) -> Any:
    return list(tf.data.experimental.make_csv_dataset([path], 1, num_epochs=1))


def sql(path: str) -> Any:
    return list(tf.data.experimental.SqlDataset("sqlite", path, "SELECT 1", (tf.int32,)))


def cached(path: str) -> Any:
    """The name that the cache's file in the making has."""
    stem = path.removesuffix("_0.partial")
    return list(tf.data.Dataset.range(3).cache(stem))


def loaded(path: str) -> Any:
    return list(tf.data.Dataset.load(os.path.dirname(path)))


def restored(path: str) -> Any:
    return tf.train.Checkpoint(v=tf.Variable(1)).restore(path.removesuffix(".index"))


def quarantined(path: str) -> Any:
    bad = tf.data.Dataset.from_tensors(float("nan")).map(
        lambda x: tf.debugging.check_numerics(x, "no")
    )
    return list(bad.on_error("quarantine", quarantine=path))


def resumed(path: str) -> Any:
    return tf.data.Dataset.range(3).check(output=path, resume=True)


def parquet(path: str) -> Any:
    pytest.importorskip("pyarrow")
    return list(sw.Dataset.from_parquet(path))


# What takes a path, and the name it needs.
TAKERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "text": ("x", lambda path: list(tf.data.TextLineDataset(path))),
    "gzip": ("x", lambda path: list(tf.data.TextLineDataset(path, "GZIP"))),
    "csv": ("x", lambda path: list(tf.data.experimental.CsvDataset(path, [""]))),
    "csv types": ("x", csv_types),
    "records": ("x", lambda path: list(tf.data.TFRecordDataset(path))),
    "fixed": ("x", lambda path: list(tf.data.FixedLengthRecordDataset(path, 1))),
    "tar": ("x", lambda path: list(sw.Dataset.from_tar(path, keys="txt"))),
    "tar, first sample": ("x", lambda path: sw.Dataset.from_tar(path)),
    "npy": ("x", lambda path: list(sw.Dataset.from_npy(path))),
    "npz": ("x", lambda path: list(sw.Dataset.from_npz(path))),
    "load_npy": ("x", sw.load_npy),
    "save_npy": ("x", lambda path: sw.save_npy(path, tf.ones([3]))),
    "read_file": ("x", lambda path: tf.io.read_file(path).numpy()),
    "read_file in a map": ("x", of_paths(tf.io.read_file)),
    "sql": ("x", sql),
    "parquet": ("x", parquet),
    "check": ("x", lambda path: raise_first(file_pass([path], "utf-8"))),
    "manifest": ("x", read_manifest),
    "file of a manifest": ("x", lambda path: compare(Expected(path, 3))),
    "output of a check": ("x", lambda path: tf.data.Dataset.range(3).check(output=path)),
    "resumed check": ("x", resumed),
    "quarantine": ("x", quarantined),
    "from_quarantine": ("x", lambda path: list(tf.data.Dataset.from_quarantine(path))),
    "cache": ("c_0.partial", cached),
    "finished cache": ("c.cache", lambda p: list(tf.data.Dataset.range(3).cache(p[:-6]))),
    "saved dataset": ("snapshot.metadata", loaded),
    "checkpoint": ("c.index", restored),
}  # fmt: skip


def raise_first(ds: Any) -> None:
    for _ in ds:
        pass


def fifo(path: Path) -> None:
    os.mkfifo(path)


def unix_socket(path: Path) -> None:
    before = os.getcwd()
    os.chdir(path.parent)  # names of sockets are short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(before)


KINDS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "fifo": (fifo, "FIFO"),
    "device": (lambda path: path.symlink_to("/dev/zero"), "character device"),
    "socket": (unix_socket, "socket"),
}


@pytest.fixture(params=list(KINDS))
def kind(request: pytest.FixtureRequest) -> Iterator[tuple[Callable[[Path], Any], str]]:
    yield KINDS[request.param]


@pytest.mark.parametrize("taker", list(TAKERS))
def test_is_refused(taker: str, kind: tuple[Callable[[Path], Any], str], tmp_path: Path) -> None:
    make, words = kind
    name, take = TAKERS[taker]
    path = tmp_path / name
    make(path)
    with pytest.raises((sw.errors.SpillwayError, OSError)) as caught:
        take(str(path))
    assert words in str(caught.value) and str(path) in str(caught.value), caught.value
    # What a generator of ours raised is the cause of the stage's error.
    error = caught.value.__cause__ if taker in ("sql", "parquet") else caught.value
    assert isinstance(error, sw.errors.FileError), type(caught.value)
    assert error.file == str(path)


def test_the_state_file_of_a_folder_is_ignored_with_a_warning(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "checkpoint")
    with pytest.warns(UserWarning, match="FIFO"):
        assert tf.train.latest_checkpoint(str(tmp_path)) is None


def test_the_command_names_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "a.jpg")
    (tmp_path / "b.txt").symlink_to("/dev/zero")
    (tmp_path / "c.txt").write_text("good")
    assert cli.main(["check", str(tmp_path), "--text", "utf-8"]) == 1
    shown = capsys.readouterr().out
    assert "a.jpg: expected a regular file, found a FIFO" in shown
    assert "b.txt: expected a regular file, found a character device" in shown
    assert "c.txt:" not in shown


def test_a_policy_lets_them_go(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a")
    (tmp_path / "b").write_text("good\n")
    ds = tf.data.TextLineDataset([str(tmp_path / "a"), str(tmp_path / "b")]).on_error("skip")
    assert list(ds.as_numpy_iterator()) == [b"good"]
    assert ds.audit().skipped == 1 and ds.audit().balanced


def test_names_that_are_no_text(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/\xff"
    os.mkfifo(path)
    with pytest.raises(sw.errors.FileError, match="FIFO"):
        refuse_special(path)
    with pytest.raises(sw.errors.FileError, match="FIFO"):
        read_manifest(os.fsdecode(path))


def test_links_to_files_are_followed(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("good")
    (tmp_path / "b").symlink_to("a")
    assert list(tf.data.TextLineDataset(str(tmp_path / "b")).as_numpy_iterator()) == [b"good"]


@pytest.mark.parametrize(
    "read",
    [
        lambda path: list(tf.data.TextLineDataset(path)),
        lambda path: tf.io.read_file(path).numpy(),
        lambda path: list(tf.data.FixedLengthRecordDataset(path, 1)),
    ],
)
def test_a_file_of_proc_is_not_empty(read: Callable[[str], Any]) -> None:
    """TensorFlow's read_file gives b"" for it, and its TextLineDataset the lines."""
    with pytest.raises(sw.errors.FileError, match="says that it has 0 bytes and has more"):
        read("/proc/self/status")


def test_an_empty_file_is_empty(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    assert tf.io.read_file(str(tmp_path / "a")).numpy() == b""
    assert list(tf.data.TextLineDataset(str(tmp_path / "a"))) == []


def test_an_endless_line_in_a_quarantine(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    with path.open("wb") as out:
        out.write(b'{"version": 1, "stage": "a"}\n')
        out.truncate(1 << 36)  # zeros: no memory holds them
    with sw.configure(memory_limit=32 << 20):
        for take in (lambda p: list(tf.data.Dataset.from_quarantine(p)), quarantined):
            with pytest.raises(sw.errors.ElementTooLarge) as caught:
                take(str(path))
            assert caught.value.file == str(path) and "quarantine" in str(caught.value)


@pytest.mark.parametrize(
    "line",
    [
        b'{"stage": 5, "origin": [], "index": "x"}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"input": "", "structure": ' + b'{"tuple": [' * 50_000,
        b'{"index": 1e999}',
        b"\xff\xfe{}",
        b"",
    ],
)
def test_a_quarantine_that_somebody_else_wrote(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "q.jsonl"
    path.write_bytes(line + b"\n")
    try:
        quarantined(str(path))
    except sw.errors.SpillwayError:
        raise AssertionError("what is there is no key of ours: it is left as it is") from None
    try:
        found = list(tf.data.Dataset.from_quarantine(str(path)))
        assert len(found) == 1  # that of this pass
    except sw.errors.CorruptFile as error:
        assert error.file == str(path)


def test_manifests_of_strangers(tmp_path: Path) -> None:
    path = tmp_path / "m"
    for content in (b"[" * 100_000, b'{"a":' * 100_000, b"\xff" * 100, b'{"a": {"size": 1e999}}'):
        path.write_bytes(content)
        with pytest.raises(sw.errors.CorruptFile):
            read_manifest(path)
    with path.open("wb") as out:
        out.truncate(1 << 40)
    with pytest.raises(sw.errors.CorruptFile, match="too large"):
        read_manifest(path)


def test_the_file_of_a_check_with_an_endless_line(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with path.open("wb") as out:
        out.truncate(1 << 36)
    with pytest.raises(sw.errors.CorruptFile, match="expected lines of less than"):
        resumed(str(path))
    path.write_bytes(b"[" * 100_000 + b"\n")
    assert not resumed(str(path))


def test_sqlite_still_reads_files(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    sqlite3.connect(path).close()
    assert np.asarray(sql(str(path))).tolist() == [[1]]
