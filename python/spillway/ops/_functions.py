# ruff: noqa: N803  (TensorFlow's own names)
"""Python functions among tensors: `function`, `py_function`, `numpy_function`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from spillway import nest, opaque
from spillway.dtypes import as_dtype
from spillway.errors import OutOfRangeError
from spillway.native_ops import native
from spillway.specs import TensorSpec
from spillway.tensor_convert import is_tensor, refuse, to_tensor


class Function:
    """What `function` makes: the function itself, called as it is.

    Where a dataset calls it, it is traced like any other; called by itself it runs at once.
    """

    def __init__(self, python_function: Callable[..., Any], input_signature: Any = None) -> None:
        """Wraps `python_function`."""
        functools.update_wrapper(self, python_function, updated=())
        self.func = python_function
        self.python_function = python_function
        self.input_signature = input_signature

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Arguments become tensors, as in TensorFlow; so do the results."""
        args, kwargs = nest.map_structure(_argument, (args, kwargs), lists=True)
        if self.input_signature is not None:
            args = _bound(args, tuple(self.input_signature))
        try:
            made = self.func(*args, **kwargs)
        except StopIteration:  # of an iterator: a graph has no other way to end
            raise OutOfRangeError("End of sequence") from None
        return nest.map_structure(_result, made, lists=True)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """As a method: bound to its object."""
        return self if instance is None else functools.partial(self, instance)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> Function:
        """The function itself: it is not specialised."""
        return self

    def __repr__(self) -> str:
        """Its name."""
        return f"<spillway.tf.function {self.func!r}>"


def _bound(args: tuple[Any, ...], signature: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments as tensors of the signature, which leaves out a method's object."""
    first = max(len(args) - len(signature), 0)
    bound = [_cast(arg, spec) for arg, spec in zip(args[first:], signature, strict=False)]
    return (*args[:first], *bound)


def _cast(value: Any, spec: Any) -> Any:
    if not isinstance(spec, TensorSpec):
        return value
    tensor = value if is_tensor(value) else to_tensor(value, spec.dtype.name)
    if not spec.is_compatible_with(tensor):
        raise TypeError(
            "Binding inputs to tf.function failed due to `Can not cast "
            f"{TensorSpec.from_tensor(tensor)} to {spec}`."
        )
    return tensor


def _argument(value: Any) -> Any:
    return to_tensor(value) if isinstance(value, np.ndarray) else value


def _result(value: Any) -> Any:
    if isinstance(value, (bool, int, float, complex, str, bytes, np.ndarray, np.generic)):
        return to_tensor(value)
    return value


def function(
    func: Any = None,
    input_signature: Any = None,
    autograph: bool = True,
    jit_compile: Any = None,
    reduce_retracing: bool = False,
    experimental_implements: Any = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Any = None,
    experimental_relax_shapes: Any = None,
    experimental_compile: Any = None,
    experimental_follow_type_hints: Any = None,
) -> Any:
    """A function of tensors, as a decorator or called.

    >>> @function
    ... def double(x):
    ...     return x * 2
    >>> double(to_tensor(4))
    Tensor(8, shape=(), dtype=int32)
    """
    if func is None:
        return lambda inner: Function(inner, input_signature)
    return Function(func, input_signature)


def _traced(values: Any, types: Any) -> Any:
    """Stands for the results inside a trace, whose function will run as Python; else None."""
    if not any(is_tensor(leaf) and leaf._symbolic for leaf in nest.flatten(values, lists=True)):
        return None
    opaque.note("calls a Python function of its own")

    def one(dtype: Any) -> Any:
        if isinstance(dtype, TensorSpec):
            return native.parameter(dtype.dtype.name, dtype.shape)
        return native.parameter(as_dtype(dtype).name, None)

    return [one(dtype) for dtype in types] if isinstance(types, (list, tuple)) else one(types)


def _typed(result: Any, types: Any) -> Any:
    """The result as tensors of the declared types."""
    if types is None or (isinstance(types, (list, tuple)) and not types):
        return None if types is None else []
    if not isinstance(types, (list, tuple)):
        return _one(result, types)
    parts = [result] if len(types) == 1 and not isinstance(result, (list, tuple)) else list(result)
    if len(parts) != len(types):
        refuse(
            "ValueError", f"the function returned {len(parts)} values, {len(types)} were declared"
        )
    made = [_one(part, dtype) for part, dtype in zip(parts, types, strict=True)]
    return made


def _one(value: Any, dtype: Any) -> Any:
    wanted = as_dtype(dtype.dtype if isinstance(dtype, TensorSpec) else dtype)
    if is_tensor(value):
        if value.dtype != wanted:
            refuse(
                "InvalidArgumentError", f"the function returned {value.dtype}, {wanted} declared"
            )
        return value
    made = np.asarray(value)
    typed = isinstance(value, (np.ndarray, np.generic)) and made.dtype.kind in "fiub"
    if typed and made.dtype != wanted.as_numpy_dtype:
        refuse(
            "InvalidArgumentError",
            f"pyfunc returned value of type {made.dtype}, but expects {wanted.name}",
        )
    return to_tensor(value, wanted.name)


def numpy_function(
    func: Any = None, inp: Any = None, Tout: Any = None, stateful: bool = True, name: Any = None
) -> Any:
    """Calls `func` with NumPy arrays, once; its results are tensors of the types `Tout`.

    >>> numpy_function(lambda a: a + 1, [to_tensor(1)], "int32")
    Tensor(2, shape=(), dtype=int32)
    """
    if (stand_in := _traced(inp, Tout)) is not None:
        return stand_in
    arguments = [value.numpy() if is_tensor(value) else to_tensor(value).numpy() for value in inp]
    return _typed(func(*arguments), Tout)


def py_function(func: Any = None, inp: Any = None, Tout: Any = None, name: Any = None) -> Any:
    """Calls `func` with tensors, once; its results are tensors of the types `Tout`.

    >>> py_function(lambda a: a.numpy() + 1, [to_tensor(1)], "int32")
    Tensor(2, shape=(), dtype=int32)
    """
    if (stand_in := _traced(inp, Tout)) is not None:
        return stand_in
    return _typed(func(*[to_tensor(value) for value in inp]), Tout)
