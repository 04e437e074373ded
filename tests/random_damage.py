"""Every format that is read, damaged at random: what may come of it.

A format is a line of `FORMATS`: its good bytes and how they are read.
`python -m tests.random_damage NAME SEED` shows one damage again.
"""

from __future__ import annotations

import gzip
import importlib
import importlib.util
import io
import json
import random
import sys
import tarfile
import tempfile
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import spillway as sw
import spillway.tf as tf
from spillway.manifest import read_manifest
from tests.damage import a_bmp, a_gif, a_webp, photo

LIMIT = 64 << 20


@dataclass(frozen=True)
class Format:
    """`read` gives what the file at a path (or in a folder) holds, in values that compare.

    `checked`: nothing is ever another value. `whole`: a file that is cut off never passes for a
    shorter one. `suffix` is the name that the file needs; `folder`: what the damage is done to lies
    in a folder that `make` fills.
    """

    name: str
    make: Callable[[Path], Path]
    read: Callable[[Path], Iterator[Any]]
    checked: bool
    whole: bool
    names_file: bool = True


def written(content: bytes, suffix: str = "") -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / f"x{suffix}"
        path.write_bytes(content)
        return path

    return make


def values(ds: Any) -> Iterator[Any]:
    for element in ds.as_numpy_iterator() if hasattr(ds, "as_numpy_iterator") else ds:
        yield comparable(element)


