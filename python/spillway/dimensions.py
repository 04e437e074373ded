# ruff: noqa: D105, D107  (magic methods do what Python says)
"""One dimension of a shape."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from spillway.shown import shown


def dimension(value: Any) -> int | None:
    """The length of one dimension, or None where it is unknown.

    >>> dimension(3), dimension(Dimension(None))
    (3, None)
    """
    value = getattr(value, "value", value)  # a Dimension, TensorFlow's too
    if value is None:
        return None
    try:
        size = operator.index(value)
    except TypeError:
        raise TypeError(
            "Dimension value must be integer or None or have an __index__ method, got value "
            f"{shown(value)} with type {type(value)!r}"
        ) from None
    if size < 0:
        raise ValueError(f"Dimension {size} must be >= 0")
    return size


class Dimension:
    """One dimension as TensorFlow 1 had it: unknown ones make every result unknown.

    >>> Dimension(3) + 4, Dimension(None) * 2, Dimension(None) == 3
    (Dimension(7), Dimension(None), None)
    """

    __slots__ = ("value",)

    value: int | None

    def __init__(self, value: Any) -> None:
        self.value = dimension(value)

    def is_compatible_with(self, other: Any) -> bool:
        """Whether both may be the same length."""
        size = dimension(other)
        return self.value is None or size is None or self.value == size

    def merge_with(self, other: Any) -> Dimension:
        """What both know together; ValueError when they differ."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {Dimension(other)} are not compatible")
        return Dimension(other if self.value is None else self.value)

    def __int__(self) -> int:
        return operator.index(self)

    def __index__(self) -> int:
        if self.value is None:
            raise TypeError("an unknown Dimension is no integer")
        return self.value

    def __bool__(self) -> bool:
        return bool(self.value)

    def __hash__(self) -> int:
        return hash(self.value)

    def __str__(self) -> str:
        return "?" if self.value is None else str(self.value)

    def __repr__(self) -> str:
        return f"Dimension({self.value!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Dimension, (self.value,)


def _operator(compute: Callable[[Any, Any], Any], swap: bool, wrap: bool) -> Any:
    def method(self: Dimension, other: Any) -> Any:
        try:
            a, b = self.value, dimension(other)
        except (TypeError, ValueError):
            return NotImplemented
        if a is None or b is None:
            return Dimension(None) if wrap else None
        found = compute(b, a) if swap else compute(a, b)
        return Dimension(found) if wrap else found

    return method


for _name in ("add", "sub", "mul", "floordiv", "mod"):
    setattr(Dimension, f"__{_name}__", _operator(getattr(operator, _name), False, True))
    setattr(Dimension, f"__r{_name}__", _operator(getattr(operator, _name), True, True))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Dimension, f"__{_name}__", _operator(getattr(operator, _name), False, False))
