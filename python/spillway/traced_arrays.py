# ruff: noqa: D105  (magic methods do what Python says)
"""NumPy on traced tensors: what `np.sin(x)` gives inside a trace.

Such a value follows NumPy's rules (its promotion, its dtypes) as the array does that the same line
gives outside a trace, to the last bit. Elementwise functions run NumPy's own loops, but for the few
that are the engine's outside a trace, too (`numpy_functions.py`). What would not be the same to the
last bit (sums of floats) or is not known here ends the trace.
"""

from __future__ import annotations

import dis
import sys
from typing import Any

import numpy as np

from spillway.dtypes import from_numpy
from spillway.native_ops import call, native
from spillway.numpy_functions import own
from spillway.symbolic import SymbolicTensor, TraceBreak
from spillway.tensor_convert import is_tensor, to_tensor

_OPERATORS = {
    "add": "__radd__",
    "subtract": "__rsub__",
    "multiply": "__rmul__",
    "divide": "__rtruediv__",
    "true_divide": "__rtruediv__",
    "floor_divide": "__rfloordiv__",
    "remainder": "__rmod__",
    "power": "__rpow__",
    "matmul": "__rmatmul__",
    "bitwise_and": "__rand__",
    "bitwise_or": "__ror__",
    "bitwise_xor": "__rxor__",
    "less": "__gt__",
    "less_equal": "__ge__",
    "greater": "__lt__",
    "greater_equal": "__le__",
    "equal": "__eq__",
    "not_equal": "__ne__",
}
_WEAK = (bool, int, float, complex)


class TracedArray(SymbolicTensor):
    """A traced value with NumPy's manners."""

    __slots__ = ()
    _numpy = True

    def __getattr__(self, name: str) -> Any:
        raise TraceBreak(f"uses {name} of a NumPy array")


def _array(tensor: Any) -> TracedArray:
    made: TracedArray = native.as_instance(tensor, TracedArray)
    return made


def _written_as_operator() -> bool:
    """Whether the user's own line is `array + tensor` rather than `np.add(array, tensor)`."""
    frame = sys._getframe(2)
    opcode = dis.opname[frame.f_code.co_code[frame.f_lasti]]
    return opcode.startswith(("BINARY_", "COMPARE_", "INPLACE_"))


def array_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """`__array_ufunc__` of traced tensors."""
    if method != "__call__" or kwargs:
        raise TraceBreak(f"calls np.{ufunc.__name__} in a way that needs values")
    operator = _OPERATORS.get(ufunc.__name__)
    if operator and isinstance(inputs[0], np.ndarray) and _written_as_operator():
        return getattr(inputs[1], operator)(inputs[0])
    return _apply(ufunc, inputs)


def _apply(ufunc: Any, inputs: tuple[Any, ...]) -> TracedArray:
    kinds: list[Any] = []
    for value in inputs:
        if is_tensor(value):
            kinds.append(np.dtype(value.dtype.as_numpy_dtype))
        else:
            kinds.append(type(value) if type(value) in _WEAK else np.asarray(value).dtype)
    try:
        resolved = ufunc.resolve_dtypes((*kinds, *[None] * ufunc.nout))
    except (TypeError, ValueError) as error:
        raise TraceBreak(f"calls np.{ufunc.__name__}: {error}") from None
    operands = []
    for value, dtype in zip(inputs, resolved, strict=False):
        name = from_numpy(dtype).name
        if is_tensor(value):
            operands.append(value if value._dtype_name == name else call("cast", value, name))
        else:
            operands.append(to_tensor(np.asarray(value, dtype)))
    op = own(ufunc, resolved[-1])
    if op is not None and not inputs[0]._numpy:
        return _array(call(op, operands[0]))
    return _array(native.apply_ufunc(ufunc, operands, from_numpy(resolved[-1]).name))


