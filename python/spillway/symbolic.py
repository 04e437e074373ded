"""Tensors inside a trace: nodes without values."""

from __future__ import annotations

from typing import Any, NoReturn

from spillway import opaque
from spillway.tensor import Tensor


class TraceBreak(Exception):
    """A traced function needs a value, or does what a graph cannot: it runs as Python instead."""


class SymbolicTensor(Tensor):
    """A tensor whose value comes with a call of the traced function."""

    __slots__ = ()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise TraceBreak("needs the value of a traced tensor as a NumPy array")

    def __bool__(self) -> NoReturn:
        raise TraceBreak("needs the truth of a traced tensor")

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
