"""Whether a function could change what it has captured: by its bytecode, before any call.

In a worker it would change copies, and nobody would see. Deny by default, as `purity` does, whose
walk this is; but effects that touch nothing captured (a file, a library's own state) are no matter
here. Functions that draw from `random` or `np.random` are denied, too: workers seed them for each
element.

>>> seen = []
>>> changes(lambda x: seen.append(x)).why
'calls append of a list that was made outside, which may change it'
>>> changes(lambda x: print(x) or x.numpy().tobytes()) is None
True
"""

from __future__ import annotations

import functools
import os
import pathlib
import random
import re
import sys
import sysconfig
import types
from typing import TYPE_CHECKING, Any

import numpy as np

from spillway import allowed, purity, statics
from spillway.bytecode import Walk
from spillway.labels import (
    OWN,
    Bound,
    Inner,
    Known,
    OneOf,
    handed_on,
    holding,
    item,
    scalar,
    settle,
)
from spillway.lines import PACKAGE

if TYPE_CHECKING:
    import dis

    from spillway.opcodes import Opcodes

_IMMUTABLE = (range, slice, re.Pattern, pathlib.PurePath, np.ufunc, types.ModuleType)
_FUNCTIONS = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    functools.partial,
)
_GENERATORS = (random.Random, np.random.Generator, np.random.RandomState)
_DRAWS = "draws random numbers, which a worker seeds anew for each element"
_COROUTINES = 0x80 | 0x200


def changes(function: Any) -> purity.Effect | None:
    """What the function might change of what it has captured, or draw; None: nothing."""
    if not callable(function):  # a list, as a generator: what it holds is only read
        return None
    return purity.followed(_Captures(), function)


class _Reading(Walk):
    """The walk, where operators and conversions may be anybody's: they change nothing."""

    def reads(self, label: Any, what: str = "uses") -> None:
        """Whatever it is."""

    def truth(self, label: Any) -> None:
        """Whatever it is."""

    def iterates(self, label: Any) -> None:
        """Refuses to advance an iterator that was captured."""
        if isinstance(label, Known) and statics.find(type(label.value), "__next__") is not (
            statics.MISSING
        ):
            self.deny(f"advances {_noun(label)}")

    def step(self, i: dis.Instruction) -> bool:
        """Runs an instruction; contexts and `yield from` may be."""
        own = {
            "BEFORE_WITH": self._enters,
            "WITH_EXCEPT_START": self._leaves,
            "GET_YIELD_FROM_ITER": self._get_iter,
            "SEND": self._sends,
            "END_SEND": self._sent,
        }.get(i.opname)
        if own is None:
            return super().step(i)
        own(i)
        return True

    def _enters(self, i: dis.Instruction) -> None:
        owner = self.pop()
        if _exposed(owner):
            self.deny(f"enters {_noun(owner)}, which may change it")
        self.push(OWN, OWN)

    def _leaves(self, i: dis.Instruction) -> None:
        self.push(OWN)

    def _sends(self, i: dis.Instruction) -> None:
        self.pop()
        after = self.state.copy()
        if sys.version_info < (3, 12):
            after.stack.pop()
        after.stack.append(OWN)
        self.jumps.append((i.argval, after))
        self.push(self.item(self.state.stack[-1]))

    def _sent(self, i: dis.Instruction) -> None:
        value = self.pop()
        self.pop()
        self.push(value)

    def _raise_varargs(self, i: dis.Instruction) -> bool:
        self.take(i.arg or 0)
        return False

    def _import_name(self, i: dis.Instruction) -> None:
        self.take(2)
        name = str(i.argval)
        if name == "random" or name.startswith("numpy.random"):
            self.deny(_DRAWS)
        found = sys.modules.get(name.partition(".")[0])
        self.push(OWN if found is None else Known(found))


