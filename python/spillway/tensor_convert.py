"""Python and NumPy values as the arrays of tensors, by TensorFlow's rules."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from . import _native
from .dtypes import DType, as_dtype, from_numpy
from .errors import make_error
from .lines import user_line
from .shapes import TensorShape
from .shown import shown


def is_tensor(value: Any) -> bool:
    """Whether it is a `Tensor`, traced or not."""
    return isinstance(value, _native.Tensor)


def is_variable(value: Any) -> bool:
    """Whether it stands for a tensor that can be set: a `tf.Variable`."""
    return type(value) not in KIND_OF_TYPE and hasattr(value, "_as_tensor")


def is_tensor_or_variable(x: Any) -> bool:
    """Whether it is a tensor, or a variable, which is used as one."""
    return is_tensor(x) or is_variable(x)


def read(value: Any) -> Any:
    """The tensor of a variable; anything else as it is."""
    return value._as_tensor() if is_variable(value) else value


def holds_tensors(value: Any) -> bool:
    """Whether it is a list or tuple with a tensor or a variable somewhere within."""
    if not isinstance(value, (list, tuple)):
        return False
    first = _first(value)
    return is_tensor(first) or is_variable(first)


def to_tensor(value: Any, dtype: str | None = None) -> Any:
    """A tensor of any value, with TensorFlow's default dtype or the one named.

    >>> to_tensor(7), to_tensor([1.5, 2], "float64")
    (Tensor(7, shape=(), dtype=int32), Tensor([1.5 2. ], shape=(2,), dtype=float64))
    """
    if is_tensor(value):
        if dtype is not None and value._dtype_name != dtype:
            refuse(
                "ValueError",
                f"convert_to_tensor: dtype must be the tensor's own: {value.dtype} of shape "
                f"{value.shape}, asked for {dtype}",
            )
        return value
    if dtype is None and (made := _native.scalar(value)) is not None:
        return made
    if is_variable(value):
        return to_tensor(value._as_tensor(), dtype)
    if isinstance(value, (list, tuple)):
        first = _first(value)
        if is_tensor(first) or is_variable(first):
            return _stack(value, dtype or first._dtype_name, dtype not in (None, first._dtype_name))
    return _native.constant(to_array(value, None if dtype is None else as_dtype(dtype)))


def integers(value: Any) -> list[int]:
    """An integer, a sequence or a tensor of them, as a list.

    >>> integers(3), integers((1, 2)), integers(np.array([4]))
    ([3], [1, 2], [4])
    """
    if type(value) is int:
        return [value]
    if is_tensor(value):
        value = value.numpy()
    elif isinstance(value, (list, tuple)):
        return [item if type(item) is int else _index(item) for item in value]
    elif hasattr(value, "as_list"):
        value = value.as_list()
    array = np.asarray(value)
    if array.dtype.kind not in "iu" and array.size:
        refuse("TypeError", f"integers are needed here: {shown(value)}")
    if array.ndim > 1:
        refuse("ValueError", f"a number or a list of them is needed here: {shown(value)}")
    return [int(item) for item in array.ravel()]


def _index(item: Any) -> int:
    try:
        return operator.index(item)
    except TypeError:
        refuse("TypeError", f"integers are needed here: {shown(item)}")


def integer(value: Any, what: str) -> int:
    """A size, a count or an axis; `what` says in an error whose it is.

    >>> integer(np.int8(3), "concat: axis")
    3
    """
    value = read(value)
    try:
        found = operator.index(value)
    except TypeError:
        if is_tensor(value) and value._symbolic and value.dtype.is_integer:
            raise  # a trace that needs its value
        refuse("TypeError", f"{what} must be an integer, found {shown(value)}")
    if not -(2**63) <= found < 2**63:
        refuse("ValueError", f"{what} must fit into 64 bits: {shown(found)}")
    return found


def size(value: Any, what: str) -> Any:
    """A size or an offset: an integer, or a tensor as it is.

    >>> size(np.int8(3), "target_height")
    3
    """
    value = read(value)
    return value if is_tensor(value) else integer(value, what)


def number(value: Any, what: str) -> Any:
    """A number that may have a fraction, or a tensor as it is.

    >>> number(0.5, "max_delta")
    0.5
    """
    value = read(value)
    if is_tensor(value):
        if value.dtype.is_complex or value.dtype.name == "string":
            refuse("TypeError", f"{what} must be a number, found {value.dtype}")
        return value
    if isinstance(value, (int, float)):
        return value
    array = isinstance(value, (np.ndarray, np.generic)) and value.ndim == 0
    if not array or value.dtype.kind in "OSUMm" or kind_of(value.dtype) not in "bif":
        refuse("TypeError", f"{what} must be a number, found {shown(value)}")
    return value[()]


def truth(value: Any, what: str) -> bool:
    """A truth value; text and lists, which are all true, are none.

    >>> truth(np.True_, "batch: drop_remainder")
    True
    """
    value = read(value)
    if is_tensor(value) or isinstance(value, (np.ndarray, np.generic)):
        value = value.numpy() if is_tensor(value) else value
        if value.dtype.kind == "b" and value.ndim == 0:
            return bool(value)
    elif isinstance(value, bool):
        return value
    refuse("TypeError", f"{what} must be True or False, found {shown(value)}")


def integer_tensor(value: Any, what: str) -> Any:
    """Sizes, counts or places as a tensor of int64; `what` says in an error whose they are.

    >>> integer_tensor([2, 3], "tile: multiples")
    Tensor([2 3], shape=(2,), dtype=int64)
    """
    made = to_tensor(value)
    if made.dtype.is_integer:
        from .native_ops import call

        return made if made.dtype.name == "int64" else call("cast", made, "int64")
    if made.shape.num_elements() == 0:  # a list without a type
        return to_tensor(np.zeros(made.shape.as_list(), np.int64))
    refuse("TypeError", f"{what} must be integers, found {made.dtype} of shape {made.shape}")


# The kind of a value: b(ool), i(nteger), f(loat), c(omplex), s(tring). What fits into what.
_FITS = {"b": "bifc", "i": "ifc", "f": "fc", "c": "c", "s": "s"}
# What a sequence that begins with a value of one kind may become.
_BESIDE = {"b": "b", "i": "if", "f": "f", "c": "c", "s": "s"}
KIND_OF_TYPE: dict[type, str] = {
    bool: "b",
    int: "i",
    float: "f",
    complex: "c",
    str: "s",
    bytes: "s",
}
_kinds: dict[Any, str] = {}


def kind_of(dtype: Any) -> str:
    """b, i, f, c or s for a NumPy dtype, bfloat16 and the like included."""
    found = _kinds.get(dtype)
    if found is None:
        d = from_numpy(dtype)
        found = "b" if d.is_bool else "i" if d.is_integer else "f" if d.is_floating else "c"
        found = _kinds[dtype] = "s" if d.name == "string" else found
    return found


def _kind(value: Any) -> str:
    return KIND_OF_TYPE.get(type(value)) or kind_of(np.asarray(value).dtype)


def refuse(kind: str, message: str, *operands: Any) -> NoReturn:
    """Raise what is both InvalidArgumentError and the builtin `kind`, with the user's line.

    `operands`: the tensors that it is about, which are shown with theirs.
    """
    for i, operand in enumerate(operands):
        made = f", made at {operand._line}" if operand._line else ""
        message += f"\n  operand {i}: {operand._dtype_name} {operand.shape}{made}"
    facts = {"kind": "user", "code": 3, "type": kind, "message": message, "line": user_line()}
    raise make_error(facts)


def to_array(value: Any, dtype: DType | None = None) -> np.ndarray[Any, Any]:
    """The array of `value`: TensorFlow's default dtype, or the one asked for.

    >>> to_array(3).dtype, to_array(2.5).dtype, to_array("a")
    (dtype('int32'), dtype('float32'), array(b'a', dtype=object))
    """
    if isinstance(value, (np.ndarray, np.generic)):
        return _from_numpy(np.asarray(value), dtype)
    kind = KIND_OF_TYPE.get(type(value))
    if kind is not None:
        return scalar(value, kind, None if dtype is None else np.dtype(dtype.as_numpy_dtype))
    if value is None:
        _unsupported(value, "None is not a value of a tensor")
    if isinstance(value, Sequence):
        return _from_sequence(value, dtype)
    if isinstance(value, TensorShape) and value.is_fully_defined():
        return to_array(np.array(value.as_list(), np.int32), dtype)
    if hasattr(value, "__array__"):
        return _from_numpy(np.asarray(value), dtype)
    for base in KIND_OF_TYPE:  # subclasses: IntEnum, a str of one's own
        if isinstance(value, base):
            return to_array(base(value), dtype)
    _unsupported(value, "no tensor can be made of this type")


def _unsupported(value: Any, why: str) -> NoReturn:
    """In TensorFlow's words, then in ours."""
    refuse(
        "ValueError",
        f"Attempt to convert a value ({shown(value)}) with an unsupported type ({type(value)}) to "
        f"a Tensor. convert_to_tensor: {why}: {type(value).__name__}",
    )


