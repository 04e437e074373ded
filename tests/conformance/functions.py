"""The catalogue of user functions: pure NumPy over the leaves of an element, with their types.

A function is named by data, `{"fn": "add_const", "k": 3}`. Any of them may carry
`"raise": {"mod": m, "at": [...], "kind": "ValueError"}`: it then raises for the elements whose
key modulo m is listed. The key of an element is the value of its first leaf where that is an
integer scalar, and a checksum of that leaf otherwise, so a function depends on nothing but its
element and both engines call it alike, in any order.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .spec import (
    COMPLEX,
    Dic,
    Leaf,
    Named,
    Nest,
    NotApplicableError,
    Tup,
    dense_leaves,
    map_dense,
    rebuild,
)
from .values import Array, as_leaf, numpy_dtype

Desc = dict[str, Any]
Leaves = list[Array]

KINDS: dict[str, type[Exception]] = {
    "ValueError": ValueError,
    "TypeError": TypeError,
    "KeyError": KeyError,
    "IndexError": IndexError,
    "RuntimeError": RuntimeError,
    "AssertionError": AssertionError,
    "ZeroDivisionError": ZeroDivisionError,
    "OSError": OSError,
    "MemoryError": MemoryError,
    "NotImplementedError": NotImplementedError,
    "StopIteration": StopIteration,
}


@dataclass(frozen=True)
class Function:
    signature: Callable[[Desc, Nest], Nest]
    call: Callable[[Desc, Nest, Leaves], Leaves]
    role: str = "map"


CATALOGUE: dict[str, Function] = {}


def key_of(array: Array) -> int:
    if array.ndim == 0 and array.dtype.kind in "iub":
        return int(array)
    is_text = array.dtype.kind == "O"
    content = b"|".join(_names(array)) if is_text else array.tobytes()
    return zlib.crc32(content + str(array.shape).encode())


def _names(array: Array) -> list[bytes]:
    """The texts, paths without their folder: that one differs from run to run."""
    return [item.rpartition(b"/")[2] for item in array.reshape(-1)]


def _key_leaf(desc: Desc, spec: Nest) -> int:
    """Which leaf keys the element: functions of a state and an element look at the element."""
    if CATALOGUE[desc["fn"]].role in ("scan", "reduce"):
        assert isinstance(spec, Tup)
        return len(dense_leaves(spec.items[0]))
    return 0


def signature(desc: Desc, spec: Nest) -> Nest:
    """The type of the function's result for elements of type `spec`."""
    return CATALOGUE[desc["fn"]].signature(desc, spec)


def call(desc: Desc, spec: Nest, flat: list[Any]) -> Leaves:
    """The leaves of the function's result for the leaves of one element."""
    arrays = [as_leaf(value) for value in flat]
    _maybe_raise(desc, arrays[_key_leaf(desc, spec)])
    result = CATALOGUE[desc["fn"]].call(desc, spec, arrays)
    types = dense_leaves(signature(desc, spec))
    return [
        np.asarray(array, dtype=numpy_dtype(leaf.dtype))
        for array, leaf in zip(result, types, strict=True)
    ]


def _maybe_raise(desc: Desc, array: Array) -> None:
    rule = desc.get("raise")
    if rule is not None and key_of(array) % rule["mod"] in rule["at"]:
        raise KINDS[rule["kind"]](f"boom {key_of(array)}")


def _register(name: str, role: str = "map") -> Callable[[Any], Any]:
    """Registers a pair of functions given as the `signature` and `call` of a class."""

    def add(pair: Any) -> Any:
        CATALOGUE[name] = Function(pair.signature, pair.call, role)
        return pair

    return add


INT64 = Leaf("int64", ())
BOOL = Leaf("bool", ())


@_register("identity")
class _Identity:
    @staticmethod
    def signature(desc: Desc, spec: Nest) -> Nest:
        dense_leaves(spec)
        return spec

    @staticmethod
    def call(desc: Desc, spec: Nest, flat: Leaves) -> Leaves:
        return flat


@_register("add_const")
class _AddConst:
    """Adds k to every leaf that has numbers, and appends it to strings."""

    signature = _Identity.signature

    @staticmethod
    def call(desc: Desc, spec: Nest, flat: Leaves) -> Leaves:
        return [_AddConst.add(array, desc["k"]) for array in flat]

    @staticmethod
    def add(array: Array, k: int) -> Array:
        if array.dtype.kind == "O":
            return _objects([item + str(k).encode() for item in array.reshape(-1)], array.shape)
        if array.dtype.kind == "b":
            return array ^ bool(k % 2)
        with np.errstate(all="ignore"):
            return np.asarray(array + np.asarray(k, dtype=np.int64).astype(array.dtype))


