"""The type of an element: a nest of leaves, with one canonical JSON form for both engines."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Shape = tuple[int | None, ...] | None

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64", "bfloat16")
COMPLEX = ("complex64", "complex128")
DTYPES = (*SIGNED, *UNSIGNED, *FLOATS, "bool", *COMPLEX, "string")

Point = namedtuple("Point", "x y")
Item = namedtuple("Item", "key value")
NAMED: dict[str, Any] = {"Point": Point, "Item": Item}


@dataclass(frozen=True)
class Leaf:
    dtype: str
    shape: Shape


@dataclass(frozen=True)
class Tup:
    items: tuple[Nest, ...]


@dataclass(frozen=True)
class Dic:
    """A dict; `keys` are sorted, as elements are flattened in the order of their keys."""

    keys: tuple[str, ...]
    items: tuple[Nest, ...]


@dataclass(frozen=True)
class Named:
    name: str
    items: tuple[Nest, ...]


@dataclass(frozen=True)
class Inner:
    """A component that is itself a dataset, as `window` makes them."""

    element: Nest


Nest = Leaf | Tup | Dic | Named | Inner


def leaves(nest: Nest) -> list[Leaf | Inner]:
    if isinstance(nest, Leaf | Inner):
        return [nest]
    return [leaf for item in nest.items for leaf in leaves(item)]


def dense_leaves(nest: Nest) -> list[Leaf]:
    """The leaves of a nest without datasets in it."""
    found = [leaf for leaf in leaves(nest) if isinstance(leaf, Leaf)]
    if len(found) != len(leaves(nest)):
        raise NotApplicableError("a dataset component where tensors are needed")
    return found


def has_inner(nest: Nest) -> bool:
    return any(isinstance(leaf, Inner) for leaf in leaves(nest))


def rebuild(nest: Nest, items: Sequence[Nest]) -> Nest:
    if isinstance(nest, Tup):
        return Tup(tuple(items))
    if isinstance(nest, Dic):
        return Dic(nest.keys, tuple(items))
    if isinstance(nest, Named):
        return Named(nest.name, tuple(items))
    return nest


def map_leaves(change: Callable[[Leaf | Inner], Nest], nest: Nest) -> Nest:
    if isinstance(nest, Leaf | Inner):
        return change(nest)
    return rebuild(nest, [map_leaves(change, item) for item in nest.items])


def map_dense(change: Callable[[Leaf], Nest], nest: Nest) -> Nest:
    dense_leaves(nest)
    return map_leaves(lambda leaf: change(leaf) if isinstance(leaf, Leaf) else leaf, nest)


class NotApplicableError(Exception):
    """The program asks for something its element type does not allow: it is no valid program."""


def pack(nest: Nest, flat: Sequence[Any]) -> Any:
    """The Python nest of `nest` with the given leaves."""
    rest = list(flat)

    def take(part: Nest) -> Any:
        if isinstance(part, Leaf | Inner):
            return rest.pop(0)
        if isinstance(part, Tup):
            return tuple(take(item) for item in part.items)
        if isinstance(part, Dic):
            return {key: take(item) for key, item in zip(part.keys, part.items, strict=True)}
        return NAMED[part.name](*[take(item) for item in part.items])

    return take(nest)


def unpack(nest: Nest, value: Any) -> list[Any]:
    """The leaves of a Python nest with the structure of `nest`."""
    if isinstance(nest, Leaf | Inner):
        return [value]
    parts = [value[key] for key in nest.keys] if isinstance(nest, Dic) else list(value)
    if len(parts) != len(nest.items):
        raise TypeError(f"an element of {len(nest.items)} parts expected: {value!r}")
    return [
        leaf for item, part in zip(nest.items, parts, strict=True) for leaf in unpack(item, part)
    ]


def of_python(value: Any, leaf: Callable[[Any], Nest]) -> Nest:
    """The nest of a Python nest whose leaves `leaf` describes."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return Named(type(value).__name__, tuple(of_python(item, leaf) for item in value))
    if isinstance(value, tuple):
        return Tup(tuple(of_python(item, leaf) for item in value))
    if isinstance(value, dict):
        keys = tuple(sorted(value))
        return Dic(keys, tuple(of_python(value[key], leaf) for key in keys))
    return leaf(value)


def to_json(nest: Nest) -> Any:
    if isinstance(nest, Leaf):
        return [nest.dtype, None if nest.shape is None else list(nest.shape)]
    if isinstance(nest, Inner):
        return {"dataset": to_json(nest.element)}
    if isinstance(nest, Tup):
        return {"tuple": [to_json(item) for item in nest.items]}
    if isinstance(nest, Dic):
        pairs = zip(nest.keys, nest.items, strict=True)
        return {"dict": {key: to_json(item) for key, item in pairs}}
    return {"named": nest.name, "items": [to_json(item) for item in nest.items]}


def from_json(data: Any) -> Nest:
    if isinstance(data, list):
        return Leaf(data[0], None if data[1] is None else tuple(data[1]))
    if "dataset" in data:
        return Inner(from_json(data["dataset"]))
    if "tuple" in data:
        return Tup(tuple(from_json(item) for item in data["tuple"]))
    if "dict" in data:
        keys = tuple(sorted(data["dict"]))
        return Dic(keys, tuple(from_json(data["dict"][key]) for key in keys))
    return Named(data["named"], tuple(from_json(item) for item in data["items"]))


def relax_shapes(a: Shape, b: Shape) -> Shape:
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(x if x == y else None for x, y in zip(a, b, strict=True))


def relax(a: Nest, b: Nest) -> Nest | None:
    """The most specific type that holds both, or None where there is none."""
    if isinstance(a, Leaf) and isinstance(b, Leaf):
        return Leaf(a.dtype, relax_shapes(a.shape, b.shape)) if a.dtype == b.dtype else None
    if isinstance(a, Inner) and isinstance(b, Inner):
        inner = relax(a.element, b.element)
        return None if inner is None else Inner(inner)
    if isinstance(a, Leaf | Inner) or isinstance(b, Leaf | Inner) or type(a) is not type(b):
        return None
    if _labels(a) != _labels(b) or len(a.items) != len(b.items):
        return None
    parts = [relax(x, y) for x, y in zip(a.items, b.items, strict=True)]
    known = [part for part in parts if part is not None]
    return rebuild(a, known) if len(known) == len(parts) else None


def _labels(nest: Nest) -> tuple[str, ...]:
    if isinstance(nest, Dic):
        return nest.keys
    return (nest.name,) if isinstance(nest, Named) else ()


def structure_name(nest: Nest, depth: int = 0) -> str:
    """A short class of structures, for the coverage table."""
    if isinstance(nest, Leaf):
        return "leaf"
    if isinstance(nest, Inner):
        return "dataset"
    kind = {"Tup": "tuple", "Dic": "dict", "Named": "namedtuple"}[type(nest).__name__]
    if depth == 0 and any(not isinstance(item, Leaf | Inner) for item in nest.items):
        return f"nested {kind}"
    return kind
