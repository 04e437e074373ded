"""Elements of files that are larger than the limit: a typed error each, and Ctrl-C is heard."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import tarfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf
from spillway import _native

LIMIT = 16 << 20
LONG = 3 * LIMIT


@pytest.fixture(autouse=True)
def little_memory() -> Iterator[None]:
    before = sw.memory().peak
    with sw.configure(memory_limit=LIMIT):
        yield
    assert sw.memory().peak <= max(before, LIMIT)


Pack = Callable[[bytes], bytes]
PACKED: dict[str, tuple[str, Pack]] = {
    "plain": ("", bytes),
    "gzip": ("GZIP", lambda data: gzip.compress(data, 1)),
    "zlib": ("ZLIB", lambda data: zlib.compress(data, 1)),
}
packed = pytest.mark.parametrize("pack", list(PACKED))


def errors_of(ds: Any) -> tuple[list[Any], list[sw.errors.SpillwayError]]:
    """All elements, and the errors in their places."""
    it = iter(ds.as_numpy_iterator())
    good: list[Any] = []
    bad: list[sw.errors.SpillwayError] = []
    while True:
        try:
            good.append(next(it))
        except StopIteration:
            return good, bad
        except sw.errors.SpillwayError as error:
            bad.append(error)
            assert len(bad) < 10


def check(error: sw.errors.SpillwayError, path: Path, offset: int) -> None:
    assert isinstance(error, sw.errors.ElementTooLarge), error
    assert (error.file, error.offset) == (str(path), offset)
    for words in (f"at byte {offset}", "MiB", "limit", "raise memory_limit"):
        assert words in str(error)


@packed
def test_a_line_without_end(tmp_path: Path, pack: str) -> None:
    kind, squeeze = PACKED[pack]
    path = tmp_path / "x.txt"
    path.write_bytes(squeeze(b"one\n" + b"x" * LONG + b"\nthree\nfour"))
    ds = tf.data.TextLineDataset(str(path), kind)
    good, (error,) = errors_of(ds)
    assert good == [b"one", b"three", b"four"]
    check(error, path, 4)
    assert "were read" in error.message
    kept = ds.on_error("skip")
    assert list(kept.as_numpy_iterator()) == good
    assert kept.audit().balanced and kept.audit().skipped == 1
    assert [problem.file for problem in ds.check()] == [str(path)]


def test_lines_of_several_files_and_a_checkpoint_behind_the_long_one(tmp_path: Path) -> None:
    paths = [tmp_path / f"{i}.txt" for i in range(3)]
    for i, path in enumerate(paths):
        path.write_bytes(b"a%d\n" % i + b"y" * (LONG if i == 1 else 100) + b"\nb%d" % i)
    ds = tf.data.TextLineDataset([str(p) for p in paths]).on_error("skip")
    whole = list(ds.as_numpy_iterator())
    assert [line[:2] for line in whole] == [b"a0", b"yy", b"b0", b"a1", b"b1", b"a2", b"yy", b"b2"]
    for taken in range(len(whole)):
        with iter(ds) as it:
            for _ in range(taken):
                next(it)
            state = it.save()
        again = iter(ds)
        again.restore(state)
        assert [row.numpy() for row in again] == whole[taken:]


@packed
@pytest.mark.parametrize(
    "content", [b'"' + b"x" * LONG, b"x" * LONG + b",1\n", b'"a\n' * (LONG // 4)]
)
def test_a_csv_field_or_quoted_line_without_end(tmp_path: Path, pack: str, content: bytes) -> None:
    kind, squeeze = PACKED[pack]
    path = tmp_path / "x.csv"
    path.write_bytes(squeeze(b"a,b\n1,2\n" + content))
    ds = tf.data.experimental.CsvDataset(str(path), ["", ""], compression_type=kind or None)
    good, bad = errors_of(ds)
    assert good == [(b"a", b"b"), (b"1", b"2")]
    check(bad[0], path, 8)


@packed
@pytest.mark.parametrize("length", [LONG, 1 << 40, (1 << 59) + 1, (1 << 64) - 30, (1 << 64) - 1])
def test_a_record_of_a_huge_length(tmp_path: Path, pack: str, length: int) -> None:
    kind, squeeze = PACKED[pack]
    said = length.to_bytes(8, "little")
    head = said + _native.framed_tfrecord(said)[-4:]  # masked, as a length's is
    first = _native.framed_tfrecord(b"one")
    path = tmp_path / "x.tfrecord"
    body = bytes(LONG) + bytes(4) if length == LONG else b"few"
    path.write_bytes(squeeze(first + head + body))
    for ds in (
        tf.data.TFRecordDataset(str(path), kind),
        sw.Dataset.tf_record(str(path), compression_type=kind, resynchronise=True),
    ):
        good, bad = errors_of(ds)
        assert good == [b"one"]  # never again
        assert bad[0].file == str(path) and bad[0].offset is not None
        assert isinstance(bad[0], sw.errors.ElementTooLarge | sw.errors.CorruptFile)


@packed
def test_a_record_of_a_fixed_length_that_cannot_fit(tmp_path: Path, pack: str) -> None:
    kind, squeeze = PACKED[pack]
    path = tmp_path / "x.bin"
    path.write_bytes(squeeze(bytes(2 * LONG)))
    good, bad = errors_of(
        tf.data.FixedLengthRecordDataset(str(path), LONG, compression_type=kind or None)
    )
    assert good == []
    check(bad[0], path, 0)


@pytest.mark.parametrize("suffix", [".tar", ".tar.gz"])
def test_a_member_of_a_tar_archive(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    with tarfile.open(path, "w:gz" if suffix == ".tar.gz" else "w") as archive:
        for name, size in (("a", 3), ("b", LONG), ("c", 3)):
            about = tarfile.TarInfo(f"{name}.txt")
            about.size = size
            archive.addfile(about, io.BytesIO(bytes(size)))
    good, bad = errors_of(sw.Dataset.from_tar(path, keys="txt"))
    assert [row["__key__"] for row in good] == [b"a", b"c"]
    assert isinstance(bad[0], sw.errors.ElementTooLarge)
    assert (bad[0].file, bad[0].offset) == (str(path), 1024)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_a_row_of_an_npz_archive(tmp_path: Path, save: Callable[..., None]) -> None:
    path = tmp_path / "x.npz"
    save(path, a=np.zeros((1, LONG), np.uint8))
    with pytest.raises(sw.errors.BudgetError, match="needs 48"):
        list(sw.Dataset.from_npz(path))


# ---- Ctrl-C

_INTERRUPTED = """
import os, signal, sys, threading, time
import spillway as sw, spillway.tf as tf
signal.signal(signal.SIGINT, signal.default_int_handler)
at = {}
def press():
    at["pressed"] = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)
