"""`Dataset.from_npy`: rows of .npy files, a column for each list of files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from spillway import _native, errors, nest
from spillway.building import apply_operator
from spillway.lines import user_line

if TYPE_CHECKING:
    from spillway.dataset import Dataset


def rows(paths: Any, name: str | None, policy: dict[str, Any]) -> Dataset:
    """See `Dataset.from_npy`."""
    from spillway.dataset import Dataset

    if isinstance(paths, str | bytes | os.PathLike | list):
        return _column(paths, name, policy)
    columns = {key: _files(files) for key, files in _named(paths)}
    if not columns:
        raise ValueError("from_npy: at least one file must be named")
    _compare(columns)
    parts = [_column(files, None, policy) for files in columns.values()]
    return Dataset.zip(nest.pack_like(paths, parts), strict=True, name=name)


def _column(files: Any, name: str | None, policy: dict[str, Any]) -> Dataset:
    return apply_operator("npy_rows", None, (_files(files),), None, name, policy)


def _files(files: Any) -> list[str]:
    each = files if isinstance(files, list) else [files]
    return [os.fsdecode(path) for path in each]


def _named(paths: Any) -> list[tuple[str, Any]]:
    """The lists of files, each with its place in the structure in words."""
    leaves = nest.flatten(paths)
    if isinstance(paths, dict) and len(leaves) == len(paths):
        return [(repr(key), paths[key]) for key in sorted(paths)]
    return [(f"part {i}", leaf) for i, leaf in enumerate(leaves)]


def _compare(columns: dict[str, list[str]]) -> None:
    """All columns must have as many rows: file by file where they have as many files."""
    counts = {key: _native.npy_rows(files) for key, files in columns.items()}
    (first, files), *others = columns.items()
    for key, more in others:
        if len(more) == len(files):
            for a, b, in_a, in_b in zip(files, more, counts[first], counts[key], strict=True):
                if in_a != in_b:
                    _refuse(f"{a} ({first}) has {in_a} rows, {b} ({key}) has {in_b}", b)
        elif sum(counts[first]) != sum(counts[key]):
            _refuse(
                f"the {len(files)} files of {first} have {sum(counts[first])} rows, "
                f"the {len(more)} files of {key} have {sum(counts[key])}",
                more[-1],
            )


def _refuse(what: str, file: str) -> None:
    raise errors.ShapeError(
        f"from_npy: the columns must have the same rows: {what}", file=file, line=user_line()
    )