def comparable(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: comparable(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return tuple(comparable(item) for item in value)
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        return (str(array.dtype), array.shape, array.tobytes() if array.dtype != object
                else repr(array.tolist()))  # fmt: skip
    return value


# ---- Good files

_LINES = b"".join(b"line %d, %s\n" % (i, b"x" * (i % 40)) for i in range(120))
_CSV = b"a,b,c\n" + b"".join(b'%d,%f,"text, %d"\n' % (i, i / 7, i) for i in range(120))


def _records(kind: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / "x.tfrecord"
        with tf.io.TFRecordWriter(str(path), kind) as writer:
            for i in range(20):
                writer.write(b"record %d" % i + bytes(i * 10))
        return path

    return make


def _npy(fortran: bool) -> bytes:
    out = io.BytesIO()
    array = np.arange(600, dtype=np.float32).reshape(100, 6)
    np.save(out, np.asfortranarray(array) if fortran else array)
    return out.getvalue()


def _npz(save: Callable[..., None]) -> bytes:
    out = io.BytesIO()
    save(out, a=np.arange(300).reshape(60, 5), b=np.linspace(0, 1, 60))
    return out.getvalue()


def _tar(mode: Any) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:
        for i in range(8):
            for extension, content in (("txt", b"text %d" % i), ("bin", bytes(range(200)))):
                about = tarfile.TarInfo(f"{i:03}.{extension}")
                about.size = len(content)
                archive.addfile(about, io.BytesIO(content))
    return out.getvalue()


def _image(format: str, **how: Any) -> bytes:
    pixels = photo(40, 56)
    if format == "jpeg":
        return bytes(tf.io.encode_jpeg(pixels, **how).numpy())
    return bytes(tf.io.encode_png(pixels).numpy())


def _decoded(path: Path) -> Iterator[Any]:
    load = lambda p: tf.io.decode_image(tf.io.read_file(p), expand_animations=False)  # noqa: E731
    yield from values(tf.data.Dataset.from_tensors(str(path)).map(load))


def _saved(folder: Path) -> Path:
    sw.Dataset.range(60).map(lambda x: {"a": x, "b": x * 2}).save(str(folder / "saved"))
    (shard,) = (folder / "saved").glob("*/*.shard")
    return shard


def _load(path: Path) -> Iterator[Any]:
    folder = next(p for p in (path.parent, *path.parents) if p.name == "saved")
    yield from values(sw.Dataset.load(str(folder)))


def _metadata(folder: Path) -> Path:
    _saved(folder)
    return folder / "saved" / "snapshot.metadata"


def _cached(folder: Path) -> sw.Dataset:
    return sw.Dataset.range(60).map(lambda x: (x, x * 2)).cache(str(folder / "c"))


def _cache(folder: Path) -> Path:
    list(_cached(folder))
    return folder / "c.cache"


def _snapshot_of(folder: Path) -> tf.data.Dataset:
    return tf.data.Dataset.range(60).snapshot(str(folder / "s"))


def _snapshot(folder: Path) -> Path:
    list(_snapshot_of(folder))
    return max((folder / "s").rglob("*.shard"), key=lambda path: path.stat().st_size)


def _quarantine(folder: Path) -> Path:
    path = folder / "q.jsonl"
    bad = tf.data.Dataset.range(12).map(
        lambda x: tf.debugging.check_numerics(tf.cast(x, tf.float32) / 0.0, "not finite")
    )
    list(bad.on_error("quarantine", quarantine=path))
    return path


def _manifest(folder: Path) -> Path:
    path = folder / "m.json"
    path.write_text(json.dumps({f"{i}.bin": {"size": i, "sha256": "0" * 64} for i in range(20)}))
    return path


def _sums(folder: Path) -> Path:
    path = folder / "sums"
    path.write_text("".join(f"{'ab' * 32}  {i}.bin\n" for i in range(20)))
    return path


def _manifest_values(path: Path) -> Iterator[Any]:
    for each in read_manifest(path):
        yield Path(each.path).name, each.size, each.sha256


def _checkpoint(folder: Path) -> Path:
    tf.train.Checkpoint(v=tf.Variable(np.arange(50.0))).write(str(folder / "ck"))
    return folder / "ck.index"


def _restored(path: Path) -> Iterator[Any]:
    variable = tf.Variable(np.zeros(50))
    tf.train.Checkpoint(v=variable).read(str(path)[: -len(".index")]).assert_consumed()
    yield comparable(variable.numpy())


def _parquet(folder: Path) -> Path:
    pa = importlib.import_module("pyarrow")
    pq = importlib.import_module("pyarrow.parquet")
    path = folder / "x.parquet"
    table = pa.table({"a": list(range(100)), "b": [f"text {i}" for i in range(100)]})
    pq.write_table(table, path, row_group_size=30)
    return path


def _lines_of(kind: str = "") -> Callable[[Path], Iterator[Any]]:
    return lambda path: values(tf.data.TextLineDataset(str(path), kind))


def _records_of(kind: str = "") -> Callable[[Path], Iterator[Any]]:
    return lambda path: values(tf.data.TFRecordDataset(str(path), kind))


def _csv_rows(path: Path) -> Iterator[Any]:
    types = [tf.int64, tf.float64, tf.string]
    return values(tf.data.experimental.CsvDataset(str(path), types, header=True))


def _samples(path: Path) -> Iterator[Any]:
    return values(sw.Dataset.from_tar(path, keys=("txt", "bin")))


def _all_formats() -> Iterator[Format]:
    def file(
        name: str, content: bytes, suffix: str, read: Any, *, checked: bool, whole: bool
    ) -> Format:
        return Format(name, written(content, suffix), read, checked, whole)

    yield file("text", _LINES, ".txt", _lines_of(), checked=False, whole=False)
    packed = gzip.compress(_LINES, mtime=0)
    yield file("text, gzip", packed, ".txt", _lines_of("GZIP"), checked=True, whole=True)
    packed = zlib.compress(_LINES)
    yield file("text, zlib", packed, ".txt", _lines_of("ZLIB"), checked=True, whole=True)
    yield file("csv", _CSV, ".csv", _csv_rows, checked=False, whole=False)
    fixed = lambda path: values(tf.data.FixedLengthRecordDataset(str(path), 20))  # noqa: E731
    yield file("fixed length", bytes(range(200)) * 4, ".bin", fixed, checked=False, whole=False)
    for kind in ("", "GZIP", "ZLIB"):
        name = f"tfrecord{kind and ', '}{kind.lower()}"
        # Without compression a file that ends between two records is a shorter one.
        yield Format(name, _records(kind), _records_of(kind), True, kind != "")
    for fortran in (False, True):
        npy = lambda path: values(sw.Dataset.from_npy(path))  # noqa: E731
        name = "npy, columns first" if fortran else "npy"
        yield file(name, _npy(fortran), ".npy", npy, checked=False, whole=True)
    loaded = lambda path: iter([comparable(sw.load_npy(path).numpy())])  # noqa: E731
    yield file("load_npy", _npy(False), ".npy", loaded, checked=False, whole=True)
    npz = lambda path: values(sw.Dataset.from_npz(path))  # noqa: E731
    yield file("npz", _npz(np.savez), ".npz", npz, checked=True, whole=True)
    yield file("npz, deflated", _npz(np.savez_compressed), ".npz", npz, checked=True, whole=True)
    # The sum of a header covers the header alone.
    yield file("tar", _tar("w"), ".tar", _samples, checked=False, whole=True)
    yield file("tar, gzip", _tar("w:gz"), ".tar.gz", _samples, checked=True, whole=True)
    yield file("jpeg", _image("jpeg"), ".jpg", _decoded, checked=False, whole=True)
    progressive = _image("jpeg", progressive=True)
    yield file("jpeg, progressive", progressive, ".jpg", _decoded, checked=False, whole=True)
    yield file("png", _image("png"), ".png", _decoded, checked=True, whole=True)
    yield file("gif", a_gif(), ".gif", _decoded, checked=False, whole=True)
    yield file("bmp", a_bmp(), ".bmp", _decoded, checked=False, whole=True)
    yield file("webp", a_webp(), ".webp", _decoded, checked=False, whole=True)
    yield Format("saved dataset", _saved, _load, True, True)
    yield Format("saved dataset, metadata", _metadata, _load, False, True)
    yield Format("cache file", _cache, lambda path: values(_cached(path.parent)), True, True)
    yield Format("snapshot", _snapshot, lambda p: values(_snapshot_of(p.parents[3])), True, True)
    quarantined = lambda path: values(tf.data.Dataset.from_quarantine(path))  # noqa: E731
    yield Format("quarantine", _quarantine, quarantined, False, False)
    yield Format("manifest, JSON", _manifest, _manifest_values, False, False)
    yield Format("manifest, sums", _sums, _manifest_values, False, False)
    yield Format("checkpoint", _checkpoint, _restored, True, True)
    if importlib.util.find_spec("pyarrow") is not None:
        parquet = lambda path: values(sw.Dataset.from_parquet(path))  # noqa: E731
        yield Format("parquet", _parquet, parquet, False, True)


FORMATS = {format.name: format for format in _all_formats()}


# ---- Damage


def flip(data: bytearray, dice: random.Random) -> str:
    for _ in range(dice.choice((1, 1, 1, 2, 5))):
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    return "bits flipped"


def cut(data: bytearray, dice: random.Random) -> str:
    del data[dice.randrange(1, len(data)) :]  # a file of no bytes has no elements
    return "cut off"


def zero(data: bytearray, dice: random.Random) -> str:
    at, length = dice.randrange(len(data)), dice.choice((1, 4, 32, 512))
    data[at : at + length] = bytes(len(data[at : at + length]))
    return "zeros"


def insert(data: bytearray, dice: random.Random) -> str:
    at, length = dice.randrange(len(data) + 1), dice.choice((1, 2, 9, 100))
    data[at:at] = dice.choice((bytes(length), b"\xff" * length, dice.randbytes(length)))
    return "bytes inserted"


def remove(data: bytearray, dice: random.Random) -> str:
    at = dice.randrange(len(data))
    del data[at : at + dice.choice((1, 2, 9, 100))]
    return "bytes removed"


DAMAGES = (flip, flip, cut, zero, insert, remove)


@dataclass(frozen=True)
class Outcome:
    """What reading a damaged file gave."""

    damage: str
    values: tuple[Any, ...]
    error: BaseException | None

    def verdict(self, good: tuple[Any, ...]) -> str:
        if self.error is not None:
            return "error"
        if self.values == good:
            return "same"
        return "shorter" if self.values == good[: len(self.values)] else "changed"


def tried(format: Format, good: bytes, path: Path, seed: int) -> Outcome:
    """The file at `path`, damaged as the seed says, and read."""
    dice = random.Random(seed)
    data = bytearray(good)
    damage = dice.choice(DAMAGES)(data, dice)
    path.write_bytes(data)
    found: list[Any] = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.extend(format.read(path))
    except (sw.errors.SpillwayError, OSError, ValueError) as error:
        return Outcome(damage, tuple(found), error)
    return Outcome(damage, tuple(found), None)


def check(format: Format, good: tuple[Any, ...], outcome: Outcome, path: Path) -> str:
    """The verdict; AssertionError where it is none that may be."""
    verdict = outcome.verdict(good)
    if outcome.error is not None:
        error = outcome.error
        assert isinstance(error, sw.errors.SpillwayError), repr(error)
        assert error.kind != "bug", repr(error)
        assert str(path) in str(error) or str(path.parent) in str(error), repr(error)
    allowed = {"same", "error"}
    if not format.whole or outcome.damage != "cut off":
        allowed |= {"shorter"} if not format.whole or not format.checked else set()
    if not format.checked:
        allowed |= {"changed"} if outcome.damage != "cut off" or not format.whole else set()
    assert verdict in allowed, f"{outcome.damage}: {verdict}"
    return verdict


def run(format: Format, folder: Path, seeds: range) -> Counter[str]:
    """All seeds; the counts of damage and verdict."""
    path = format.make(folder)
    content = path.read_bytes()
    good = tuple(format.read(path))
    assert good, format.name
    counts: Counter[str] = Counter()
    for seed in seeds:
        outcome = tried(format, content, path, seed)
        try:
            counts[f"{outcome.damage}: {check(format, good, outcome, path)}"] += 1
        except AssertionError as error:
            raise AssertionError(f"{format.name}, seed {seed}: {error}") from outcome.error
    return counts


if __name__ == "__main__":
    chosen = FORMATS[sys.argv[1]]
    with tempfile.TemporaryDirectory() as name:
        print(run(chosen, Path(name), range(int(sys.argv[2]), int(sys.argv[2]) + 1)))
