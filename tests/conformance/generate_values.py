"""Random tensors and random element types, as canonical JSON."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import strategies as st

from .spec import (
    COMPLEX,
    DTYPES,
    FLOATS,
    Dic,
    Leaf,
    Named,
    Nest,
    Tup,
    dense_leaves,
)
from .values import decode, encode, encode_nest, numpy_dtype

Draw = Any

_TEXT = ("", "a", "b", "ab", "longer text", "\xff\x00", "0", "\xe4")
_FLOAT = (0.0, 1.0, -1.5, 0.25, 3.0, 100.0)
_ODD = ("nan", "inf", "-inf", -0.0)
_RANGES = {"int8": 127, "uint8": 255, "int16": 32767, "uint16": 65535}


def _number(rng: random.Random, dtype: str) -> Any:
    if dtype == "string":
        return rng.choice(_TEXT)
    if dtype == "bool":
        return rng.randrange(2)
    if dtype in COMPLEX:
        return [rng.choice(_FLOAT), rng.choice(_FLOAT)]
    if dtype in FLOATS:
        return rng.choice(_ODD) if rng.random() < 0.08 else rng.choice(_FLOAT)
    if rng.random() < 0.08:
        bits = numpy_dtype(dtype).itemsize * 8
        return 2 ** (bits - (0 if dtype[0] == "u" else 1)) - 1
    low = 0 if dtype[0] == "u" else -3
    return rng.randrange(low, 8)


def tensor(draw: Draw, dtype: str, shape: tuple[int, ...]) -> list[Any]:
    """A leaf of canonical data; its content comes from one drawn number."""
    rng = random.Random(draw(st.integers(0, 2**24)))
    size = 1
    for n in shape:
        size *= n
    data = [dtype, list(shape), [_number(rng, dtype) for _ in range(size)]]
    return encode(decode(data))


def shapes(draw: Draw) -> tuple[int, ...]:
    rank = draw(st.sampled_from([0, 0, 0, 0, 1, 1, 1, 2, 2, 3]))
    return tuple(draw(st.sampled_from([1, 2, 3, 2, 0 if rank < 3 else 1])) for _ in range(rank))


dtypes = st.sampled_from([*DTYPES, "int64", "int64", "int32", "float32", "string"])


def specs(draw: Draw, depth: int = 0) -> Nest:
    """A random element type with static shapes."""
    kinds = ["leaf"] * 5 + ["tuple", "tuple", "dict", "named"]
    kind = draw(st.sampled_from(kinds if depth < 2 else ["leaf"]))
    if kind == "leaf":
        return Leaf(draw(dtypes), shapes(draw))
    if kind == "named":
        name = draw(st.sampled_from(["Point", "Item"]))
        return Named(name, (specs(draw, depth + 1), specs(draw, depth + 1)))
    items = tuple(specs(draw, depth + 1) for _ in range(draw(st.integers(1, 3))))
    if kind == "tuple":
        return Tup(items)
    return Dic(("a", "b", "c")[: len(items)], items)


def values(draw: Draw, spec: Nest, slices: int | None = None) -> Any:
    """A value of the given type; unknown dimensions get a length, `slices` a first axis."""
    flat = []
    for leaf in dense_leaves(spec):
        shape = leaf.shape
        if shape is None:
            shape = tuple(2 for _ in range(draw(st.integers(0, 2))))
        known = tuple(draw(st.integers(0, 3)) if n is None else n for n in shape)
        flat.append(tensor(draw, leaf.dtype, known if slices is None else (slices, *known)))
    return encode_nest(spec, flat)
