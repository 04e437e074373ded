"""The datasets that begin with files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from spillway import _native
from spillway.building import make

if TYPE_CHECKING:
    from spillway.dataset import Dataset


class FileSources:
    """The static methods of `Dataset` that read files; each has a module of its own behind it."""

    __slots__ = ()

    @staticmethod
    def list_files(
        file_pattern: Any,
        shuffle: bool | None = None,
        seed: int | None = None,
        name: str | None = None,
        **policy: Any,
    ) -> Dataset:
        """Paths that match a glob pattern, or several; shuffled unless `shuffle=False`."""
        if isinstance(file_pattern, os.PathLike):
            file_pattern = os.fspath(file_pattern)
        patterns = np.asarray(file_pattern, dtype=object)
        ds = make("list_files", [_native.element(patterns, None, False)], [], name, policy)
        if shuffle is False:
            return ds
        return ds.shuffle(max(len(ds), 1), seed=seed)

    @staticmethod
    def from_npy(paths: Any, name: str | None = None, **policy: Any) -> Dataset:
        """Rows of .npy files, in constant memory; a dict or tuple of lists of files gives columns.

        Types, shapes and numbers of rows are compared across all files first.

        >>> import spillway as sw, tempfile
        >>> x, y = (tempfile.mkdtemp() + name for name in ("/x.npy", "/y.npy"))
        >>> np.save(x, np.eye(2)), np.save(y, np.arange(2))
        (None, None)
        >>> ds = sw.Dataset.from_npy({"x": [x], "y": [y]})
        >>> [(row["x"].tolist(), int(row["y"])) for row in ds]
        [([1.0, 0.0], 0), ([0.0, 1.0], 1)]
        """
        from spillway import npy_files

        return npy_files.rows(paths, name, policy)

    @staticmethod
    def from_arrow(
        source: Any, nulls: str = "error", name: str | None = None, **policy: Any
    ) -> Dataset:
        """Rows of what has an Arrow C stream (pyarrow, polars, duckdb, ...), batch by batch.

        An element is a dict of its columns: numbers, bools, strings and bytes; times and dates as
        int64 in their own unit; lists of a fixed size as an inner dimension, other lists as
        vectors of any length; structs as dicts; dictionaries as their values. A null is an error
        in the row's place; `nulls="fill"` makes it NaN, zero, False or empty.

        `source` is asked for its stream in every pass; one that can be read only once (a
        RecordBatchReader) is refused the second time: give a function that opens it.

        >>> import spillway as sw, pyarrow as pa
        >>> table = pa.table({"x": [1.5, None], "s": ["a", "b"]})
        >>> [(row["s"], float(row["x"])) for row in sw.Dataset.from_arrow(table, nulls="fill")]
        [(b'a', 1.5), (b'b', nan)]
        """
        from spillway import arrow_streams

        return arrow_streams.rows(source, nulls, name, policy)

    @staticmethod
    def from_parquet(
        paths: Any,
        columns: list[str] | None = None,
        batch_size: int = 4096,
        nulls: str = "error",
        name: str | None = None,
        **policy: Any,
    ) -> Dataset:
        """Rows of Parquet files as dicts, read by pyarrow row group by row group.

        `columns`: those to read (all). `batch_size`: rows that are decoded at a time. What cannot
        be read of a file is one error in its place; the next file follows. See `from_arrow`.

        >>> import spillway as sw, pyarrow as pa, pyarrow.parquet, tempfile
        >>> path = tempfile.mkdtemp() + "/a.parquet"
        >>> pa.parquet.write_table(pa.table({"x": [1, 2], "y": [3, 4]}), path)
        >>> [int(row["x"]) for row in sw.Dataset.from_parquet(path, columns=["x"])]
        [1, 2]
        """
        from spillway import parquet_files

        return parquet_files.rows(paths, columns, batch_size, nulls, name, policy)

    @staticmethod
    def from_npz(paths: Any, keys: Any = None, name: str | None = None, **policy: Any) -> Dataset:
        """Rows of the arrays of .npz archives, in constant memory: a dict of name to row.

        All arrays must have as many rows; `keys` are those to take (all). Archives may be
        compressed (`np.savez_compressed`): read in order they cost what decompressing them does.

        >>> import spillway as sw, tempfile
        >>> path = tempfile.mkdtemp() + "/a.npz"
        >>> np.savez(path, x=np.eye(2), y=np.arange(2))
        >>> [(row["x"].tolist(), int(row["y"])) for row in sw.Dataset.from_npz(path)]
        [([1.0, 0.0], 0), ([0.0, 1.0], 1)]
        """
        from spillway import npy_files

        return npy_files.archive_rows(paths, keys, name, policy)

    @staticmethod
    def from_tar(
        paths: Any,
        keys: Any = None,
        compression_type: str | None = None,
        num_parallel_reads: int | None = None,
        resynchronise: bool = False,
        name: str | None = None,
        **policy: Any,
    ) -> Dataset:
        """Samples of tar archives (WebDataset shards): extension to bytes, and `__key__`.

        Members that follow each other and are named alike up to the first dot are one sample.
        `keys` are the extensions to take; without them the first sample of the first archive
        says which all must have. `compression_type` None: GZIP for .gz and .tgz. Damage is one
        error, then the next archive follows; with `resynchronise` the next good member.

        >>> import spillway as sw, io, tarfile, tempfile
        >>> path = tempfile.mkdtemp() + "/a.tar"
        >>> with tarfile.open(path, "w") as archive:
        ...     for name in ("1.cls", "1.txt", "2.cls", "2.txt"):
        ...         member = tarfile.TarInfo(name)
        ...         member.size = len(name)
        ...         archive.addfile(member, io.BytesIO(name.encode()))
        >>> for sample in sw.Dataset.from_tar(path):
        ...     print(sample)
        {'__key__': b'1', 'cls': b'1.cls', 'txt': b'1.txt'}
        {'__key__': b'2', 'cls': b'2.cls', 'txt': b'2.txt'}
        """
        from spillway import tar_files

        options = (compression_type, num_parallel_reads, resynchronise)
        return tar_files.samples(paths, keys, *options, name, policy)

    @staticmethod
    def from_quarantine(path: str | os.PathLike[str]) -> Dataset:
        """The inputs that `on_error="quarantine"` put aside, to be run again."""
        from spillway import quarantine

        return quarantine.dataset(os.fspath(path))