def _objects(items: list[bytes], shape: tuple[int, ...]) -> Array:
    array = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        array[i] = item
    return array.reshape(shape)


@_register("cast")
class _Cast:
    """Every leaf to one dtype; what does not fit is brought into 0..100 first."""

    @staticmethod
    def signature(desc: Desc, spec: Nest) -> Nest:
        return map_dense(lambda leaf: Leaf(desc["dtype"], leaf.shape), spec)

    @staticmethod
    def call(desc: Desc, spec: Nest, flat: Leaves) -> Leaves:
        return [_Cast.cast(array, desc["dtype"]) for array in flat]

    @staticmethod
    def cast(array: Array, dtype: str) -> Array:
        if array.dtype.kind == "O":
            numbers = np.array([len(item) for item in _names(array)], dtype=np.float64)
            numbers = numbers.reshape(array.shape)
        elif array.dtype.kind == "c":
            numbers = array.real.astype(np.float64)
        else:
            numbers = array.astype(np.float64)
        numbers = np.clip(np.nan_to_num(numbers), 0, 100)
        if dtype == "string":
            return _objects([b"%d" % int(item) for item in numbers.reshape(-1)], array.shape)
        return numbers.astype(numpy_dtype(dtype))


@_register("key")
class _Key:
    """The element's key modulo m, an int64 scalar."""

    @staticmethod
    def signature(desc: Desc, spec: Nest) -> Nest:
        dense_leaves(spec)
        return Leaf(desc.get("dtype", "int64"), ())

    @staticmethod
    def call(desc: Desc, spec: Nest, flat: Leaves) -> Leaves:
        return [np.asarray(key_of(flat[0]) % desc["m"], dtype=desc.get("dtype", "int64"))]


@_register("vary")
class _Vary:
    """One leaf whose shape depends on the element: a vector, a matrix, or of unknown rank."""

    @staticmethod
    def signature(desc: Desc, spec: Nest) -> Nest:
        dense_leaves(spec)
        shapes: dict[str, tuple[int | None, ...] | None] = {
            "vector": (None,),
            "matrix": (None, 2),
            "square": (None, None),
            "rank": None,
        }
        return Leaf(desc["dtype"], shapes[desc["as"]])

    @staticmethod
    def call(desc: Desc, spec: Nest, flat: Leaves) -> Leaves:
        n = key_of(flat[0]) % desc["m"]
        shape = {
            "vector": (n,),
            "matrix": (n, 2),
            "square": (n, (n * 2) % 3),
            "rank": (2,) * (n % 3),
        }[desc["as"]]
        content = (np.arange(int(np.prod(shape))) + n).reshape(shape)
        return [_Cast.cast(content, desc["dtype"])]


@_register("forget")
class _Forget:
    """The element unchanged, its type declared without dimensions, or without rank."""

    @staticmethod
    def signature(desc: Desc, spec: Nest) -> Nest:
        def forget(leaf: Leaf) -> Leaf:
            if desc["what"] == "rank" or leaf.shape is None:
                return Leaf(leaf.dtype, None)
            return Leaf(leaf.dtype, tuple(None for _ in leaf.shape))

        return map_dense(forget, spec)

    call = _Identity.call


@_register("stack")
class _Stack:
    """Each leaf n times along a new first axis."""

    @staticmethod
    def signature(desc: Desc, spec: Nest) -> Nest:
        return map_dense(
            lambda leaf: Leaf(leaf.dtype, None if leaf.shape is None else (desc["n"], *leaf.shape)),
            spec,
        )

    @staticmethod
    def call(desc: Desc, spec: Nest, flat: Leaves) -> Leaves:
        return [np.repeat(array[np.newaxis], desc["n"], axis=0) for array in flat]


@_register("flatten")
class _Flatten:
    @staticmethod
    def signature(desc: Desc, spec: Nest) -> Nest:
        def flat(leaf: Leaf) -> Leaf:
            if leaf.shape is None or None in leaf.shape:
                return Leaf(leaf.dtype, (None,))
            return Leaf(leaf.dtype, (int(np.prod([n or 0 for n in leaf.shape], dtype=int)),))

        return map_dense(flat, spec)

    @staticmethod
    def call(desc: Desc, spec: Nest, flat: Leaves) -> Leaves:
        return [array.reshape(-1) for array in flat]


