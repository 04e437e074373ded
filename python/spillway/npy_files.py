"""`Dataset.from_npy` and `from_npz`: rows of arrays in files, in columns."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from spillway import _native, errors, nest
from spillway.building import apply_operator
from spillway.lines import user_line

if TYPE_CHECKING:
    from spillway.dataset import Dataset


def rows(paths: Any, name: str | None, policy: dict[str, Any]) -> Dataset:
    """See `Dataset.from_npy`."""
    lenient = _is_lenient(policy)
    if isinstance(paths, str | bytes | os.PathLike | list):
        files = _files(paths)
        unknown = [-1] * len(files) if lenient and files else None
        params = (files, None, False, _numbers(unknown))
        return apply_operator("npy_rows", None, params, None, name, policy)
    columns = {key: _files(files) for key, files in _named(paths)}
    if not columns:
        raise ValueError("from_npy: at least one file must be named")
    # Which files belong together is known only where all columns have as many.
    lenient = lenient and len({len(files) for files in columns.values()}) == 1
    counts = {key: _native.npy_rows(files, None, lenient) for key, files in columns.items()}
    _compare(columns, counts)
    known = _known(list(counts.values())) if lenient else None
    parts = [_column(files, None, known) for files in columns.values()]
    return _together(nest.pack_like(paths, parts), name, policy)


def archive_rows(paths: Any, keys: Any, name: str | None, policy: dict[str, Any]) -> Dataset:
    """See `Dataset.from_npz`."""
    files = _files(paths)
    if not files:
        raise ValueError("from_npz: at least one file must be named")
    lenient = _is_lenient(policy)
    if keys is None:
        names = _common_names(files, lenient)
    else:
        names = [keys] if isinstance(keys, str) else [*keys]
    if not names:
        raise ValueError("from_npz: keys must name at least one array")
    counts = {key: _native.npy_rows(files, key, lenient) for key in names}
    _compare_members(files, counts)
    known = _known(list(counts.values())) if lenient else None
    return _together({key: _column(files, key, known) for key in names}, name, policy)


def _is_lenient(policy: dict[str, Any]) -> bool:
    """Whether a file that cannot be opened is left out, as its rows are."""
    return policy.get("on_error") in ("skip", "quarantine")


def _known(counts: list[list[int]]) -> list[int]:
    """For each file the rows that any column knows of."""
    return [max(of_file) for of_file in zip(*counts, strict=True)]


def _numbers(rows: list[int] | None) -> Any:
    return None if rows is None else np.array(rows, np.int64)


def _names_in(files: list[str], lenient: bool) -> dict[str, list[str]]:
    """Of the arrays in each archive; those that cannot be read are left out where they may be."""
    found: dict[str, list[str]] = {}
    refused: errors.SpillwayError | None = None
    for file in files:
        try:
            found[file] = _native.npz_names(file)
        except (errors.DataLossError, errors.FileError, errors.InvalidArgumentError) as error:
            refused = refused or error
            if not lenient:
                raise
    if not found and refused is not None:
        raise refused
    return found


def _common_names(files: list[str], lenient: bool) -> list[str]:
    """Of the arrays in the archives, which must all have the same."""
    (one, first), *others = _names_in(files, lenient).items()
    if not first:
        _refuse_archive(f"{one} has no arrays", one)
    for file, found in others:
        if set(found) != set(first):
            _refuse_archive(
                f"all archives must have the same arrays: {one} has {', '.join(first)}, "
                f"{file} has {', '.join(found) or 'none'}: name those to take with keys=",
                file,
            )
    return first


def _compare_members(files: list[str], counts: dict[str, list[int]]) -> None:
    names = list(counts)
    for key in names[1:]:
        for file, in_a, in_b in zip(files, counts[names[0]], counts[key], strict=True):
            if in_a != in_b and -1 not in (in_a, in_b):
                _refuse_archive(
                    f"the arrays must have the same rows: {file}:{names[0]} has {in_a} rows, "
                    f"{file}:{key} has {in_b}: name those to take with keys=",
                    file,
                )


def _refuse_archive(what: str, file: str) -> None:
    raise errors.ShapeError(f"from_npz: {what}", file=file, line=user_line())


def _column(files: list[str], member: str | None, known: list[int] | None) -> Dataset:
    """One of several: where a file cannot be read, it stays in step with the others."""
    return apply_operator("npy_rows", None, (files, member, True, _numbers(known)), None, None, {})


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


def _compare(columns: dict[str, list[str]], counts: dict[str, list[int]]) -> None:
    """All columns must have as many rows: file by file where they have as many files."""
    (first, files), *others = columns.items()
    for key, more in others:
        if len(more) == len(files):
            for a, b, in_a, in_b in zip(files, more, counts[first], counts[key], strict=True):
                if in_a != in_b and -1 not in (in_a, in_b):
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
