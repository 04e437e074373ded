"""Random numbers of user code in workers: who may draw them, and seeding the generators.

Before each element `random`, `np.random` and the unseeded ops of `spillway.random` are seeded from
its address, so that a call which is made again in another worker gives the same result. That takes
4 and 2 microseconds and next to nothing: a function that surely draws from none is spared.
"""

from __future__ import annotations

import collections
import dis
import functools
import random
import types
from typing import Any

import numpy as np

from spillway import seeds

RANDOM, NUMPY, OPS = 1, 2, 4
ALL = RANDOM | NUMPY | OPS

_MOST = 2_000  # objects looked at; who reaches more may draw
# Modules that never draw from the generators all share, whatever is called in them.
_QUIET = frozenset(
    (
        *("__future__", "_io", "_operator", "_thread", "abc", "array", "base64", "binascii"),
        *("bisect", "bz2", "builtins", "collections", "copy", "csv", "ctypes", "dataclasses"),
        *("datetime", "decimal", "enum", "errno", "fractions", "functools", "gc", "glob", "gzip"),
        *("hashlib", "heapq", "io", "itertools", "json", "logging", "lzma", "math", "mmap"),
        *("numbers", "numpy", "operator", "os", "pathlib", "pickle", "posixpath", "re", "select"),
        *("shutil", "signal", "spillway", "statistics", "string", "struct", "sys", "tarfile"),
        *("threading", "time", "typing", "types", "unicodedata", "warnings", "zipfile", "zlib"),
    )
)
_EVASIVE = frozenset(("__import__", "eval", "exec", "compile"))
_PLAIN = (str, bytes, bytearray, int, float, complex, bool, type(None), range, slice, np.generic)
_CONTAINERS: tuple[Any, ...] = (list, tuple, set, frozenset, collections.deque)
_OF_C = (
    *(types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType),
    *(types.ClassMethodDescriptorType, types.MethodWrapperType),
)
_BOUND = (types.BuiltinMethodType, types.MethodWrapperType)


def draws(function: Any) -> int:
    """Which of the shared generators a function may draw from: RANDOM, NUMPY, OPS in one number.

    0 only where everything it reaches is known. It is not called.

    >>> draws(len), draws(random.choice), draws([np.random.rand])
    (0, 1, 2)
    """
    seen: set[int] = set()
    found, left = 0, [function]
    while left and found != ALL:
        value = left.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if len(seen) > _MOST:
            return ALL
        found |= _look(value, left)
    return found


def _look(value: Any, left: list[Any]) -> int:
    """What one object may draw from; what it leads to is put into `left`."""
    kind = type(value)
    if issubclass(kind, _PLAIN) and kind.__module__ in ("builtins", "numpy"):
        return 0
    if kind is types.ModuleType:
        return _module(value.__name__)
    if kind is types.FunctionType:
        return _function(value, left)
    for container in _CONTAINERS:
        if isinstance(value, container):
            left += container.__iter__(value)
            break
    if isinstance(value, dict):
        left += [*dict.keys(value), *dict.values(value)]
    if kind in _CONTAINERS or kind is dict:
        return 0
    if kind is types.MethodType:
        left += [value.__func__, value.__self__]
        return 0
    if kind is functools.partial:
        left += [value.func, *value.args, *value.keywords.values()]
        return 0
    if kind in (staticmethod, classmethod):
        left.append(value.__func__)
        return 0
    if kind is property:
        left += [f for f in (value.fget, value.fset, value.fdel) if f is not None]
        return 0
    if kind in _BOUND or kind.__name__ == "cython_function_or_method":
        owner = getattr(value, "__self__", None)
        if owner is not None and not isinstance(owner, types.ModuleType):
            left.append(owner)
            return 0
        return _module(getattr(value, "__module__", None) or "")
    if isinstance(value, type):
        return _class(value, left)
    return _instance(value, kind, left)


def _module(name: str) -> int:
    if name == "random" or name == "_random":
        return RANDOM
    if name == "numpy.random" or name.startswith("numpy.random."):
        return NUMPY
    if name.startswith("spillway.") and "random" in name:
        return OPS
    return 0 if name.partition(".")[0] in _QUIET else ALL


def _class(value: type, left: list[Any]) -> int:
    if value.__module__.partition(".")[0] in _QUIET:
        return _module(value.__module__)
    for inside in vars(value).values():
        if isinstance(inside, _OF_C):
            return ALL  # made in C, by who knows whom
        if not isinstance(inside, types.GetSetDescriptorType | types.MemberDescriptorType):
            left.append(inside)
    left += value.__bases__
    return 0


def _instance(value: Any, kind: type, left: list[Any]) -> int:
    if value is random._inst:
        return RANDOM
    if kind.__module__.startswith("numpy.random"):
        return NUMPY
    if kind is np.ndarray and value.dtype != object:
        return 0
    if hasattr(kind, "element_spec"):
        return ALL  # a dataset: its functions run wherever it is iterated over
    left.append(kind)
    fields = getattr(value, "__dict__", None)
    if isinstance(fields, dict):
        left += fields.values()
    return 0


def _function(function: types.FunctionType, left: list[Any]) -> int:
    if function.__module__ is not None and function.__module__.partition(".")[0] in _QUIET:
        return _module(function.__module__)
    left += [function.__defaults__, function.__kwdefaults__]
    for cell in function.__closure__ or ():
        try:
            left.append(cell.cell_contents)
        except ValueError:
            continue  # not set yet
    return _code(function.__code__, function.__globals__, left)


def _code(code: types.CodeType, names: dict[str, Any], left: list[Any]) -> int:
    found = 0
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= _code(constant, names, left)
        elif isinstance(constant, str) and constant in ("random", "numpy.random"):
            found |= ALL  # getattr, or worse
    for step in dis.get_instructions(code):
        name = step.argval
        if step.opname == "IMPORT_NAME":
            found |= _module(str(name))
        elif step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            if name in names:
                left.append(names[name])
            elif name in _EVASIVE:
                found |= ALL
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM") and name == "random":
            found |= NUMPY | OPS
    return found


def seed(which: int, number: int) -> None:
    """Seeds the shared generators, as if this process had never drawn."""
    if which & RANDOM:
        random.seed(number)
    if which & NUMPY:
        np.random.seed(number & 0xFFFFFFFF)  # a 32-bit seed: one of 64 takes twice as long
    if which & OPS:
        seeds.begin_element(number)


def start_afresh() -> None:
    """In a forked process: not the generators' states that all its siblings began with."""
    random.seed()
    np.random.seed()
