"""Datasets of the records of files: what their fronts share."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from spillway.building import AUTOTUNE, apply_operator
from spillway.dtypes import string
from spillway.native_ops import call
from spillway.shapes import TensorShape
from spillway.tensor_convert import is_tensor, to_tensor

if TYPE_CHECKING:
    from spillway.dataset import Dataset


def records(
    op: str,
    filenames: Any,
    num_parallel_reads: Any,
    params: tuple[Any, ...],
    name: str | None,
    policy: dict[str, Any] | None = None,
) -> Dataset:
    """The records of files, which are paths or a dataset of them; `params` follow the paths.

    One file after the other; with `num_parallel_reads` so many by turns, a record of each.
    """
    from spillway.dataset import Dataset

    def read(files: Any) -> Dataset:
        return apply_operator(op, None, (files, *params), None, name, policy or {})

    paths = _paths(filenames)
    if num_parallel_reads is None and not isinstance(paths, Dataset):
        return read(paths)
    if not isinstance(paths, Dataset):
        paths = Dataset.from_tensor_slices(paths)
    if num_parallel_reads is None:
        return paths.flat_map(read, name=name)
    if not is_tensor(num_parallel_reads) and num_parallel_reads == AUTOTUNE:
        return paths.interleave(read, num_parallel_calls=AUTOTUNE, name=name)
    return paths.interleave(read, num_parallel_reads, 1, num_parallel_reads, name=name)


def _paths(filenames: Any) -> Any:
    """A vector of strings, or a dataset of strings; refused as TensorFlow does."""
    from spillway.dataset import Dataset

    if isinstance(filenames, Dataset):
        spec: Any = filenames.element_spec
        dtype, shape = getattr(spec, "dtype", None), getattr(spec, "shape", TensorShape([]))
        if dtype != string:
            raise TypeError(
                "The `filenames` argument must contain `tf.string` elements. Got a dataset of "
                f"`tf.{getattr(dtype, 'name', None)}` elements."
            )
        if not shape.is_compatible_with([]):
            raise TypeError(
                "The `filenames` argument must contain `tf.string` elements of shape [] (i.e. "
                f"scalars). Got a dataset of element shape {shape!r}."
            )
        return filenames
    given = _text(filenames)
    found = to_tensor(given)
    if found.dtype != string and not is_tensor(given) and 0 in found.shape:
        found = to_tensor([], "string")  # no files, and so no elements: nothing says otherwise
    if found.dtype != string:
        raise TypeError(
            "The `filenames` argument must contain `tf.string` elements. Got "
            f"`tf.{found.dtype.name}` elements."
        )
    return call("reshape", found, [-1])


def _text(filenames: Any) -> Any:
    if isinstance(filenames, os.PathLike):
        return os.fspath(filenames)
    if isinstance(filenames, list | tuple):
        return [_text(each) for each in filenames]
    return filenames
