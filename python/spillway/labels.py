"""What is known of a value while a function's bytecode is walked: whose it is, and what is in it.

>>> item(OWN) == OWN, item(join(OWN, PLAIN)) == PLAIN
(True, True)
>>> settle(Known(2.5)) == OWN, settle(Known([1, 2])) == PLAIN, settle(Known(object())) == UNKNOWN
(True, True, True)
"""

from __future__ import annotations

import abc
import enum
import types
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spillway import allowed

_NOTHING, _HARMLESS, _ANYTHING = 0, 1, 2
_MOST_ITEMS = 10_000

_SCALARS = (bool, int, float, complex, str, bytes, type(None), type(...))
_CONTAINERS = (list, tuple, dict, set, frozenset)
_CODE = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type)


@dataclass(frozen=True)
class Value:
    """Some object. `mine`: made inside, so changing it is nobody's business. `inside`: what it may
    lead to beyond what was made inside: nothing, things whose operators do what Python's do, or
    anything."""

    mine: bool
    inside: int


OWN = Value(True, _NOTHING)
PLAIN = Value(False, _HARMLESS)
UNKNOWN = Value(False, _ANYTHING)
NULL = "null"  # no value: beside a callable on the stack


@dataclass(frozen=True)
class Known:
    """This very object: a global, a captured variable, a constant, an item of one."""

    value: Any

    def __eq__(self, other: object) -> bool:
        """Whether it is the same object: its own == is the user's."""
        return isinstance(other, Known) and self.value is other.value

    def __hash__(self) -> int:
        """As ==."""
        return id(self.value)


@dataclass(frozen=True)
class Bound:
    """An attribute of something, which may be a method."""

    owner: Any
    name: str


@dataclass(frozen=True)
class Inner:
    """A function made inside. `free`: where its free variables live."""

    code: types.CodeType
    defaults: tuple[Any, ...] = ()
    free: tuple[tuple[str, Any], ...] = field(default=(), hash=False, compare=False)


def settle(label: Any) -> Value:
    """A label without identity."""
    if isinstance(label, Value):
        return label
    if isinstance(label, Known):
        if scalar(label.value):
            return OWN
        return PLAIN if harmless(label.value) else UNKNOWN
    if isinstance(label, Bound):
        owner = settle(label.owner)
        return owner if owner == OWN else Value(False, owner.inside)
    return UNKNOWN


def join(a: Any, b: Any) -> Any:
    """Either of the two."""
    if a == b:
        return a
    a, b = settle(a), settle(b)
    return Value(a.mine and b.mine, max(a.inside, b.inside))


def holding(labels: Any) -> Value:
    """A new object made of others. Functions made inside are looked at when they are put there."""
    levels = (_HARMLESS if isinstance(label, Inner) else settle(label).inside for label in labels)
    return Value(True, max(levels, default=_NOTHING))


def item(label: Any, stored: int = _NOTHING) -> Value:
    """What comes out of it. `stored`: the worst that was put into anything made inside."""
    level = max(settle(label).inside, stored)
    return (OWN, PLAIN, UNKNOWN)[level]


def readable(label: Any, stored: int = _NOTHING) -> bool:
    """Whether its operators, its text, its truth and its length are Python's own or ours."""
    return max(settle(label).inside, stored) < _ANYTHING


def iterable(label: Any) -> bool:
    """Whether going through it leaves it as it was."""
    if isinstance(label, Known):
        return type(label.value) in _CONTAINERS or (
            harmless(label.value) and not isinstance(label.value, _CODE)
        )
    return settle(label) != UNKNOWN


def may_change(label: Any) -> bool:
    """Whether `label += ...` could change an object of others instead of making a new one."""
    if isinstance(label, Known):
        value = label.value
        immutable = scalar(value) or type(value) in (range, slice, tuple, frozenset)
        return not immutable and not allowed.ours(type(value))
    return not settle(label).mine


def scalar(value: Any) -> bool:
    """Whether it cannot be changed and its operators are Python's or NumPy's own."""
    kind = type(value)
    if kind in _SCALARS or isinstance(value, (np.generic, np.dtype)):
        return True
    return isinstance(value, enum.Enum) and not _python_operators(kind)


def _python_operators(kind: type) -> bool:
    return any(
        isinstance(method, types.FunctionType) and name.startswith("__")
        for base in kind.__mro__
        if base.__module__ not in ("enum", "builtins")
        for name, method in vars(base).items()
        if method is not getattr(enum.Enum, name, None)
    )


def harmless(value: Any) -> bool:
    """Whether using it runs no code but Python's, NumPy's and ours, all the way down."""
    return _harmless(value, [0], 0)


def _harmless(value: Any, count: list[int], depth: int) -> bool:
    count[0] += 1
    if count[0] > _MOST_ITEMS or depth > 8:
        return False
    kind = type(value)
    if scalar(value) or kind in (slice, range):
        return True
    if kind in (np.ndarray, np.memmap):
        return not value.dtype.hasobject
    if isinstance(value, type):
        return kind in (type, enum.EnumMeta, abc.ABCMeta) or allowed.ours(value)
    if isinstance(value, _CODE) or allowed.ours(kind):
        return True
    if kind is dict:
        return all(
            _harmless(key, count, depth + 1) and _harmless(entry, count, depth + 1)
            for key, entry in value.items()
        )
    if kind in _CONTAINERS or allowed.named_tuple(kind):
        return all(_harmless(entry, count, depth + 1) for entry in value)
    return False
