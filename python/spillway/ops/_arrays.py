"""Moving items: shapes, slices, gathering."""

from __future__ import annotations

from typing import Any

import numpy as np

from spillway import _native
from spillway.dtypes import as_dtype
from spillway.errors import ShapeError
from spillway.native_ops import call
from spillway.opaque import note
from spillway.ops._constants import _dims, cast, range
from spillway.shapes import TensorShape
from spillway.shown import shown
from spillway.tensor_convert import (
    array_of,
    integer,
    integer_tensor,
    is_tensor,
    read,
    refuse,
    to_tensor,
)


def moved(name: str, tensor: Any, *parameters: Any) -> Any:
    """An op that moves items, on strings too."""
    kind = tensor[0] if isinstance(tensor, list) else tensor
    return call(f"{name}_strings" if kind.dtype.name == "string" else name, tensor, *parameters)


def _tensors(values: Any) -> list[Any]:
    """A list of tensors of one dtype: that of the first tensor among them."""
    values = read(values)
    listed = isinstance(values, (list, tuple)) or is_tensor(values)
    values = [read(value) for value in values] if listed else [values]
    dtype = next((value._dtype_name for value in values if is_tensor(value)), None)
    if dtype is None and values:
        dtype = to_tensor(values[0])._dtype_name
    return [to_tensor(value, dtype) if not is_tensor(value) else value for value in values]


def concat(values: Any, axis: Any, name: Any = "concat") -> Any:
    """Joins tensors along an axis they have.

    >>> concat([[1, 2], [3]], 0)
    Tensor([1 2 3], shape=(3,), dtype=int32)
    """
    return moved("concat", _tensors(values), integer(axis, "axis"))


def stack(values: Any, axis: int = 0, name: Any = "stack") -> Any:
    """Joins tensors of one shape along a new axis.

    >>> stack([1, 2])
    Tensor([1 2], shape=(2,), dtype=int32)
    """
    return moved("stack", _tensors(values), integer(axis, "axis"))


def unstack(value: Any, num: Any = None, axis: int = 0, name: Any = "unstack") -> list[Any]:
    """The tensors along an axis.

    >>> unstack([[1, 2], [3, 4]])[1]
    Tensor([3 4], shape=(2,), dtype=int32)
    """
    return list(moved("unstack", to_tensor(value), num, integer(axis, "axis")))


def split(
    value: Any, num_or_size_splits: Any, axis: Any = 0, num: Any = None, name: Any = "split"
) -> list[Any]:
    """Cuts along an axis: into equal parts, or parts of the sizes given.

    >>> [part.numpy().tolist() for part in split([1, 2, 3], [2, 1])]
    [[1, 2], [3]]
    """
    sizes: Any = num_or_size_splits
    if array_of(sizes).ndim == 0:
        sizes, num = None, integer(sizes, "num_or_size_splits")
    return list(moved("split", to_tensor(value), sizes, integer(axis, "axis"), num))


def transpose(a: Any, perm: Any = None, conjugate: bool = False, name: Any = "transpose") -> Any:
    """The axes in another order; reversed by default.

    >>> transpose([[1, 2], [3, 4]])
    Tensor(
    [[1 3]
     [2 4]], shape=(2, 2), dtype=int32)
    """
    return moved("transpose", to_tensor(a), perm if perm is None else to_tensor(perm), conjugate)


def expand_dims(input: Any, axis: Any, name: Any = None) -> Any:
    """A new axis of length one.

    >>> expand_dims([1, 2], 0).shape.as_list()
    [1, 2]
    """
    return call("expand_dims", to_tensor(input), integer(axis, "axis"))


def squeeze(input: Any, axis: Any = None, name: Any = None) -> Any:
    """Without the axes of length one.

    >>> squeeze([[1]])
    Tensor(1, shape=(), dtype=int32)
    """
    return call("squeeze", to_tensor(input), axis)


def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Any = None,
    batch_dims: int = 0,
    name: Any = None,
) -> Any:
    """The slices of `params` at `indices` along an axis.

    >>> gather([10, 20, 30], [2, 0])
    Tensor([30 10], shape=(2,), dtype=int32)
    """
    axis = batch_dims if axis is None else integer(axis, "axis")
    return moved("gather", to_tensor(params), to_tensor(indices), axis, batch_dims)


def slice(input_: Any, begin: Any, size: Any, name: Any = None) -> Any:
    """`size` items of each axis from `begin` on; -1: all that are left.

    >>> slice([1, 2, 3], [1], [2])
    Tensor([2 3], shape=(2,), dtype=int32)
    """
    begin, size = integer_tensor(begin, "begin"), integer_tensor(size, "size")
    return moved("slice", to_tensor(input_), begin, size)


