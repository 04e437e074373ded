"""The tasks about files: what each asks, and what a right answer looks like.

Loads nothing beyond the standard library, as `bench.tasks`.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from bench import file_data
from bench.tasks import Case, Task

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KINDS = {  # which files a task reads
    "p8a": "images",
    "p8b": "images",
    "small": "small",
    "small_parse": "small",
    "gzip": "gzip",
    "p9": "lines",
    "p10": "arrays",
}
_ROWS = file_data.NPY_FILES * file_data.NPY_ROWS


def _task(name: str, title: str, items: int, batch: int) -> Task:
    return Task(name, title, items, items, batch)


TASKS = {
    task.name: task
    for task in (
        _task("p8a", "TFRecords of 98 KB, checksums compared, batch 32", file_data.IMAGES, 32),
        _task("p8b", "the same, parsed: image bytes and label", file_data.IMAGES, 32),
        _task("small", "TFRecords of 200 bytes, batch 64", file_data.SMALL, 64),
        _task("small_parse", "the same, parsed: 3 features", file_data.SMALL, 64),
        _task("gzip", "the same records in a gzip file", file_data.SMALL, 64),
        _task("p9", "2 million lines of text (86 MB), batch 1,024", file_data.LINES, 1_024),
        _task("p10", "rows of 4 KB of 8 .npy files of 64 MB, batch 32", _ROWS, 32),
    )
}


class FileCase(Case):
    """What a system's function receives: the paths of its files, and how many items it may read."""

    @property
    def files(self) -> list[str]:
        """The files to read, in order."""
        return file_data.names(KINDS[self.task.name])

    def npy_rows(self) -> Iterator[NDArray[np.float32]]:
        """Rows of the files one by one, as a loop over mapped arrays gives them."""
        import numpy as np

        rows = (row for path in self.files for row in np.load(path, mmap_mode="r"))
        return itertools.islice(rows, self.n)

    def prepare(self) -> None:
        """Make the files; reading them leaves them in the page cache."""
        for path in self.files:
            with open(path, "rb") as file:
                while file.read(1 << 24):
                    pass

    def _digest(self, *leaves: Any) -> NDArray[Any]:
        import numpy as np

        match self.task.name:
            case "p10":
                return file_data.row_sums(np.asarray(leaves[0]))
            case "p8b":
                labels = np.asarray(leaves[1]).reshape(-1)
                pairs = zip(_strings(leaves[0]), labels, strict=True)
                return np.array([file_data.digest(image, int(label)) for image, label in pairs])
            case "small_parse":
                ids, text, floats = leaves  # by their names
                bits = np.ascontiguousarray(floats).view(np.uint32).sum(1, dtype=np.int64)
                crcs = [zlib.crc32(item) for item in _strings(text)]
                return np.asarray(np.asarray(ids).reshape(-1) + bits + crcs)
        return np.array([file_data.digest(item) for item in _strings(leaves[0])], np.int64)

    def check(self, delivered: Iterable[object]) -> None:
        """As for every task; a list is a batch of strings here, not a nest."""
        super().check((each,) if isinstance(each, list) else each for each in delivered)

    def _wanted(self) -> NDArray[Any]:
        found = file_data.digests(KINDS[self.task.name])[: self.n]
        if found.ndim == 2:
            found = found[:, int(self.task.name in ("p8b", "small_parse"))]
        return found


def _strings(batch: Any) -> Iterator[bytes]:
    """The strings of a batch, whatever its library makes of them."""
    import numpy as np

    if hasattr(batch, "as_array"):  # DALI's
        batch = list(batch.as_array())
    for row in batch if isinstance(batch, list) else np.asarray(batch):
        if isinstance(row, bytes):
            yield row
        elif isinstance(row, str):
            yield row.encode()
        elif isinstance(batch, list):
            yield np.asarray(row).tobytes()
        else:  # filled up with zeros to the longest of the batch
            yield row.tobytes().rstrip(b"\0")
