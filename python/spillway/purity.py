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

import collections
import enum
import functools
import types
from dataclasses import dataclass
from typing import Any

import numpy as np

from spillway import allowed, statics
from spillway.bytecode import Walk
from spillway.labels import (
    OWN,
    PLAIN,
    UNKNOWN,
    Bound,
    Inner,
    Items,
    Known,
    OneOf,
    Parent,
    forget,
    handed_on,
    harmless,
    holding,
    item,
    iterable,
    join,
    join_all,
    readable,
    settle,
    within,
)
from spillway.opcodes import DeniedError, Opcodes

_ROUNDS = 8
_STEPS = 30_000  # instructions, in all rounds
_LAYERS = 50
_FEW = 32
_CALLABLE = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, functools.partial)
_VALUES = frozenset(("shape", "dtype", "ndim", "size", "itemsize", "nbytes", "strides"))


@dataclass(frozen=True)
class Effect:
    """What keeps a function from being traced."""

    why: str
    line: str


def effect(function: Any) -> Effect | None:
    """What the function might do beyond computing its result; None: nothing."""
    if type(function) is types.FunctionType and allowed.callable(function):
        return None  # `map(tf.square)`: an op may be called, so it may be handed in as well
    return followed(World(), function)


def followed(world: World, function: Any) -> Effect | None:
    """What a world denies of a function; None: nothing."""
    forget()
    try:
        for _ in range(_ROUNDS):
            world.begin()
            result = world.enter(function)
            if not world.changed:
                return world.judge(result)
    except DeniedError as denied:
        return Effect(*denied.args)
    except RecursionError:
        pass
    finally:
        forget()
    return Effect("cannot be followed", "")