class _Captures(purity.World):
    """What is reached: the user's functions are walked through, others are taken as they are."""

    walker = _Reading
    refused = 0

    def judge(self, result: Any) -> purity.Effect | None:
        """Results are copied in any case."""
        return None

    # ---- Attributes --------------------------------------------------------------------------

    def attribute(self, walk: Opcodes, owner: Any, name: str) -> Any:
        """An attribute, or a method to be called."""
        if isinstance(owner, OneOf):
            return OneOf(tuple(self.attribute(walk, each, name) for each in owner.labels))
        if not isinstance(owner, Known):
            return Bound(settle(owner), name)
        value = owner.value
        if _draws(value):
            walk.deny(_DRAWS)
        found: Any = statics.MISSING
        if type(value) is types.ModuleType:
            found = vars(value).get(name, statics.MISSING)
            label: Any = OWN if found is statics.MISSING else Known(found)
        elif statics.is_a(value, type) or _immutable(value):
            return Bound(owner, name)
        else:
            label = self._of_object(owner, name)
        if isinstance(label, Known) and _draws(label.value):
            walk.deny(_DRAWS)
        return label

    def _of_object(self, owner: Known, name: str) -> Any:
        fields = statics.fields(owner.value) or {}
        if name in fields:
            return Known(fields[name])
        found = statics.find(type(owner.value), name)
        if type(found) is types.FunctionType:
            return Known(types.MethodType(found, owner.value))
        return Bound(owner, name)

    # ---- Calls -------------------------------------------------------------------------------

    def called(
        self, walk: Opcodes, callee: Any, args: list[Any], names: tuple[str, ...], spread: bool
    ) -> Any:
        """The result of a call."""
        if isinstance(callee, Known):
            return self._known(walk, callee, args, names, spread)
        if isinstance(callee, Inner | OneOf | Bound):
            return super().called(walk, callee, args, names, spread)
        if _exposed(callee):
            walk.deny("calls something that was made outside, which may change it")
        return self._by_others(walk, "something", args)

    def _known(
        self, walk: Opcodes, callee: Known, args: list[Any], names: tuple[str, ...], spread: bool
    ) -> Any:
        value = callee.value
        if _draws(value):
            walk.deny(_DRAWS)
        call = statics.find(type(value), "__call__")
        if type(value) is types.FunctionType and _is_users(value):
            return self.python(walk, value, args, names, spread)
        inner: Any = value.__func__ if type(value) is types.MethodType else None
        if inner is not None and _is_users(inner):
            return self.python(walk, inner, [Known(value.__self__), *args], names, spread)
        if type(value) is functools.partial or allowed.wrapper(value):
            return super().called(walk, callee, args, names, spread)
        if (value is getattr or value is hasattr) and not names and not spread:
            return self.by_name(walk, value, args)
        if type(call) is types.FunctionType and _is_users(call):
            return self.python(walk, call, [callee, *args], names, spread)
        if allowed.callable(value) and not allowed.looks_only(value):
            return self.allowed(walk, value, args, names, spread)
        if allowed.looks_only(value) or value is print:
            return OWN
        owner = getattr(value, "__self__", None)
        if type(value) in (types.BuiltinMethodType, types.MethodType) and not isinstance(
            owner, types.ModuleType | type(None)
        ):
            bound = Bound(Known(owner), str(value.__name__))
            return self.method(walk, bound, args, names, spread)
        if not isinstance(value, (type, *_FUNCTIONS)) and not _immutable(value):
            walk.deny(f"calls {_noun(callee)}, which may change it")
        return self._by_others(walk, allowed.name_of(value), args)

    def _by_others(self, walk: Opcodes, name: str, args: list[Any]) -> Any:
        """A call of what nobody has looked at: it may change what it is given."""
        for label in args:
            if _exposed(self.handed(walk, label, args, name)):
                walk.deny(f"hands {name} {_noun(label)}, which it may change")
        return OWN

    def handed(self, walk: Opcodes, label: Any, args: list[Any], to: Any) -> Any:
        """What comes of a value that is given to others: a function may be called there."""
        others = [each for each in args if not isinstance(each, Inner | Bound)]
        result = self.calls(walk, label, item(holding(others), self.stored), len(others))
        return label if result is None else OWN

    def method(
        self, walk: Opcodes, callee: Bound, args: list[Any], names: tuple[str, ...], spread: bool
    ) -> Any:
        """A call of a method that nobody has looked at."""
        owner, name = callee.owner, callee.name
        given = [self.handed(walk, label, [owner, *args], name) for label in args]
        at = allowed.method_out_at(name)
        if ("out" in names or len(args) - len(names) > at) and any(map(_exposed, args)):
            walk.deny(f"calls {name}, which changes something that was made outside")
        if isinstance(owner, Known):
            if statics.is_a(owner.value, type):
                return self._by_others(walk, f"{owner.value.__name__}.{name}", args)
            if not _immutable(owner.value) and not allowed.method(owner.value, name):
                walk.deny(f"calls {name} of {_noun(owner)}, which may change it")
            return handed_on(holding([owner, *given]), self.stored)
        if name in allowed.CHANGING and settle(owner).mine:
            self.store(holding([holding(given), *map(item, given)]))
            return item(owner, self.stored)
        if name not in allowed.METHODS:
            if _exposed(owner):
                walk.deny(f"calls {name} of something that was made outside, which may change it")
            for label in given:
                if _exposed(label):
                    walk.deny(f"hands {name} {_noun(label)}, which it may change")
        return handed_on(holding([owner, *given]), self.stored)


def _exposed(label: Any) -> bool:
    """Whether it may be, or hold, something captured that can be changed."""
    if isinstance(label, OneOf):
        return any(map(_exposed, label.labels))
    if isinstance(label, Known):
        return not _immutable(label.value)
    if isinstance(label, Inner):
        return False  # called where it is handed on
    if isinstance(label, Bound):
        return _exposed(label.owner)
    return settle(label).inside > 0


def _immutable(value: Any) -> bool:
    """Whether nobody can change it."""
    if scalar(value) or isinstance(value, _IMMUTABLE) or statics.is_a(value, type):
        return True
    kind = statics.kind_of(value)
    if kind in (tuple, frozenset) or statics.named_tuple(kind):
        return len(value) < 1000 and all(map(_immutable, value))
    if kind is np.ndarray:
        return not value.flags.writeable and value.base is None
    if kind is types.MethodType:
        return _immutable(value.__self__)
    return kind in _FUNCTIONS or (allowed.ours(kind) and not allowed.stateful(kind))


def _draws(value: Any) -> bool:
    if type(value) is types.ModuleType:
        return value.__name__ in ("random", "numpy.random")
    owner = getattr(value, "__self__", None) if callable(value) else value
    return isinstance(owner, _GENERATORS) or (
        isinstance(value, type) and issubclass(value, _GENERATORS)
    )


def _noun(label: Any) -> str:
    if isinstance(label, Known):
        return f"a {statics.name(type(label.value))} that was made outside"
    return "something that was made outside"


@functools.cache
def _libraries() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    kinds = ("stdlib", "platstdlib", "purelib", "platlib")
    return (PACKAGE, "<frozen", *{os.path.join(paths[kind], "") for kind in kinds})


def _is_users(function: Any) -> bool:
    """Whether it is a function of the user's own, and no library's."""
    if type(function) is not types.FunctionType:
        return False
    return not function.__code__.co_filename.startswith(_libraries())
