"""`bucket_by_sequence_length`: grouping by length, then a padded batch of each group."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from spillway import nest
from spillway.errors import InvalidArgumentError
from spillway.specs import TensorSpec

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
    edges = np.asarray(boundaries, dtype=np.int64)

    def key_func(*element: Any) -> Any:
        length = int(np.asarray(element_length_func(*element)))
        return np.int64(np.searchsorted(edges, length, side="right"))

    def shapes_for(key: int) -> Any:
        shapes = padded_shapes
        if shapes is None:
            shapes = nest.map_structure(lambda leaf: leaf.shape, spec)
        if not pad_to_boundary:
            return shapes
        if key >= len(boundaries):
            raise InvalidArgumentError(
                "When pad_to_bucket_boundary=True, elements must have length < "
                "max(bucket_boundaries)."
            )
        longest = boundaries[key] - 1

        def fill(leaf: TensorSpec, shape: Any) -> Any:
            dims = list(leaf.shape or ()) if shape is None else list(shape)
            return tuple(longest if d is None or d < 0 else d for d in dims)

        leaves = nest.flatten(spec)
        flat = [shapes] if len(leaves) == 1 and not nest.is_nested(spec) else list(shapes)
        filled = [fill(leaf, shape) for leaf, shape in zip(leaves, flat, strict=True)]
        return filled[0] if not nest.is_nested(spec) else nest.pack_like(spec, filled)

    def reduce_func(key: Any, window: Dataset) -> Dataset:
        size = batch_sizes[int(key)]
        if no_padding:
            return window.batch(size, drop_remainder=drop_remainder)
        return window.padded_batch(size, shapes_for(int(key)), padding_values, drop_remainder)

    def window_size_func(key: Any) -> Any:
        return np.int64(batch_sizes[int(key)])

    signature = _signature(ds, batch_sizes, padded_shapes, padding_values, no_padding, drop_remainder)
    return ds.group_by_window(
        key_func,
        reduce_func,
        window_size_func=window_size_func,
        output_signature=signature,
        name=name,
    )


def _signature(
    ds: Dataset, sizes: list[int], shapes: Any, values: Any, no_padding: bool, drop: bool
) -> Any:
    """What TensorFlow would infer: the batch's spec, its first dimension known if all agree."""
    same = len(set(sizes)) == 1 and drop
    size = sizes[0] if same else 1
    batched = (
        ds.batch(size, drop_remainder=same)
        if no_padding
        else ds.padded_batch(size, shapes, values, drop_remainder=same)
    )
    return batched.element_spec