def _key_array(array: Array, m: int) -> Array:
    return np.asarray(key_of(array) % m, dtype=np.int64)


@_register("wrap")
class _Wrap:
    """The element beside its key: in a tuple, a nested tuple, a dict or a namedtuple."""

    @staticmethod
    def signature(desc: Desc, spec: Nest) -> Nest:
        dense_leaves(spec)
        forms: dict[str, Nest] = {
            "tuple": Tup((spec, INT64)),
            "nested": Tup((Tup((INT64, spec)), INT64)),
            "dict": Dic(("k", "v"), (INT64, spec)),
            "nested_dict": Dic(("a", "b"), (Dic(("k",), (INT64,)), Tup((spec,)))),
            "Point": Named("Point", (spec, INT64)),
            "Item": Named("Item", (INT64, spec)),
            "single": Tup((spec,)),
        }
        return forms[desc["in"]]

    @staticmethod
    def call(desc: Desc, spec: Nest, flat: Leaves) -> Leaves:
        key = _key_array(flat[0], 7)
        before = {"nested": 1, "dict": 1, "nested_dict": 1, "Item": 1}.get(desc["in"], 0)
        after = {"tuple": 1, "nested": 1, "Point": 1}.get(desc["in"], 0)
        return [key] * before + flat + [key] * after


@_register("pick")
class _Pick:
    """One component of a structured element."""

    @staticmethod
    def signature(desc: Desc, spec: Nest) -> Nest:
        dense_leaves(spec)
        if isinstance(spec, Tup | Dic | Named) and spec.items:
            return spec.items[int(desc["i"]) % len(spec.items)]
        raise NotApplicableError("pick of a leaf")

    @staticmethod
    def call(desc: Desc, spec: Nest, flat: Leaves) -> Leaves:
        assert isinstance(spec, Tup | Dic | Named)
        i = desc["i"] % len(spec.items)
        start = sum(len(dense_leaves(item)) for item in spec.items[:i])
        return flat[start : start + len(dense_leaves(spec.items[i]))]


@_register("reverse")
class _Reverse:
    """The components of a tuple in reverse order."""

    @staticmethod
    def signature(desc: Desc, spec: Nest) -> Nest:
        dense_leaves(spec)
        if not isinstance(spec, Tup):
            raise NotApplicableError("reverse of something that is no tuple")
        return rebuild(spec, spec.items[::-1])

    @staticmethod
    def call(desc: Desc, spec: Nest, flat: Leaves) -> Leaves:
        assert isinstance(spec, Tup)
        parts: list[Leaves] = []
        for item in spec.items:
            n = len(dense_leaves(item))
            parts.insert(0, flat[:n])
            flat = flat[n:]
        return [leaf for part in parts for leaf in part]


@_register("mod_in", role="predicate")
class _ModIn:
    """True for the elements whose key modulo m is in `keep`."""

    @staticmethod
    def signature(desc: Desc, spec: Nest) -> Nest:
        dense_leaves(spec)
        return BOOL

    @staticmethod
    def call(desc: Desc, spec: Nest, flat: Leaves) -> Leaves:
        return [np.asarray(key_of(flat[0]) % desc["m"] in desc["keep"])]


@_register("bad_predicate", role="predicate")
class _BadPredicate:
    """What no predicate may return: a vector of truths, or a number."""

    @staticmethod
    def signature(desc: Desc, spec: Nest) -> Nest:
        dense_leaves(spec)
        forms: dict[str, Nest] = {
            "vector": Leaf("bool", (2,)),
            "number": INT64,
        }
        return forms[desc["what"]]

    @staticmethod
    def call(desc: Desc, spec: Nest, flat: Leaves) -> Leaves:
        return [np.asarray([True, True]) if desc["what"] == "vector" else np.asarray(1)]


@_register("length", role="length")
class _Length:
    """The first dimension of the first leaf, an int32 scalar."""

    @staticmethod
    def signature(desc: Desc, spec: Nest) -> Nest:
        first = dense_leaves(spec)[0]
        if first.shape is not None and not first.shape:
            raise NotApplicableError("length of a scalar")
        return Leaf("int32", ())

    @staticmethod
    def call(desc: Desc, spec: Nest, flat: Leaves) -> Leaves:
        return [np.asarray(flat[0].shape[0] if flat[0].ndim else 0, dtype=np.int32)]


