"""`tf.data.experimental`: what is used through `Dataset.apply`, and functions over datasets.

>>> import spillway.tf as tf
>>> ds = tf.data.Dataset.range(4).apply(tf.data.experimental.enumerate_dataset(start=7))
>>> [(int(i), int(x)) for i, x in ds.take(2)]
[(7, 0), (8, 1)]
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from spillway import arguments
from spillway.building import AUTOTUNE
from spillway.dataset import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from spillway.options import (
    AutoShardPolicy,
    AutotuneAlgorithm,
    AutotuneOptions,
    DistributeOptions,
    ExternalStatePolicy,
    OptimizationOptions,
    ServiceOptions,
    ThreadingOptions,
)
from spillway.tf import _names
from spillway.tf._front import to_front
from spillway.tf.data.combined import (
    Transformation,
    copy_to_device,
    map_and_batch,
    method,
    parallel_interleave,
    prefetch_to_device,
    shuffle_and_repeat,
)
from spillway.tf.data.csv_files import CsvDataset, make_csv_dataset
from spillway.tf.data.dataset import Dataset
from spillway.tf.data.debug import enable_debug_mode
from spillway.tf.data.feature_files import make_batched_features_dataset, parse_example_dataset
from spillway.tf.data.from_list import from_list
from spillway.tf.data.grouping import Reducer, group_by_reducer
from spillway.tf.data.iterator import Iterator
from spillway.tf.data.optional import Optional
from spillway.tf.data.record_writing import TFRecordWriter
from spillway.tf.data.sql_dataset import SqlDataset

SHARD_HINT = -1


# ---- Twins of methods


def unbatch() -> Transformation:
    """`Dataset.unbatch`."""
    return method("unbatch")


def unique() -> Transformation:
    """`Dataset.unique`."""
    return method("unique")


def enumerate_dataset(start: Any = 0) -> Transformation:
    """`Dataset.enumerate`."""
    return method("enumerate", start)


def ignore_errors(log_warning: bool = False) -> Transformation:
    """`Dataset.ignore_errors`."""
    return method("ignore_errors", log_warning)


def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Transformation:
    """`Dataset.scan`."""
    return method("scan", initial_state, scan_func)


def take_while(predicate: Callable[..., Any]) -> Transformation:
    """`Dataset.take_while`."""
    return method("take_while", predicate)


def assert_cardinality(expected_cardinality: Any) -> Transformation:
    """Says how many elements there are; another number is a FailedPreconditionError."""
    return method("assert_cardinality", expected_cardinality)


def pad_to_cardinality(cardinality: Any, mask_key: str = "valid") -> Transformation:
    """Adds elements of zeros until there are so many; `mask_key` tells which are real."""
    return method("pad_to_cardinality", cardinality, mask_key)


def group_by_window(
    key_func: Callable[..., Any],
    reduce_func: Callable[..., Any],
    window_size: Any = None,
    window_size_func: Callable[..., Any] | None = None,
) -> Transformation:
    """`Dataset.group_by_window`."""
    return method("group_by_window", key_func, reduce_func, window_size, window_size_func)


def bucket_by_sequence_length(
    element_length_func: Callable[..., Any],
    bucket_boundaries: Any,
    bucket_batch_sizes: Any,
    padded_shapes: Any = None,
    padding_values: Any = None,
    pad_to_bucket_boundary: bool = False,
    no_padding: bool = False,
    drop_remainder: bool = False,
) -> Transformation:
    """`Dataset.bucket_by_sequence_length`."""
    return method(
        "bucket_by_sequence_length",
        element_length_func,
        bucket_boundaries,
        bucket_batch_sizes,
        padded_shapes,
        padding_values,
        pad_to_bucket_boundary,
        no_padding,
        drop_remainder,
    )


def save(
    dataset: Dataset,
    path: Any,
    compression: str | None = None,
    shard_func: Callable[..., Any] | None = None,
    checkpoint_args: dict[str, Any] | None = None,
) -> None:
    """`Dataset.save`, under its older name."""
    _use_instead("save")
    dataset.save(path, compression, shard_func, checkpoint_args)


def load(
    path: Any,
    element_spec: Any = None,
    compression: str | None = None,
    reader_func: Callable[[Any], Any] | None = None,
) -> Dataset:
    """`Dataset.load`, under its older name."""
    _use_instead("load")
    return Dataset.load(path, element_spec, compression, reader_func)


def snapshot(
    path: Any,
    compression: str | None = "AUTO",
    reader_func: Callable[[Any], Any] | None = None,
    shard_func: Callable[..., Any] | None = None,
) -> Transformation:
    """`Dataset.snapshot`, under its older name."""
    _use_instead("snapshot")
    return method("snapshot", path, compression, reader_func, shard_func)


def _use_instead(name: str) -> None:
    warnings.warn(
        f"tf.data.experimental.{name} is deprecated. Use `tf.data.Dataset.{name}(...)` instead.",
        DeprecationWarning,
        stacklevel=3,
    )


def rejection_resample(
    class_func: Callable[..., Any], target_dist: Any, initial_dist: Any = None, seed: Any = None
) -> Transformation:
    """`Dataset.rejection_resample`."""
    return method("rejection_resample", class_func, target_dist, initial_dist, seed)


# ---- Sources


def Counter(start: Any = 0, step: Any = 1, dtype: Any = "int64") -> Dataset:  # noqa: N802
    """`Dataset.counter`."""
    return Dataset.counter(start, step, dtype)


def RandomDataset(  # noqa: N802
    seed: int | None = None,
    rerandomize_each_iteration: bool | None = None,
    name: str | None = None,
) -> Dataset:
    """`Dataset.random`."""
    return Dataset.random(seed, rerandomize_each_iteration, name)


def sample_from_datasets(
    datasets: Any,
    weights: Any = None,
    seed: int | None = None,
    stop_on_empty_dataset: bool = False,
) -> Dataset:
    """`Dataset.sample_from_datasets`."""
    return Dataset.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


def choose_from_datasets(
    datasets: Any, choice_dataset: Dataset, stop_on_empty_dataset: bool = False
) -> Dataset:
    """`Dataset.choose_from_datasets`, which here does not stop when one of them is empty."""
    return Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


# ---- Of a dataset or an iterator


def cardinality(dataset: Dataset) -> Any:
    """`Dataset.cardinality`."""
    return dataset.cardinality()


def get_single_element(dataset: Dataset) -> Any:
    """`Dataset.get_single_element`."""
    if not isinstance(dataset, Dataset):
        raise TypeError(
            f"Invalid `dataset`. Expected a `tf.data.Dataset` object but got {type(dataset)}."
        )
    return dataset.get_single_element()


def at(dataset: Dataset, index: Any) -> Any:
    """One element by its position; OutOfRangeError for one that is not there."""
    return to_front(dataset._at(index))


def get_next_as_optional(iterator: Iterator) -> Optional:
    """`Iterator.get_next_as_optional`."""
    element: Optional = iterator.get_next_as_optional()
    return element


def get_structure(dataset_or_iterator: Any) -> Any:
    """`element_spec` of a dataset or an iterator.

    >>> import spillway.tf as tf
    >>> tf.data.experimental.get_structure(iter(tf.data.Dataset.range(3)))
    TensorSpec(shape=(), dtype=tf.int64, name=None)
    """
    if not isinstance(dataset_or_iterator, Dataset | Iterator):
        raise TypeError(
            "Invalid `dataset_or_iterator`. `dataset_or_iterator` must be a `tf.data.Dataset` or "
            f"tf.data.Iterator object, but got {type(dataset_or_iterator)}."
        )
    return dataset_or_iterator.element_spec


__all__ = [
    "AUTOTUNE", "INFINITE_CARDINALITY", "SHARD_HINT", "UNKNOWN_CARDINALITY", "AutoShardPolicy",
    "AutotuneAlgorithm", "AutotuneOptions", "Counter", "CsvDataset", "DistributeOptions",
    "ExternalStatePolicy", "OptimizationOptions", "Optional", "RandomDataset", "Reducer",
    "ServiceOptions", "SqlDataset", "TFRecordWriter", "ThreadingOptions", "assert_cardinality",
    "at", "bucket_by_sequence_length", "cardinality", "choose_from_datasets", "copy_to_device",
    "enable_debug_mode", "enumerate_dataset", "from_list", "get_next_as_optional",
    "get_single_element", "get_structure", "group_by_reducer", "group_by_window", "ignore_errors",
    "load", "make_batched_features_dataset", "make_csv_dataset", "map_and_batch",
    "pad_to_cardinality", "parallel_interleave", "parse_example_dataset", "prefetch_to_device",
    "rejection_resample", "sample_from_datasets", "save", "scan", "shuffle_and_repeat", "snapshot",
    "take_while", "unbatch", "unique",
]  # fmt: skip

arguments.name_errors(__name__, "spillway.tf.data")


def __getattr__(name: str) -> Any:
    raise _names.missing(__name__, name)
