"""Tensors as JSON: `[dtype, shape, flat values]`, the same text from both engines."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from .spec import Dic, Leaf, Named, Nest, Tup, pack

Array = npt.NDArray[Any]


def numpy_dtype(name: str) -> Any:
    if name == "string":
        return np.dtype(object)
    if name == "bfloat16":
        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


def dtype_name(array: Array) -> str:
    return "string" if array.dtype.kind in "OSU" else array.dtype.name


def as_leaf(value: Any) -> Array:
    """Any tensor value of either engine as an array; strings become objects of `bytes`."""
    if isinstance(value, bytes | str):
        array = np.empty((), dtype=object)
        array[()] = value.encode() if isinstance(value, str) else value
        return array
    array = np.asarray(value)
    if array.dtype.kind in "SU":
        array = array.astype(object)
    return array


def _float(value: float) -> Any:
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value


def _item(value: Any, dtype: str) -> Any:
    if dtype == "string":
        return value.decode("latin-1") if isinstance(value, bytes) else str(value)
    if dtype.startswith("complex"):
        return [_float(float(value.real)), _float(float(value.imag))]
    if "float" in dtype:
        return _float(float(value))
    return int(value)


def encode(value: Any) -> list[Any]:
    array = as_leaf(value)
    name = dtype_name(array)
    return [name, list(array.shape), [_item(item, name) for item in array.reshape(-1)]]


def decode(data: list[Any]) -> Array:
    name, shape, flat = data
    array = np.empty(len(flat), dtype=numpy_dtype(name))
    for i, item in enumerate(flat):
        if name == "string":
            array[i] = item.encode("latin-1")
        elif name.startswith("complex"):
            array[i] = complex(float(item[0]), float(item[1]))
        elif "float" in name:
            array[i] = float(item)
        else:
            array[i] = item
    return array.reshape(shape)


def is_leaf(data: Any) -> bool:
    return isinstance(data, list)


def spec_of(data: Any) -> Nest:
    """The type of a nest of canonical values."""
    if is_leaf(data):
        return Leaf(data[0], tuple(data[1]))
    if "tuple" in data:
        return Tup(tuple(spec_of(item) for item in data["tuple"]))
    if "dict" in data:
        keys = tuple(sorted(data["dict"]))
        return Dic(keys, tuple(spec_of(data["dict"][key]) for key in keys))
    return Named(data["named"], tuple(spec_of(item) for item in data["items"]))


def flat_values(data: Any) -> list[list[Any]]:
    if is_leaf(data):
        return [data]
    if "tuple" in data:
        parts = data["tuple"]
    elif "dict" in data:
        parts = [data["dict"][key] for key in sorted(data["dict"])]
    else:
        parts = data["items"]
    return [leaf for part in parts for leaf in flat_values(part)]


def decode_nest(data: Any) -> Any:
    """The Python nest of arrays that a nest of canonical values stands for."""
    return pack(spec_of(data), [decode(leaf) for leaf in flat_values(data)])


def encode_nest(nest: Nest, flat: list[Any]) -> Any:
    """A nest of already encoded leaves in canonical form."""
    rest = list(flat)

    def take(part: Nest) -> Any:
        if isinstance(part, Tup):
            return {"tuple": [take(item) for item in part.items]}
        if isinstance(part, Dic):
            pairs = zip(part.keys, part.items, strict=True)
            return {"dict": {key: take(item) for key, item in pairs}}
        if isinstance(part, Named):
            return {"named": part.name, "items": [take(item) for item in part.items]}
        return rest.pop(0)

    return take(nest)
