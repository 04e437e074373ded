"""Names and types of the columns of CSV files, found as TensorFlow finds them."""

from __future__ import annotations

import csv
import gzip
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from spillway.dtypes import DType, float32, float64, int32, int64, string
from spillway.plain_files import open_plain, refuse_special
from spillway.tensor_convert import is_tensor, to_tensor

_LONGEST = 1 << 24  # a file without line ends must not fill the memory


@dataclass(frozen=True)
class Reading:
    """How the files are written."""

    field_delim: str
    use_quote_delim: bool
    na_value: str
    header: bool
    compression_type: Any
    encoding: str

    def open(self, file: str) -> IO[str]:
        """The text of a file."""
        kind = self.compression_type
        kind = "" if kind is None else kind.numpy().decode() if is_tensor(kind) else kind
        if kind == "GZIP":
            refuse_special(file)
            return gzip.open(file, "rt", encoding=self.encoding, newline="")
        if kind == "ZLIB":
            raise ValueError(f"`compression_type` {kind} is not supported for probing columns.")
        if kind != "":
            raise ValueError(
                f"Received unknown `compression_type` {kind}. Expected: GZIP, ZLIB or  (empty "
                "string)."
            )
        return open_plain(file, "r", encoding=self.encoding, newline="")

    def rows(self, text: IO[str]) -> Iterator[list[str]]:
        """Its records."""
        delimiter = self.field_delim
        if self.use_quote_delim:
            return csv.reader(_lines(text), delimiter=delimiter, quoting=csv.QUOTE_MINIMAL)
        return csv.reader(_lines(text), delimiter=delimiter, quoting=csv.QUOTE_NONE)

    def first_row(self, file: str) -> list[str]:
        """The header."""
        with self.open(file) as text:
            for row in self.rows(text):
                return row
        raise ValueError(f"Failed when reading the header line of {file}. Is it an empty file?")


def _lines(text: IO[str]) -> Iterator[str]:
    while line := text.readline(_LONGEST):
        if len(line) == _LONGEST:
            raise ValueError(
                f"make_csv_dataset: lines that are looked at for names and types must be shorter "
                f"than {_LONGEST} characters: {text.name} (or give `column_names` and "
                "`column_defaults`)"
            )
        yield line


@dataclass(frozen=True)
class Columns:
    """The columns of a dataset: their names, defaults, and which fields they are (None: all)."""

    names: list[str]
    defaults: list[Any]
    selected: list[int] | None

    @staticmethod
    def of(
        reading: Reading,
        files: list[str],
        names: Sequence[str] | None,
        select: Any,
        defaults: Any,
        rows: int | None,
    ) -> Columns:
        """What is given, and what the files say for the rest; types by the first `rows` records."""
        if names is None:
            if not reading.header:
                raise ValueError(
                    "Expected `column_names` or `header` arguments. Neither is provided."
                )
            names = _names(reading, files)
        if twice := _repeated(list(names)):
            raise ValueError(
                "Either `column_names` argument or CSV header row contains duplicate column "
                f"names: {twice}."
            )
        selected = None if select is None else _indices(select, list(names))
        if defaults is None:
            defaults = _defaults(reading, files, len(names), rows, selected)
        if selected is None:
            return Columns(list(names), list(defaults), None)
        if len(defaults) != len(selected):
            raise ValueError(
                "If specified, `column_defaults` and `select_columns` must have the same length: "
                f"`column_defaults` has length {len(defaults)}, `select_columns` has length "
                f"{len(selected)}."
            )
        return Columns([names[i] for i in selected], list(defaults), selected)


def _names(reading: Reading, files: list[str]) -> list[str]:
    names = reading.first_row(files[0])
    for file in files[1:]:
        if reading.first_row(file) != names:
            raise ValueError(
                "All input CSV files should have the same column names in the header row. File "
                f"{file} has different column names."
            )
    return names


def _repeated(values: list[Any]) -> set[Any]:
    ordered = sorted(values)
    return {a for a, b in itertools.pairwise(ordered) if a == b}


def _indices(select: Any, names: list[str]) -> list[int]:
    found = []
    for wanted in select:
        if isinstance(wanted, int):
            if not 0 <= wanted < len(names):
                raise ValueError(
                    f"Column index {wanted} specified in `select_columns` should be > 0  and <= "
                    f"{len(names)}, which is the number of columns."
                )
            found.append(wanted)
        elif wanted not in names:
            raise ValueError(
                f"Column {wanted} specified in `select_columns` must be of one of the columns: "
                f"{names}."
            )
        else:
            found.append(names.index(wanted))
    if twice := _repeated(found):
        raise ValueError(f"The `select_columns` argument contains duplicate columns: {twice}.")
    return sorted(found)


def _defaults(
    reading: Reading, files: list[str], width: int, rows: int | None, selected: list[int] | None
) -> list[Any]:
    """Zero or an empty string, of the narrowest type for the values seen."""
    columns = range(width) if selected is None else selected
    types: list[DType | None] = [None] * len(columns)
    for number, row in enumerate(_all_rows(reading, files, width)):
        if rows is not None and number >= rows:
            break
        for at, column in enumerate(columns):
            types[at] = _wider(row[column], reading.na_value, types[at])
    return [_zero(dtype or string) for dtype in types]


def _zero(dtype: DType) -> Any:
    return to_tensor(["" if dtype == string else 0], dtype.name)


def _all_rows(reading: Reading, files: list[str], width: int) -> Iterator[list[str]]:
    for file in files:
        with reading.open(file) as text:
            rows = enumerate(reading.rows(text), start=1)
            if reading.header:
                next(rows, None)
            for number, row in rows:
                if len(row) != width:
                    raise ValueError(
                        f"Problem inferring types: CSV row {number} has {len(row)} number of "
                        f"fields. Expected: {width}."
                    )
                yield row


_ORDER = [int32, int64, float32, float64, string]


def _wider(value: str, na_value: str, before: DType | None) -> DType | None:
    """The narrowest type that holds this value and those seen before."""
    if value in ("", na_value):
        return before
    least = 0 if before is None else _ORDER.index(before)
    return next(dtype for dtype in _ORDER[least:] if _holds(dtype, value))


def _holds(dtype: DType, value: str) -> bool:
    if dtype == string:
        return True
    try:
        with np.errstate(over="ignore"):
            number = dtype.as_numpy_dtype(value)
    except (ValueError, OverflowError):
        return False
    if dtype == int32:
        return bool(number == np.int64(value))
    return dtype == int64 or bool(number < np.inf)
