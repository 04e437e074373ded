"""The table: a function of TensorFlow, how its arguments are drawn, how near its floats must be.

A case is a Python expression over operands `a`, `b` ... and literals. `ulps` bounds the distance of
floats in units of the last place of the result's dtype; with `scaled`, of the largest operand times
the number of items, for sums that may cancel. 0 is bit equality (NaNs are equal).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .draw import Draw

Expression = Callable[[Draw, str], str]


@dataclass(frozen=True)
class Case:
    """One function of TensorFlow."""

    path: str
    write: Expression
    ulps: float = 0
    scaled: bool = False
    weight: int = 1
    loose: bool = False  # values are random: only dtype and shape are compared


TABLE: dict[str, Case] = {}


def case(
    paths: str, ulps: float = 0, scaled: bool = False, weight: int = 1, loose: bool = False
) -> Callable[[Expression], Expression]:
    """Enters functions that take the same arguments."""

    def enter(write: Expression) -> Expression:
        for path in paths.split():
            TABLE[path] = Case(path, write, ulps, scaled, weight, loose)
        return write

    return enter


# Functions that are no ops on tensors, and why they are not in the table.
ELSEWHERE = {
    "as_dtype": "types",
    "broadcast_static_shape": "shapes",
    "control_dependencies": "a scope",
    "device": "a scope",
    "executing_eagerly": "a question",
    "function": "function programs",
    "get_static_value": "a question",
    "group": "nothing",
    "init_scope": "a scope",
    "io.matching_files": "files",
    "io.read_file": "files",
    "io.write_file": "files",
    "is_tensor": "a question",
    "name_scope": "a scope",
    "no_op": "nothing",
    "random.set_seed": "a setting",
}
