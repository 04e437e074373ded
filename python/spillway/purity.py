"""Whether a function may be called with traced tensors: by its bytecode, before any call.

Deny by default. What is stored outside the function, or used without being known to be without
effects, means that the function runs as Python, once an element. `effect(f)` says where and why.

>>> effect(lambda x: x * 2 + len("ab")) is None
True
>>> log = {"seen": []}
>>> effect(lambda x: log["seen"].append(x)).why
'calls append of something that was made outside'
"""

from __future__ import annotations

import functools
import inspect
import types
from dataclasses import dataclass
from typing import Any

from spillway import allowed
from spillway.bytecode import Walk
from spillway.labels import (
    OWN,
    PLAIN,
    UNKNOWN,
    Bound,
    Inner,
    Known,
    Value,
    harmless,
    holding,
    item,
    iterable,
    join,
    settle,
)
from spillway.lines import PACKAGE
from spillway.opcodes import DeniedError, Opcodes

_ROUNDS = 8


@dataclass(frozen=True)
class Effect:
    """What keeps a function from being traced."""

    why: str
    line: str


def effect(function: Any) -> Effect | None:
    """What the function might do beyond computing its result; None: nothing."""
    if isinstance(function, types.FunctionType) and allowed.callable(function):
        file = function.__code__.co_filename
        if file.startswith((PACKAGE, "<spillway")):
            return None  # `map(tf.square)`: an op may be called, so it may be handed in as well
    world = _World()
    try:
        for _ in range(_ROUNDS):
            world.begin()
            world.enter(function)
            if not world.changed:
                return None
    except DeniedError as denied:
        return Effect(*denied.args)
    return Effect("cannot be followed", "")


