"""The operators of tensors under TensorFlow's rules.

No promotion: both sides have one dtype, Python numbers and arrays take the tensor's. Each operator
allows the dtypes TensorFlow's kernel has. Integers wrap; dividing them by zero is an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import arguments
from .errors import ShapeError, SpillwayError
from .native_ops import INDEX, apply
from .shown import shown
from .tensor_convert import KIND_OF_TYPE, is_tensor, refuse, to_tensor

if TYPE_CHECKING:
    from .tensor import Tensor

# The op behind an operator, where it is another for some dtype.
_BOOL = {"multiply": "logical_and", "bitwise_and": "logical_and", "bitwise_or": "logical_or"}
_BOOL |= {"bitwise_xor": "not_equal", "bitwise_invert": "logical_not"}
_STRING = {
    "add": "string_add",
    "equal": "string_equal",
    "not_equal": "string_not_equal",
    "stack": "stack_strings",
}
_COMPLEX = {"abs": "complex_abs"}
_WIDER = {"int8": "float32", "int16": "float32", "uint8": "float32", "uint16": "float32"}
_MORE = {"matmul": (False, False, False, False)}  # parameters behind the two operands
_ARRAYS = (np.ndarray, np.generic, list, tuple, range)


def op_for(name: str, dtype: str) -> str:
    """The op that does `name` on `dtype`."""
    if dtype == "bool":
        return _BOOL.get(name, name)
    if dtype == "string":
        return _STRING.get(name, name)
    if dtype.startswith("complex"):
        return _COMPLEX.get(name, name)
    return name


def _unknown(other: Any) -> bool:
    """Whether the other side may know the operator itself."""
    if type(other) in KIND_OF_TYPE or is_tensor(other) or isinstance(other, _ARRAYS):
        return False
    return other is not None and not (
        hasattr(other, "__array__") or isinstance(other, tuple(KIND_OF_TYPE))
    )


def _same(symbol: str, x: Tensor, other: Any, swapped: bool) -> Any:
    """`other` as a tensor of x's dtype, or something `apply` makes one of."""
    dtype = x._dtype_name
    if is_tensor(other):
        if other._dtype_name != dtype:
            if other._numpy:  # arrays take the tensor's dtype
                return apply(INDEX["cast"], other, dtype)
            a, b = (other, x) if swapped else (x, other)
            refuse(
                "TypeError",
                f"Tensor {symbol} Tensor: both must have the same dtype: {a._dtype_name} of shape "
                f"{a.shape} and {b._dtype_name} of shape {b.shape}",
                a,
                b,
            )
        return other
    kind = KIND_OF_TYPE.get(type(other))
    if kind is None or (kind == "b" and dtype == "string"):
        number = isinstance(other, (np.ndarray, np.generic)) and other.dtype.kind not in "SUO"
        if dtype == "string" and (kind == "b" or number):
            refuse("TypeError", f"a {type(other).__name__} cannot become string: {shown(other)}")
        return _converted(symbol, x, other, swapped)
    return other


def _converted(symbol: str, x: Tensor, other: Any, swapped: bool) -> Any:
    """`other` as a tensor of x's dtype."""
    try:
        return to_tensor(other, x._dtype_name)
    except (SpillwayError, *arguments.WRONG) as error:
        told = arguments.of_operator(error, symbol, x, other, swapped)
        if told is error:
            raise
        raise told from None


def binary(symbol: str, name: str, x: Tensor, other: Any, swapped: bool = False) -> Any:
    """`x` op `other` (`other` op `x` when swapped), or NotImplemented."""
    if _unknown(other):
        return NotImplemented
    y = _same(symbol, x, other, swapped)
    index = INDEX[op_for(name, x._dtype_name)]
    more = _MORE.get(name, ())
    return apply(index, y, x, *more) if swapped else apply(index, x, y, *more)


def divide(x: Tensor, other: Any, swapped: bool = False) -> Any:
    """`x / other`: integers become floats first."""
    if _unknown(other):
        return NotImplemented
    y = _same("/", x, other, swapped)
    dtype = x._dtype_name
    if "int" in dtype:
        wide = _WIDER.get(dtype, "float64")
        y = apply(INDEX["cast"], y if is_tensor(y) else _converted("/", x, y, swapped), wide)
        x = apply(INDEX["cast"], x, wide)
    a, b = (y, x) if swapped else (x, y)
    return apply(INDEX["divide"], a, b)


def unary(name: str, x: Tensor) -> Any:
    """Op `x`."""
    return apply(INDEX[op_for(name, x._dtype_name)], x)


def equal(x: Tensor, other: Any, negated: bool) -> Any:
    """Elementwise == (or !=); one False (True) where the shapes do not fit, as TensorFlow's."""
    if _unknown(other):
        return NotImplemented
    name = "not_equal" if negated else "equal"
    try:
        return binary("!=" if negated else "==", name, x, other)
    except ShapeError:
        return to_tensor(negated)
