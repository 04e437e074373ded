"""Specs as users see them, and the engine's structures."""

from __future__ import annotations

from typing import Any

from spillway import _native, nest
from spillway.dtypes import as_dtype
from spillway.shown import shown
from spillway.specs import DatasetSpec, NoneSpec, OptionalSpec, TensorSpec, as_shape


def to_structure(spec: Any, *, lists: bool = False, depth: int = 0) -> _native.Structure:
    """A nest of specs as the engine has it. Specs of other libraries work by their attributes.

    `depth`: how many levels are above it.
    """
    if depth > nest.MOST_NESTED:
        nest.too_deep()
    inside = depth + 1
    if spec is None or isinstance(spec, NoneSpec):
        return _native.Structure.none()
    if isinstance(spec, _native.Structure):
        return spec
    if isinstance(spec, DatasetSpec):
        return _native.Structure.dataset(
            to_structure(spec.element_spec, depth=inside), as_shape(spec.shape)
        )
    if isinstance(spec, OptionalSpec):
        return _native.Structure.optional(to_structure(spec.element_spec, depth=inside))
    if hasattr(spec, "shape") and hasattr(spec, "dtype"):
        return _native.Structure.tensor(as_dtype(spec.dtype).name, as_shape(spec.shape))
    if isinstance(spec, dict):
        keys = _keys(spec)
        return _native.Structure.dict(keys, [to_structure(spec[k], depth=inside) for k in keys])
    if nest.is_self_described(spec):
        remade, parts = nest.take_apart(spec)
        names = [str(i) for i in range(len(parts))]
        children = [to_structure(part, depth=inside) for part in parts]
        return _native.Structure.named(remade, names, children)
    fields = nest.fields(spec)
    if fields:
        children = [to_structure(getattr(spec, field), depth=inside) for field in fields]
        return _native.Structure.named(type(spec), list(fields), children)
    if isinstance(spec, tuple) or (lists and isinstance(spec, list)):
        return _native.Structure.tuple([to_structure(child, depth=inside) for child in spec])
    raise TypeError(
        f"expected a nest of TensorSpec, DatasetSpec, OptionalSpec or None, found {shown(spec)}"
    )


def _keys(branch: dict[Any, Any]) -> list[str]:
    for key in branch:
        if not isinstance(key, str):
            raise TypeError(f"dict keys of an element must be strings: {shown(key)}")
    return sorted(branch)


def from_structure(structure: Any) -> Any:
    """The nest of specs a user sees."""
    return structure.give([_leaf(leaf) for leaf in structure.leaves()])


def _leaf(leaf: _native.Structure) -> Any:
    if leaf.kind == "tensor":
        return TensorSpec(leaf.shape, leaf.dtype)
    children = leaf.children
    inner = from_structure(children[0]) if children else None
    if leaf.kind == "dataset":
        return DatasetSpec(inner, leaf.shape if leaf.shape is not None else ())
    return OptionalSpec(inner)


def shapes_structure(shapes: Any) -> _native.Structure:
    """A nest of shapes (tuples, lists, ints, None) as tensor leaves; types are ignored."""

    def walk(value: Any, depth: int = 0) -> _native.Structure:
        if depth > nest.MOST_NESTED:
            nest.too_deep()
        if isinstance(value, dict):
            keys = _keys(value)
            return _native.Structure.dict(keys, [walk(value[k], depth + 1) for k in keys])
        if isinstance(value, tuple) and any(isinstance(v, tuple | list | dict) for v in value):
            return _native.Structure.tuple([walk(v, depth + 1) for v in value])
        return _native.Structure.tensor("int64", as_shape(value))

    return walk(shapes)