def consume():
    path = sys.argv[2]
    if sys.argv[1] == "line":
        for _ in tf.data.TextLineDataset(path, "GZIP").on_error("skip"): pass
    elif sys.argv[1] == "skipped":
        for _ in sw.Dataset.from_tar(path, keys="txt", compression_type="GZIP"): pass
    elif sys.argv[1] == "keys":
        sw.Dataset.from_tar(path, compression_type="GZIP")
    else:
        tf.data.TextLineDataset(path, "GZIP").check()
limit = int(sys.argv[3])
sw.configure(memory_limit=limit)
print("ready", flush=True)
sys.stdin.readline()
threading.Timer(0.3, press).start()
try:
    consume()
    print("ended", time.monotonic() - at.get("pressed", time.monotonic()))
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize("what", ["line", "check", "skipped", "keys"])
def test_ctrl_c_in_a_bomb(tmp_path: Path, what: str) -> None:
    """One that expands to 64 GiB: far more than is read before the signal."""
    path = tmp_path / "bomb.gz"
    tar = what in ("skipped", "keys")
    pack = zlib.compressobj(9, zlib.DEFLATED, 31)
    head = b""
    if tar:
        about = tarfile.TarInfo("a.skipped" if what == "skipped" else "skipped")
        about.size = 60 << 30
        head = about.tobuf(tarfile.GNU_FORMAT)
    # Deflate's repeats of one piece, as often as it takes: a member each.
    piece = gzip.compress(bytes(64 << 20), 9)
    with path.open("wb") as out:
        out.write(pack.compress(head) + pack.flush())
        for _ in range(1024):
            out.write(piece)
    command = [sys.executable, "-c", _INTERRUPTED, what, str(path), str(LIMIT)]
    environment = os.environ | {"PYTHONPATH": str(Path(sw.__file__).parent.parent)}
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        out_text, _ = process.communicate("go\n", timeout=500)
    assert "interrupted" in out_text, out_text
