# ruff: noqa: N803  (TensorFlow's own names)
"""Python functions among tensors: `function`, `py_function`, `numpy_function`."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from spillway import modes, nest, opaque
from spillway.dtypes import as_dtype
from spillway.native_ops import native
from spillway.sessions.function import Function, function
from spillway.sessions.ordering import called
from spillway.specs import TensorSpec
from spillway.tensor_convert import is_tensor, refuse, to_tensor

__all__ = ["Function", "function", "numpy_function", "py_function"]


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


def _stand_in(func: Any, values: Any, types: Any, arrays: bool) -> Any:
    """Stands for the results where the values are not known yet; None: they are."""
    graph = modes.graph()
    if graph is None:
        return _traced(values, types)
    single = not isinstance(types, (list, tuple))

    def call(given: list[Any]) -> list[Any]:
        made = _typed(func(*[x.numpy() for x in given] if arrays else given), types)
        return [made] if single else list(made or ())

    wanted = [types] if single else list(types)
    specs = [
        (dtype.dtype.name, dtype.shape)
        if isinstance(dtype, TensorSpec)
        else (as_dtype(dtype).name, None)
        for dtype in wanted
    ]
    made = called(graph, call, list(values), specs, "PyFunc" if arrays else "EagerPyFunc")
    return made[0] if single else made


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
    typed = isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fiub"
    if typed and value.dtype != wanted.as_numpy_dtype:
        refuse(
            "InvalidArgumentError",
            f"pyfunc returned value of type {value.dtype}, but expects {wanted.name}",
        )
    return to_tensor(value, wanted.name)


def _decorator(op: Any, func: Any, inp: Any, types: Any) -> Any:
    """What `op` is without a function: a decorator. None: there is one to call now."""
    name = f"tf.{op.__name__}"
    if types is None:
        raise TypeError(
            f"Missing required argument: 'Tout'. Pass the types of the results, "
            f"`{name}(func, inp, Tout)`; as a decorator by name: `@{name}(Tout=...)`"
        )
    if func is not None:
        if inp is None:
            raise TypeError(
                f"Missing argument `inp`: `{name}` needs the list of arguments of the function, "
                "unless it is used as a decorator (`func=None`)"
            )
        return None
    if inp is not None:
        raise TypeError(
            f"Don't set the `inp` argument when using {name} as a decorator (`func=None`): the "
            "arguments are those of each call"
        )

    def decorate(function: Any) -> Any:
        @functools.wraps(function)
        def called_with(*args: Any) -> Any:
            return op(function, args, types)

        return called_with

    return decorate


def numpy_function(
    func: Any = None, inp: Any = None, Tout: Any = None, stateful: bool = True, name: Any = None
) -> Any:
    """Calls `func` with NumPy arrays, once; its results are tensors of the types `Tout`.

    >>> numpy_function(lambda a: a + 1, [to_tensor(1)], "int32")
    Tensor(2, shape=(), dtype=int32)

    Without `func` and `inp` it is a decorator:

    >>> @numpy_function(Tout="int32")
    ... def more(a):
    ...     return a + 1
    >>> more(to_tensor(1))
    Tensor(2, shape=(), dtype=int32)
    """
    if (decorator := _decorator(numpy_function, func, inp, Tout)) is not None:
        return decorator
    if (stand_in := _stand_in(func, inp, Tout, True)) is not None:
        return stand_in
    arguments = [value.numpy() if is_tensor(value) else to_tensor(value).numpy() for value in inp]
    return _typed(func(*arguments), Tout)


def py_function(func: Any = None, inp: Any = None, Tout: Any = None, name: Any = None) -> Any:
    """Calls `func` with tensors, once; its results are tensors of the types `Tout`.

    Without `func` and `inp` it is a decorator, as `numpy_function` is.

    >>> py_function(lambda a: a.numpy() + 1, [to_tensor(1)], "int32")
    Tensor(2, shape=(), dtype=int32)
    """
    if (decorator := _decorator(py_function, func, inp, Tout)) is not None:
        return decorator
    if (stand_in := _stand_in(func, inp, Tout, False)) is not None:
        return stand_in
    return _typed(func(*[to_tensor(value) for value in inp]), Tout)