def scalar(value: Any, kind: str, dtype: Any) -> np.ndarray[Any, Any]:
    """A Python number or string; `dtype` None: the default one."""
    if dtype is None:
        if kind == "s":
            return _strings(np.array(value, object))
        if kind == "i":
            dtype = np.int32 if -(2**31) <= value < 2**31 else np.int64
        else:
            dtype = {"f": np.float32, "b": np.bool_, "c": np.complex128}[kind]
        dtype = np.dtype(dtype)
        if kind == "f" and abs(value) >= 3e38:
            return cast(np.array(value), dtype)
    else:
        wanted = kind_of(dtype)
        if wanted not in _FITS[kind]:
            name = from_numpy(dtype)
            refuse("TypeError", f"cannot convert {type(value).__name__} to {name}: {shown(value)}")
        if wanted == "s":
            return _strings(np.array(value, object))
    if kind == "i":
        return _wrapped(value, dtype)
    if kind == "b" or abs(value) < 6e4:  # the common ones cannot overflow, not even float16
        return np.array(value, dtype)
    with np.errstate(over="ignore"):
        return np.array(value, dtype)


def _wrapped(value: int, dtype: Any) -> np.ndarray[Any, Any]:
    if -128 <= value <= 127 and (value >= 0 or dtype.kind != "u"):
        return np.array(value, dtype)
    try:
        with np.errstate(over="ignore"):
            return np.array(value, dtype)
    except OverflowError:
        if not -(2**63) <= value < 2**64:
            refuse("ValueError", f"an integer must fit into 64 bits: {value}")
        if dtype.itemsize == 8 and value >= 2**63:
            refuse("ValueError", f"an integer must fit into {dtype}: {value}")
        return np.array(value & (2**64 - 1), np.uint64).astype(dtype)


