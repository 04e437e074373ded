"""`tf.data.experimental.CsvDataset` and `make_csv_dataset`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spillway import arguments
from spillway.building import AUTOTUNE
from spillway.dtypes import DType, as_dtype, float32, float64, int32, int64, string
from spillway.errors import InvalidArgumentError
from spillway.record_files import records
from spillway.tensor_convert import is_tensor, to_tensor
from spillway.tf import gfile
from spillway.tf.data.combined import read_files
from spillway.tf.data.csv_inference import Columns, Reading
from spillway.tf.data.dataset import Dataset

_TYPES = (float32, float64, int32, int64, string)


@arguments.name_methods
class CsvDataset(Dataset):
    """The records of CSV files as tuples of numbers and strings.

    >>> import spillway.tf as tf, pathlib, tempfile
    >>> path = str(pathlib.Path(tempfile.mkdtemp()) / "a.csv")
    >>> _ = pathlib.Path(path).write_text('a,1.5,7\\nb,,8\\n')
    >>> columns = [tf.constant([0.0]), tf.int32]  # the second is required
    >>> ds = tf.data.experimental.CsvDataset(path, columns, select_cols=[1, 2])
    >>> [(float(x), int(n)) for x, n in ds]
    [(1.5, 7), (0.0, 8)]
    """

    __slots__ = ()

    def __init__(
        self,
        filenames: Any,
        record_defaults: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        header: Any = False,
        field_delim: Any = ",",
        use_quote_delim: Any = True,
        na_value: Any = "",
        select_cols: Any = None,
        exclude_cols: Any = None,
    ) -> None:
        """A default, or a type where the field is required, for each column that is wanted."""
        defaults = tuple([_default(value) for value in record_defaults])
        if not defaults:
            raise InvalidArgumentError("Length for attr 'output_types' of 0 must be at least 1")
        params = (
            defaults,
            compression_type,
            buffer_size,
            header,
            field_delim,
            use_quote_delim,
            na_value,
            select_cols,
            exclude_cols,
        )
        super().__init__(records("csv_rows", filenames, None, params, None)._node)


def _default(value: Any) -> Any:
    """A tensor of one item, or of none for a type: then the field is required."""
    dtype = _as_type(value)
    if dtype is None:
        return to_tensor(value)
    kind = object if dtype == string else dtype.as_numpy_dtype
    return to_tensor(np.zeros(0, kind), dtype.name)


def _as_type(value: Any) -> DType | None:
    if is_tensor(value) or not isinstance(value, DType | str | type | np.dtype):
        return None
    try:
        dtype = as_dtype(value)
    except TypeError:
        return None
    return dtype if dtype in _TYPES else None


def make_csv_dataset(
    file_pattern: Any,
    batch_size: Any,
    column_names: Sequence[str] | None = None,
    column_defaults: Any = None,
    label_name: str | None = None,
    select_columns: Any = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: Any = 10000,
    shuffle_seed: Any = None,
    prefetch_buffer_size: Any = None,
    num_parallel_reads: Any = None,
    sloppy: bool = False,
    num_rows_for_inference: int | None = 100,
    compression_type: Any = None,
    ignore_errors: bool = False,
    encoding: str = "utf-8",
) -> Dataset:
    """Batches of CSV records as dicts of columns, with the label column beside if it is named.

    Names and types that are not given are taken from the files, now.

    >>> import spillway.tf as tf, pathlib, tempfile
    >>> path = str(pathlib.Path(tempfile.mkdtemp()) / "a.csv")
    >>> _ = pathlib.Path(path).write_text('x,name,y\\n1.5,a,0\\n2.5,b,1\\n')
    >>> ds = tf.data.experimental.make_csv_dataset(
    ...     path, 2, label_name="y", num_epochs=1, shuffle=False)
    >>> [(sorted(x), x["name"].numpy().tolist(), y.numpy().tolist()) for x, y in ds]
    [(['name', 'x'], [b'a', b'b'], [0, 1])]
    """
    files = _files(file_pattern)
    reading = Reading(field_delim, use_quote_delim, na_value, header, compression_type, encoding)
    columns = Columns.of(
        reading, files, column_names, select_columns, column_defaults, num_rows_for_inference
    )
    names = columns.names
    if label_name is not None and label_name not in names:
        raise ValueError(
            f"`label_name` provided must be one of the columns: {names}. Received: {label_name}."
        )

    def read(filename: Any) -> Dataset:
        ds = CsvDataset(
            filename,
            columns.defaults,
            compression_type,
            None,
            header,
            field_delim,
            use_quote_delim,
            na_value,
            columns.selected,
        )
        return ds.ignore_errors() if ignore_errors else ds

    def named(*fields: Any) -> Any:
        features = dict(zip(names, fields, strict=True))
        if label_name is None:
            return features
        return features, features.pop(label_name)

    ds: Any = Dataset.from_tensor_slices(files)
    if shuffle:
        ds = ds.shuffle(len(files), shuffle_seed)
    ds = ds.apply(read_files(read, num_parallel_reads, sloppy))
    if shuffle:
        ds = ds.shuffle(shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        ds = ds.repeat(num_epochs)
    ds = ds.batch(batch_size, drop_remainder=num_epochs is None).map(named)
    made: Dataset = ds.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)
    return made


def _files(pattern: Any) -> list[str]:
    if isinstance(pattern, list):
        if not pattern:
            raise ValueError("Argument `file_pattern` should not be empty.")
        found = [name for each in pattern for name in gfile.glob(each)]
    else:
        found = list(gfile.glob(pattern))
    if not found:
        raise ValueError(f"No files match `file_pattern` {pattern}.")
    return sorted(found)
