"""`x[...]`: what TensorFlow allows between the brackets, as one strided slice."""

from __future__ import annotations

from typing import Any

import numpy as np

from .native_ops import call
from .shown import shown
from .tensor_convert import is_tensor, refuse, to_tensor


def subscript(x: Any, key: Any) -> Any:
    """`x[key]`."""
    mask = _mask(key)
    if mask is not None:
        return _masked(x, mask)
    parts = list(key) if isinstance(key, (tuple, list)) else [key]
    begin: list[Any] = []
    end: list[Any] = []
    strides: list[Any] = []
    masks = dict.fromkeys(("begin", "end", "ellipsis", "new_axis", "shrink"), 0)
    for i, part in enumerate(parts):
        bit = 1 << i
        first, last, step = 0, 0, 1
        if part is None:
            masks["new_axis"] |= bit
        elif part is Ellipsis:
            masks["ellipsis"] |= bit
        elif isinstance(part, slice):
            first, last, step = (_bound(v) for v in (part.start, part.stop, part.step))
            if first is None:
                masks["begin"] |= bit
            if last is None:
                masks["end"] |= bit
            first, last = first or 0 if first is None else first, 0 if last is None else last
            step = 1 if step is None else step
        else:
            first = _bound(part)
            last = first + 1
            masks["shrink"] |= bit
        begin.append(first)
        end.append(last)
        strides.append(step)
    name = "strided_slice_strings" if x._dtype_name == "string" else "strided_slice"
    return call(
        name,
        x,
        _vector(begin),
        _vector(end),
        _vector(strides),
        masks["begin"],
        masks["end"],
        masks["ellipsis"],
        masks["new_axis"],
        masks["shrink"],
    )


def _vector(parts: list[Any]) -> Any:
    """One int64 vector: at once where all parts are numbers, else stacked."""
    if all(isinstance(part, int) for part in parts):
        return to_tensor(np.array(parts, np.int64))
    return call("stack", [_int64(part) for part in parts], 0)


def _int64(part: Any) -> Any:
    if not is_tensor(part):
        return to_tensor(np.int64(part))
    return part if part._dtype_name == "int64" else call("cast", part, "int64")


def _mask(key: Any) -> Any:
    if is_tensor(key):
        return key if key._dtype_name == "bool" else None
    if isinstance(key, (np.ndarray, np.bool_, bool)):
        array = np.asarray(key)
        if array.dtype == np.bool_:
            return to_tensor(array)
    return None


def _masked(x: Any, mask: Any) -> Any:
    if mask.shape == ():
        refuse("ValueError", "Tensor[mask]: the mask must not be a scalar")
    name = "boolean_mask_strings" if x._dtype_name == "string" else "boolean_mask"
    return call(name, x, mask, 0)


def _bound(value: Any) -> Any:
    """An index as an int, or as the tensor that will be one; None stays."""
    if value is None or (type(value) is int and -(2**62) <= value < 2**62):
        return value
    if type(value) is int:
        refuse("ValueError", f"Tensor[...]: no tensor has indices such as {shown(value)}")
    if is_tensor(value):
        if value._dtype_name in ("int32", "int64") and value.shape in ((), None):
            return int(value) if value._known else value
    elif (
        isinstance(value, (np.ndarray, np.integer)) and value.ndim == 0 and value.dtype.kind in "iu"
    ):
        return _bound(int(value))
    return refuse(
        "TypeError",
        "Only integers, slices (`:`), ellipsis (`...`), newaxis (`None`) and scalar int32/int64 "
        f"tensors are valid indices, got {shown(value)}",
    )
