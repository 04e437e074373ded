# ruff: noqa: D105  (magic methods do what Python says)
"""Tensors inside a trace: nodes without values."""

from __future__ import annotations

import os
import sys
from typing import Any, NoReturn

import numpy as np

from spillway import opaque
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


class SymbolicTensor(Tensor):
    """A tensor whose value comes with a call of the traced function."""

    __slots__ = ()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise TraceBreak("needs the value of a traced tensor as a NumPy array")

    def __bool__(self) -> NoReturn:
        raise TraceBreak("needs the truth of a traced tensor")

    def __int__(self) -> int:
        return self.__index__()

    def __index__(self) -> int:
        # A size of a dataset that is made inside the trace: only its types will be looked at.
        caller = sys._getframe(1)
        if caller.f_code.co_name == "__int__" and caller.f_back is not None:
            caller = caller.f_back
        if caller.f_code.co_filename.startswith(_DATASETS):
            opaque.note(MAKES_DATASETS)
            return opaque.size()
        raise TraceBreak("needs the value of a traced tensor")

    def __len__(self) -> int:
        dims = self._dims
        if dims is None or (dims and dims[0] is None):
            raise TraceBreak("needs the length of a traced tensor")
        return super().__len__()

    def __repr__(self) -> str:
        return f"Tensor(traced, shape={self.shape}, dtype={self.dtype.name})"


def tracing_now() -> bool:
    """Whether a function is being traced on this thread: random ops then draw for each row."""
    return opaque.tracing()


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
