# ruff: noqa: D105  (magic methods do what Python says)
"""Tensors inside a trace: nodes without values."""

from __future__ import annotations

import os
import sys
from typing import Any, NoReturn

import numpy as np

from spillway import modes, opaque
from spillway.lines import PACKAGE
from spillway.tensor import Tensor

MAKES_DATASETS = "makes datasets, which Python puts together for each element"
_DATASETS = tuple(
    os.path.join(PACKAGE, *name.split("/"))
    for name in (
        "dataset.py",
        "building.py",
        "templates.py",
        "tf/data/dataset.py",
        "tf/data/experimental.py",
    )
)


class TraceBreak(Exception):  # noqa: N818  (not an error: a way out)
    """A traced function needs a value, or does what a graph cannot: it runs as Python instead."""


def _no_value(traced: str, written: type[Exception], why: str) -> NoReturn:
    """A traced function runs as Python then; in a graph there is no value before it runs."""
    if opaque.tracing():
        raise TraceBreak(traced)
    raise written(
        f"{why} It has no value before a session runs it: session.run(tensor), or tensor.eval()"
    )


class SymbolicTensor(Tensor):
    """A tensor whose value comes with a call of the traced function, or a run of its graph."""

    __slots__ = ()

    def numpy(self) -> NoReturn:
        """There is no value yet."""
        why = f"{self!r} is part of a graph: numpy() is only for values."
        _no_value("needs the value of a traced tensor", NotImplementedError, why)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        why = f"Cannot convert a symbolic tf.Tensor ({self!r}) to a numpy array."
        _no_value("needs the value of a traced tensor as a NumPy array", NotImplementedError, why)

    def __bool__(self) -> NoReturn:
        why = "Using a symbolic `tf.Tensor` as a Python `bool` is not allowed: use tf.cond."
        _no_value("needs the truth of a traced tensor", TypeError, why)

    def __int__(self) -> int:
        return self.__index__()

    def __float__(self) -> NoReturn:
        why = f"{self!r} cannot become a Python float."
        _no_value("needs the value of a traced tensor", TypeError, why)

    def __complex__(self) -> NoReturn:
        why = f"{self!r} cannot become a Python complex."
        _no_value("needs the value of a traced tensor", TypeError, why)

    def __index__(self) -> int:
        # A size of a dataset that is made inside the trace: only its types will be looked at.
        caller = sys._getframe(1)
        if caller.f_code.co_name == "__int__" and caller.f_back is not None:
            caller = caller.f_back
        if opaque.tracing() and caller.f_code.co_filename.startswith(_DATASETS):
            opaque.note(MAKES_DATASETS)
            return opaque.size()
        why = f"{self!r} cannot become a Python integer."
        _no_value("needs the value of a traced tensor", TypeError, why)

    def __len__(self) -> int:
        dims = self._dims
        if dims is None or (dims and dims[0] is None):
            why = f"len is not well defined for a symbolic Tensor {self!r}: use tf.shape."
            _no_value("needs the length of a traced tensor", TypeError, why)
        return super().__len__()

    def __hash__(self) -> int:
        if opaque.tracing():
            return super().__hash__()
        return id(self)

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def __repr__(self) -> str:
        if opaque.tracing():
            return f"Tensor(traced, shape={self.shape}, dtype={self.dtype.name})"
        try:
            name = self.name
        except AttributeError:
            name = "symbolic"
        return f'Tensor("{name}", shape={self.shape}, dtype={self.dtype.name})'

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"{self!r} belongs to a graph and cannot travel: run it first")


def tracing_now() -> bool:
    """Whether a function is traced or a graph written here: random ops then draw for each row."""
    return modes.deferring()


def stand_in(value: Any) -> Any:
    """A value of the same type, for what is made inside a trace only to look at its types."""
    if not (isinstance(value, Tensor) and value._symbolic):
        return value
    opaque.note(MAKES_DATASETS)
    size = opaque.size()
    dims = (size,) * size if value._dims is None else value._dims
    shape = [size if dim is None else dim for dim in dims]
    if value.dtype.name == "string":
        return np.full(shape, b"", object)
    return np.zeros(shape, value.dtype.as_numpy_dtype)
