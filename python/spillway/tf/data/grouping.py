"""`group_by_reducer`: one result for each key, made of `group_by_window`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spillway.specs import TensorSpec
from spillway.tf.data.dataset import Dataset
from spillway.tf.data.inference import joined, result_spec

_ALL = 2**63 - 1


class Reducer:
    """How the elements of a group become one: first state, next state, result.

    >>> import numpy as np
    >>> import spillway.tf as tf
    >>> count = tf.data.experimental.Reducer(
    ...     lambda key: np.int64(0), lambda state, x: state + 1, lambda state: state)
    >>> ds = tf.data.Dataset.range(5).apply(
    ...     tf.data.experimental.group_by_reducer(lambda x: x % 2, count))
    >>> [int(n) for n in ds]
    [3, 2]
    """

    def __init__(
        self,
        init_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        finalize_func: Callable[..., Any],
    ) -> None:
        """`init_func(key)`, `reduce_func(state, element)`, `finalize_func(state)`."""
        self.init_func = init_func
        self.reduce_func = reduce_func
        self.finalize_func = finalize_func


def group_by_reducer(
    key_func: Callable[..., Any], reducer: Reducer
) -> Callable[[Dataset], Dataset]:
    """Groups all elements by key and reduces each group, in the order of the keys."""

    def reduce_group(key: Any, group: Dataset) -> Any:
        state = group.reduce(reducer.init_func(key), reducer.reduce_func)
        result = (
            reducer.finalize_func(*state)
            if isinstance(state, tuple)
            else reducer.finalize_func(state)
        )
        return Dataset.from_tensors(result)

    def transform(dataset: Dataset) -> Dataset:
        key = result_spec(key_func, dataset.element_spec)
        if key is not None and not TensorSpec((), "int64").is_compatible_with(key):
            raise ValueError(
                "Invalid `key_func`. Expected `key_func` to return a scalar tf.int64 tensor: "
                f"`key_func` must return a single `tf.int64` scalar tensor: {key}"
            )
        signature = _signature(dataset.element_spec, reducer)
        return dataset.group_by_window(
            key_func, reduce_group, window_size=_ALL, output_signature=signature
        )

    return transform


def _signature(element: Any, reducer: Reducer) -> Any:
    """The spec of the results, where the functions tell it; states may grow in shape."""
    state = result_spec(reducer.init_func, TensorSpec((), "int64"))
    while state is not None:
        after = result_spec(reducer.reduce_func, state, element)
        wider = joined(state, after)
        if wider is None and after is not None:
            raise TypeError(
                f"Invalid `reducer`. The element types for the new state {after} do not match the "
                f"element types of the old state {state}."
            )
        if wider == state:
            return result_spec(reducer.finalize_func, state)
        state = wider
    return None
