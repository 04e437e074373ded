"""What a function may call and still be traced: nothing that could be noticed."""

from __future__ import annotations

import builtins
import collections
import itertools
import math
import operator
import os
import types
from typing import Any

import numpy as np

from spillway import statics
from spillway.lines import PACKAGE

_SCALAR = """
all any ascii bin bool bytes callable chr complex float format hash hex int len oct ord repr round
str
"""
_MAKING = """
abs dict divmod enumerate filter frozenset iter list map pow range reversed set slice sorted sum
tuple zip
"""
_HANDING_ON = "max min next"
_LOOKING = "isinstance issubclass type id callable"
_NUMPY_NEW = """
arange argmax argmin argsort array array_equal clip concatenate copy cumsum dot empty
empty_like eye finfo full full_like identity iinfo iscomplexobj isscalar linspace matmul mean ndim
ones ones_like outer pad prod repeat result_type roll round shape size sort stack std sum take tile
var where zeros zeros_like
"""
_NUMPY_VIEWS = """
all amax amin any asarray broadcast_to diff dtype expand_dims flip max min moveaxis ravel reshape
split squeeze swapaxes transpose
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
add append assign assign_add assign_sub clear discard extend insert pop popitem remove reverse
setdefault sort update
"""
# Methods that change their object: fine on one made inside.
CHANGING = frozenset(_CHANGES.split())
_OF_ARRAYS = "byteswap dump fill itemset partition put resize setfield setflags tofile flush"
# Methods that nobody may get hold of.
NOT_KEPT = CHANGING | frozenset(_OF_ARRAYS.split())
_STRUCTURAL = """
append clear copy extend get insert items keys pop popitem reverse setdefault update values
"""
# Methods that ask nothing of what is in their object.
STRUCTURAL = frozenset(_STRUCTURAL.split())
_OUT = """
all:2 amax:2 amin:2 any:2 argmax:2 argmin:2 clip:3 concatenate:2 cumprod:3 cumsum:3 dot:2 max:2
mean:3 min:2 outer:2 prod:3 round:2 stack:2 std:3 sum:3 take:3 trace:5 var:3
"""
# Before how many arguments `out` comes, where it can be given by position.
_OUT_AT = {name: int(at) for name, at in (each.split(":") for each in _OUT.split())}
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
_READING: dict[type, frozenset[str]] = {
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
_making |= _ids(itertools, "chain combinations pairwise permutations product repeat zip_longest")
_handing_on = _ids(builtins, _HANDING_ON)
_numpy_new, _numpy_views = _ids(np, _NUMPY_NEW), _ids(np, _NUMPY_VIEWS)
_gathering = _ids(builtins, "enumerate iter len list reversed tuple zip")
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
_may_hand_on = _handing_on | _numpy_views | _operators | _in_place


_out_at = {id(getattr(np, name)): at for name, at in _OUT_AT.items() if hasattr(np, name)}
_STATEFUL = (
    "spillway.config", "spillway.tf.train", "spillway.tf.data.iterator", "spillway.tf.gfile",
    "spillway.tf.tfrecord_writer", "spillway.tf.data.record_writing",
)  # fmt: skip
_WRITING = os.path.join(PACKAGE, "tf", "gfile.py")
_SETTING = ("set_seed", "configure", "enable_debug_mode", "get_next_as_optional")
_MAKING_STATE = os.path.join(PACKAGE, "sessions") + os.sep
# Of what makes graphs, sessions and variables: what only names or orders.
_NAMING = ("control_dependencies", "name_scope", "group", "no_op", "tuple_of", "function")


def ours(value: Any) -> bool:
    """Whether the package wrote it. What it says of itself may be copied: `functools.wraps`."""
    if type(value) is types.FunctionType:
        return value.__code__.co_filename.startswith((PACKAGE, "<spillway"))
    if statics.is_a(value, type):
        module = statics.module(value)
    elif type(value) is types.BuiltinFunctionType:
        module = value.__module__
    else:
        return False
    return type(module) is str and (module == "spillway" or module.startswith("spillway."))


def _of_files(value: Any) -> bool:
    """Whether it is one of the package's functions that look at files or change them."""
    return type(value) is types.FunctionType and value.__code__.co_filename == _WRITING


def _makes_state(value: Any) -> bool:
    """Whether it makes a variable, a session or a graph, or a function that does."""
    if type(value) is types.FunctionType:
        file = value.__code__.co_filename
        return file.startswith(_MAKING_STATE) and value.__name__ not in _NAMING
    module = str(statics.module(value))
    return module.startswith("spillway.sessions.") and not module.endswith(
        (".initializers", ".scopes")
    )


def of_numpy(kind: type) -> bool:
    """Whether it is one of NumPy's own scalars or dtypes."""
    return issubclass(kind, (np.generic, np.dtype)) and (
        str(statics.module(kind)).partition(".")[0] in ("numpy", "ml_dtypes")
    )


def stateful(kind: type) -> bool:
    """Whether using one of the package's objects changes it: iterators, messages."""
    module = str(statics.module(kind))
    return module.startswith(_STATEFUL) or statics.find(kind, "__next__") is not statics.MISSING


def wrapper(value: Any) -> bool:
    """Whether it is one of the package's stand-ins for a user's function, kept as `func`."""
    return ours(type(value)) and hasattr(value, "func")


def keeps_python(value: Any) -> bool:
    """Whether it takes a function that a trace never calls: `py_function`, `numpy_function`."""
    return ours(value) and value.__name__ in ("py_function", "numpy_function")


def lazy_module(module: types.ModuleType) -> bool:
    """Modules whose attributes appear when asked for, without effects."""
    name = vars(module).get("__name__")
    return type(name) is str and (name == "spillway" or name.startswith("spillway."))


def callable(value: Any) -> bool:
    """Whether calling it has no effects, as long as using what it is called with has none."""
    if id(value) in _known:
        return True
    kind = statics.kind_of(value)
    if kind is np.ufunc:  # one that knows objects only calls a Python function
        return any("O" not in types_of for types_of in value.types)
    if issubclass(kind, type):
        if ours(value):
            return not stateful(value) and not _makes_state(value)
        if issubclass(value, BaseException):
            return plain_error(value)
        return of_numpy(value) or statics.named_tuple(value)
    if kind in (types.FunctionType, types.BuiltinFunctionType):
        if not ours(value) or value.__name__ in _SETTING:
            return False
        return not _of_files(value) and not _makes_state(value)
    return ours(kind) and not stateful(kind)


def plain_error(kind: type) -> bool:
    """Whether it is a class of exceptions that does nothing but what Python's do."""
    return statics.ordinary(kind) and all(
        ours(base)
        or not statics.python_class(base)
        or not any(
            type(member) not in (str, type(None), dict, tuple, types.GetSetDescriptorType)
            for name, member in statics.members(base).items()
            if name not in ("__firstlineno__",)
        )
        for base in kind.__mro__
    )


def looks_only(value: Any) -> bool:
    """Whether it asks nothing of the objects it is given: `isinstance`, `type`."""
    return id(value) in _looking


def hands_on(value: Any, args: int, names: tuple[str, ...], spread: bool) -> bool:
    """Whether its result may be one of its arguments, a part or a view of one."""
    if id(value) in _may_hand_on:
        return True
    if value is sum:
        return spread or args > 1
    if value is np.array:
        return spread or "copy" in names or args - len(names) > 2
    return ours(value) and getattr(value, "__module__", "").endswith("nest")


def out_at(value: Any) -> int | None:
    """Before how many arguments `out` comes; None: it has none."""
    return value.nin if type(value) is np.ufunc else _out_at.get(id(value))


def method_out_at(name: str) -> int:
    """Likewise, of an array's method."""
    return _OUT_AT.get(name, 100) - 1


def makes_numbers(value: Any) -> bool:
    """Whether its result leads to nothing that was there before."""
    if id(value) in _scalar or id(value) in _numpy_new or type(value) is np.ufunc:
        return True
    return statics.is_a(value, type) and issubclass(value, np.generic)


def hands_on_items(value: Any) -> bool:
    """Whether it only puts what it is given into something new: `list`, `zip`, `len`."""
    return id(value) in _gathering


def changes_first(value: Any) -> bool:
    """Whether it changes its first argument: `operator.setitem`, `next`."""
    return id(value) in _in_place or value is next


def method(owner: Any, name: str) -> bool:
    """Whether calling a method of a captured object has no effects."""
    kind = statics.kind_of(owner)
    if ours(kind):
        return name not in CHANGING and not stateful(kind)
    if kind in (str, bytes, int, float, bool, complex, tuple, frozenset, range) or of_numpy(kind):
        return True
    return name in _READING.get(kind, ()) or (statics.named_tuple(kind) and hasattr(kind, name))


def name_of(value: Any) -> str:
    """A name for messages."""
    if statics.kind_of(value) in (
        types.FunctionType,
        types.BuiltinFunctionType,
    ) or statics.ordinary(value):
        module, name = value.__module__, value.__qualname__
        return f"{module}.{name}" if module and module != "builtins" else str(name)
    if type(value) is np.ufunc:
        return f"numpy.{value.__name__}"
    return value if type(value) is str else f"a {statics.name(type(value))}"
