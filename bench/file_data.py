"""The files of the tasks about files: made once from a seed and kept in `build/bench-data`.

Beside each set of files lies `NAME.npy`: a number for each item, which a right answer adds up to.
Records of one kind all have the same length, so that their checksums are columns of numbers.
Needs NumPy alone; the frame of TFRecord and the wire format of Example are written out here.
"""

from __future__ import annotations

import functools
import gzip
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]

ROOT = Path(__file__).resolve().parent.parent / "build" / "bench-data"
IMAGES, IMAGE_BYTES, SHARDS = 2_048, 97_600, 4  # whole batches in each file
SMALL, FLOATS = 200_000, 32
LINES = 2_000_000
NPY_FILES, NPY_ROWS, NPY_COLUMNS = 8, 16_384, 1_024
WORDS = ["the", "quick", "brown", "fox", "jumps", "over", "a", "lazy", "dog", "spillway", "tensor"]


def names(kind: str) -> list[str]:
    """The paths of a kind's files, which are made if they are not there."""
    folder = ROOT / kind
    if not folder.exists():
        unfinished = ROOT / f"{kind}.{os.getpid()}"
        unfinished.mkdir(parents=True)
        MAKERS[kind](unfinished)
        unfinished.rename(folder)
    return sorted(str(path) for path in folder.iterdir() if path.suffix in SUFFIXES)


def digests(kind: str) -> NDArray[np.int64]:
    """One number for each item, in order."""
    import numpy as np

    names(kind)
    found: NDArray[np.int64] = np.load(ROOT / kind / "digests" / "all.npy")
    return found


def digest(item: bytes, label: int = 0) -> int:
    """The number of a string and the label that belongs to it."""
    return zlib.crc32(item) + (label << 32)


def _keep(folder: Path, found: Any) -> None:
    import numpy as np

    (folder / "digests").mkdir()
    np.save(folder / "digests" / "all.npy", np.asarray(found, np.int64))


# ---- TFRecord: length, its masked checksum, data, their masked checksum --------------------


@functools.cache
def _table() -> NDArray[np.uint32]:
    import numpy as np

    table: NDArray[np.uint32] = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        one = np.uint32(1)
        table = (table >> one) ^ (table & one) * np.uint32(0x82F63B78)
    return table


def _masked_crc(rows: Bytes) -> Bytes:
    """CRC-32C of each row, masked, as four bytes."""
    import numpy as np

    table = _table()
    crc = np.full(len(rows), 0xFFFFFFFF, np.uint32)
    for column in np.ascontiguousarray(rows.T):
        crc = table[(crc ^ column) & 255] ^ (crc >> 8)
    crc = ~crc
    masked = ((crc >> 15) | (crc << 17)) + np.uint32(0xA282EAD8)
    return np.ascontiguousarray(masked).view(np.uint8).reshape(-1, 4)


def _framed(rows: Bytes) -> Bytes:
    import numpy as np

    length = np.frombuffer(rows.shape[1].to_bytes(8, "little"), np.uint8)
    header = np.concatenate([length, _masked_crc(length[None])[0]])
    return np.hstack([np.tile(header, (len(rows), 1)), rows, _masked_crc(rows)])


def _varint(number: int) -> bytes:
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def _field(number: int, size: int) -> bytes:
    """What stands before `size` bytes of a field."""
    return bytes([number << 3 | 2]) + _varint(size)


def _column(text: bytes, rows: int) -> Bytes:
    import numpy as np

    return np.tile(np.frombuffer(text, np.uint8), (rows, 1))


def _entry(key: bytes, kind: int, items: Bytes) -> Bytes:
    """An entry of an Example's map: a list of `kind` whose one field holds `items`."""
    import numpy as np

    before = _field(1, items.shape[1])  # numbers are packed: they look as one string does
    for number in (kind, 2):
        before = _field(number, len(before) + items.shape[1]) + before
    before = _field(1, len(key)) + key + before
    before = _field(1, len(before) + items.shape[1]) + before
    return np.hstack([_column(before, len(items)), items])


