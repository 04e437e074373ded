"""Arguments of functions: what tells one kind from another, and what they become."""

from __future__ import annotations

import inspect
import weakref
from typing import Any

import numpy as np

from spillway import nest
from spillway.specs import TensorSpec
from spillway.tensor_convert import is_tensor, to_tensor

PLAIN = (bool, int, float, complex, str, bytes, type(None))
_WORTH_COMPUTING = 16 << 20  # larger lazy arguments stay lazy: fused with what the function does


def argument_of(value: Any) -> Any:
    """An argument as the function gets it: arrays are tensors."""
    return to_tensor(value) if isinstance(value, np.ndarray) else value


def result_of(value: Any) -> Any:
    """A result as the caller gets it: Python and NumPy values are tensors."""
    if isinstance(value, (bool, int, float, complex, str, bytes, np.ndarray, np.generic)):
        return to_tensor(value)
    return value


def is_large(leaf: Any) -> bool:
    """Whether it is a tensor that is not computed yet and too large to be computed for a call."""
    if not is_tensor(leaf) or leaf._known:
        return False
    shape = leaf.shape
    if not shape.is_fully_defined():
        return True
    return bool(shape.num_elements() * max(1, leaf.dtype.size) > _WORTH_COMPUTING)


def is_object(leaf: Any) -> bool:
    """Whether it is neither a tensor nor a plain value."""
    return not is_tensor(leaf) and not isinstance(leaf, (*PLAIN, np.generic))


def can_be_weak(leaf: Any) -> bool:
    """Whether it is an object that a weak reference can follow."""
    if not is_object(leaf):
        return False
    try:
        weakref.ref(leaf)
    except TypeError:
        return False
    return True


def is_simple(value: Any) -> bool:
    """Whether it is a nest of tensors and plain values."""
    return not any(is_object(leaf) for leaf in nest.flatten(value, lists=True))


def parameter_names(function: Any) -> list[str]:
    """The names of the parameters that can be given by position."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p.name for p in found if p.kind in plain]


def kind_of_call(args: Any, kwargs: Any, leaves: list[Any], specs: Any) -> Any:
    """What tells kinds of arguments apart: shapes and types of tensors, values of the rest."""
    form = repr(nest.map_structure(lambda _: 0, (args, kwargs), lists=True))
    kinds = []
    number = 0
    for leaf in leaves:
        if is_tensor(leaf):
            declared = specs is not None and number < len(specs)
            kinds.append((leaf._dtype_name, None if declared else leaf._dims))
            number += 1
        elif isinstance(leaf, (*PLAIN, np.generic)):
            kinds.append((type(leaf), leaf if leaf == leaf else "nan"))
        else:
            kinds.append((type(leaf), id(leaf)))
    return form, tuple(kinds)


def spec_of(value: Any) -> Any:
    """What a tensor looks like; anything else as it is."""
    if is_tensor(value):
        return TensorSpec(value._dims, value.dtype)
    return value


def bound_to(args: tuple[Any, ...], signature: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments as tensors of the signature, which leaves out a method's object."""
    first = max(len(args) - len(signature), 0)
    bound = [cast_to(arg, spec) for arg, spec in zip(args[first:], signature, strict=False)]
    return (*args[:first], *bound)


def cast_to(value: Any, spec: Any) -> Any:
    """A value as a tensor of a spec; TypeError if it does not fit."""
    if not isinstance(spec, TensorSpec):
        return value
    tensor = value if is_tensor(value) else to_tensor(value, spec.dtype.name)
    if not spec.is_compatible_with(tensor):
        raise TypeError(
            "Binding inputs to tf.function failed due to `Can not cast "
            f"{TensorSpec.from_tensor(tensor)} to {spec}`."
        )
    return tensor
