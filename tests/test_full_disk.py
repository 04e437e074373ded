"""A disk without room: elements go on where a file only saves work; nothing stays half written."""

from __future__ import annotations

import resource
import subprocess
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf

ROWS = 128
MIB = 1 << 20


@pytest.fixture(params=["full", "limited"])
def small(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A folder with room for about a MiB: a file system of its own, or files of at most that."""
    place = tmp_path / "small"
    place.mkdir()
    if request.param == "limited":
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (MIB, before[1]))
        yield place
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        return
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(place)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("may not mount a small file system here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def rows() -> sw.Dataset:
    return sw.Dataset.range(ROWS).map(lambda x: (x, tf.zeros([4096], "float32")))


def numbers(ds: sw.Dataset) -> list[int]:
    return [int(x) for x, _ in ds]


def files(place: Path) -> list[str]:
    return [path.name for path in place.rglob("*") if path.is_file()]


@pytest.mark.parametrize("python", [False, True])
def test_the_elements_go_on_without_their_cache(small: Path, python: bool) -> None:
    calls = []

    def called(x: Any, y: Any) -> Any:
        calls.append(int(x))
        return x, y

    ds = rows().map(called, output_signature=rows().element_spec) if python else rows()
    ds = ds.cache(str(small / "cache"))
    for _ in range(2):
        with pytest.warns(RuntimeWarning, match="go on without the cache") as told:
            assert numbers(ds) == list(range(ROWS))
        (text,) = [str(w.message) for w in told]
        assert str(small / "cache") in text and ("MiB" in text or "KiB" in text)
        assert "cache#" in text and "written at" in text
        assert files(small) == []
    if python:
        assert calls == list(range(ROWS)) * 2


def test_a_later_pass_fills_the_cache_that_had_no_room(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ds = rows().cache(str(tmp_path / "cache"))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MIB, before[1]))
    try:
        with pytest.warns(RuntimeWarning, match=r"File too large, after 1\.00 MiB"):
            assert numbers(ds) == list(range(ROWS))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert numbers(ds) == list(range(ROWS))
        assert files(tmp_path) == ["cache.cache"]


def test_the_elements_go_on_without_their_snapshot(small: Path) -> None:
    ds = rows().snapshot(str(small / "snapshot"))
    for _ in range(2):
        with pytest.warns(RuntimeWarning, match="go on without the snapshot"):
            assert numbers(ds) == list(range(ROWS))
        assert files(small) == []


@pytest.mark.parametrize("compression", [None, "GZIP"])
def test_a_save_without_room_is_an_error_and_leaves_nothing(
    small: Path, compression: str | None
) -> None:
    dice = np.random.default_rng(1)
    noise = sw.Dataset.from_tensor_slices(dice.random((ROWS, 4096)))
    with pytest.raises(sw.errors.DiskFull) as caught:
        noise.save(str(small / "saved"), compression=compression)
    assert str(small) in str(caught.value)
    assert files(small) == []


def test_a_quarantine_without_room_is_an_error_with_whole_lines(small: Path) -> None:
    path = small / "bad.jsonl"

    def fail(x: Any, y: Any) -> Any:
        raise ValueError("no")

    ds = rows().map(fail, output_signature=sw.TensorSpec((), "int64"), on_error="quarantine",
                    quarantine=path)  # fmt: skip
    with pytest.raises(sw.errors.DiskFull, match="quarantine: cannot write to"):
        list(ds)
    kept = len(list(sw.Dataset.from_quarantine(path)))
    assert 10 < kept < ROWS


def test_a_record_writer_without_room_says_so(small: Path) -> None:
    path = str(small / "a.tfrecord")
    with pytest.raises(sw.errors.ResourceExhaustedError) as caught:  # noqa: SIM117
        with tf.io.TFRecordWriter(path) as writer:
            for _ in range(ROWS):
                writer.write(bytes(16384))
    assert path in str(caught.value)


def test_a_checkpoint_without_room_leaves_the_one_before(small: Path) -> None:
    it = iter(tf.data.Dataset.range(5))
    checkpoint = tf.train.Checkpoint(iterator=it)
    path = checkpoint.save(str(small / "state"))
    big = tf.train.Checkpoint(iterator=it, big=tf.Variable(np.ones(MIB, np.float32)))
    with pytest.raises(sw.errors.DiskFull):
        big.save(str(small / "state"))
    assert tf.train.latest_checkpoint(str(small)) == path
    assert sorted(files(small)) == ["checkpoint", "state-1.index"]


def test_two_pipelines_on_one_cache_file(tmp_path: Path) -> None:
    path = str(tmp_path / "cache")
    first = iter(rows().cache(path))
    next(first)
    with pytest.raises(sw.errors.AlreadyExistsError, match="concurrent caching iterator"):
        numbers(rows().cache(path))
    assert len(list(first)) == ROWS - 1
    assert numbers(rows().cache(path)) == list(range(ROWS))


def test_what_a_killed_process_left_is_taken_over(tmp_path: Path) -> None:
    (tmp_path / "cache_0.lockfile").write_text("spillway 1 created at 1")
    (tmp_path / "cache_0.partial").write_bytes(b"half a row")
    assert numbers(rows().cache(str(tmp_path / "cache"))) == list(range(ROWS))
    assert files(tmp_path) == ["cache.cache"]