class _World:
    """What is known of all functions that are reached: grows until nothing is new."""

    def __init__(self) -> None:
        self.stored = settle(OWN).inside  # the worst that was put into something made inside
        self.cells: dict[Any, Any] = {}
        self.results: dict[Any, Any] = {}
        self.changed = False

    def begin(self) -> None:
        self.results, self.changed = {}, False

    # ---- What outlives a call ----------------------------------------------------------------

    def store(self, label: Any) -> None:
        level = max(self.stored, settle(label).inside)
        self.changed |= level != self.stored
        self.stored = level

    def cell(self, key: Any) -> Any:
        if isinstance(key, types.CellType):
            try:
                return Known(key.cell_contents)
            except ValueError:  # not assigned yet
                return UNKNOWN
        return self.cells.get(key, OWN)

    def assign_cell(self, key: Any, label: Any) -> None:
        old = self.cells.get(key)
        new = label if old is None else join(old, label)
        self.changed |= new != old
        self.cells[key] = new

    # ---- Functions ---------------------------------------------------------------------------

    def enter(self, function: Any) -> None:
        """The user's function, called with what nobody else has."""
        bound: list[Any] = []
        given: dict[str, Any] = {}
        while isinstance(function, functools.partial) or allowed.wrapper(function):
            if isinstance(function, functools.partial):
                bound = [Known(value) for value in function.args] + bound
                given = {name: Known(value) for name, value in function.keywords.items()} | given
            function = function.func
        if isinstance(function, types.MethodType):
            bound.insert(0, Known(function.__self__))
            function = function.__func__
        if not isinstance(function, types.FunctionType):
            call = inspect.getattr_static(type(function), "__call__", None)
            if not isinstance(call, types.FunctionType):
                raise DeniedError(f"is not a Python function: {type(function).__name__}", "")
            bound.insert(0, Known(function))
            function = call
        if function.__code__.co_flags & 0x20:
            raise DeniedError("is a generator or a coroutine", "")
        parameters, count = _parameters(function.__code__), function.__code__.co_argcount
        given |= dict(zip(parameters[:count], bound, strict=False))
        if function.__code__.co_flags & 0x0C:  # *args, **kwargs: what partial gave may go there
            rest = holding(given.values())
            given |= dict.fromkeys(parameters[count + function.__code__.co_kwonlyargcount :], rest)
        labels = {}
        for name in parameters:
            default = _defaults(function).get(name)
            labels[name] = given.get(name, OWN)
            if name not in given and default is not None:
                known = isinstance(default.value, types.FunctionType)
                labels[name] = default if known else join(OWN, default)
        self.walk(function, labels, 0)

    def walk(self, function: types.FunctionType, labels: dict[str, Any], depth: int) -> Any:
        code = function.__code__
        free = dict(zip(code.co_freevars, function.__closure__ or (), strict=False))
        return self.run(code, function.__globals__, free, labels, depth)

    def run(
        self,
        code: types.CodeType,
        names: dict[str, Any],
        free: dict[str, Any],
        labels: dict[str, Any],
        depth: int,
    ) -> Any:
        key = (code, tuple(labels.values()), tuple(map(id, free.values())))
        if key in self.results:
            return self.results[key]
        self.results[key] = UNKNOWN  # while it calls itself
        result = Walk(self, code, names, free, depth + 1).run(labels)
        self.results[key] = result
        return result

    # ---- Attributes --------------------------------------------------------------------------

    def attribute(self, walk: Opcodes, owner: Any, name: str) -> Any:
        if not isinstance(owner, Known):
            if settle(owner) == UNKNOWN:
                walk.deny(f"asks for {name} of something that cannot be known before it runs")
            return Bound(owner, name)
        value = owner.value
        if isinstance(value, types.ModuleType):
            if name in vars(value) or allowed.lazy_module(value):
                found = getattr(value, name, self)
                return UNKNOWN if found is self else Known(found)
            return UNKNOWN
        if allowed.ours(value if isinstance(value, type) else type(value)):
            return (
                Known(getattr(value, name, None)) if isinstance(value, type) else Bound(owner, name)
            )
        if harmless(value) and not isinstance(value, (type, types.FunctionType)):
            return Bound(owner, name)
        if isinstance(value, type):
            return self.of_class(value, name)
        return self.of_instance(walk, owner, name)

    def of_class(self, owner: type, name: str) -> Any:
        found = inspect.getattr_static(owner, name, None)
        if isinstance(found, staticmethod):
            return Known(found.__func__)
        if isinstance(found, classmethod):
            return Known(types.MethodType(found.__func__, owner))
        members = getattr(owner, "__members__", None)
        if isinstance(members, types.MappingProxyType) and name in members:
            return Known(members[name])
        plain = isinstance(found, types.FunctionType) or harmless(found)
        return Known(found) if plain else UNKNOWN

    def of_instance(self, walk: Opcodes, owner: Known, name: str) -> Any:
        value, kind = owner.value, type(owner.value)
        if isinstance(inspect.getattr_static(kind, "__getattribute__"), types.FunctionType):
            walk.deny(f"asks for {name} of a {kind.__name__}, which may have effects")
        found = inspect.getattr_static(kind, name, None)
        if isinstance(found, property):
            getter: Any = found.fget
            if not isinstance(getter, types.FunctionType):
                walk.deny(f"asks for {name} of a {kind.__name__}, which may have effects")
            return self.python(walk, getter, [owner], ())
        inside = getattr(value, "__dict__", {})
        if isinstance(inside, dict) and name in inside:
            return Known(inside[name])
        if isinstance(found, types.FunctionType):
            return Known(types.MethodType(found, value))
        if isinstance(found, (staticmethod, classmethod)):
            return self.of_class(kind, name)
        if isinstance(found, types.MemberDescriptorType):
            try:
                return Known(found.__get__(value))
            except AttributeError:
                return UNKNOWN
        if found is not None and harmless(found) and not hasattr(type(found), "__get__"):
            return Known(found)
        return Bound(owner, name)

    # ---- Calls -------------------------------------------------------------------------------

    def called(
        self, walk: Opcodes, callee: Any, args: list[Any], names: tuple[str, ...], spread: bool
    ) -> Any:
        if isinstance(callee, Inner):
            return self.inner(walk, callee, args, names, spread)
        if isinstance(callee, Bound):
            return self.method(walk, callee, args, names)
        if not isinstance(callee, Known):
            return walk.deny("calls something that cannot be known before it runs")
        value = callee.value
        if allowed.keeps_python(value):
            return OWN
        if (value is getattr or value is hasattr) and not names and not spread:
            return self.by_name(walk, value, args)
        wrapped = isinstance(value, functools.partial) or allowed.wrapper(value)
        if wrapped:
            if isinstance(value, functools.partial):
                args = [Known(each) for each in (*value.args, *value.keywords.values())] + args
                spread = spread or bool(value.keywords)
            return self.called(walk, Known(value.func), args, names, spread)
        if allowed.callable(value):
            return self.allowed(walk, value, args, names)
        if isinstance(value, types.MethodType):
            return self.called(
                walk, Known(value.__func__), [Known(value.__self__), *args], names, spread
            )
        if isinstance(value, types.FunctionType):
            return self.python(walk, value, args, names, spread)
        call = inspect.getattr_static(type(value), "__call__", None)
        if isinstance(call, types.FunctionType):
            return self.python(walk, call, [callee, *args], names, spread)
        owner = getattr(value, "__self__", None)
        if isinstance(value, types.BuiltinMethodType) and not isinstance(
            owner, (types.ModuleType, type(None))
        ):
            return self.method(walk, Bound(Known(owner), value.__name__), args, names)
        return walk.deny(f"calls {allowed.name_of(value)}, which may have effects")

    def python(
        self,
        walk: Opcodes,
        function: types.FunctionType,
        args: list[Any],
        names: tuple[str, ...],
        spread: bool = False,
    ) -> Any:
        labels = _bind(function.__code__, _defaults(function), args, names, spread)
        return self.walk(function, labels, walk.depth)

    def inner(
        self, walk: Opcodes, callee: Inner, args: list[Any], names: tuple[str, ...], spread: bool
    ) -> Any:
        kept = holding(item(label) for label in callee.defaults)
        defaults = dict.fromkeys(_parameters(callee.code), item(kept)) if callee.defaults else {}
        labels = _bind(callee.code, defaults, args, names, spread)
        return self.run(callee.code, walk.globals, dict(callee.free), labels, walk.depth)

    def by_name(self, walk: Opcodes, function: Any, args: list[Any]) -> Any:
        name = args[1] if len(args) > 1 else None
        if not (isinstance(name, Known) and isinstance(name.value, str)):
            walk.deny(f"calls {function.__name__} with a name that is not known")
            return UNKNOWN
        owner = args[0]
        if isinstance(owner, Known) and _lacks(owner.value, name.value):
            return args[2] if function is getattr and len(args) > 2 else OWN
        found = self.attribute(walk, owner, name.value)
        if function is hasattr:
            return OWN
        return join(found, args[2]) if len(args) > 2 else found

    def allowed(self, walk: Opcodes, value: Any, args: list[Any], names: tuple[str, ...]) -> Any:
        """A call of something that does no more than use what it is given."""
        if allowed.looks_only(value):
            return PLAIN if value is type else OWN
        for label in args:
            self.handed(walk, label, args, value)
        keywords = dict(zip(names, args[len(args) - len(names) :], strict=True)) if names else {}
        positional = len(args) - len(names)
        target = keywords.get("out")
        inputs = getattr(value, "nin", None)
        if isinstance(inputs, int) and positional > inputs:
            target = join(args[inputs], target) if target is not None else args[inputs]
        if allowed.changes_first(value) and args:
            target = args[0]
        if target is not None and target != Known(None):
            name = allowed.name_of(value)
            if isinstance(target, Known) or not settle(target).mine:
                walk.deny(f"calls {name}, which changes something that was made outside")
            self.store(item(holding(args)))
        if allowed.makes_numbers(value):
            return OWN
        made = holding(args)
        if allowed.hands_on(value) and made != OWN:
            return Value(False, made.inside)
        return made

    def handed(self, walk: Opcodes, label: Any, args: list[Any], to: Any) -> None:
        """What is given to a function of others: used there, and called if it can be."""
        others = item(holding(each for each in args if not isinstance(each, (Inner, Bound))))
        given = PLAIN if others == OWN else others
        if isinstance(label, Inner):
            self.inner(walk, label, [given], (), True)
        elif isinstance(label, Bound):
            if label.name in allowed.CHANGING or isinstance(label.owner, Known):
                self.method(walk, label, [given], ())
            else:
                walk.reads(label)
        elif isinstance(label, Known) and not isinstance(label.value, type):
            value = label.value
            function = isinstance(
                value, (types.FunctionType, types.MethodType, types.BuiltinFunctionType)
            )
            wrapped = isinstance(value, functools.partial) or allowed.wrapper(value)
            own_call = inspect.getattr_static(type(value), "__call__", None)
            if function or wrapped or isinstance(own_call, types.FunctionType):
                if not allowed.callable(value) or wrapped:
                    self.called(walk, label, [given], (), True)
            elif not (iterable(label) and allowed.hands_on_items(to)):
                walk.reads(label, f"hands {allowed.name_of(to)}")
        elif isinstance(label, Known):
            if not allowed.callable(label.value) and not allowed.takes_types(to):
                walk.deny(f"hands {allowed.name_of(to)} the class {label.value.__name__}")
        elif not (settle(label).mine and allowed.hands_on_items(to)):
            walk.reads(label, f"hands {allowed.name_of(to)}")

    def method(self, walk: Opcodes, callee: Bound, args: list[Any], names: tuple[str, ...]) -> Any:
        owner, name = callee.owner, callee.name
        for label in args:
            self.handed(walk, label, args, name)
        if isinstance(owner, Known):
            if not allowed.method(owner.value, name):
                walk.deny(f"calls {name} of something that was made outside")
        elif name in allowed.CHANGING:
            if not settle(owner).mine:
                walk.deny(f"calls {name} of something that was made outside")
            self.store(holding([holding(args), *map(item, args)]))
            return item(owner, self.stored)
        elif name not in allowed.METHODS:
            walk.deny(f"calls the method {name}, which may have effects")
        if "out" in names:
            walk.deny(f"calls {name}, which changes something that was made outside")
        if isinstance(owner, Known) and type(owner.value) is dict and name == "get" and args:
            found = walk.subscript(owner, args[0])
            return found if len(args) == 1 else join(found, args[1])
        made = holding([owner, *args])
        return made if made == OWN else Value(False, made.inside)