def pad(
    tensor: Any, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0, name: Any = None
) -> Any:
    """Room around the items.

    >>> pad([1], [[1, 2]])
    Tensor([0 1 0 0], shape=(4,), dtype=int32)
    """
    tensor = to_tensor(tensor)
    if not isinstance(mode, str):
        refuse("TypeError", f"mode must be text, found {shown(mode)}")
    if tensor.dtype.name == "string":
        constant_values = "" if constant_values == 0 else constant_values
    elif tensor.dtype.name == "bool" and not is_tensor(constant_values):
        constant_values = bool(constant_values)
    value = (
        constant_values
        if is_tensor(constant_values)
        else to_tensor(constant_values, tensor.dtype.name)
    )
    return moved("pad", tensor, integer_tensor(paddings, "paddings"), mode.upper(), value)


def tile(input: Any, multiples: Any, name: Any = None) -> Any:
    """Repeats the whole along each axis.

    >>> tile([1, 2], [2])
    Tensor([1 2 1 2], shape=(4,), dtype=int32)
    """
    return moved("tile", to_tensor(input), integer_tensor(multiples, "multiples"))


def reverse(tensor: Any, axis: Any, name: Any = None) -> Any:
    """The items of some axes in reverse order.

    >>> reverse([1, 2, 3], [0])
    Tensor([3 2 1], shape=(3,), dtype=int32)
    """
    return moved("reverse", to_tensor(tensor), axis)


def broadcast_to(input: Any, shape: Any, name: Any = None) -> Any:
    """The same items, repeated to fill a shape.

    >>> broadcast_to([1], [2])
    Tensor([1 1], shape=(2,), dtype=int32)
    """
    return moved("broadcast_to", to_tensor(input), _dims(shape))


def where(condition: Any, x: Any = None, y: Any = None, name: Any = None) -> Any:
    """x where the condition holds, else y; with only the condition, where it holds.

    >>> where([True, False], 1, 2), where([False, True])
    (Tensor([1 2], shape=(2,), dtype=int32), Tensor([[1]], shape=(1, 1), dtype=int64))
    """
    condition = to_tensor(condition)
    if x is None and y is None:
        return call("where_indices", condition)
    if x is None or y is None:
        refuse("ValueError", "x and y must both be non-None or both be None.")
    x, y = _tensors([x, y]) if is_tensor(x) or not is_tensor(y) else _tensors([y, x])[::-1]
    if condition.dtype.name != "bool":
        refuse("TypeError", f"the condition must be bool: {condition.dtype}")
    return call("select_strings" if x.dtype.name == "string" else "select", condition, x, y)


def boolean_mask(tensor: Any, mask: Any, axis: Any = None, name: Any = "boolean_mask") -> Any:
    """The items for which the mask holds.

    >>> boolean_mask([1, 2, 3], [True, False, True])
    Tensor([1 3], shape=(2,), dtype=int32)
    """
    return moved("boolean_mask", to_tensor(tensor), to_tensor(mask), 0 if axis is None else axis)


def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: Any = None,
    dtype: Any = None,
    name: Any = None,
) -> Any:
    """On where the index says, off elsewhere.

    >>> one_hot([1], 3)
    Tensor([[0. 1. 0.]], shape=(1, 3), dtype=float32)
    """
    if dtype is None:
        given = next((v for v in (on_value, off_value) if v is not None), None)
        dtype = "float32" if given is None else to_tensor(given).dtype.name
    name_ = as_dtype(dtype).name
    on = (
        to_tensor(1 if on_value is None else on_value, name_)
        if name_ != "bool"
        else to_tensor(True if on_value is None else bool(on_value))
    )
    off = (
        to_tensor(0 if off_value is None else off_value, name_)
        if name_ != "bool"
        else to_tensor(False if off_value is None else bool(off_value))
    )
    op = "one_hot_strings" if name_ == "string" else "one_hot"
    return call(op, to_tensor(indices), to_tensor(depth), on, off, -1 if axis is None else axis)


def sequence_mask(lengths: Any, maxlen: Any = None, dtype: Any = "bool", name: Any = None) -> Any:
    """True for the first `length` places of each row.

    >>> sequence_mask([1, 2])
    Tensor(
    [[ True False]
     [ True  True]], shape=(2, 2), dtype=bool)
    """
    lengths = to_tensor(lengths)
    if lengths.dtype.is_floating:  # place i is before a length of 1.5 for 0 and 1
        lengths = cast(call("ceil", lengths) if maxlen is None else lengths, "int64")
    if maxlen is not None:
        maxlen = to_tensor(maxlen)
        maxlen = cast(maxlen, "int64") if maxlen.dtype.is_floating else maxlen
    return call("sequence_mask", lengths, maxlen, as_dtype(dtype).name)


def repeat(input: Any, repeats: Any, axis: Any = None, name: Any = None) -> Any:
    """Each item so many times.

    >>> repeat([1, 2], 2)
    Tensor([1 1 2 2], shape=(4,), dtype=int32)
    """
    none = not is_tensor(repeats) and array_of(repeats).size == 0  # would be floats
    counts = to_tensor(repeats, "int32" if none else None)
    if not counts.dtype.is_integer:
        refuse("TypeError", f"repeats must be of type integer: {counts.dtype}")
    return moved(
        "repeat", to_tensor(input), counts, None if axis is None else integer(axis, "axis")
    )