def cast(array: np.ndarray[Any, Any], dtype: Any) -> np.ndarray[Any, Any]:
    """The array as a dtype that nobody asked for, where every number is still the same."""
    try:
        _native.survives(array, from_numpy(dtype).name)
    except ValueError as error:
        refuse("ValueError", str(error))
    return array.astype(dtype)


def _numbers(objects: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    for item in objects.ravel():
        if type(item) is int and not -(2**63) <= item < 2**64:
            refuse("ValueError", f"an integer must fit into 64 bits: {shown(item)}")
    try:
        found = np.array(objects.tolist())
    except (TypeError, ValueError, OverflowError):
        found = objects
    if found.dtype.kind not in "biufc" or found.shape != objects.shape:
        refuse("TypeError", f"numbers are needed here: {shown(objects.tolist())}")
    return found


def _from_numpy(array: np.ndarray[Any, Any], dtype: DType | None) -> np.ndarray[Any, Any]:
    if array.dtype.kind in "SUO" and (dtype is None or dtype.name == "string"):
        return _strings(array.astype(object))
    if dtype is None:
        wanted = from_numpy(array.dtype)
        return array if array.dtype.isnative else array.astype(wanted.as_numpy_dtype)
    if dtype.name == "string":
        refuse("ValueError", f"strings must be str or bytes: {array.dtype} array")
    if array.dtype.kind == "O":
        array = _numbers(array)
    # TensorFlow casts arrays silently where it refuses Python numbers.
    with np.errstate(all="ignore"):
        if array.dtype.kind == "c" and kind_of(np.dtype(dtype.as_numpy_dtype)) in "fi":
            array = array.real
        return array.astype(dtype.as_numpy_dtype, copy=False)


def _strings(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An object array as one of bytes; a new one only if it must change."""
    flat = array.ravel()
    for item in flat:
        if type(item) is not bytes:
            break
    else:
        return array
    out = np.empty(flat.shape, object)
    for i, item in enumerate(flat):
        if isinstance(item, str):
            out[i] = item.encode()
        elif isinstance(item, bytes):
            out[i] = bytes(item)
        else:
            place = np.unravel_index(i, array.shape)
            at = f" at [{', '.join(map(str, place))}]" if place else ""
            refuse(
                "ValueError",
                f"strings must be str or bytes{at}: {type(item).__name__}: {shown(item)}",
            )
    return out.reshape(array.shape)


_DEEPEST = 64  # axes of a NumPy array


def _first(value: Any, depth: int = 0) -> Any:
    """A tensor anywhere within, else the first leaf; None of an empty sequence."""
    first: Any = None
    if isinstance(value, (list, tuple)):
        if depth > _DEEPEST:
            refuse(
                "ValueError",
                f"a list must be at most {_DEEPEST} deep to be a tensor, and must not contain "
                "itself",
            )
        for item in value:
            leaf = _first(item, depth + 1)
            if is_tensor(leaf) or is_variable(leaf):
                return leaf
            first = leaf if first is None else first
        return first
    return value


def array_of(value: Any, dtype: Any = None) -> np.ndarray[Any, Any]:
    """As `np.asarray`, which never comes back from a list that contains itself twice.

    >>> array_of([1, 2])
    array([1, 2])
    """
    _first(value)
    return np.asarray(value, dtype)


def _from_sequence(value: Any, dtype: DType | None) -> np.ndarray[Any, Any]:
    first = _first(value)
    array = _rectangular(value, object if isinstance(first, (str, bytes)) else None)
    if array.dtype.kind in "SUO":
        # Again as objects: NumPy makes strings of numbers beside them, and drops trailing zeros.
        strings = _strings(_rectangular(value, object))
        if dtype is not None and dtype.name != "string":
            refuse("TypeError", f"a sequence of strings cannot become {dtype}")
        return strings
    kind = kind_of(array.dtype)
    if dtype is None and array.size and kind not in _BESIDE[_kind(first)]:
        refuse("ValueError", f"a sequence must not mix types: {shown(value)}")
    if dtype is not None:
        target = np.dtype(dtype.as_numpy_dtype)
        if array.size and kind_of(target) not in _FITS[kind]:
            refuse(
                "TypeError", f"cannot convert a list of {array.dtype} to {dtype}: {shown(value)}"
            )
        with np.errstate(all="ignore"):
            return array.astype(target)
    if kind == "i":
        if array.dtype == np.uint64 and array.size and array.max() >= 2**63:
            if getattr(first, "dtype", None) == np.uint64:
                return array
            refuse("ValueError", f"an integer must fit into 64 bits with its sign: {shown(value)}")
        small = array.size == 0 or (array.min() >= -(2**31) and array.max() < 2**31)
        return array.astype(np.int32 if small else np.int64)
    if kind == "f" and array.dtype == np.float64:
        wide = getattr(first, "dtype", None) == np.float64
        return array if wide else cast(array, np.dtype(np.float32))
    return array


def _rectangular(value: Any, dtype: Any) -> np.ndarray[Any, Any]:
    try:
        array = np.array(value, dtype)
    except ValueError as e:
        if "inhomogeneous" not in str(e) and "sequence" not in str(e):
            raise
        return refuse(
            "ValueError", f"a sequence must be rectangular to be a tensor: {shown(value)}"
        )
    except OverflowError:
        return refuse("ValueError", f"an integer must fit into 64 bits: {shown(value)}")
    if dtype is object and any(isinstance(item, (list, tuple)) for item in array.ravel()):
        refuse("ValueError", f"a sequence must be rectangular to be a tensor: {shown(value)}")
    return array


def _stack(value: Any, dtype: str, cast: bool) -> Any:
    """The items of a list that holds tensors as one tensor.

    `cast`: another dtype was asked for than that of the first tensor, and every tensor takes it.
    """
    from .native_ops import call

    value = read(value)
    if is_tensor(value):
        if value._dtype_name == dtype:
            return value
        if cast:
            return call("cast", value, dtype)
        refuse("TypeError", f"tensors of one list must have the same dtype: {value.dtype}, {dtype}")
    if not isinstance(value, (list, tuple)):
        return to_tensor(value, dtype)
    parts = [_stack(item, dtype, cast) for item in value]
    shapes = {part.shape for part in parts}
    if len(shapes) > 1 and not any(part._symbolic for part in parts):
        found = ", ".join(sorted(map(str, shapes)))
        refuse("ValueError", f"tensors of one list must have the same shape: {found}")
    return call("stack_strings" if dtype == "string" else "stack", parts, 0)
