"""A file that cannot be opened is that file's error under the policy; the others are delivered."""

from __future__ import annotations

import gzip
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf
from tests.tar_files import archive

POLICIES: list[dict[str, Any]] = [{"on_error": "skip"}, {"on_error": "quarantine"}]


def policy_of(given: dict[str, Any], folder: Path) -> dict[str, Any]:
    aside = {"quarantine": folder / "aside.jsonl"} if given["on_error"] == "quarantine" else {}
    return {**given, **aside}


def npy(path: Path, first: int, rows: int = 5) -> Path:
    np.save(path, np.arange(first, first + rows))
    return path


def damaged(path: Path, kind: str) -> Path:
    if kind == "cut off":
        path.write_bytes(path.read_bytes()[:60])
    elif kind == "other rows":
        np.save(path, np.zeros((5, 7), np.float32))
    elif kind == "empty":
        path.write_bytes(b"")
    else:
        path.unlink()
    return path


KINDS = ["cut off", "other rows", "empty", "missing"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("which", [0, 1, 2])
@pytest.mark.parametrize("policy", POLICIES, ids=["skip", "quarantine"])
def test_one_of_three_npy_files(
    tmp_path: Path, kind: str, which: int, policy: dict[str, Any]
) -> None:
    paths = [npy(tmp_path / f"{i}.npy", 10 * i) for i in range(3)]
    bad = damaged(paths[which], kind)
    if kind == "other rows" and which == 0:
        return  # then the others are unlike the first
    with pytest.raises(sw.errors.SpillwayError) as caught:
        sw.Dataset.from_npy(paths)
    assert caught.value.file == str(bad)
    ds = sw.Dataset.from_npy(paths, **policy_of(policy, tmp_path))
    expected = [x for i in range(3) if i != which for x in range(10 * i, 10 * i + 5)]
    for _ in range(2):
        assert [int(x) for x in ds] == expected
        audit = ds.audit()
        assert audit.balanced and audit.skipped == 1 and audit.delivered == 10
        assert [entry.file for entry in audit.entries] == [str(bad)]
    assert [problem.file for problem in ds.check()] == [str(bad)]
    for taken in range(10):
        it = iter(ds)
        for _ in range(taken):
            next(it)
        again = iter(ds)
        again.restore(it.save())
        assert [int(x) for x in again] == expected[taken:]


def test_all_of_them(tmp_path: Path) -> None:
    paths = [damaged(npy(tmp_path / f"{i}.npy", i), "empty") for i in range(2)]
    with pytest.raises(sw.errors.CorruptFile) as caught:
        sw.Dataset.from_npy(paths, on_error="skip")
    assert caught.value.file == str(paths[0])


@pytest.mark.parametrize("kind", ["cut off", "empty", "missing"])
@pytest.mark.parametrize("which", [0, 1, 2])
@pytest.mark.parametrize("column", ["x", "y"])
def test_columns_stay_in_step(tmp_path: Path, kind: str, which: int, column: str) -> None:
    paths = {
        key: [npy(tmp_path / f"{key}{i}.npy", 10 * i + shift) for i in range(3)]
        for key, shift in (("x", 0), ("y", 1000))
    }
    bad = damaged(paths[column][which], kind)
    ds = sw.Dataset.from_npy(paths, on_error="skip")
    rows = [(int(row["x"]), int(row["y"])) for row in ds]
    assert rows == [
        (x, x + 1000) for i in range(3) if i != which for x in range(10 * i, 10 * i + 5)
    ]
    audit = ds.audit()
    skipped = {entry.file for entry in audit.entries if entry.outcome == "skipped"}
    assert audit.balanced and skipped == {str(bad)}


@pytest.mark.parametrize("keys", [None, ("a", "b")])
@pytest.mark.parametrize("which", [0, 1])
def test_an_archive(tmp_path: Path, keys: Any, which: int) -> None:
    paths = [tmp_path / f"{i}.npz" for i in range(2)]
    for i, path in enumerate(paths):
        np.savez(path, a=np.arange(3) + 10 * i, b=np.arange(3) + 100)
    bad = damaged(paths[which], "cut off")
    ds = sw.Dataset.from_npz(paths, keys, on_error="skip")
    assert [int(row["a"]) for row in ds] == [10 * (1 - which) + i for i in range(3)]
    audit = ds.audit()
    skipped = {entry.file for entry in audit.entries if entry.outcome == "skipped"}
    assert audit.balanced and skipped == {str(bad)}


def parquet(path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    importlib.import_module("pyarrow.parquet").write_table(pa.table({"a": [1, 2]}), path)


SOURCES: dict[str, tuple[str, Callable[[Path], Any], Callable[[list[str]], Any]]] = {
    "text": (
        "gz",
        lambda path: path.write_bytes(gzip.compress(b"one\ntwo\n")),
        lambda paths: tf.data.TextLineDataset(paths, "GZIP"),
    ),
    "csv": (
        "csv",
        lambda path: path.write_bytes(b"1\n2\n"),
        lambda paths: tf.data.experimental.CsvDataset(paths, [tf.int32]),
    ),
    "records": (
        "gz",
        lambda path: path.write_bytes(
            gzip.compress(sw._native.framed_tfrecord(b"one") + sw._native.framed_tfrecord(b"two"))
        ),
        lambda paths: tf.data.TFRecordDataset(paths, "GZIP"),
    ),
    "parquet": (
        "parquet",
        parquet,
        lambda paths: sw.Dataset.from_parquet(paths, on_error="skip"),
    ),
    "tar": (
        "tar",
        lambda path: archive(path, [("a.txt", b"1"), ("b.txt", b"2")]),
        lambda paths: sw.Dataset.from_tar(paths, on_error="skip"),
    ),
}


@pytest.mark.parametrize("source", list(SOURCES))
@pytest.mark.parametrize("which", [0, 1, 2])
@pytest.mark.parametrize("kind", ["zeros", "missing"])
def test_other_sources(tmp_path: Path, source: str, which: int, kind: str) -> None:
    suffix, write, read = SOURCES[source]
    paths = [tmp_path / f"{i}.{suffix}" for i in range(3)]
    for path in paths:
        write(path)
    if kind == "missing" or source == "csv":
        paths[which].unlink()
    else:
        paths[which].write_bytes(b"\x01" * 600)
    ds = read([str(path) for path in paths])
    ds = ds if source in ("tar", "parquet") else ds.on_error("skip")
    assert len(list(ds)) == 4
    audit = ds.audit()
    assert audit.balanced and audit.skipped == 1
    assert [entry.file for entry in audit.entries] == [str(paths[which])]


# ---- The file, where Python's own loader fails


def load(path: Any) -> Any:
    return np.load(path.numpy().decode())


@pytest.mark.parametrize("isolate", [False, True])
def test_the_file_that_np_load_fails_on(tmp_path: Path, isolate: bool) -> None:
    paths = [str(npy(tmp_path / f"{i}.npy", i)) for i in range(3)]
    Path(paths[1]).write_bytes(b"nonsense" * 20)
    ds = tf.data.Dataset.from_tensor_slices(paths).map(load, isolate=isolate)
    with pytest.raises(sw.errors.SpillwayError) as caught:
        list(ds)
    assert caught.value.file == paths[1] and f"file {paths[1]}" in str(caught.value)
    kept = ds.on_error("skip")
    assert len(list(kept)) == 2
    assert [entry.file for entry in kept.audit().entries] == [paths[1]]


def test_the_path_among_other_components(tmp_path: Path) -> None:
    path = str(npy(tmp_path / "a.npy", 1))
    calls: list[int] = []

    def fails(*row: Any) -> Any:
        calls.append(len(row))  # an effect: it is not traced
        raise KeyError("missing")

    rows: list[tuple[Any, str | None]] = [
        ((path, "a label", 3), path),
        ((path, path, 3), path),
        ((path, str(npy(tmp_path / "b.npy", 1))), None),  # which of them nobody can tell
        (("no file", 3), None),
        ((str(tmp_path), 3), None),
        (("a" * 10_000, 3), None),
        (("nul\0", 3), None),
        (([path, path], 3), None),
    ]
    for row, expected in rows:
        with pytest.raises(KeyError) as caught:
            list(tf.data.Dataset.from_tensors(row).map(fails))
        assert caught.value.file == expected, row  # type: ignore[attr-defined]
