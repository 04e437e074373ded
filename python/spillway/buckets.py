"""`bucket_by_sequence_length`: grouping by length, then a padded batch of each group."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from spillway import nest, padding
from spillway.errors import InvalidArgumentError
from spillway.tensor_convert import array_of, refuse

if TYPE_CHECKING:
    from spillway.dataset import Dataset


def bucket(
    ds: Dataset,
    element_length_func: Callable[..., Any],
    boundaries: list[int],
    batch_sizes: list[int],
    padded_shapes: Any,
    padding_values: Any,
    pad_to_boundary: bool,
    no_padding: bool,
    drop_remainder: bool,
    name: str | None,
) -> Dataset:
    """Bucket i holds lengths from boundaries[i - 1] up to, not including, boundaries[i]."""
    if len(batch_sizes) != len(boundaries) + 1:
        raise ValueError(
            "`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but "
            f"`len(bucket_batch_sizes)={len(batch_sizes)}` and "
            f"`len(bucket_boundaries)={len(boundaries)}`."
        )
    spec = ds.element_spec
    edges = array_of(boundaries, np.int64)

    def key_func(*element: Any) -> Any:
        found = array_of(element_length_func(*element))
        if found.dtype.kind not in "iu":
            refuse("TypeError", f"element_length_func must give an integer, found {found.dtype}")
        length = int(found)
        return np.int64(np.searchsorted(edges, length, side="right"))

    def shapes_for(key: int) -> Any:
        if not pad_to_boundary:
            return padded_shapes
        if key >= len(boundaries):
            raise InvalidArgumentError(
                "When pad_to_bucket_boundary=True, elements must have length < "
                "max(bucket_boundaries)."
            )
        longest = boundaries[key] - 1

        def fill(shape: Any) -> Any:
            return tuple(longest if d is None or d < 0 else d for d in shape or ())

        if padded_shapes is None:
            flat = [leaf.shape for leaf in nest.flatten(spec)]
        else:
            flat = padding.parts_of(spec, padded_shapes)
        return nest.pack_like(spec, [fill(shape) for shape in flat])

    def reduce_func(key: Any, window: Dataset) -> Dataset:
        size = batch_sizes[int(key)]
        if no_padding:
            return window.batch(size, drop_remainder=drop_remainder)
        return window.padded_batch(size, shapes_for(int(key)), padding_values, drop_remainder)

    def window_size_func(key: Any) -> Any:
        return np.int64(batch_sizes[int(key)])

    signature = _signature(ds, padded_shapes, padding_values, no_padding)
    return ds.group_by_window(
        key_func,
        reduce_func,
        window_size_func=window_size_func,
        output_signature=signature,
        name=name,
    )


def _signature(ds: Dataset, shapes: Any, values: Any, no_padding: bool) -> Any:
    """What TensorFlow infers: a batch of unknown size."""
    batched = ds.batch(1) if no_padding else ds.padded_batch(1, shapes, values)
    return batched.element_spec
