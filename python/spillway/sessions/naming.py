"""Names of nodes: which call of which function made them, and what that is called."""

from __future__ import annotations

import sys
from typing import Any

from spillway.arguments import COVERS
from spillway.lines import PACKAGE
from spillway.sessions.scopes import words

# TensorFlow's names for ops where capitals do not tell.
_TYPES = {
    "constant": "Const",
    "matmul": "MatMul",
    "random_normal": "RandomStandardNormal",
    "random_truncated_normal": "TruncatedNormal",
    "parameter": "Placeholder",
    "subtract": "Sub",
    "multiply": "Mul",
    "divide": "RealDiv",
    "reduce_sum": "Sum",
    "reduce_mean": "Mean",
    "reduce_max": "Max",
    "reduce_min": "Min",
    "reduce_prod": "Prod",
}
_OPERATORS = {"add": "add", "subtract": "sub", "multiply": "mul", "divide": "truediv"}
DEFAULTS = ("Const", "case", "switch_case")  # names nobody gave


class Written:
    """A node of a graph on its way to a name: which call of which function made it."""

    __slots__ = ("at", "base", "call", "given", "held", "op", "scope")

    def __init__(self, held: Any, op: str, scope: str) -> None:
        """`held`: its tensors."""
        self.held = held
        self.op = op
        self.scope = scope
        self.base = ""
        self.given = False
        self.call = 0
        self.at: tuple[int, ...] = ()


def same_call(before: Written, after: Written) -> bool:
    """Whether one call made both, one after the other."""
    return after.call != 0 and before.call == after.call and after.at > before.at


def type_of(op: str) -> str:
    """TensorFlow's name of an op, or ours with capitals.

    >>> type_of("matmul"), type_of("reverse_sequence")
    ('MatMul', 'ReverseSequence')
    """
    return _TYPES.get(op) or "".join(words(op))


def base_of(op: str, function: str) -> str:
    """What an op is called when nobody named it: by the function that was called."""
    if function.startswith("__"):
        return _OPERATORS.get(op, op)
    if function in ("normal", "uniform", "truncated_normal"):
        return f"random_{function}" if function != "truncated_normal" else function
    return type_of(op)


def frames() -> tuple[Any, Any, tuple[int, ...]]:
    """The function of this package that the user called, the user's frame, the way between them.

    The way only goes on within one call, so that two nodes of the same call can be told from those
    of two.
    """
    frame: Any = sys._getframe(2)
    outer = None
    way: list[int] = []
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(PACKAGE) and not file.startswith("<spillway"):
            return outer, frame, tuple(reversed(way))
        if file != COVERS:  # which only words the errors of what it calls
            outer = frame
            way.append(frame.f_lasti)
        frame = frame.f_back
    return outer, None, tuple(reversed(way))
