"""Tensors from values and shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from spillway import _native
from spillway.dtypes import as_dtype
from spillway.native_ops import call
from spillway.shown import shown
from spillway.tensor_convert import (
    array_of,
    holds_tensors,
    integer,
    integers,
    is_tensor,
    read,
    refuse,
    to_tensor,
)


def convert_to_tensor(
    value: Any, dtype: Any = None, dtype_hint: Any = None, name: Any = None
) -> Any:
    """A tensor of a Python or NumPy value, with TensorFlow's defaults.

    >>> convert_to_tensor([1, 2])
    Tensor([1 2], shape=(2,), dtype=int32)
    """
    if dtype is None and dtype_hint is not None and not is_tensor(value):
        try:
            return to_tensor(value, as_dtype(dtype_hint).name)
        except (TypeError, ValueError):
            return to_tensor(value)
    return to_tensor(value, None if dtype is None else as_dtype(dtype).name)


def constant(value: Any, dtype: Any = None, shape: Any = None, name: Any = "Const") -> Any:
    """A tensor of a value as it is now; one number fills the whole `shape`.

    >>> constant(0.5, shape=[2])
    Tensor([0.5 0.5], shape=(2,), dtype=float32)
    """
    if dtype is None and shape is None and (number := _native.scalar(value)) is not None:
        return number
    if is_tensor(value) and dtype is not None and value.dtype != as_dtype(dtype):
        refuse("TypeError", f"Expected a tensor of dtype {as_dtype(dtype)}, got {value.dtype}")
    made = convert_to_tensor(value, dtype)
    if shape is None:
        return made
    wanted = tuple(integers(shape))
    if tuple(made.shape) == wanted:
        return made
    items = int(np.prod(wanted, dtype=np.int64))
    have = int(np.prod(tuple(made.shape), dtype=np.int64))
    if have == 1:
        return fill(wanted, call("reshape", made, np.zeros(0, np.int32)))
    if have != items:
        refuse(
            "ValueError" if holds_tensors(value) else "TypeError",  # TensorFlow takes no such list
            f"Eager execution of tf.constant with unsupported shape: {have} items "
            f"do not fill the shape {wanted}",
        )
    return call("reshape", made, np.array(wanted, np.int64))


def cast(x: Any, dtype: Any, name: Any = None) -> Any:
    """The same items as another dtype.

    >>> cast([1.9, -1.9], "int32")
    Tensor([ 1 -1], shape=(2,), dtype=int32)
    """
    x = to_tensor(x)
    dtype = as_dtype(dtype)
    return x if x.dtype == dtype else call("cast", x, dtype.name)


def saturate_cast(value: Any, dtype: Any, name: Any = None) -> Any:
    """The same items as another dtype; what does not fit becomes the nearest that does.

    >>> saturate_cast([300, -5], "uint8")
    Tensor([255   0], shape=(2,), dtype=uint8)
    """
    value = to_tensor(value)
    dtype = as_dtype(dtype)
    if value.dtype.is_complex and not dtype.is_complex:
        value = cast(value, _real(value.dtype))
    if value.dtype.is_complex:
        return cast(value, dtype)
    ours, real = value.dtype.as_numpy_dtype, _real(dtype)
    # Python compares exactly; bfloat16 knows no integer beyond int64.
    lows = [np.asarray(edge).item() for edge in (value.dtype.min, real.min)]
    highs = [np.asarray(edge).item() for edge in (value.dtype.max, real.max)]
    least, most = max(lows), min(highs)
    if value.dtype.is_floating:
        least, most = float(least), float(most)
    with np.errstate(all="ignore"):
        low, high = ours(least), ours(most)
    # Python compares exactly: the largest int32 is no float32, so the next within is taken.
    if low.item() < np.asarray(real.min).item():
        low = np.nextafter(low, ours(0))
    if high.item() > np.asarray(real.max).item():
        high = np.nextafter(high, ours(0))
    value = call("clip_by_value", value, *(to_tensor(np.asarray(edge)) for edge in (low, high)))
    return cast(value, dtype)


def _real(dtype: Any) -> Any:
    """The dtype of the parts of a complex one, else itself."""
    parts = {"complex64": "float32", "complex128": "float64"}
    return as_dtype(parts.get(dtype.name, dtype.name))


def _dims(shape: Any) -> Any:
    if hasattr(shape, "as_list"):
        shape = shape.as_list()
    shape = read(shape)
    if is_tensor(shape):
        return shape
    if isinstance(shape, (list, tuple)) and any(is_tensor(dim) for dim in shape):
        return to_tensor(list(shape))
    array = array_of(shape)
    if array.dtype.kind not in "iu" and array.size:
        refuse("TypeError", f"shape must be integers of 64 bits, found {shown(shape)}")
    return to_tensor(
        array.astype(np.int64).reshape(-1) if array.ndim == 0 else array.astype(np.int64)
    )


def fill(dims: Any, value: Any, name: Any = None, layout: Any = None) -> Any:
    """A tensor of one value, everywhere.

    >>> fill([2, 2], 7)
    Tensor(
    [[7 7]
     [7 7]], shape=(2, 2), dtype=int32)
    """
    value = to_tensor(value)
    twin = "_strings" if value.dtype.name == "string" else ""
    sizes = _dims(dims)
    if sizes._known and value.shape.rank == 0:  # a loop that needs no memory of its own
        return call(f"spread{twin}", value, sizes)
    return call(f"fill{twin}", sizes, value)


def _vector(shape: Any) -> Any:
    """A shape; one number is a shape of one dimension."""
    dims = _dims(shape)
    return call("reshape", dims, np.array([-1])) if dims.shape.rank == 0 else dims


def zeros(shape: Any, dtype: Any = "float32", name: Any = None, layout: Any = None) -> Any:
    """Zeros: empty strings for strings, False for bools.

    >>> zeros([2])
    Tensor([0. 0.], shape=(2,), dtype=float32)
    """
    return fill(_vector(shape), _value(0, dtype))


def ones(shape: Any, dtype: Any = "float32", name: Any = None, layout: Any = None) -> Any:
    """Ones.

    >>> ones([2], "int32")
    Tensor([1 1], shape=(2,), dtype=int32)
    """
    return fill(_vector(shape), _value(1, dtype))


def zeros_like(input: Any, dtype: Any = None, name: Any = None, layout: Any = None) -> Any:
    """Zeros of the shape of another.

    >>> zeros_like([1, 2])
    Tensor([0 0], shape=(2,), dtype=int32)
    """
    return _like(input, dtype, 0)


def ones_like(input: Any, dtype: Any = None, name: Any = None, layout: Any = None) -> Any:
    """Ones of the shape of another.

    >>> ones_like([1.5])
    Tensor([1.], shape=(1,), dtype=float32)
    """
    return _like(input, dtype, 1)


def _like(input: Any, dtype: Any, number: int) -> Any:
    x = to_tensor(input)
    return fill(call("shape", x, "int64"), _value(number, x.dtype if dtype is None else dtype))


def _value(number: int, dtype: Any) -> Any:
    dtype = as_dtype(dtype)
    if dtype.name == "string":
        return to_tensor("") if number == 0 else refuse("TypeError", "there is no string for one")
    return to_tensor(np.array(number).astype(dtype.as_numpy_dtype))


def range(
    start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: Any = "range"
) -> Any:
    """Numbers from start to limit, limit excluded, `delta` apart.

    >>> range(3), range(1, 2, 0.5)
    (Tensor([0 1 2], shape=(3,), dtype=int32), Tensor([1.  1.5], shape=(2,), dtype=float32))
    """
    if limit is None:
        start, limit = 0, start
    parts = [
        to_tensor(part) if dtype is None else _as(part, as_dtype(dtype).name)
        for part in (start, limit, delta)
    ]
    if dtype is None:
        order = ["int32", "int64", "float16", "bfloat16", "float32", "float64"]
        names = [part.dtype.name for part in parts]
        if strange := [name for name in names if name not in order]:
            refuse("TypeError", f"range: {strange[0]} is not a dtype of ranges: {names}")
        widest = max(names, key=order.index)
        parts = [cast(part, widest) for part in parts]
    return call("range", *parts)


def _as(value: Any, dtype: str) -> Any:
    return cast(value, dtype) if is_tensor(value) else to_tensor(value, dtype)


def eye(
    num_rows: Any,
    num_columns: Any = None,
    batch_shape: Any = None,
    dtype: Any = "float32",
    name: Any = None,
) -> Any:
    """Ones on the diagonal.

    >>> eye(2)
    Tensor(
    [[1. 0.]
     [0. 1.]], shape=(2, 2), dtype=float32)
    """
    columns = None if num_columns is None else integer(num_columns, "num_columns")
    return call("eye", integer(num_rows, "num_rows"), columns, batch_shape, as_dtype(dtype).name)


def linspace(start: Any, stop: Any, num: Any, name: Any = None, axis: int = 0) -> Any:
    """`num` numbers from start to stop, both included, at equal distances; integers as floats.

    >>> linspace(0.0, 1.0, 3)
    Tensor([0.  0.5 1. ], shape=(3,), dtype=float32)
    """
    start = to_tensor(start)
    stop = to_tensor(stop, start.dtype.name)
    if start.dtype.is_integer:
        wide = "float32" if start.dtype.size < 4 else "float64"
        start, stop = cast(start, wide), cast(stop, wide)
    return call("linspace", start, stop, integer(num, "num"), axis)


def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """The value where it is known now, else None.

    >>> get_static_value(constant([1, 2]))
    array([1, 2], dtype=int32)
    """
    if not is_tensor(tensor):
        return None
    return None if tensor._symbolic else tensor.numpy()
