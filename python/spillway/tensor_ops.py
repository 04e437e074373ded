"""The operators of tensors: NumPy's arithmetic under TensorFlow's rules.

No promotion: both sides have one dtype, Python numbers and arrays take the tensor's. Each operator
allows the dtypes TensorFlow's kernel has. Integers wrap; dividing them by zero is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from .dtypes import from_numpy
from .errors import InvalidArgumentError, ShapeError
from .tensor_convert import _KIND_OF_TYPE, Holder, kind_of, refuse, scalar, to_array

Array: TypeAlias = np.ndarray[Any, Any]

_SIGNED = frozenset({"int8", "int16", "int32", "int64"})
_INTEGER = _SIGNED | {"uint8", "uint16", "uint32", "uint64"}
_FLOAT = frozenset({"float16", "bfloat16", "float32", "float64"})
_COMPLEX = frozenset({"complex64", "complex128"})
_REAL = _INTEGER | _FLOAT
_NUMBER = _REAL | _COMPLEX


def operand(x: Array, other: Any, symbol: str, *, swapped: bool = False) -> Any:
    """`other` as an array of x's dtype; NotImplemented for what may know the operator itself."""
    if isinstance(other, Holder):
        y = other._array
        if y.dtype != x.dtype:
            a, b = (y, x) if swapped else (x, y)
            refuse(
                "TypeError",
                f"Tensor {symbol} Tensor: both must have the same dtype: "
                f"{from_numpy(a.dtype)} of shape {a.shape} and {from_numpy(b.dtype)} of shape "
                f"{b.shape}",
            )
        return y
    kind = _KIND_OF_TYPE.get(type(other))
    if kind is not None:
        if kind != "b" or kind_of(x.dtype) != "s":
            return scalar(other, kind, x.dtype)
        refuse("TypeError", f"a bool cannot become string: {other!r}")
    if other is not None and not isinstance(other, (np.ndarray, np.generic, list, tuple, range)):
        array_like = hasattr(other, "__array__") or isinstance(other, tuple(_KIND_OF_TYPE))
        if not array_like:
            return NotImplemented
    return to_array(other, from_numpy(x.dtype))


def _quiet(function: Callable[..., Any]) -> Callable[[Array, Array], Any]:
    def call(x: Array, y: Array) -> Any:
        if x.dtype.kind in "iubO":  # whose ufuncs wrap without a word
            return function(x, y)
        with np.errstate(all="ignore"):
            return function(x, y)

    return call


def _divide(x: Array, y: Array) -> Any:
    if x.dtype.kind in "iu":
        wide = np.float32 if x.dtype.itemsize <= 2 else np.float64
        x, y = x.astype(wide), y.astype(wide)
    with np.errstate(all="ignore"):
        return np.true_divide(x, y)


def _no_zero(y: Array) -> None:
    if not y.all():
        raise InvalidArgumentError("Integer division by zero")


def _floor_divide(x: Array, y: Array) -> Any:
    with np.errstate(all="ignore"):
        if x.dtype.kind in "iu":
            _no_zero(y)
            return np.floor_divide(x, y)
        return np.floor(np.true_divide(x, y))  # as TensorFlow: 1.0 // 0.1 is 10


def _modulo(x: Array, y: Array) -> Any:
    with np.errstate(all="ignore"):
        if x.dtype.kind in "iu":
            _no_zero(y)
            return np.remainder(x, y)
        rest = np.fmod(x, y)
        return np.where((rest != 0) & ((y < 0) != (rest < 0)), rest + y, rest)


def _power(x: Array, y: Array) -> Any:
    if x.dtype.kind == "i" and (y < 0).any():
        raise InvalidArgumentError("Integers to negative integer powers are not allowed")
    with np.errstate(all="ignore"):
        return np.power(x, y)


def _matmul(x: Array, y: Array) -> Any:
    if x.ndim < 2 or y.ndim < 2:
        raise ShapeError(f"Tensor @ Tensor: both must have rank 2 or more: {x.shape}, {y.shape}")
    with np.errstate(all="ignore"):
        if x.dtype.itemsize == 2:
            return np.matmul(x.astype(np.float32), y.astype(np.float32)).astype(x.dtype)
        return np.matmul(x, y)


# symbol: the dtypes TensorFlow allows, the function
BINARY: dict[str, tuple[frozenset[str], Callable[[Array, Array], Any]]] = {
    "+": (_NUMBER | {"string"}, _quiet(np.add)),
    "-": (_NUMBER, _quiet(np.subtract)),
    "*": (_NUMBER | {"bool"}, _quiet(np.multiply)),
    "/": (_NUMBER, _divide),
    "//": (_REAL, _floor_divide),
    "%": (_REAL, _modulo),
    "**": (_SIGNED | _FLOAT | _COMPLEX, _power),
    "@": (_FLOAT | _COMPLEX | {"int32", "int64"}, _matmul),
    "&": (_INTEGER | {"bool"}, np.bitwise_and),
    "|": (_INTEGER | {"bool"}, np.bitwise_or),
    "^": (_INTEGER | {"bool"}, np.bitwise_xor),
    "<": (_REAL, np.less),
    "<=": (_REAL, np.less_equal),
    ">": (_REAL, np.greater),
    ">=": (_REAL, np.greater_equal),
}
UNARY: dict[str, tuple[frozenset[str], Callable[[Array], Any]]] = {
    "-": (_SIGNED | _FLOAT | _COMPLEX, np.negative),
    "abs": (_SIGNED | _FLOAT | _COMPLEX, np.abs),
    "~": (_INTEGER | {"bool"}, np.invert),
}


def _check_dtype(symbol: str, allowed: frozenset[str], *arrays: Array) -> None:
    name = from_numpy(arrays[0].dtype).name
    if name not in allowed:
        shapes = " and ".join([str(array.shape) for array in arrays])
        refuse("TypeError", f"Tensor {symbol}: not defined for dtype {name}: shape {shapes}")


def binary(symbol: str, x: Array, other: Any, swapped: bool = False) -> Any:
    """`x` op `other` as an array (`other` op `x` when swapped), or NotImplemented."""
    y = operand(x, other, symbol, swapped=swapped)
    if y is NotImplemented:
        return y
    if swapped:
        x, y = y, x
    allowed, function = BINARY[symbol]
    _check_dtype(symbol, allowed, x, y)
    try:
        result = function(x, y)
        return result if type(result) is np.ndarray else np.asarray(result)
    except ValueError as e:
        if isinstance(e, InvalidArgumentError):
            raise
        raise ShapeError(
            f"Tensor {symbol} Tensor: shapes must be compatible: {x.shape} and {y.shape}"
        ) from None


def unary(symbol: str, x: Array) -> Array:
    """op `x`."""
    allowed, function = UNARY[symbol]
    _check_dtype(symbol, allowed, x)
    with np.errstate(all="ignore"):
        return np.asarray(function(x))


def equal(x: Array, other: Any, negated: bool) -> Any:
    """Elementwise == (or !=); one False (True) where the shapes do not fit, as TensorFlow's."""
    y = operand(x, other, "!=" if negated else "==")
    if y is NotImplemented:
        return y
    try:
        result = np.not_equal(x, y) if negated else np.equal(x, y)
    except ValueError:
        result = negated
    return np.asarray(result, np.bool_)