def _state_and_element(spec: Nest) -> tuple[Nest, Nest]:
    if not isinstance(spec, Tup) or len(spec.items) != 2:
        raise NotApplicableError("a state and an element expected")
    dense_leaves(spec)
    return spec.items[0], spec.items[1]


@_register("scan_sum", role="scan")
class _ScanSum:
    """The running sum of the keys, an int64 scalar; gives the sum, or the sum with the element."""

    @staticmethod
    def signature(desc: Desc, spec: Nest) -> Nest:
        state, element = _state_and_element(spec)
        if state != INT64:
            raise NotApplicableError("an int64 scalar state expected")
        return Tup((INT64, Tup((INT64, element)) if desc["give"] == "both" else INT64))

    @staticmethod
    def call(desc: Desc, spec: Nest, flat: Leaves) -> Leaves:
        total = np.asarray(int(flat[0]) + key_of(flat[1]) % 1000, dtype=np.int64)
        return [total, total, *(flat[1:] if desc["give"] == "both" else [])]


@_register("scan_grow", role="scan")
class _ScanGrow:
    """A state that gets longer with every element: its declared length must be widened."""

    @staticmethod
    def signature(desc: Desc, spec: Nest) -> Nest:
        state, _ = _state_and_element(spec)
        if not isinstance(state, Leaf) or state.dtype != "int64":
            raise NotApplicableError("an int64 vector state expected")
        return Tup((Leaf("int64", (None,)), Leaf("int64", (None,))))

    @staticmethod
    def call(desc: Desc, spec: Nest, flat: Leaves) -> Leaves:
        grown = np.append(flat[0].reshape(-1), key_of(flat[1]) % 1000).astype(np.int64)
        return [grown, flat[0].reshape(-1)]


@_register("scan_keep", role="scan")
class _ScanKeep:
    """The state unchanged whatever its type, with the element as it is."""

    @staticmethod
    def signature(desc: Desc, spec: Nest) -> Nest:
        return Tup(_state_and_element(spec))

    call = _Identity.call


@_register("scan_bad", role="scan")
class _ScanBad:
    """A new state of another dtype than the old one, or no pair at all."""

    @staticmethod
    def signature(desc: Desc, spec: Nest) -> Nest:
        state, element = _state_and_element(spec)
        if desc["what"] == "dtype":
            return Tup((map_dense(lambda leaf: Leaf("float32", leaf.shape), state), element))
        return INT64

    @staticmethod
    def call(desc: Desc, spec: Nest, flat: Leaves) -> Leaves:
        raise RuntimeError("a function of the wrong type was called")


@_register("reduce_sum", role="reduce")
class _ReduceSum:
    """An int64 scalar that depends on every key and on their order."""

    @staticmethod
    def signature(desc: Desc, spec: Nest) -> Nest:
        state, _ = _state_and_element(spec)
        if state != INT64:
            raise NotApplicableError("an int64 scalar state expected")
        return INT64

    @staticmethod
    def call(desc: Desc, spec: Nest, flat: Leaves) -> Leaves:
        mixed = (int(flat[0]) * 31 + key_of(flat[1])) % 1_000_003
        return [np.asarray(mixed, dtype=np.int64)]


@_register("reduce_grow", role="reduce")
class _ReduceGrow:
    """A vector of all the keys: a state whose length changes."""

    @staticmethod
    def signature(desc: Desc, spec: Nest) -> Nest:
        state, _ = _state_and_element(spec)
        if not isinstance(state, Leaf) or state.dtype != "int64":
            raise NotApplicableError("an int64 vector state expected")
        return Leaf("int64", (None,))

    @staticmethod
    def call(desc: Desc, spec: Nest, flat: Leaves) -> Leaves:
        return [np.append(flat[0].reshape(-1), key_of(flat[1]) % 1000).astype(np.int64)]


@_register("reduce_bad", role="reduce")
class _ReduceBad:
    @staticmethod
    def signature(desc: Desc, spec: Nest) -> Nest:
        state, _ = _state_and_element(spec)
        return map_dense(lambda leaf: Leaf("float32", leaf.shape), state)

    call = _ScanBad.call


def castable(spec: Nest) -> bool:
    return all(leaf.dtype not in COMPLEX for leaf in dense_leaves(spec))
