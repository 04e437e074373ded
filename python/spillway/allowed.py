"""What a function may call and still be traced: nothing that could be noticed."""

from __future__ import annotations

import builtins
import collections
import math
import operator
import types
from typing import Any

import numpy as np

_SCALAR = "all any bool bytes callable complex float hash int len ord chr repr round str"
_MAKING = """
abs dict divmod enumerate filter frozenset iter list map pow range reversed set slice sorted sum
tuple zip
"""
_HANDING_ON = "max min next"
_LOOKING = "isinstance issubclass type id callable"
_NUMPY_NEW = """
arange argmax argmin argsort array array_equal clip concatenate copy cumsum diff dot empty
empty_like eye finfo full full_like identity iinfo iscomplexobj isscalar linspace matmul mean ndim
ones ones_like outer pad prod repeat result_type roll round shape size sort stack std sum take tile
var where zeros zeros_like
"""
_NUMPY_VIEWS = """
all amax amin any asarray broadcast_to dtype expand_dims flip max min moveaxis ravel reshape split
squeeze swapaxes transpose
"""
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
_OF_DICT = "copy get items keys values"
_OF_LIST = "copy count index"
_OF_SET = """
copy difference intersection isdisjoint issubset issuperset symmetric_difference union
"""
_OF_ARRAY = """
all any argmax argmin argsort astype clip conj copy cumprod cumsum diagonal dot flatten item max
mean min nonzero prod ravel repeat reshape round searchsorted squeeze std sum swapaxes take tobytes
tolist trace transpose var view
"""
# Methods that leave a captured object as it was.
_READING = {
    kind: frozenset(names.split())
    for kind, names in (
        (dict, _OF_DICT),
        (list, _OF_LIST),
        (set, _OF_SET),
        (np.ndarray, _OF_ARRAY),
        (np.memmap, _OF_ARRAY),
    )
}


def _ids(module: Any, names: str) -> frozenset[int]:
    return frozenset(id(getattr(module, name)) for name in names.split() if hasattr(module, name))


_looking = _ids(builtins, _LOOKING)
_scalar = _ids(builtins, _SCALAR) | frozenset(
    id(value) for value in vars(math).values() if builtins.callable(value)
)
_making = _ids(builtins, _MAKING) | {id(collections.OrderedDict), id(collections.namedtuple)}
_handing_on = _ids(builtins, _HANDING_ON)
_numpy_new, _numpy_views = _ids(np, _NUMPY_NEW), _ids(np, _NUMPY_VIEWS)
_gathering = _ids(builtins, "dict enumerate iter len list reversed tuple zip")
_in_place = _ids(
    operator,
    """delitem iadd iand iconcat ifloordiv ilshift imatmul imod imul ior ipow irshift isub itruediv
    ixor setitem""",
)
_operators = _ids(
    operator,
    """abs add and_ concat contains countOf eq floordiv ge getitem gt index indexOf inv invert is_
    is_not le lshift lt matmul mod mul ne neg not_ or_ pos pow rshift sub truediv truth xor""",
)
_known = _looking | _scalar | _making | _handing_on | _numpy_new | _numpy_views
_known |= _operators | _in_place


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


def named_tuple(kind: type) -> bool:
    """Whether it is a namedtuple with nothing added to it."""
    return (
        issubclass(kind, tuple)
        and hasattr(kind, "_fields")
        and kind.__bases__ == (tuple,)
        and kind.__getitem__ is tuple.__getitem__
        and kind.__eq__ is tuple.__eq__
    )


def callable(value: Any) -> bool:
    """Whether calling it has no effects, as long as using what it is called with has none."""
    if id(value) in _known:
        return True
    if isinstance(value, np.ufunc):  # one that knows objects only calls a Python function
        return any("O" not in types_of for types_of in value.types)
    if isinstance(value, type):
        if issubclass(value, BaseException):
            return not any(_made_in_python(base) for base in value.__mro__)
        return issubclass(value, np.generic) or named_tuple(value) or ours(value)
    if isinstance(value, (types.FunctionType, types.BuiltinFunctionType)):
        return ours(value)
    return ours(type(value))


def _made_in_python(kind: type) -> bool:
    return not ours(kind) and any(
        isinstance(vars(kind).get(name), types.FunctionType) for name in ("__init__", "__new__")
    )


def looks_only(value: Any) -> bool:
    """Whether it asks nothing of the objects it is given: `isinstance`, `type`."""
    return id(value) in _looking


def hands_on(value: Any) -> bool:
    """Whether its result may be one of its arguments, a part or a view of one."""
    return id(value) in _handing_on | _numpy_views | _operators | _in_place


def makes_numbers(value: Any) -> bool:
    """Whether its result leads to nothing that was there before."""
    if id(value) in _scalar or id(value) in _numpy_new or isinstance(value, np.ufunc):
        return True
    return isinstance(value, type) and issubclass(value, np.generic)


def hands_on_items(value: Any) -> bool:
    """Whether it only puts what it is given into something new: `list`, `zip`, `len`."""
    return id(value) in _gathering


def takes_types(value: Any) -> bool:
    """Whether it may be given a class, and will not call it: ours take dtypes."""
    return value is builtins.isinstance or value is builtins.issubclass


def changes_first(value: Any) -> bool:
    """Whether it changes its first argument: `operator.setitem`, `next`."""
    return id(value) in _in_place or value is next


def method(owner: Any, name: str) -> bool:
    """Whether calling a method of a captured object has no effects."""
    if ours(type(owner)):
        return name not in CHANGING
    if isinstance(owner, (str, bytes, int, float, complex, np.generic, np.dtype)):
        return True
    if type(owner) in (tuple, frozenset, range) or named_tuple(type(owner)):
        return True
    return name in _READING.get(type(owner), ())


def name_of(value: Any) -> str:
    """A name for messages."""
    module = getattr(value, "__module__", None)
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None) or repr(value)
    return f"{module}.{name}" if module and module != "builtins" else str(name)