def roll(input: Any, shift: Any, axis: Any, name: Any = None) -> Any:
    """The items moved along axes; what falls off comes back.

    >>> roll([1, 2, 3], 1, 0)
    Tensor([3 1 2], shape=(3,), dtype=int32)
    """
    return moved("roll", to_tensor(input), shift, axis)


def reverse_sequence(
    input: Any, seq_lengths: Any, seq_axis: Any = None, batch_axis: Any = None, name: Any = None
) -> Any:
    """The first items of each row in reverse order, each row as many as its length says.

    >>> reverse_sequence([[1, 2, 3]], [2], seq_axis=1)
    Tensor([[2 1 3]], shape=(1, 3), dtype=int32)
    """
    return moved("reverse_sequence", to_tensor(input), seq_lengths, seq_axis, batch_axis)


def gather_nd(params: Any, indices: Any, batch_dims: int = 0, name: Any = None) -> Any:
    """The items or slices at places of several coordinates.

    >>> gather_nd([[1, 2], [3, 4]], [[1, 0]])
    Tensor([3], shape=(1,), dtype=int32)
    """
    return moved("gather_nd", to_tensor(params), to_tensor(indices), batch_dims)


def scatter_nd(indices: Any, updates: Any, shape: Any, name: Any = None) -> Any:
    """Items or slices added into zeros at some places; strings are appended.

    >>> scatter_nd([[1], [1]], ["a", "b"], [2])
    Tensor([b'' b'ab'], shape=(2,), dtype=string)
    """
    updates = to_tensor(updates)
    op = "scatter_nd_strings" if updates.dtype.name == "string" else "scatter_nd"
    return call(op, to_tensor(indices), updates, to_tensor(shape))


def tensor_scatter_nd_update(tensor: Any, indices: Any, updates: Any, name: Any = None) -> Any:
    """The tensor with other items or slices at some places.

    >>> tensor_scatter_nd_update([1, 2], [[0]], [7])
    Tensor([7 2], shape=(2,), dtype=int32)
    """
    tensor = to_tensor(tensor)
    updates = to_tensor(updates, tensor.dtype.name)
    return moved("tensor_scatter_nd_update", tensor, to_tensor(indices), updates)


def unique(x: Any, out_idx: Any = "int32", name: Any = None) -> Any:
    """The different items in order of appearance, and where each item is among them.

    >>> [part.numpy().tolist() for part in unique([3, 1, 3])]
    [[3, 1], [0, 1, 0]]
    """
    return call("unique", to_tensor(x), out_idx)


def ensure_shape(x: Any, shape: Any, name: Any = None) -> Any:
    """The tensor itself, when its shape fits.

    >>> ensure_shape([1, 2], [None]).shape.as_list()
    [2]
    """
    x = to_tensor(x)
    if not TensorShape(shape).is_compatible_with(x.shape):
        raise ShapeError(
            f"Shape of tensor {x.shape} is not compatible with expected shape {TensorShape(shape)}."
        )
    wanted = TensorShape(shape).merge_with(x.shape)
    if wanted == x.shape:
        return x
    note("checks a shape that is not known")
    return _native.parameter(x.dtype.name, wanted)


def identity(input: Any, name: Any = None) -> Any:
    """The same tensor.

    >>> identity(3)
    Tensor(3, shape=(), dtype=int32)
    """
    return call("identity", to_tensor(input))


def rank(input: Any, name: Any = None) -> Any:
    """The number of axes, as a tensor.

    >>> rank([[1]])
    Tensor(2, shape=(), dtype=int32)
    """
    x = to_tensor(input)
    if x._symbolic and x.shape.rank is not None:
        return to_tensor(np.array(x.shape.rank, np.int32))
    return call("rank", x)


def size(input: Any, out_type: Any = "int32", name: Any = None) -> Any:
    """The number of items, as a tensor.

    >>> size([[1, 2]])
    Tensor(2, shape=(), dtype=int32)
    """
    x = to_tensor(input)
    if x._symbolic and x.shape.is_fully_defined():  # a constant: what is made of it is known too
        return cast(int(np.prod(x.shape.as_list(), dtype=np.int64)), out_type)
    return call("size", x, out_type)


def shape(input: Any, out_type: Any = "int32", name: Any = None) -> Any:
    """The lengths of the axes, as a tensor.

    >>> shape([[1, 2]])
    Tensor([1 2], shape=(2,), dtype=int32)
    """
    x = to_tensor(input)
    if x._symbolic and x.shape.is_fully_defined():
        return cast(np.array(x.shape.as_list(), np.int64), out_type)
    return call("shape", x, out_type)


def broadcast_static_shape(shape_x: Any, shape_y: Any) -> Any:
    """The shape two shapes broadcast to.

    >>> broadcast_static_shape(TensorShape([2, 1]), TensorShape([3])).as_list()
    [2, 3]
    """
    shapes: list[Any] = [tuple(TensorShape(shape)) for shape in (shape_x, shape_y)]
    return TensorShape(np.broadcast_shapes(*shapes))