def array_function(self: Any, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """`__array_function__` of traced tensors."""
    known = _FUNCTIONS.get(func)
    if known is None:
        raise TraceBreak(f"calls np.{getattr(func, '__name__', func)}, which needs values")
    result = known(*args, **kwargs)
    return _array(result) if is_tensor(result) else result


def _reshape(a: Any, shape: Any = None, order: str = "C", **kwargs: Any) -> Any:
    if order != "C" or kwargs or shape is None:
        raise TraceBreak("calls np.reshape in a way that needs values")
    return call("reshape", a, np.atleast_1d(np.asarray(shape, np.int64)))


def _where(condition: Any, x: Any, y: Any) -> Any:
    picked = np.result_type(*[_kind(value) for value in (x, y)])
    name = from_numpy(picked).name
    parts = [_as(value, name) for value in (x, y)]
    return call("select", _as(condition, "bool"), *parts)


def _kind(value: Any) -> Any:
    return np.dtype(value.dtype.as_numpy_dtype) if is_tensor(value) else value


def _as(value: Any, name: str) -> Any:
    if is_tensor(value):
        return value if value._dtype_name == name else call("cast", value, name)
    return to_tensor(np.asarray(value).astype(from_name(name)))


def from_name(name: str) -> Any:
    """NumPy's dtype of a name."""
    from spillway.dtypes import as_dtype

    return as_dtype(name).as_numpy_dtype


def _transpose(a: Any, axes: Any = None) -> Any:
    return call(
        "transpose", a, None if axes is None else to_tensor(np.asarray(axes, np.int64)), False
    )


def _joined(op: str) -> Any:
    def join(arrays: Any, axis: int = 0, **kwargs: Any) -> Any:
        if kwargs or axis is None:
            raise TraceBreak(f"calls np.{op} in a way that needs values")
        name = from_numpy(np.result_type(*[_kind(value) for value in arrays])).name
        return call(op, [_as(value, name) for value in arrays], axis)

    return join


def _extreme(op: str) -> Any:
    def reduce(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        return call(op, a, axis, keepdims)

    return reduce


_FUNCTIONS: dict[Any, Any] = {
    np.reshape: _reshape,
    np.where: _where,
    np.transpose: _transpose,
    np.expand_dims: lambda a, axis: call("expand_dims", a, axis),
    np.squeeze: lambda a, axis=None: call("squeeze", a, axis),
    np.concatenate: _joined("concat"),
    np.stack: _joined("stack"),
    np.max: _extreme("reduce_max"),
    np.min: _extreme("reduce_min"),
    np.shape: lambda a: tuple(a.shape),
    np.ndim: lambda a: a.ndim,
}


def _operator(ufunc: Any, swapped: bool) -> Any:
    def operate(self: Any, other: Any) -> Any:
        if is_tensor(other) and not isinstance(other, TracedArray):
            return NotImplemented  # the tensor's own operator decides, as it does for an array
        return ufunc(other, self) if swapped else ufunc(self, other)

    return operate


for _name, _ufunc in {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.true_divide,
    "floordiv": np.floor_divide, "mod": np.remainder, "pow": np.power, "and": np.bitwise_and,
    "or": np.bitwise_or, "xor": np.bitwise_xor,
}.items():  # fmt: skip
    setattr(TracedArray, f"__{_name}__", _operator(_ufunc, False))
    setattr(TracedArray, f"__r{_name}__", _operator(_ufunc, True))
for _name, _ufunc in {
    "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "eq": np.equal, "ne": np.not_equal,
}.items():  # fmt: skip
    setattr(TracedArray, f"__{_name}__", _operator(_ufunc, False))
TracedArray.__neg__ = lambda self: np.negative(self)  # type: ignore[method-assign]
TracedArray.__abs__ = lambda self: np.absolute(self)  # type: ignore[method-assign]
TracedArray.__invert__ = lambda self: np.invert(self)  # type: ignore[method-assign]


def install() -> None:
    """Gives traced tensors NumPy's protocols."""
    SymbolicTensor.__array_ufunc__ = array_ufunc  # type: ignore[attr-defined]
    SymbolicTensor.__array_function__ = array_function  # type: ignore[attr-defined]
