"""`tf.type_spec_from_value`: what a value looks like."""

from __future__ import annotations

from typing import Any

import spillway
from spillway.shown import shown
from spillway.specs import DatasetSpec, NoneSpec, OptionalSpec, TensorSpec, TypeSpec
from spillway.tensor import convert_to_tensor
from spillway.tf.data.iterator import Iterator, IteratorSpec


def type_spec_from_value(value: Any) -> TypeSpec:
    """The spec of a tensor, of what can become one, or of a dataset, an Optional or an iterator.

    >>> type_spec_from_value([1, 2])
    TensorSpec(shape=(2,), dtype=tf.int32, name=None)
    """
    if value is None:
        return NoneSpec()
    if isinstance(value, spillway.Dataset):
        return DatasetSpec.from_value(value)
    if isinstance(value, spillway.Optional):
        return OptionalSpec.from_value(value)
    if isinstance(value, Iterator):
        return IteratorSpec.from_value(value)
    try:
        return TensorSpec.from_tensor(convert_to_tensor(value))
    except (TypeError, ValueError):
        raise TypeError(
            f"Could not build a TypeSpec for {shown(value)} of unsupported type {type(value)}."
        ) from None