def _examples(*entries: Bytes) -> Bytes:
    import numpy as np

    size = sum(entry.shape[1] for entry in entries)
    return np.hstack([_column(_field(1, size), len(entries[0])), *entries])


def _images(folder: Path) -> None:
    """Bytes as incompressible as a JPEG's, and a label."""
    import numpy as np

    found = []
    for shard in range(SHARDS):
        rows = IMAGES // SHARDS
        images = np.random.default_rng(shard).integers(0, 256, (rows, IMAGE_BYTES), np.uint8)
        labels = (np.arange(rows, dtype=np.uint8) + shard) % 100
        examples = _examples(_entry(b"image", 1, images), _entry(b"label", 3, labels[:, None]))
        _framed(examples).tofile(folder / f"images-{shard}.tfrecord")
        found += [
            (digest(record.tobytes()), digest(image.tobytes(), int(label)))
            for record, image, label in zip(examples, images, labels, strict=True)
        ]
    _keep(folder, found)


def _small_examples() -> tuple[Bytes, list[tuple[int, int]]]:
    import numpy as np

    ids = np.arange(SMALL, dtype=np.int64) + (1 << 21)  # four bytes each
    number = np.stack([ids >> 7 * k & 127 | (128 if k < 3 else 0) for k in range(4)], 1)
    floats = np.random.default_rng(9).random((SMALL, FLOATS), np.float32)
    text = b"".join(b"item-%08d" % i for i in ids.tolist())
    items = np.frombuffer(text, np.uint8).reshape(SMALL, -1)
    examples = _examples(
        _entry(b"id", 3, number.astype(np.uint8)),
        _entry(b"values", 2, floats.view(np.uint8).reshape(SMALL, -1)),
        _entry(b"name", 1, items),
    )
    sums = floats.view(np.uint32).sum(1, dtype=np.int64)
    parsed = ids + sums + [zlib.crc32(item.tobytes()) for item in items]
    return examples, [
        (digest(each.tobytes()), int(whole)) for each, whole in zip(examples, parsed, strict=True)
    ]


def _small(folder: Path) -> None:
    """Examples of about 200 bytes: a number, 32 floats and a name."""
    examples, found = _small_examples()
    _framed(examples).tofile(folder / "small-0.tfrecord")
    _keep(folder, found)


def _gzip(folder: Path) -> None:
    """The same, compressed."""
    examples, found = _small_examples()
    with gzip.open(folder / "small-0.gz", "wb", compresslevel=6) as out:
        out.write(_framed(examples).tobytes())
    _keep(folder, found)


# ---- Text and arrays -----------------------------------------------------------------------


def _lines(folder: Path) -> None:
    import numpy as np

    rng = np.random.default_rng(0)
    pick = rng.integers(0, len(WORDS), (LINES, 12)).tolist()
    length = rng.integers(1, 13, LINES).tolist()
    found = []
    with (folder / "lines.txt").open("wb") as out:
        for i in range(LINES):
            line = f"{i} {' '.join([WORDS[k] for k in pick[i][: length[i]]])}".encode()
            found.append(digest(line))
            out.write(line + b"\n")
    _keep(folder, found)


def row_sums(rows: NDArray[np.float32]) -> NDArray[np.int64]:
    """The sum of each row's bits."""
    import numpy as np

    bits = np.ascontiguousarray(rows).view(np.uint32).astype(np.int64)
    return np.asarray(bits.sum(1))


def _arrays(folder: Path) -> None:
    import numpy as np

    found = []
    for k in range(NPY_FILES):
        rows = np.random.default_rng(k).random((NPY_ROWS, NPY_COLUMNS), np.float32)
        np.save(folder / f"part-{k}.npy", rows)
        found.append(row_sums(rows))
    _keep(folder, np.concatenate(found))


SUFFIXES = {".tfrecord", ".gz", ".txt", ".npy"}
MAKERS: dict[str, Callable[[Path], None]] = {
    "images": _images,
    "small": _small,
    "gzip": _gzip,
    "lines": _lines,
    "arrays": _arrays,
}