def _lacks(owner: Any, name: str) -> bool:
    if allowed.ours(type(owner)) or hasattr(type(owner), "__getattr__"):
        return False
    nothing = object()
    return inspect.getattr_static(owner, name, nothing) is nothing


def _parameters(code: types.CodeType) -> tuple[str, ...]:
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    return code.co_varnames[:count]


def _defaults(function: types.FunctionType) -> dict[str, Known]:
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    values = function.__defaults__ or ()
    found = dict(zip(names[len(names) - len(values) :], values, strict=True))
    found.update(function.__kwdefaults__ or {})
    return {name: Known(value) for name, value in found.items()}


def _bind(
    code: types.CodeType,
    defaults: dict[str, Any],
    args: list[Any],
    names: tuple[str, ...],
    spread: bool,
) -> dict[str, Any]:
    """Parameters and what they may be. `spread`: any argument may be any parameter."""
    parameters = _parameters(code)
    if spread:
        every = functools.reduce(join, args) if args else OWN
        return {
            name: join(every, defaults[name]) if name in defaults else every for name in parameters
        }
    count, keyword_only = code.co_argcount, code.co_kwonlyargcount
    labels: dict[str, Any] = {name: defaults.get(name, UNKNOWN) for name in parameters}
    positional = args[: len(args) - len(names)] if names else args
    labels.update(zip(parameters[:count], positional, strict=False))
    rest = [*positional[count:]]
    named = dict(zip(names, args[len(positional) :], strict=True))
    extra = []
    for name, label in named.items():
        if name in parameters[: count + keyword_only]:
            labels[name] = label
        else:
            extra.append(label)
    at = count + keyword_only
    if code.co_flags & 0x04:
        labels[parameters[at]] = holding(rest)
        at += 1
    if code.co_flags & 0x08:
        labels[parameters[at]] = holding(extra)
    return labels
