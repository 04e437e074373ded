"""Results as JSON: nests of tensors, the numbers as base64 of their bytes."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from ..values import Array, as_leaf, dtype_name, numpy_dtype


def pack(value: Any) -> list[Any]:
    """`[dtype, shape, bytes]`; strings as a list of latin-1 texts."""
    array = as_leaf(value)
    name = dtype_name(array)
    if name == "string":
        items: Any = [item.decode("latin-1") for item in array.reshape(-1)]
    else:
        items = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return [name, list(array.shape), items]


def unpack(data: list[Any]) -> Array:
    name, shape, items = data
    if name == "string":
        array = np.empty(len(items), dtype=object)
        array[:] = [item.encode("latin-1") for item in items]
        return array.reshape(shape)
    return np.frombuffer(base64.b64decode(items), numpy_dtype(name)).reshape(shape)


def nest(value: Any, leaf: Any) -> Any:
    """A nest as JSON; `leaf` encodes what is not a container."""
    if value is None:
        return None
    if isinstance(value, dict):
        return {"d": {str(key): nest(value[key], leaf) for key in sorted(value)}}
    if isinstance(value, tuple):
        return {"t": [nest(item, leaf) for item in value]}
    if isinstance(value, list):
        return {"l": [nest(item, leaf) for item in value]}
    return {"v": leaf(value)}


def leaves(data: Any) -> list[Any]:
    """The leaves of what `nest` made, in order."""
    if data is None:
        return []
    if "v" in data:
        return [data["v"]]
    parts = data["d"].values() if "d" in data else data.get("t", data.get("l", []))
    return [found for part in parts for found in leaves(part)]


def skeleton(data: Any) -> Any:
    """The containers of what `nest` made, without the leaves."""
    if data is None:
        return None
    if "v" in data:
        return "v"
    if "d" in data:
        return {key: skeleton(part) for key, part in data["d"].items()}
    return [skeleton(part) for part in data.get("t", data.get("l"))]
