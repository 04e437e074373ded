"""Values that no argument is meant to have, by name, for either engine's `tf`."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

DEEP = 10_000
Make = Callable[[Any], Any]
VALUES: dict[str, Make] = {}


class Boom(Exception):  # noqa: N818  (a value, not an error of ours)
    """What objects that raise raise: it may reach the caller as it is."""


def _plain(name: str, value: Any) -> None:
    VALUES[name] = lambda tf: value


def _value(make: Make) -> Make:
    VALUES[make.__name__.lstrip("_").replace("_", " ")] = make
    return make


for _text in ("", "3", "a", "nan", "é\0b", "\ud800", "x" * 100_000):
    _plain(f"str {_text[:4]!a}", _text)
for _bytes in (b"", b"3", b"\xff\xfe"):
    _plain(f"bytes {_bytes!r}", _bytes)
for _float in (0.0, -0.0, 0.5, 2.5, 3.0, -1.5, 1e30, 1e308, 5e-324):
    _plain(f"float {_float}", _float)
for _odd in ("nan", "inf", "-inf"):
    _plain(f"float {_odd}", float(_odd))
for _exponent in (31, 32, 62, 63, 64):
    _plain(f"int 2**{_exponent}", 2**_exponent)
    _plain(f"int -2**{_exponent}", -(2**_exponent))
for _int in (0, 1, -1, -5, 7, 10**30, -(10**30), 10**5000, 2**31 - 1):
    _plain(f"int {_int}" if abs(_int) < 2**64 else f"int of {_int.bit_length()} bits", _int)
_plain("True", True)
_plain("False", False)
_plain("None", None)
_plain("complex", 1 + 2j)
_plain("Ellipsis", ...)
_plain("NotImplemented", NotImplemented)
_plain("object", object())
_plain("a type", int)
_plain("a class", Boom)
_plain("an exception", Boom("a value"))
_plain("a function", len)
_plain("a module", types)
_plain("a slice", slice(1, 2))
_plain("a range", range(3))
_list: Any
for _list in ([], [[]], [[], []], [1, 2, 3], ["a", "b"], [1, "a"], [None], [float("nan")], [2.5]):
    _plain(f"list {_list}", _list)
for _ragged in ([[1], [2, 3]], [1, [2]], [True, 2], [1, 2.5], [b"a", "b"], [2**31, 2**63]):
    _plain(f"list {_ragged}", _ragged)
for _shape in ([2**31, 2**31, 8], [2**62], [2**63], [-1, -1], [-5], [0, 2**62], [2**20] * 3, [-2]):
    _plain(f"shape {_shape}", _shape)
_plain("tuple", (1, 2))
_plain("empty tuple", ())
_plain("tuples", ((1, 2), (3, 4)))
_plain("dict", {"a": 1, "b": [2]})
_plain("empty dict", {})
_plain("dict of numbers", {1: 2})
_plain("dict of mixed keys", {1: 2, "a": 3})
_plain("set", {1, 2})
_plain("memoryview", memoryview(b"abc"))
_plain("bytearray", bytearray(b"abc"))


# ---- Nests without a floor


def _nested(wrap: Callable[[Any], Any], depth: int = DEEP) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = wrap(value)
    return value


VALUES["a deep list"] = lambda tf: _nested(lambda inner: [inner])
VALUES["a deep tuple"] = lambda tf: _nested(lambda inner: (inner,))
VALUES["a deep dict"] = lambda tf: _nested(lambda inner: {"a": inner})
VALUES["a list 70 deep"] = lambda tf: _nested(lambda inner: [inner], 70)
VALUES["a list 30 deep"] = lambda tf: _nested(lambda inner: [inner], 30)


@_value
def _a_list_in_itself(tf: Any) -> Any:
    made: list[Any] = [1]
    made.append(made)
    return made


@_value
def _a_list_only_of_itself(tf: Any) -> Any:
    made: list[Any] = []
    made.append(made)
    return made


@_value
def _a_list_twice_in_itself(tf: Any) -> Any:
    made: list[Any] = []
    made += [made, made]
    return made


@_value
def _a_tuple_in_itself(tf: Any) -> Any:
    inner: list[Any] = []
    made = (inner, 1)
    inner.append(made)
    return made


@_value
def _a_dict_in_itself(tf: Any) -> Any:
    made: dict[str, Any] = {"b": 1}
    made["a"] = made
    return made


@_value
def _an_array_in_itself(tf: Any) -> Any:
    made = np.empty(2, object)
    made[0] = made[1] = made
    return made


# ---- Arrays


_LIST = np.array([1, 2, 3])
for _dtype in ("bool", "int8", "uint8", "uint64", "float16", "float32", "complex64", "longdouble"):
    _plain(f"array of {_dtype}", _LIST.astype(_dtype))
for _order in (">i4", ">f8", ">U2", "S3", "U2", "M8[s]", "m8[ns]", "V4"):
    _plain(f"array of {_order}", np.zeros(3, _order))
_plain("structured array", np.zeros(2, [("a", "i4"), ("b", "f4")]))
_plain("object array", np.array([1, "a", None], object))
_plain("object array of numbers", np.array([1, 2.5], object))
_plain("object array of huge", np.array([10**30], object))
_plain("object scalar", np.array(None, object))
_plain("array of nan", np.array([np.nan, 1]))
_plain("array of inf", np.array([np.inf, -np.inf], np.float32))
_plain("array of 1e30", np.array([1e30, -1e30]))
_plain("array of -1", np.array([-1, -2]))
_plain("array of 2**63", np.array([2**63], np.uint64))
_plain("array of 2**62", np.array([2**62, 2**62]))
_plain("empty array", np.zeros(0))
_plain("empty matrix", np.zeros((0, 2**40), np.int8))
_plain("0-d int", np.array(2))
_plain("0-d float", np.array(2.5))
_plain("0-d bool", np.array(True))
_plain("strided array", np.arange(20).reshape(4, 5)[::2, ::-2])
_plain("backward array", np.arange(5.0)[::-1])
_plain("Fortran array", np.asfortranarray(np.ones((3, 4), np.float32)))
_plain("unaligned array", np.frombuffer(b"\0" * 13, "<i4", 3, 1))
_plain("array of rank 9", np.zeros((1,) * 9))
_plain("array of rank 30", np.zeros((1,) * 30, np.int32))
_plain("broadcast array", np.broadcast_to(np.float32(1), (2**13, 2**13)))
_plain("masked array", np.ma.masked_array([1, 2], [True, False]))
_plain("matrix", np.asmatrix([[1.0, 2.0]]))
for _scalar in (np.int8(3), np.uint64(2**64 - 1), np.float64(2.5), np.float32("nan"), np.bool_(1)):
    _plain(f"np.{type(_scalar).__name__}({_scalar})", _scalar)
_plain("np.datetime64", np.datetime64("2020-01-01"))
_plain("np.str_", np.str_("3"))
_plain("np.bytes_", np.bytes_(b"3"))
_plain("np.void", np.void(b"abc"))


# ---- Tensors


_DTYPES: tuple[str, ...] = (
    "bool",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
)
_DTYPES += ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")


def _tensor(dtype: str, value: Any) -> Make:
    return lambda tf: tf.cast(tf.constant(value), dtype)


for _dtype in _DTYPES:
    VALUES[f"{_dtype} tensor"] = _tensor(_dtype, 1)
    VALUES[f"{_dtype} vector"] = _tensor(_dtype, [0, 1])
VALUES["string tensor"] = lambda tf: tf.constant("3")
VALUES["string vector"] = lambda tf: tf.constant(["a", "3"])
VALUES["nan tensor"] = lambda tf: tf.constant(float("nan"))
VALUES["tensor of -1"] = lambda tf: tf.constant(-1)
VALUES["tensor of 2**62"] = lambda tf: tf.constant(2**62)
VALUES["vector of 2**62"] = lambda tf: tf.constant([2**62, 2**62])
VALUES["empty tensor"] = lambda tf: tf.zeros([0])
VALUES["empty strings"] = lambda tf: tf.zeros([2, 0], tf.string)
VALUES["tensor of rank 8"] = lambda tf: tf.zeros([1] * 8)
VALUES["list of tensors"] = lambda tf: [tf.constant(1), tf.constant([1, 2])]
VALUES["list of tensor and text"] = lambda tf: [tf.constant(1), "a"]
VALUES["unknown shape"] = lambda tf: tf.TensorShape(None)
VALUES["half known shape"] = lambda tf: tf.TensorShape([None, 2])
VALUES["a spec"] = lambda tf: tf.TensorSpec([2], tf.int32)
VALUES["a dtype"] = lambda tf: tf.int32
VALUES["a dataset"] = lambda tf: tf.data.Dataset.range(3)
VALUES["a list of datasets"] = lambda tf: [tf.data.Dataset.range(3)] * 2
VALUES["an iterator"] = lambda tf: iter(tf.data.Dataset.range(3))
VALUES["a variable"] = lambda tf: tf.Variable([1.0, 2.0])


# ---- Code


@_value
def _a_generator(tf: Any) -> Any:
    def numbers() -> Iterator[int]:
        yield from (1, 2, 3)

    return numbers()


@_value
def _a_function_of_nothing(tf: Any) -> Any:
    return lambda: 1


@_value
def _a_function_of_anything(tf: Any) -> Any:
    return lambda *args: args


@_value
def _a_function_that_raises(tf: Any) -> Any:
    def fail(*args: Any) -> Any:
        raise Boom("called")

    return fail


@_value
def _a_coroutine_function(tf: Any) -> Any:
    async def later(*args: Any) -> Any:
        return args

    return later


def _raising(*methods: str) -> Make:
    def fail(self: Any, *args: Any, **named: Any) -> Any:
        raise Boom("asked")

    return lambda tf: type("Raising", (), dict.fromkeys(methods, fail))()


_METHODS = ("repr", "len", "index", "eq", "iter", "array", "bool", "hash", "float", "int", "str")
for _method in _METHODS:
    VALUES[f"raises in __{_method}__"] = _raising(f"__{_method}__")
VALUES["raises everywhere"] = _raising(*(f"__{method}__" for method in _METHODS), "__getattr__")
VALUES["raises in __getattr__"] = _raising("__getattr__")
VALUES["raises in __array_interface__"] = _raising("__array_interface__")


def _lying(base: type, **answers: Any) -> Make:
    body = {f"__{name}__": lambda self, *args, _x=x, **named: _x for name, x in answers.items()}
    return lambda tf: type("Lying", (base,), body)()


VALUES["lies in __len__"] = _lying(object, len=2**62)
VALUES["negative __len__"] = _lying(object, len=-1)
VALUES["text for __len__"] = _lying(list, len="3")
VALUES["text for __index__"] = _lying(object, index="3")
VALUES["huge __index__"] = _lying(object, index=2**70)
VALUES["an __index__ of 2"] = _lying(object, index=2)
VALUES["text for __float__"] = _lying(object, float="3")
VALUES["list for __array__"] = _lying(object, array=[1, 2])
VALUES["itself for __iter__"] = _lying(object, iter=3)
VALUES["None for __bool__"] = _lying(object, bool=None)
VALUES["text for __hash__"] = _lying(object, hash="3")
VALUES["text for __repr__"] = _lying(object, repr=3)
VALUES["a str that lies"] = _lying(str, len=2**40, encode=None)
VALUES["an int that lies"] = _lying(int, index="3", int=2.5)
VALUES["a list that lies"] = _lying(list, len=5)
VALUES["a tuple that lies"] = _lying(tuple, len=5, iter=None)
VALUES["a dict that lies"] = _lying(dict, len=5, keys=None, items=None)
VALUES["a dtype that lies"] = lambda tf: types.SimpleNamespace(dtype="int32", shape="3")
VALUES["a shape that lies"] = lambda tf: types.SimpleNamespace(as_list=lambda: "33", rank=2)


def make(name: str, tf: Any) -> Any:
    """The value of a name."""
    return VALUES[name](tf)
