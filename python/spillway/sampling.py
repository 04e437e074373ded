"""`sample_from_datasets`: what TensorFlow settles before it draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spillway import _native
from spillway.building import datasets_of, seeds
from spillway.lines import user_line
from spillway.shown import shown
from spillway.specs import TensorSpec
from spillway.tensor_convert import array_of, refuse, truth

if TYPE_CHECKING:
    from spillway.dataset import Dataset

_DRAWS = 2.0**32  # what `Dataset.random` draws from


def sample(
    datasets: list[Dataset], weights: Any, seed: int | None, stop: bool, again: bool | None
) -> Dataset:
    """The mix of `datasets`."""
    from spillway.dataset import Dataset

    datasets = datasets_of(datasets, "sample_from_datasets")
    if not datasets:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    element = None
    if weights is not None and not isinstance(weights, Dataset):
        listed = isinstance(weights, list | tuple)
        array = array_of(weights)
        if array.dtype.kind in "iu":
            raise TypeError(
                "Invalid `weights`. `weights` type must be either `tf.float32` or `tf.float64` "
                f"but is {array.dtype}."
            )
        if array.ndim != 1 or len(array) != len(datasets):
            raise ValueError(
                "Invalid `weights`. `weights` should have the same length as `datasets` but got "
                f"`len(weights)={len(array) if array.ndim else 0}` vs. "
                f"`len(datasets)={len(datasets)}`."
            )
        if array.dtype.kind == "f" and not (np.isfinite(array) & (array >= 0)).all():
            refuse("ValueError", f"`weights` must be finite and not negative: {shown(weights)}")
        if listed:
            kept = [i for i, w in enumerate(array) if w > 0]
            if not kept:
                return datasets[0].take(0)
            datasets = [datasets[i] for i in kept]
            array = array[kept]
        element = _native.element(np.ascontiguousarray(array), None, False)
    elif weights is not None:
        choices = _choices(weights, len(datasets), seed, again)
        return Dataset.choose_from_datasets(datasets, choices, stop)
    if len(datasets) == 1:
        return datasets[0]
    params = [None, element, *seeds(seed, "sample_from_datasets")]
    params += [truth(stop, "stop_on_empty_dataset"), again]
    nodes = [dataset._node for dataset in datasets]
    return Dataset(_native.node("sample_from_datasets", params, nodes, user_line(), ""))


def _choices(weights: Dataset, count: int, seed: int | None, again: bool | None) -> Dataset:
    """For each element of `weights` the number of a dataset, drawn in these shares."""
    from spillway.dataset import Dataset

    def choose(shares: Any, drawn: Any) -> Any:
        rising = np.cumsum(np.asarray(shares, np.float64)[:count])
        at = np.searchsorted(rising, float(drawn) / _DRAWS * rising[-1], side="right")
        return np.int64(min(int(at), count - 1))

    numbers = Dataset.random(seed=seed, rerandomize_each_iteration=again)
    return Dataset.zip(weights, numbers).map(choose, output_signature=TensorSpec((), "int64"))
