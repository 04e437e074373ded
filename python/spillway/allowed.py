"""What a function may call and still be traced: nothing that could be noticed."""

from __future__ import annotations

import builtins
import collections
import math
import operator
import types
from typing import Any

import numpy as np

_BUILTINS = (
    "abs all any bool bytes callable complex dict divmod enumerate filter float frozenset getattr "
    "hasattr int isinstance issubclass iter len list map max min next pow range repr reversed round "
    "set slice sorted str sum tuple type zip super"
)
_NUMPY = (
    "array asarray zeros ones full empty arange linspace eye identity zeros_like ones_like full_like "
    "reshape transpose expand_dims squeeze concatenate stack where clip sum prod mean std var max min "
    "amax amin argmax argmin all any sort argsort cumsum take flip ravel split tile repeat dot matmul "
    "ndim shape size broadcast_to dtype iinfo finfo result_type isscalar iscomplexobj prod "
    "array_equal round moveaxis swapaxes roll pad diff outer"
)
_PURE_MODULES = (math, operator)
# Methods without effects, by name: of tensors, shapes, dicts, strings, tuples.
METHODS = frozenset(
    "get_shape as_list numpy items keys values get copy index count is_compatible_with with_rank "
    "with_rank_at_least merge_with concatenate is_fully_defined num_elements assert_has_rank "
    "lower upper strip split join startswith endswith format encode decode replace title "
    "_replace _asdict astype reshape item tolist set_shape ravel flatten transpose sum mean max min "
    "batch repeat take skip map filter shuffle zip prefetch enumerate cache window interleave "
    "flat_map concatenate reduce get_single_element cardinality scan take_while padded_batch shard unbatch has_value get_value".split()
)
# Methods that change their object: fine on one made inside.
CHANGING = frozenset(
    "append extend insert update setdefault pop popitem add remove discard clear sort reverse".split()
)

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
