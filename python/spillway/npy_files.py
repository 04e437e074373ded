"""`Dataset.from_npy` and `from_npz`: rows of arrays in files, in columns."""

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
    if isinstance(paths, str | bytes | os.PathLike | list):
        return apply_operator("npy_rows", None, (_files(paths), None, False), None, name, policy)
    columns = {key: _files(files) for key, files in _named(paths)}
    if not columns:
        raise ValueError("from_npy: at least one file must be named")
    _compare(columns)
    parts = [_column(files) for files in columns.values()]
    return _together(nest.pack_like(paths, parts), name, policy)


def archive_rows(paths: Any, keys: Any, name: str | None, policy: dict[str, Any]) -> Dataset:
    """See `Dataset.from_npz`."""
    files = _files(paths)
    if not files:
        raise ValueError("from_npz: at least one file must be named")
    names = _common_names(files) if keys is None else [keys] if isinstance(keys, str) else [*keys]
    if not names:
        raise ValueError("from_npz: keys must name at least one array")
    _compare_members(files, names)
    return _together({key: _column(files, key) for key in names}, name, policy)


def _common_names(files: list[str]) -> list[str]:
    """Of the arrays in the archives, which must all have the same."""
    first = _native.npz_names(files[0])
    if not first:
        _refuse_archive(f"{files[0]} has no arrays", files[0])
    for file in files[1:]:
        found = _native.npz_names(file)
        if set(found) != set(first):
            _refuse_archive(
                f"all archives must have the same arrays: {files[0]} has {', '.join(first)}, "
                f"{file} has {', '.join(found) or 'none'}: name those to take with keys=",
                file,
            )
    return first


def _compare_members(files: list[str], names: list[str]) -> None:
    counts = {key: _native.npy_rows(files, key) for key in names}
    for key in names[1:]:
        for file, in_a, in_b in zip(files, counts[names[0]], counts[key], strict=True):
            if in_a != in_b:
                _refuse_archive(
                    f"the arrays must have the same rows: {file}:{names[0]} has {in_a} rows, "
                    f"{file}:{key} has {in_b}: name those to take with keys=",
                    file,
                )


def _refuse_archive(what: str, file: str) -> None:
    raise errors.ShapeError(f"from_npz: {what}", file=file, line=user_line())


def _column(files: list[str], member: str | None = None) -> Dataset:
    """One of several: where a file cannot be read, it stays in step with the others."""
    return apply_operator("npy_rows", None, (files, member, True), None, None, {})


def _together(parts: Any, name: str | None, policy: dict[str, Any]) -> Dataset:
    """A row that failed in any column is settled as a whole: one left out of a column alone would
    move the rest of it against the others."""
    from spillway.dataset import Dataset

    rows = Dataset.zip(parts, strict=True, name=name)
    action = policy.pop("on_error", None)
    return rows if action is None and not policy else rows.on_error(action or "raise", **policy)


def _files(files: Any) -> list[str]:
    each = files if isinstance(files, list | tuple) else [files]
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
