"""What a function may call and still be traced: nothing that could be noticed."""

from __future__ import annotations

import builtins
import collections
import math
import operator
import types
from typing import Any

import numpy as np

_BUILTINS = """
abs all any bool bytes callable complex dict divmod enumerate filter float frozenset getattr
hasattr int isinstance issubclass iter len list map max min next pow range repr reversed round
set slice sorted str sum super tuple type zip
"""
_NUMPY = """
all amax amin any arange argmax argmin argsort array array_equal asarray broadcast_to clip
concatenate cumsum diff dot dtype empty expand_dims eye finfo flip full full_like identity iinfo
iscomplexobj isscalar linspace matmul max mean min moveaxis ndim ones ones_like outer pad prod
ravel repeat reshape result_type roll round shape size sort split squeeze stack std sum swapaxes
take tile transpose var where zeros zeros_like
"""
_PURE_MODULES = (math, operator)
_METHODS = """
_asdict _replace as_list assert_has_rank astype batch cache cardinality concatenate copy count
decode encode endswith enumerate filter flat_map flatten format get get_shape get_single_element
get_value has_value index interleave is_compatible_with is_fully_defined item items join keys
lower map max mean merge_with min num_elements numpy padded_batch prefetch ravel reduce repeat
replace reshape scan set_shape shard shuffle skip split startswith strip sum take take_while
title tolist transpose unbatch upper values window with_rank with_rank_at_least zip
"""
# Methods without effects, by name: of tensors, shapes, datasets, dicts, strings, tuples.
METHODS = frozenset(_METHODS.split())
_CHANGES = """
add append clear discard extend insert pop popitem remove reverse setdefault sort update
"""
# Methods that change their object: fine on one made inside.
CHANGING = frozenset(_CHANGES.split())

_functions: set[int] = {id(getattr(builtins, name)) for name in _BUILTINS.split()}
_functions |= {id(getattr(np, name)) for name in _NUMPY.split() if hasattr(np, name)}
for _module in _PURE_MODULES:
    _functions |= {id(value) for value in vars(_module).values() if builtins.callable(value)}
_functions |= {id(collections.OrderedDict), id(collections.namedtuple)}
_EXCEPTIONS = BaseException


def ours(value: Any) -> bool:
    """Whether the package wrote it."""
    module = getattr(value, "__module__", None)
    return isinstance(module, str) and (module == "spillway" or module.startswith("spillway."))


def wrapper(value: Any) -> bool:
    """Whether it is one of the package's stand-ins for a user's function, kept as `func`."""
    return ours(type(value)) and hasattr(value, "func")


def keeps_python(value: Any) -> bool:
    """Whether it takes a function that a trace never calls: `py_function`, `numpy_function`."""
    return ours(value) and getattr(value, "__name__", "") in ("py_function", "numpy_function")


def lazy_module(module: types.ModuleType) -> bool:
    """Modules whose attributes appear when asked for, without effects."""
    return module.__name__.startswith("spillway")


def callable(value: Any) -> bool:
    """Whether calling it has no effects, whatever it is called with."""
    if id(value) in _functions:
        return True
    if isinstance(value, np.ufunc):
        return True
    if isinstance(value, type):
        if issubclass(value, (np.generic, _EXCEPTIONS)):
            return True
        if issubclass(value, tuple) and hasattr(value, "_fields"):
            return value.__new__.__module__ != value.__module__ or "namedtuple" in repr(
                value.__new__
            )
        return ours(value)
    if isinstance(value, (types.FunctionType, types.BuiltinFunctionType)):
        return ours(value)
    return ours(type(value))


def method(owner: Any, name: str) -> bool:
    """Whether calling a method of a captured object has no effects."""
    if ours(type(owner)):
        return name not in CHANGING
    if isinstance(owner, (str, bytes, int, float, complex, tuple, frozenset, range)):
        return True
    if isinstance(owner, (dict, list, set, np.ndarray, np.generic, np.dtype)):
        return name not in CHANGING and name not in ("fill", "resize", "setflags", "tofile", "dump")
    return False


def name_of(value: Any) -> str:
    """A name for messages."""
    module = getattr(value, "__module__", None)
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None) or repr(value)
    return f"{module}.{name}" if module and module != "builtins" else str(name)
