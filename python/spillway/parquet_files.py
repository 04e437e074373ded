"""`Dataset.from_parquet`: rows of Parquet files, through pyarrow."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from spillway import arrow_streams, errors, remote
from spillway.interruptions import pass_on
from spillway.plain_files import refuse_special

if TYPE_CHECKING:
    from spillway.dataset import Dataset


def rows(
    paths: Any,
    columns: list[str] | None,
    batch_size: int,
    nulls: str,
    name: str | None,
    policy: dict[str, Any],
) -> Dataset:
    """See `Dataset.from_parquet`."""
    files = [os.fsdecode(path) for path in (paths if isinstance(paths, list | tuple) else [paths])]
    if not files:
        raise ValueError("from_parquet: at least one file must be named")
    if batch_size < 1:
        raise ValueError(f"from_parquet: batch_size must be at least 1: {batch_size}")
    ask = _Files(files, columns, batch_size, policy.get("on_error") in ("skip", "quarantine"))
    return arrow_streams.streamed(ask, files, "Parquet", nulls, name, policy)


def _pyarrow() -> tuple[Any, Any]:
    try:
        arrow, parquet = (import_module(name) for name in ("pyarrow", "pyarrow.parquet"))
    except ImportError as error:
        raise ImportError(
            "from_parquet: Parquet files are read by pyarrow, which is not installed: "
            "pip install pyarrow"
        ) from error
    return arrow, parquet


class _Files:
    """Opens files as streams of record batches."""

    def __init__(
        self, files: list[str], columns: list[str] | None, batch_size: int, leaves_out: bool
    ) -> None:
        self.leaves_out = leaves_out  # the engine asks
        self._files = files
        self._columns = columns
        self._batch_size = batch_size
        self._arrow, self._parquet = _pyarrow()

    def __reduce__(self) -> tuple[Any, ...]:
        return _Files, (self._files, self._columns, self._batch_size, self.leaves_out)

    def __call__(self, part: int, skip: int) -> tuple[Any, int]:
        """A stream of the file from a row group on that begins no later than with row `skip`."""
        path = self._files[part]
        if not remote.is_remote(path):
            refuse_special(path)
        try:
            # Read ahead by pyarrow, all of the file would be in memory at once.
            file = self._parquet.ParquetFile(path, pre_buffer=False)
            self._check_columns(path, file.schema_arrow.names)
            first, passed = _row_group(file.metadata, skip)
            schema = file.schema_arrow
            if self._columns is not None:
                schema = self._arrow.schema([schema.field(each) for each in self._columns])
        except FileNotFoundError as error:
            raise errors.FileError(f"from_parquet: {path}: no such file", file=path) from error
        except (self._arrow.ArrowException, OSError) as error:
            raise errors.CorruptFile(
                f"from_parquet: {path}: not a Parquet file that can be read: {error}", file=path
            ) from error
        batches = self._batches(file, path, first)
        return self._arrow.RecordBatchReader.from_batches(schema, batches), passed

    def _batches(self, file: Any, path: str, first: int) -> Iterator[Any]:
        """Row groups from `first` on; what goes wrong names the file."""
        try:
            for group in range(first, file.metadata.num_row_groups):
                yield from file.iter_batches(
                    self._batch_size, [group], self._columns, use_threads=False
                )
        except Exception as error:
            pass_on(error)
            raise ValueError(f"{path}: {error}") from error

    def _check_columns(self, path: str, names: list[str]) -> None:
        missing = [each for each in self._columns or [] if each not in names]
        if missing:
            raise errors.InvalidArgumentError(
                f"from_parquet: {path}: columns must be in the file: {missing} not in {names}",
                file=path,
            )


def _row_group(metadata: Any, skip: int) -> tuple[int, int]:
    """The row group that holds row `skip`, and how many rows lie before it."""
    passed = 0
    for group in range(metadata.num_row_groups):
        rows = metadata.row_group(group).num_rows
        if passed + rows > skip:
            return group, passed
        passed += rows
    return metadata.num_row_groups, passed
