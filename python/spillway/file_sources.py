"""The datasets that begin with files, or are written to them."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from spillway import _native
from spillway.building import make
from spillway.tensor_convert import array_of, truth

if TYPE_CHECKING:
    from spillway.dataset import Dataset


class FileSources:
    """The methods of `Dataset` that read or write files; each has a module of its own behind it."""

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
        patterns = array_of(file_pattern, object)
        ds = make("list_files", [_native.element(patterns, None, False)], [], name, policy)
        if shuffle is not None and not truth(shuffle, "shuffle"):
            return ds
        return ds.shuffle(max(len(ds), 1), seed=seed)

    @staticmethod
    def from_npy(paths: Any, name: str | None = None, **policy: Any) -> Dataset:
        """Rows of .npy files, in constant memory; a dict or tuple of lists of files gives columns.

        Types, shapes and numbers of rows are compared across all files first. With
        `on_error="skip"` or `"quarantine"` a file that cannot be opened is left out, in every
        column, and the audit names it.

        >>> import numpy as np, spillway as sw, tempfile
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

        >>> import numpy as np, spillway as sw, tempfile
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

    @staticmethod
    def load(
        path: Any,
        element_spec: Any = None,
        compression: str | None = None,
        reader_func: Callable[[Any], Any] | None = None,
        wait: bool = False,
        name: str | None = None,
        **policy: Any,
    ) -> Dataset:
        """The elements that `save` wrote to the folder `path`.

        Several shards are read by turns, or as `reader_func` says: it is handed a dataset of
        datasets, one a shard, and returns the dataset to read. `element_spec` and `compression`
        are those that were saved, and only compared. `wait`: until there is something.

        >>> import spillway as sw, tempfile
        >>> path = tempfile.mkdtemp()
        >>> sw.Dataset.range(6).save(path, shard_func=lambda x: x % 2)
        >>> [int(x) for x in sw.Dataset.load(path, reader_func=lambda shards: shards.flat_map(
        ...     lambda shard: shard))]
        [0, 2, 4, 1, 3, 5]
        """
        from spillway import saved

        return saved.load(path, element_spec, compression, reader_func, wait, name, policy)

    def save(
        self,
        path: Any,
        compression: str | None = None,
        shard_func: Callable[..., Any] | None = None,
        checkpoint_args: dict[str, Any] | None = None,
        name: str | None = None,
    ) -> None:
        """Writes all elements to the folder `path`, at once, for `load`.

        They go to the files that `shard_func` names by an int64, all to one without it.
        `compression`: None or "GZIP". What fails half-way leaves what was there before.

        >>> import spillway as sw, tempfile
        >>> path = tempfile.mkdtemp()
        >>> sw.Dataset.range(3).save(path)
        >>> [int(x) for x in sw.Dataset.load(path)]
        [0, 1, 2]
        """
        from spillway import saved

        saved.refuse_checkpoints(checkpoint_args)
        saved.save(cast(Any, self), path, compression, shard_func, name)

    def snapshot(
        self,
        path: Any,
        compression: str | None = "AUTO",
        reader_func: Callable[[Any], Any] | None = None,
        shard_func: Callable[..., Any] | None = None,
        name: str | None = None,
        **policy: Any,
    ) -> Dataset:
        """Writes the elements of the first full pass below `path`; later passes and runs read them.

        Pipelines that differ in what their hash covers (not in the values that functions capture)
        have snapshots of their own there. A pass that is not read to its end, or in which an
        element fails, leaves none.

        >>> import spillway as sw, tempfile
        >>> ds = sw.Dataset.range(6).shuffle(6, seed=1).snapshot(tempfile.mkdtemp())
        >>> first = [int(x) for x in ds]
        >>> first == [int(x) for x in ds]
        True
        """
        from spillway import saved

        return saved.snapshot(
            cast(Any, self), path, compression, reader_func, shard_func, name, policy
        )
