"""Arguments of `padded_batch`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spillway import _native, nest
from spillway.dtypes import DType
from spillway.specs import DatasetSpec, TensorSpec, as_shape
from spillway.structures import to_structure
from spillway.tensor_convert import KIND_OF_TYPE, array_of, to_array, to_tensor

if TYPE_CHECKING:
    from spillway.dataset import Dataset


def _leaves(ds: Dataset) -> list[Any]:
    spec = ds.element_spec
    if spec is None:
        raise TypeError(
            "padded_batch: what an element looks like must be known; declare it with "
            "output_signature= in the map before"
        )
    leaves = nest.flatten(spec)
    for leaf in leaves:
        if isinstance(leaf, DatasetSpec):
            raise TypeError("`padded_batch` is not supported for datasets of datasets")
        if not isinstance(leaf, TensorSpec):
            raise TypeError(
                "`padded_batch` is only supported for datasets that produce tensor elements but "
                f"the input dataset produces elements of unsupported type {type(leaf).__name__}."
            )
    return leaves


def parts_of(like: Any, value: Any) -> list[Any]:
    """Parts of `value` for the leaves of `like`; a part may itself be a sequence."""
    if not nest.is_nested(like):
        return [value]
    if isinstance(like, dict):
        if not isinstance(value, dict) or sorted(value) != sorted(like):
            raise ValueError(
                "`padded_shapes`: The two structures don't have the same sequence length: the "
                f"element has {sorted(like)}: {value}"
            )
        return [leaf for key in sorted(like) for leaf in parts_of(like[key], value[key])]
    children = nest.children(like)
    parts = _parts(like, value)
    if not hasattr(parts, "__len__") or len(parts) != len(children):
        raise ValueError(
            "`padded_shapes`: The two structures don't have the same sequence length: the element "
            f"has {len(children)} parts: {value}"
        )
    return [leaf for a, b in zip(children, parts, strict=True) for leaf in parts_of(a, b)]


def _parts(like: Any, value: Any) -> Any:
    """The parts of a sequence, or of an object of the class that `like` has."""
    return nest.children(value) if type(value) is type(like) else value


def shapes(ds: Dataset, padded_shapes: Any) -> Any:
    """The engine's structure of `padded_shapes`, or None."""
    leaves = _leaves(ds)
    if padded_shapes is None:
        for leaf in leaves:
            if leaf.shape.rank is None:
                raise ValueError(
                    "You must provide `padded_shapes` argument because component has unknown rank."
                )
        return None
    spec = ds.element_spec
    parts = parts_of(spec, padded_shapes)
    made = []
    for part, leaf in zip(parts, leaves, strict=True):
        made.append(TensorSpec(_shape(part, leaf), leaf.dtype))
    return to_structure(nest.pack_like(spec, made))


def _shape(part: Any, leaf: TensorSpec) -> Any:
    if hasattr(part, "numpy") or isinstance(part, np.ndarray):
        array = array_of(part)
        if array.dtype.kind not in "iu":
            raise TypeError(
                f"Padded shape {part} must be a `tf.int64` vector tensor, but its element type was "
                f"{array.dtype}."
            )
        if array.ndim != 1:
            raise ValueError(
                f"Padded shape {part} must be a `tf.int64` vector tensor, but its shape was "
                f"{array.shape}."
            )
        part = array.tolist()
    elif isinstance(part, list | tuple) and any(isinstance(d, list | tuple) for d in part):
        raise ValueError(
            f"Padded shape {part} must be a `tf.int64` vector tensor, but its shape was "
            f"{array_of(part).shape}."
        )
    if isinstance(part, list | tuple):
        part = [None if isinstance(d, int | np.integer) and d == -1 else d for d in part]
    shape = as_shape(part)
    known = as_shape(leaf.shape)
    if known is not None and shape is not None:
        bad = len(shape) != len(known) or any(
            p is not None and k is not None and p < k for p, k in zip(shape, known, strict=False)
        )
        if bad:
            raise ValueError(
                f"The padded shape {shape} is not compatible with the shape {known} of the "
                "corresponding input component."
            )
    return shape


def values(ds: Dataset, padding_values: Any) -> Any:
    """One constant a component, or None for its default."""
    if padding_values is None:
        return None
    leaves = _leaves(ds)
    spec = ds.element_spec
    if nest.is_nested(padding_values):
        parts = _fill(spec, padding_values)
    else:
        parts = [padding_values] * len(leaves)
    out: list[Any] = []
    for part, leaf in zip(parts, leaves, strict=True):
        if part is None:
            out.append(None)
            continue
        out.append(_constant(part, leaf))
    return out


def _fill(like: Any, value: Any) -> list[Any]:
    """As `parts_of`, where a None stands for all the leaves below it."""
    if value is None:
        return [None] * len(nest.flatten(like))
    if not nest.is_nested(like):
        return [value]
    if isinstance(like, dict):
        return [leaf for key in sorted(like) for leaf in _fill(like[key], value.get(key))]
    pairs = zip(nest.children(like), _parts(like, value), strict=True)
    return [leaf for a, b in pairs for leaf in _fill(a, b)]


def _constant(part: Any, leaf: TensorSpec) -> Any:
    value = to_tensor(part)
    # A Python number has no type of its own: it must only be a value of the component's.
    fits = type(part) in KIND_OF_TYPE and _fits(part, leaf.dtype)
    if value.dtype != leaf.dtype and not fits:
        raise TypeError(
            f"Invalid `padding_values`. `padding_values` values type {value.dtype!r} does not "
            f"match type {leaf.dtype!r} of the corresponding input component."
        )
    if value.shape.rank != 0:
        raise ValueError(
            "Invalid `padding_values`. `padding_values` values should be scalars, but got "
            f"{value.shape}."
        )
    scalar = _native.Structure.tensor(leaf.dtype.name, ())
    return _native.element(part, scalar, False)


def _fits(value: Any, dtype: DType) -> bool:
    try:
        to_array(value, dtype)
    except (TypeError, ValueError):
        return False
    return True
