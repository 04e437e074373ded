"""What is known of a value while a function's bytecode is walked: whose it is, and what is in it.

>>> item(OWN) == OWN, item(join(OWN, PLAIN)) == PLAIN
(True, True)
>>> settle(Known(2.5)) == OWN, settle(Known([1, 2])) == PLAIN, settle(Known(object())) == UNKNOWN
(True, True, True)
"""

from __future__ import annotations

import functools
import types
from dataclasses import dataclass
from typing import Any

import numpy as np

from spillway import allowed, statics

_NOTHING, _HARMLESS, _ANYTHING = 0, 1, 2
_seen: dict[int, tuple[Any, bool]] = {}  # the object too: so that its id is not another's
_keys: dict[int, tuple[Any, bool]] = {}
_MOST_ITEMS = 10_000
_FEW = 32

_SCALARS = frozenset((bool, int, float, complex, str, bytes, type(None), type(...)))
_CONTAINERS = (list, tuple, dict, set, frozenset)
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType)


@dataclass(frozen=True)
class Value:
    """Some object. `mine`: made inside, so changing it is nobody's business. `inside`: what it may
    lead to beyond what was made inside: nothing, things whose operators and calls have no effects,
    or anything."""

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
        return type(other) is Known and self.value is other.value

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
    """A function made inside. `free`: where its free variables live; `names`: its globals."""

    code: types.CodeType
    defaults: tuple[Any, ...] = ()
    free: tuple[tuple[str, Any], ...] = ()
    names: Any = None


@dataclass(frozen=True)
class OneOf:
    """One of a few: what a loop over a captured list of functions gives."""

    labels: tuple[Any, ...]


@dataclass(frozen=True)
class Items:
    """Goes through a few."""

    labels: tuple[Any, ...]


@dataclass(frozen=True)
class Parent:
    """`super()`: the class that asks, and the object."""

    kind: Known
    instance: Known


def settle(label: Any) -> Value:
    """A label without identity."""
    if type(label) is Value:
        return label
    if type(label) is OneOf:
        joined: Value = join_all(map(settle, label.labels))
        return joined
    if type(label) is Items:
        return holding(label.labels)
    if type(label) is Known:
        if scalar(label.value):
            return OWN
        return PLAIN if harmless(label.value) else UNKNOWN
    if type(label) is Bound:
        if label.name in allowed.NOT_KEPT or label.name.startswith("__"):
            return UNKNOWN  # who gets it may call it
        owner = settle(label.owner)
        return owner if owner == OWN else Value(False, owner.inside)
    return UNKNOWN


def join(a: Any, b: Any) -> Any:
    """Either of the two."""
    if a == b:
        return a
    a, b = settle(a), settle(b)
    return Value(a.mine and b.mine, max(a.inside, b.inside))


def join_all(labels: Any) -> Any:
    """One of these."""
    return functools.reduce(join, labels)


def items_of(owner: Any) -> Any:
    """What a captured list or tuple of a few has in it, one by one; None: it has too many."""
    if (
        type(owner) is Known
        and statics.kind_of(owner.value) in (list, tuple)
        and 0 < len(owner.value) <= _FEW
    ):
        return Items(tuple(map(Known, owner.value)))
    return None


def holding(labels: Any) -> Value:
    """A new object made of others."""
    return Value(True, max((settle(label).inside for label in labels), default=_NOTHING))


def handed_on(label: Value, stored: int = _NOTHING) -> Value:
    """One of the objects that something was made of, or a part of one, or it itself."""
    level = max(label.inside, stored)
    return OWN if level == _NOTHING else Value(False, level)


def item(label: Any, stored: int = _NOTHING) -> Value:
    """What comes out of it. `stored`: the worst that was put into anything made inside."""
    level = max(settle(label).inside, stored)
    return (OWN, PLAIN, UNKNOWN)[level]