class World:
    """What is known of all functions that are reached: grows until nothing is new."""

    walker: type[Walk] = Walk
    refused = 0x20  # flags of code: generators

    def __init__(self) -> None:
        """Nothing yet."""
        self.stored = settle(OWN).inside  # the worst that was put into something made inside
        self.cells: dict[Any, Any] = {}
        self.results: dict[Any, Any] = {}
        self.earlier: dict[Any, Any] = {}  # of the last round
        self.assumed: set[Any] = set()
        self.views: dict[Any, Items] = {}
        self.changed = False
        self.steps = _STEPS

    def begin(self) -> None:
        """Another round, with what the last one learnt."""
        self.results, self.changed = {}, False

    def judge(self, result: Any) -> Effect | None:
        """What is wrong with the function's result."""
        if readable(result, self.stored):
            return None
        return Effect("returns something that cannot be known before it runs", "")

    # ---- What outlives a call ----------------------------------------------------------------

    def store(self, label: Any) -> None:
        """Something was put into an object made inside."""
        level = max(self.stored, settle(label).inside)
        self.changed |= level != self.stored
        self.stored = level

    def cell(self, key: Any) -> Any:
        """A variable that functions share."""
        if isinstance(key, Known):
            try:
                return Known(key.value.cell_contents)
            except ValueError:  # not assigned yet
                return UNKNOWN
        return self.cells.get(key, OWN)

    def assign_cell(self, key: Any, label: Any) -> None:
        """Such a variable may hold this."""
        old = self.cells.get(key)
        new = label if old is None else join(old, label)
        self.changed |= new != old
        self.cells[key] = new

    # ---- Functions ---------------------------------------------------------------------------

    def enter(self, function: Any) -> Any:
        """The user's function, called with what nobody else has."""
        bound: list[Any] = []
        given: dict[str, Any] = {}
        for _ in range(_LAYERS):
            if type(function) is functools.partial:
                bound = [Known(value) for value in function.args] + bound
                given = {name: Known(value) for name, value in function.keywords.items()} | given
            elif not allowed.wrapper(function):
                break
            function = function.func
        if type(function) is types.MethodType:
            bound.insert(0, Known(function.__self__))
            function = function.__func__
        if type(function) is not types.FunctionType:
            call = statics.find(type(function), "__call__")
            if type(call) is not types.FunctionType:
                name = statics.name(type(function))
                raise DeniedError(f"is not a Python function: {name}", "")
            bound.insert(0, Known(function))
            function = call
        if function.__code__.co_flags & self.refused:
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
                known = type(default.value) is types.FunctionType
                labels[name] = default if known else join(OWN, default)
        return self.walk(function, labels, 0)

    def walk(self, function: types.FunctionType, labels: dict[str, Any], depth: int) -> Any:
        """A function, called with these labels: what it returns."""
        code = function.__code__
        free = dict(zip(code.co_freevars, map(Known, function.__closure__ or ()), strict=False))
        return self.run(code, function.__globals__, free, labels, depth)

    def run(
        self,
        code: types.CodeType,
        names: dict[str, Any],
        free: dict[str, Any],
        labels: dict[str, Any],
        depth: int,
    ) -> Any:
        """The same for code, with the globals and the free variables it has."""
        key = (code, id(names), tuple(labels.values()), tuple(free.values()))
        if key in self.results:
            self.assumed.add(key)
            return self.results[key]
        before = self.earlier.get(key)
        self.results[key] = OWN if before is None else before  # while it calls itself
        result = self.walker(self, code, names, free, depth + 1).run(labels)
        if before is not None:
            result = join(before, result)
        self.earlier[key] = self.results[key] = result
        if key in self.assumed:
            self.changed |= result != (OWN if before is None else before)
        return result

    # ---- Attributes --------------------------------------------------------------------------

    def attribute(self, walk: Opcodes, owner: Any, name: str) -> Any:
        """An attribute, or a method to be called."""
        if isinstance(owner, OneOf):
            return OneOf(tuple(self.attribute(walk, each, name) for each in owner.labels))
        if isinstance(owner, Parent):
            found = statics.find_after(type(owner.instance.value), owner.kind.value, name)
            if found is statics.MISSING:
                walk.deny(f"asks for {name} of super()")
            return self.found(walk, found, type(owner.instance.value), owner.instance, name)
        if not isinstance(owner, Known):
            if settle(owner) == UNKNOWN:
                walk.deny(f"asks for {name} of something that cannot be known before it runs")
            return Bound(within(settle(owner), self.stored), name)
        value = owner.value
        kind = type(value)
        if kind is types.ModuleType:
            if name in vars(value):
                return Known(vars(value)[name])
            if allowed.lazy_module(value):
                return Known(getattr(value, name, None))
            walk.deny(f"asks for {name}, which the module {value.__name__} may make")
        if statics.is_a(value, type):
            return self.of_class(walk, value, name)
        if allowed.ours(kind):
            return Bound(owner, name)
        if kind is np.ndarray and name in _VALUES:
            return Known(getattr(value, name))
        if statics.python_class(kind) and not allowed.of_numpy(kind):
            return self.of_instance(walk, owner, name)
        if kind is types.FunctionType or not harmless(value):
            return self.of_instance(walk, owner, name)
        return Bound(owner, name)

    def of_class(self, walk: Opcodes, owner: type, name: str) -> Any:
        """An attribute of a class."""
        if allowed.ours(owner):
            return Known(getattr(owner, name, None))
        found = statics.find(owner, name)
        if name in ("__name__", "__qualname__") and type(owner) is type:
            return OWN
        if not statics.ordinary(owner) or found is statics.MISSING:
            walk.deny(f"asks the class {statics.name(owner)} for {name}, which may have effects")
        if issubclass(owner, enum.Enum) and name in owner._member_map_:
            return Known(owner._member_map_[name])
        return self.found(walk, found, owner, None, name)

    def of_instance(self, walk: Opcodes, owner: Known, name: str) -> Any:
        """An attribute of an object of a user's class."""
        value, kind = owner.value, type(owner.value)
        getter = statics.find(kind, "__getattribute__")
        found, inside = statics.find(kind, name), statics.fields(value)
        own_way = type(getter) is not types.WrapperDescriptorType
        if own_way or inside is None or not statics.ordinary(kind):
            walk.deny(f"asks for {name} of a {statics.name(kind)}, which may have effects")
            return UNKNOWN
        if name in ("name", "value") and type(found) is statics.OF_ENUM:
            return Known(inside[f"_{name}_"])
        overrides = type(found) is property or (
            statics.find(type(found), "__set__") is not statics.MISSING
        )
        if name in inside and not overrides:
            return Known(inside[name])
        if found is not statics.MISSING:
            return self.found(walk, found, kind, owner, name)
        asked = statics.find(kind, "__getattr__")
        if type(asked) is types.FunctionType:
            return self.python(walk, asked, [owner, Known(name)], ())
        if asked is not statics.MISSING:
            walk.deny(f"asks for {name} of a {statics.name(kind)}, which may have effects")
        return UNKNOWN  # raises an AttributeError

    def found(self, walk: Opcodes, found: Any, owner: type, instance: Any, name: str) -> Any:
        """What a class has under a name, asked for by the class or by one of its instances."""
        kind = statics.kind_of(found)
        if kind is staticmethod:
            return Known(found.__func__)
        if kind is classmethod and type(found.__func__) is types.FunctionType:
            return Known(types.MethodType(found.__func__, owner))
        if kind is types.FunctionType:
            if instance is None:
                return Known(found)
            inherited = found.__globals__ is vars(collections) and harmless(instance.value)
            if inherited:  # a namedtuple's own
                return Bound(instance, name)
            return Known(types.MethodType(found, instance.value))
        if kind is property and instance is not None and type(found.fget) is types.FunctionType:
            return self.python(walk, found.fget, [instance], ())
        if kind in (types.MemberDescriptorType, statics.OF_TUPLE) and instance is not None:
            try:
                return Known(found.__get__(instance.value))
            except AttributeError:
                return UNKNOWN
        if allowed.wrapper(found):
            return Known(found if instance is None else functools.partial(found, instance.value))
        if statics.find(type(found), "__get__") is statics.MISSING:
            return Known(found)
        if kind is property and instance is None:
            return UNKNOWN
        if name == "__class__" and instance is not None and found is vars(object)["__class__"]:
            return Known(owner)
        if kind in statics.OF_C:
            return UNKNOWN if instance is None else Bound(instance, name)
        return walk.deny(f"asks for {name} of a {statics.name(owner)}, which may have effects")

    # ---- Calls -------------------------------------------------------------------------------

    def called(
        self, walk: Opcodes, callee: Any, args: list[Any], names: tuple[str, ...], spread: bool
    ) -> Any:
        """The result of a call; `names` belong to the last arguments, `spread` to none."""
        if isinstance(callee, Inner):
            return self.inner(walk, callee, args, names, spread)
        if isinstance(callee, OneOf):
            results = [self.called(walk, each, args, names, spread) for each in callee.labels]
            return join_all(results)
        if isinstance(callee, Bound):
            return self.method(walk, callee, args, names, spread)
        if not isinstance(callee, Known):
            return walk.deny("calls something that cannot be known before it runs")
        value = callee.value
        kind = type(value)
        if allowed.keeps_python(value):
            for label in args[1:]:
                walk.reads(label, f"hands {allowed.name_of(value)}")
            return OWN
        if (value is getattr or value is hasattr) and not names and not spread:
            return self.by_name(walk, value, args)
        if kind is functools.partial:
            args = [*map(Known, value.args), *args, *map(Known, value.keywords.values())]
            names = (*names, *value.keywords)
            return self.called(walk, Known(value.func), args, names, spread)
        if allowed.wrapper(value):
            return self.called(walk, Known(value.func), args, names, spread)
        if value is super and not args:
            instance = walk.state.names.get(walk.code.co_varnames[0])
            return walk.parent(self.cell(walk.free.get("__class__")), instance)
        if allowed.looks_only(value):
            return self.looks(walk, value, args)
        if allowed.callable(value):
            return self.allowed(walk, value, args, names, spread)
        if kind is types.MethodType:
            return self.called(
                walk, Known(value.__func__), [Known(value.__self__), *args], names, spread
            )
        if kind is types.FunctionType:
            return self.python(walk, value, args, names, spread)
        call = statics.find(kind, "__call__")
        if type(call) is types.FunctionType:
            return self.python(walk, call, [callee, *args], names, spread)
        if kind is types.BuiltinMethodType and not statics.is_a(
            value.__self__, (types.ModuleType, type(None))
        ):
            return self.method(
                walk, Bound(Known(value.__self__), value.__name__), args, names, spread
            )
        return walk.deny(f"calls {allowed.name_of(value)}, which may have effects")

    def looks(self, walk: Opcodes, value: Any, args: list[Any]) -> Any:
        """`isinstance`, `type` ..., which ask nothing of most objects."""
        if value is type:
            if len(args) != 1:
                walk.deny("makes a class")
            only = args[0]
            return Known(type(only.value)) if isinstance(only, Known) else item(only, self.stored)
        if value is isinstance or value is issubclass:
            first, kinds = args if len(args) == 2 else (UNKNOWN, UNKNOWN)
            sure = item(kinds, self.stored) != UNKNOWN
            if isinstance(kinds, Known):
                sure = statics.checks_types(kinds.value) or allowed.ours(kinds.value)
            if isinstance(first, Known):
                own = statics.find(type(first.value), "__class__")
                sure = sure and own is vars(object)["__class__"]
            if not sure or (settle(first) == UNKNOWN and not isinstance(first, Known)):
                walk.deny(f"calls {value.__name__}, which may have effects")
        return OWN

    def python(
        self,
        walk: Opcodes,
        function: types.FunctionType,
        args: list[Any],
        names: tuple[str, ...],
        spread: bool = False,
    ) -> Any:
        """A call of a Python function, which is walked through."""
        labels = _bind(function.__code__, _defaults(function), args, names, spread)
        return self.walk(function, labels, walk.depth)

    def inner(
        self, walk: Opcodes, callee: Inner, args: list[Any], names: tuple[str, ...], spread: bool
    ) -> Any:
        """A call of a function made inside."""
        kept = holding(item(label) for label in callee.defaults)
        defaults = dict.fromkeys(_parameters(callee.code), item(kept)) if callee.defaults else {}
        labels = _bind(callee.code, defaults, args, names, spread)
        return self.run(callee.code, callee.names.value, dict(callee.free), labels, walk.depth)

    def by_name(self, walk: Opcodes, function: Any, args: list[Any]) -> Any:
        """`getattr` and `hasattr`."""
        name = args[1] if len(args) > 1 else None
        if not (isinstance(name, Known) and type(name.value) is str):
            walk.deny(f"calls {function.__name__} with a name that is not known")
            return UNKNOWN
        owner = args[0]
        if isinstance(owner, Known) and _lacks(owner.value, name.value):
            return args[2] if function is getattr and len(args) > 2 else OWN
        found = self.attribute(walk, owner, name.value)
        if function is hasattr:
            return OWN
        return join(found, args[2]) if len(args) > 2 else found

    def allowed(
        self, walk: Opcodes, value: Any, args: list[Any], names: tuple[str, ...], spread: bool
    ) -> Any:
        """A call of something that does no more than use what it is given."""
        given = [self.handed(walk, label, args, value) for label in args]
        made = holding(given)
        at, positional = allowed.out_at(value), len(args) - len(names)
        named = zip(names, args[positional:], strict=True)
        targets = [label for name, label in named if name == "out"]
        if at is not None:
            targets += args if spread else args[at:positional]
        for target in targets:
            if target != Known(None) and item(target, self.stored) != OWN:
                name = allowed.name_of(value)
                walk.deny(f"calls {name}, which changes something that was made outside")
        if allowed.changes_first(value) and args:
            if isinstance(args[0], Known) or not settle(args[0]).mine:
                name = allowed.name_of(value)
                walk.deny(f"calls {name}, which changes something that was made outside")
            self.store(made)
        if allowed.makes_numbers(value) and not allowed.hands_on(value, len(args), names, spread):
            return OWN
        called = any(new is not old for new, old in zip(given, args, strict=True))
        if (called and allowed.ours(value)) or allowed.hands_on(value, len(args), names, spread):
            return handed_on(made, self.stored)
        return made

    def handed(self, walk: Opcodes, label: Any, args: list[Any], to: Any) -> Any:
        """What is given to a function of others: used there, and called if it can be.

        What comes of it: the label itself, or the results of its calls.
        """
        if isinstance(label, OneOf):
            return join_all([self.handed(walk, each, args, to) for each in label.labels])
        others = [each for each in args if not isinstance(each, (Inner, Bound))]
        given = item(holding(others), self.stored)
        result = self.calls(walk, label, PLAIN if given == OWN else given, len(others))
        if result is not None:
            return result
        if isinstance(label, Known) and statics.is_a(label.value, type):
            if not allowed.callable(label.value):
                walk.deny(f"hands {allowed.name_of(to)} the class {statics.name(label.value)}")
        elif not (allowed.hands_on_items(to) and (settle(label).mine or iterable(label))):
            if isinstance(label, Known) and settle(label) == UNKNOWN:  # asks for attributes, maybe
                walk.deny(f"hands {allowed.name_of(to)} a {statics.name(type(label.value))}")
            walk.reads(label, f"hands {allowed.name_of(to)}")
        return label

    def kept(self, walk: Opcodes, label: Any) -> Any:
        """The label as part of something: a function is called by who gets it."""
        if isinstance(label, OneOf):
            return join_all([self.kept(walk, each) for each in label.labels])
        result = self.calls(walk, label, PLAIN, 1)
        return label if result is None else result

    def calls(self, walk: Opcodes, label: Any, given: Any, count: int) -> Any:
        """What calls of it give, where it can be called: with anything, by anyone. Else None."""
        if isinstance(label, Inner):
            return join(PLAIN, self.inner(walk, label, [given], (), True))
        if isinstance(label, Bound):
            if settle(label) == OWN:
                return None
            if isinstance(label.owner, Known) or label.name in allowed.NOT_KEPT:
                data = isinstance(label.owner, Known) and not _is_method(label)
                return None if data else self.method(walk, label, [given], (), True)
            return None
        if not isinstance(label, Known) or statics.is_a(label.value, type):
            return None
        value = label.value
        if allowed.callable(value) and not allowed.wrapper(value):
            if allowed.changes_first(value) or allowed.out_at(value) is not None:
                return self.allowed(walk, value, [given] * max(count - 1, 1), (), False)
            return None
        own = type(statics.find(type(value), "__call__")) is types.FunctionType
        if statics.kind_of(value) in _CALLABLE or allowed.wrapper(value) or own:
            if own and not statics.bland(type(value)):
                walk.reads(label)
            return join(PLAIN, self.called(walk, label, [given], (), True))
        return None

    def method(
        self, walk: Opcodes, callee: Bound, args: list[Any], names: tuple[str, ...], spread: bool
    ) -> Any:
        """A call of a method."""
        owner, name = callee.owner, callee.name
        given = [self.handed(walk, label, [owner, *args], name) for label in args]
        at = allowed.method_out_at(name)
        has_out = "out" in names or len(args) - len(names) > at or (spread and at < 50)
        if has_out and any(item(label, self.stored) != OWN for label in args):
            walk.deny(f"calls {name}, which changes something that was made outside")
        if isinstance(owner, Known):
            if not allowed.method(owner.value, name):
                walk.deny(f"calls {name} of something that was made outside")
        else:
            if name not in allowed.STRUCTURAL:
                walk.reads(owner)
            if name in allowed.CHANGING:
                if not settle(owner).mine:
                    walk.deny(f"calls {name} of something that was made outside")
                self.store(holding([holding(given), *map(item, given)]))
                return item(owner, self.stored)
            if name not in allowed.METHODS:
                walk.deny(f"calls the method {name}, which may have effects")
        if isinstance(owner, Known) and type(owner.value) is dict and name == "get" and args:
            found, default = walk.subscript(owner, args[0]), (*args, Known(None))[1]
            key = args[0].value if isinstance(args[0], Known) else None
            if type(key) is str:
                return found if key in owner.value else default
            return join(found, default)
        if isinstance(owner, Known) and type(owner.value) is dict and name in ("items", "values"):
            few = self.few(owner, name)
            if few is not None:
                return few
        return handed_on(holding([owner, *given]), self.stored)

    def few(self, owner: Known, name: str) -> Items | None:
        """The values or items of a captured dict of a few objects; the same ones every time."""
        if harmless(owner.value) or not 0 < len(owner.value) <= _FEW:
            return None
        if (owner, name) not in self.views:
            view = owner.value.items() if name == "items" else owner.value.values()
            self.views[owner, name] = Items(tuple(map(Known, view)))
        return self.views[owner, name]


def _is_method(label: Bound) -> bool:
    found = statics.find(type(label.owner.value), label.name)
    return type(found) not in (types.GetSetDescriptorType, types.MemberDescriptorType, property)


def _lacks(owner: Any, name: str) -> bool:
    kind = type(owner)
    if allowed.ours(kind) or kind is types.ModuleType or statics.is_a(owner, type):
        return False
    for hook in ("__getattr__", name):
        if statics.find(kind, hook) is not statics.MISSING:
            return False
    plain = statics.find(kind, "__getattribute__") is vars(object)["__getattribute__"]
    return plain and name not in (statics.fields(owner) or {})


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
