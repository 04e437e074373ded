"""Looks at objects without running any code of theirs.

`isinstance`, `getattr` and `hasattr` ask the object, or its class's class, which may answer with
the user's code; these read what CPython keeps.

>>> find(list, "append") is vars(list)["append"], find(int, "nothing") is MISSING
(True, True)
"""

from __future__ import annotations

import abc
import collections
import enum
import types
from typing import Any

MISSING = object()
_EQ, _HASH = vars(object)["__eq__"], vars(object)["__hash__"]

_of_type: Any = type.__dict__
_mro, _members = _of_type["__mro__"].__get__, _of_type["__dict__"].__get__
_module, _flags = _of_type["__module__"].__get__, _of_type["__flags__"].__get__
_name = _of_type["__name__"].__get__
_HEAP = 1 << 9
_ORDINARY = (type, abc.ABCMeta, enum.EnumMeta)
OF_ENUM = enum.property
OF_TUPLE = type(collections.namedtuple("OF_TUPLE", "a").a)  # type: ignore[attr-defined]
OF_C = (
    types.BuiltinFunctionType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
)
# Names with underscores that no operator, conversion or comparison looks for.
_SILENT_NAMES = """
    __module__ __doc__ __dict__ __weakref__ __init__ __new__ __call__ __annotations__ __slots__
    __qualname__ __firstlineno__ __static_attributes__ __post_init__ __dataclass_fields__
    __dataclass_params__ __match_args__ __init_subclass__ __abstractmethods__ __parameters__
    __orig_bases__ __class_getitem__ __subclasshook__ __annotate__ __annotate_func__
    __annotations_cache__ __classcell__ __replace__ __setattr__ __delattr__
"""
_SILENT = frozenset(_SILENT_NAMES.split())


def kind_of(value: Any) -> type:
    """Its type, to be looked up in a list; one that is in none, where == of types is the user's."""
    kind = type(value)
    meta = type(kind)
    if meta is type or (find(meta, "__eq__") is _EQ and find(meta, "__hash__") is _HASH):
        return kind
    return types.SimpleNamespace


def is_a(value: Any, kinds: Any) -> bool:
    """Whether its type is one of these, or made from one; `__class__` is not asked."""
    return issubclass(type(value), kinds)


def find(kind: type, name: str) -> Any:
    """What the class, or one it is made from, has under this name; else MISSING."""
    for base in _mro(kind):
        found = _members(base).get(name, MISSING)
        if found is not MISSING:
            return found
    return MISSING


def find_after(kind: type, asking: Any, name: str) -> Any:
    """What `super()` finds in a class that asks."""
    bases = _mro(kind)
    after = [at + 1 for at, base in enumerate(bases) if base is asking]
    for base in bases[after[0] :] if after else ():
        if name in _members(base):
            return _members(base)[name]
    return MISSING


def members(kind: type) -> Any:
    """What the class itself has."""
    return _members(kind)


def module(kind: type) -> Any:
    """The name of the module it says it is from."""
    return _module(kind)


def name(kind: type) -> str:
    """Its name."""
    return str(_name(kind))


def fields(value: Any) -> dict[str, Any] | None:
    """An object's own attributes; None: it hides them."""
    place = find(type(value), "__dict__")
    if place is MISSING:
        return {}
    found = place.__get__(value) if type(place) is types.GetSetDescriptorType else None
    return found if type(found) is dict else None


def python_class(kind: type) -> bool:
    """Whether a class statement made it."""
    return bool(_flags(kind) & _HEAP)


def ordinary(kind: Any) -> bool:
    """Whether it is a class whose own class does what `type` does."""
    return kind_of(kind) in _ORDINARY


def checks_types(kind: Any) -> bool:
    """Whether `isinstance(..., kind)` runs no code of the user's."""
    if type(kind) is tuple:
        return all(map(checks_types, kind))
    if type(kind) is types.UnionType:
        return all(map(checks_types, kind.__args__))
    hook = find(kind, "__subclasshook__") if ordinary(kind) else MISSING
    trusted = type(hook) is classmethod and _module(kind) in ("collections.abc", "numbers")
    return trusted or (ordinary(kind) and type(hook) is types.ClassMethodDescriptorType)


def bland(kind: type) -> bool:
    """Whether Python's own operators and conversions find nothing of the user's in it."""
    if type(kind) not in (type, abc.ABCMeta):
        return False
    for base in _mro(kind):
        if base is object:
            continue
        if not python_class(base):
            return False
        for name, member in _members(base).items():
            if name.startswith("__") and name not in _SILENT and member is not None:
                return False
    return find(kind, "__slots__") is MISSING or find(kind, "__getattr__") is MISSING


def enumerated(kind: type) -> bool:
    """Whether it is an enum whose operators are Python's own."""
    return issubclass(kind, enum.Enum) and not any(
        name.startswith("__")
        and type(member) not in OF_C
        and not (type(member) is types.FunctionType and member.__globals__ is vars(enum))
        and name not in _SILENT
        and callable(member)
        for base in _mro(kind)
        if python_class(base) and vars(enum).get(base.__name__) is not base
        for name, member in _members(base).items()
    )


def named_tuple(kind: type) -> bool:
    """Whether it is a namedtuple whose operators are a tuple's."""
    own = _members(kind)
    if "_fields" not in own or _mro(kind) != (kind, tuple, object):
        return False
    made = own.get("__new__")
    new = made.__func__ if type(made) is staticmethod else made
    return (
        type(new) is types.FunctionType
        and str(new.__globals__.get("__name__")).startswith("namedtuple_")
        and all(
            type(member) is not types.FunctionType or member.__globals__ is vars(collections)
            for name, member in own.items()
            if name.startswith("__") and name not in _SILENT
        )
    )
