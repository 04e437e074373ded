"""What a checkpoint can hold: iterators, variables, and lists, dicts and checkpoints of them."""

from __future__ import annotations

import io
from collections.abc import Iterator as _PythonIterator
from collections.abc import Mapping
from typing import Any

import numpy as np

import spillway
from spillway import _native
from spillway.errors import DataError, InvalidArgumentError
from spillway.tf.data.iterator import Position


def is_variable(value: Any) -> bool:
    """Whether `value` is a variable: something with a NumPy value that can be assigned."""
    return hasattr(value, "numpy") and hasattr(value, "assign")


def is_trackable(value: Any) -> bool:
    """Whether a checkpoint can hold `value`."""
    if isinstance(value, Mapping):
        return all(is_trackable(item) for item in value.values())
    if isinstance(value, list | tuple):
        return all(is_trackable(item) for item in value)
    return (
        isinstance(value, Position | spillway.Dataset | _native.Iterator)
        or hasattr(value, "_trackable_children")
        or is_variable(value)
    )


def leaves(value: Any, path: str) -> _PythonIterator[tuple[str, Any]]:
    """The things with a state within `value`, by path."""
    children: Mapping[Any, Any] | None = None
    if hasattr(value, "_trackable_children"):
        children = value._trackable_children()
    elif isinstance(value, Mapping):
        children = value
    elif isinstance(value, list | tuple):
        children = dict(enumerate(value))
    elif not isinstance(value, spillway.Dataset):
        yield path, value
    for name, child in (children or {}).items():
        yield from leaves(child, join(path, name))


def join(path: str, name: Any) -> str:
    """The path of a child.

    >>> join("a", "b/c"), join("", "x")
    ('a/b%2Fc', 'x')
    """
    escaped = str(name).replace("%", "%25").replace("/", "%2F")
    return f"{path}/{escaped}" if path else escaped


def saved(value: Any) -> bytes:
    """The state of a leaf."""
    if is_variable(value):
        return array_bytes(value.numpy())
    state: bytes = Position.save(value) if isinstance(value, Position) else value.save()
    return state


def restore(value: Any, content: bytes, path: str) -> None:
    """Sets a leaf back to a state; an error names its path."""
    if not is_variable(value):
        call = Position.restore if isinstance(value, Position) else _native.Iterator.restore
        call(value, content)
        return
    array = array_of(content, path)
    shape = getattr(value, "shape", None)
    if shape is not None and tuple(shape) != array.shape:
        raise InvalidArgumentError(
            f"checkpoint: {path} must have the variable's shape {tuple(shape)}: {array.shape}"
        )
    value.assign(array)


def array_bytes(value: Any) -> bytes:
    """An array in NumPy's own format; strings are refused, as they would be pickled."""
    array = np.asarray(value)
    if array.dtype.hasobject:
        raise InvalidArgumentError("checkpoint: a variable of strings cannot be saved")
    out = io.BytesIO()
    np.save(out, array, allow_pickle=False)
    return out.getvalue()


def array_of(content: bytes, path: str) -> np.ndarray[Any, Any]:
    """What `array_bytes` wrote; DataError, a DataLossError, for anything else."""
    try:
        array = np.load(io.BytesIO(content), allow_pickle=False)
    except (ValueError, EOFError, OSError, MemoryError) as error:
        raise DataError(f"checkpoint: {path} must hold an array: {error}") from error
    if not isinstance(array, np.ndarray):
        raise DataError(f"checkpoint: {path} must hold an array: an archive")
    return array