def within(label: Value, stored: int) -> Value:
    """The same, when this was put into something made inside, which it may be."""
    return Value(label.mine, max(label.inside, stored))


def readable(label: Any, stored: int = _NOTHING) -> bool:
    """Whether its operators, its text, its truth and its length are Python's own or ours."""
    if type(label) is OneOf:
        return all(readable(each, stored) for each in label.labels)
    if type(label) is Known:
        kind = statics.kind_of(label.value)
        if kind in _FUNCTIONS or kind is types.ModuleType or kind is types.MethodType:
            return True
        if statics.ordinary(label.value) or statics.bland(kind):
            return True
    return max(settle(label).inside, stored) < _ANYTHING


def iterable(label: Any) -> bool:
    """Whether going through it leaves it as it was."""
    if type(label) is Known:
        return statics.kind_of(label.value) in _CONTAINERS or harmless(label.value)
    return settle(label) != UNKNOWN


def keys_are_plain(value: Any) -> bool:
    """Whether looking something up in this dict compares nothing of the user's."""
    found = _keys.get(id(value))
    if found is None or found[0] is not value:
        found = (
            value,
            all(type(key) is str for key in value)
            or (len(value) <= _MOST_ITEMS and all(map(scalar, value))),
        )
        _keys[id(value)] = found
    return found[1]


def may_change(label: Any) -> bool:
    """Whether `label += ...` could change an object of others instead of making a new one."""
    if type(label) is Known:
        value = label.value
        immutable = scalar(value) or statics.kind_of(value) in (range, slice, tuple, frozenset)
        return not immutable and not allowed.ours(type(value))
    return not settle(label).mine


def scalar(value: Any) -> bool:
    """Whether it cannot be changed and its operators are Python's or NumPy's own."""
    kind = statics.kind_of(value)
    return kind in _SCALARS or allowed.of_numpy(kind) or statics.enumerated(kind)


def forget() -> None:
    """What is harmless now may not be later."""
    _seen.clear()
    _keys.clear()


def harmless(value: Any) -> bool:
    """Whether using it, or calling it, runs no code but Python's, NumPy's and ours, all the way
    down, and leaves everything as it was."""
    found = _seen.get(id(value))
    if found is None or found[0] is not value:
        found = value, _harmless(value, [0], 0)
        _seen[id(value)] = found
    return found[1]


def _harmless(value: Any, count: list[int], depth: int) -> bool:
    count[0] += 1
    if count[0] > _MOST_ITEMS or depth > 8:
        return False
    kind = statics.kind_of(value)
    if kind in _SCALARS or kind in (slice, range) or scalar(value):
        return True
    if kind in (np.ndarray, np.memmap):
        return not value.dtype.hasobject
    if kind is dict:
        return all(
            _harmless(key, count, depth + 1) and _harmless(entry, count, depth + 1)
            for key, entry in value.items()
        )
    if kind in _CONTAINERS or statics.named_tuple(kind):
        return all(_harmless(entry, count, depth + 1) for entry in value)
    if allowed.ours(kind):
        return not allowed.stateful(kind) and not allowed.wrapper(value)
    return (kind in _FUNCTIONS or issubclass(kind, type)) and allowed.callable(value)


class State:
    """The stack and the locals before an instruction."""

    def __init__(self, stack: list[Any], names: dict[str, Any]) -> None:
        """Both are the state's own."""
        self.stack, self.names = stack, names

    def copy(self) -> State:
        """One that changes by itself."""
        return State(list(self.stack), dict(self.names))

    def merge(self, other: State) -> bool:
        """Takes in another way to get here. Whether anything is new."""
        stack = [join(a, b) for a, b in zip(self.stack, other.stack, strict=True)]
        names = {
            name: join(self.names[name], other.names[name])
            if name in self.names and name in other.names
            else self.names.get(name, other.names.get(name))
            for name in {**self.names, **other.names}
        }
        changed = stack != self.stack or names != self.names
        self.stack, self.names = stack, names
        return changed
