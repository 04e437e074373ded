"""Arithmetic where dtypes decide the op, and what is made of several ops."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from spillway.dtypes import as_dtype
from spillway.native_ops import call
from spillway.ops._constants import cast, convert_to_tensor, zeros_like
from spillway.tensor_convert import integer, is_tensor, read, refuse, to_tensor
from spillway.tensor_ops import op_for


def both(x: Any, y: Any) -> tuple[Any, Any]:
    """Two tensors of one dtype: a Python or NumPy value takes that of the tensor beside it."""
    x, y = read(x), read(y)
    if is_tensor(x):
        return x, y if is_tensor(y) else to_tensor(y, x._dtype_name)
    if is_tensor(y):
        return to_tensor(x, y._dtype_name), y
    x = to_tensor(x)
    return x, to_tensor(y, x._dtype_name)


def _binary(name: str, x: Any, y: Any) -> Any:
    x, y = both(x, y)
    return call(op_for(name, x._dtype_name), x, y)


def add(x: Any, y: Any, name: Any = None) -> Any:
    """x + y, item by item; strings are joined.

    >>> add([1, 2], 3), add("a", "b")
    (Tensor([4 5], shape=(2,), dtype=int32), Tensor(b'ab', shape=(), dtype=string))
    """
    return _binary("add", x, y)


def multiply(x: Any, y: Any, name: Any = None) -> Any:
    """x * y, item by item.

    >>> multiply([1, 2], 3)
    Tensor([3 6], shape=(2,), dtype=int32)
    """
    return _binary("multiply", x, y)


def equal(x: Any, y: Any, name: Any = None) -> Any:
    """x == y, item by item.

    >>> equal([1, 2], 2)
    Tensor([False  True], shape=(2,), dtype=bool)
    """
    return _binary("equal", x, y)


def not_equal(x: Any, y: Any, name: Any = None) -> Any:
    """x != y, item by item.

    >>> not_equal("a", ["a", "b"])
    Tensor([False  True], shape=(2,), dtype=bool)
    """
    return _binary("not_equal", x, y)


def divide(x: Any, y: Any, name: Any = None) -> Any:
    """x / y; integers become floats first.

    >>> divide(3, 2)
    Tensor(1.5, shape=(), dtype=float64)
    """
    x, y = both(x, y)
    return x / y


def truediv(x: Any, y: Any, name: Any = None) -> Any:
    """x / y; integers become floats first. Unlike `divide`, x has its dtype before y is looked at.

    >>> truediv(3, 2)
    Tensor(1.5, shape=(), dtype=float64)
    """
    x = to_tensor(x)
    y = convert_to_tensor(y, dtype_hint=x.dtype)
    if x.dtype != y.dtype:
        refuse("TypeError", f"`x` and `y` must have the same dtype, got {x.dtype} != {y.dtype}")
    return x / y


def divide_no_nan(x: Any, y: Any, name: Any = None) -> Any:
    """x / y, and 0 where y is 0.

    >>> divide_no_nan([1.0, 1.0], [0.0, 2.0])
    Tensor([0.  0.5], shape=(2,), dtype=float32)
    """
    x, y = both(x, y)
    zero = call("equal", y, to_tensor(0, y._dtype_name))
    safe = call("select", zero, to_tensor(1, y._dtype_name), y)
    quotient = x / safe
    return call("select", zero, to_tensor(0, quotient._dtype_name), quotient)


def abs(x: Any, name: Any = None) -> Any:
    """The absolute value.

    >>> abs([-1, 2])
    Tensor([1 2], shape=(2,), dtype=int32)
    """
    x = to_tensor(x)
    return call(op_for("abs", x._dtype_name), x)


def logical_xor(x: Any, y: Any, name: Any = None) -> Any:
    """Whether exactly one of them holds.

    >>> logical_xor(True, [True, False])
    Tensor([False  True], shape=(2,), dtype=bool)
    """
    x, y = both(x, y)
    return call("not_equal" if x._dtype_name == "bool" else "logical_or", x, y)


def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: Any = None) -> Any:
    """Between a minimum and a maximum.

    >>> clip_by_value([1, 5, 9], 2, 6)
    Tensor([2 5 6], shape=(3,), dtype=int32)
    """
    t = to_tensor(t)
    low, high = (to_tensor(edge, t._dtype_name) for edge in (clip_value_min, clip_value_max))
    return call("clip_by_value", t, low, high)


def _one_axis(axis: Any) -> int:
    if isinstance(axis, (list, tuple)):
        refuse("TypeError", f"axis must be int or Tensor with integer datatype: {axis}")
    return 0 if axis is None else integer(axis, "axis")


def argmax(input: Any, axis: Any = None, output_type: Any = "int64", name: Any = None) -> Any:
    """The place of the largest item along an axis, the first of equals.

    >>> argmax([1, 3, 3])
    Tensor(1, shape=(), dtype=int64)
    """
    return call("argmax", to_tensor(input), _one_axis(axis), as_dtype(output_type).name)


def argmin(input: Any, axis: Any = None, output_type: Any = "int64", name: Any = None) -> Any:
    """The place of the smallest item along an axis, the first of equals.

    >>> argmin([1, 3, 3])
    Tensor(0, shape=(), dtype=int64)
    """
    return call("argmin", to_tensor(input), _one_axis(axis), as_dtype(output_type).name)


def _squares(x: Any) -> Any:
    """The squares of the lengths of numbers: real ones, also of complex numbers."""
    if x.dtype.is_complex:
        return call("real", call("multiply", x, call("conj", x)))
    return call("square", x)


def reduce_variance(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Any = None
) -> Any:
    """The mean square distance from the mean.

    >>> reduce_variance([1.0, 3.0])
    Tensor(1.0, shape=(), dtype=float32)
    """
    x = to_tensor(input_tensor)
    if x.dtype.is_integer:
        refuse("TypeError", f"Input must be either real or complex: {x.dtype}")
    if not x.dtype.is_complex:
        return call("reduce_variance", x, axis, keepdims)
    centred = call("subtract", x, call("reduce_mean", x, axis, True))
    return call("reduce_mean", _squares(centred), axis, keepdims)


def reduce_std(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Any = None
) -> Any:
    """The standard deviation.

    >>> reduce_std([1.0, 3.0])
    Tensor(1.0, shape=(), dtype=float32)
    """
    x = to_tensor(input_tensor)
    if x.dtype.is_floating:
        return call("reduce_std", x, axis, keepdims)
    return call("sqrt", reduce_variance(x, axis, keepdims))


def reduce_logsumexp(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Any = None
) -> Any:
    """log(sum(exp(x))), without overflow.

    >>> reduce_logsumexp([0.0, 0.0])
    Tensor(0.6931472, shape=(), dtype=float32)
    """
    x = to_tensor(input_tensor)
    top = call("reduce_max", x, axis, True)
    top = call("select", call("is_finite", top), top, to_tensor(0, x._dtype_name))
    total = call("log", call("reduce_sum", call("exp", call("subtract", x, top)), axis, True))
    out = call("add", total, top)
    return out if keepdims else call("reduce_sum", out, axis, False)


def count_nonzero(
    input: Any, axis: Any = None, keepdims: Any = None, dtype: Any = "int64", name: Any = None
) -> Any:
    """How many items are not zero.

    >>> count_nonzero([0, 2, 3])
    Tensor(2, shape=(), dtype=int64)
    """
    x = to_tensor(input)
    zero = to_tensor("" if x._dtype_name == "string" else np.zeros((), x.dtype.as_numpy_dtype))
    return call("reduce_sum", cast(not_equal(x, zero), dtype), axis, keepdims)


def add_n(inputs: Any, name: Any = None) -> Any:
    """The sum of several tensors of one shape.

    >>> add_n([[1, 2], [3, 4]])
    Tensor([4 6], shape=(2,), dtype=int32)
    """
    terms = [to_tensor(item) for item in inputs]
    return terms[0] if len(terms) == 1 else call("add_n", terms)


def imag(input: Any, name: Any = None) -> Any:
    """The imaginary part of each item: of what is not complex, its zero.

    >>> imag([1 + 2j])
    Tensor([2.], shape=(1,), dtype=float64)
    """
    x = to_tensor(input)
    return call("imag", x) if x.dtype.is_complex else zeros_like(x)


def bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = "int32",
    name: Any = None,
    axis: Any = None,
    binary_output: bool = False,
) -> Any:
    """How often each of 0, 1, ... occurs: over all, or with axis -1 in each row.

    >>> bincount([1, 1, 2])
    Tensor([0 2 1], shape=(3,), dtype=int32)
    """
    arr = to_tensor(arr)
    if not arr.dtype.is_integer:
        arr = cast(arr, "int32")
    if axis not in (None, 0, -1):
        refuse("ValueError", f"Unsupported value for argument axis={axis}. Only 0 and -1 are.")
    bounds = [
        None if bound is None else integer(bound, what)
        for bound, what in ((minlength, "minlength"), (maxlength, "maxlength"))
    ]
    rows = None if axis == 0 else axis
    kind = as_dtype(dtype).name
    return call("bincount", arr, weights, *bounds, kind, rows, binary_output)


def norm(
    tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: bool = False, name: Any = None
) -> Any:
    """The length of a vector: euclidean, inf, or of any positive order.

    >>> norm([3.0, 4.0])
    Tensor(5.0, shape=(), dtype=float32)
    """
    x = to_tensor(tensor)
    if ord in ("euclidean", 2):
        return call("sqrt", cast(call("reduce_sum", _squares(x), axis, keepdims), x.dtype))
    if ord == 1:
        return call("reduce_sum", abs(x), axis, keepdims)
    if ord == np.inf:
        return call("reduce_max", abs(x), axis, keepdims)
    if not isinstance(ord, (int, float)) or ord <= 0:
        refuse("ValueError", f"'ord' must be 'euclidean' or a positive number, got {ord}")
    length = abs(x)
    power = call("pow", length, to_tensor(ord, length._dtype_name))
    total = call("reduce_sum", power, axis, keepdims)
    return call("pow", total, to_tensor(1.0 / ord, length._dtype_name))


def l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12, name: Any = None) -> Any:
    """Divided by its euclidean length.

    >>> l2_normalize([3.0, 4.0])
    Tensor([0.6 0.8], shape=(2,), dtype=float32)
    """
    x = to_tensor(x)
    square = call("reduce_sum", _squares(x), axis, True)
    by = call("rsqrt", call("maximum", square, to_tensor(epsilon, square._dtype_name)))
    return call("multiply", x, cast(by, x.dtype))


def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: Any = None,
    grad_a: bool = False,
    grad_b: bool = False,
    name: Any = None,
) -> Any:
    """The matrix product, over any leading dimensions.

    >>> matmul([[1, 2]], [[3], [4]])
    Tensor([[11]], shape=(1, 1), dtype=int32)
    """
    a, b = both(a, b)
    out = call("matmul", a, b, transpose_a, transpose_b, adjoint_a, adjoint_b)
    return out if output_type is None else cast(out, output_type)


class TopK(NamedTuple):
    """The result of `top_k`."""

    values: Any
    indices: Any


def top_k(
    input: Any, k: Any = 1, sorted: bool = True, index_type: Any = "int32", name: Any = None
) -> Any:
    """The k largest of the last axis, and their places.

    >>> [part.numpy().tolist() for part in top_k([1, 5, 3], 2)]
    [[5, 3], [1, 2]]
    """
    return TopK(
        *call("top_k", to_tensor(input), integer(k, "k"), sorted, as_dtype(index_type).name)
    )
