"""Batches of parsed Examples: `make_batched_features_dataset` and `parse_example_dataset`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from spillway import nest
from spillway.building import AUTOTUNE
from spillway.dtypes import string
from spillway.errors import InvalidArgumentError
from spillway.ops.io import parse_example
from spillway.specs import TensorSpec
from spillway.tensor_convert import to_tensor
from spillway.tf.data.combined import Transformation, read_files
from spillway.tf.data.dataset import Dataset
from spillway.tf.data.readers import TFRecordDataset

_VECTOR = TensorSpec([None], string)
_NONE = np.zeros(0, object)  # Examples


def parse_example_dataset(
    features: Any, num_parallel_calls: Any = 1, deterministic: bool | None = None
) -> Transformation:
    """`tf.io.parse_example` of each batch of serialized Examples.

    >>> import spillway.tf as tf
    >>> features = {"a": tf.io.FixedLenFeature([], tf.int64, default_value=7)}
    >>> ds = tf.data.Dataset.from_tensors([b"", b""])
    >>> parsed = ds.apply(tf.data.experimental.parse_example_dataset(features))
    >>> [batch["a"].numpy().tolist() for batch in parsed]
    [[7, 7]]
    """
    if features is None:
        raise ValueError("Argument `features` is required, but not specified.")

    def transform(dataset: Dataset) -> Dataset:
        spec = dataset.element_spec
        if spec is not None and not (
            isinstance(spec, TensorSpec) and spec.is_compatible_with(_VECTOR)
        ):
            raise TypeError(
                f"Input dataset should be a dataset of vectors of strings. Instead it is `{spec}`."
            )
        # Of no Examples: what cannot be parsed is refused here and not by the first element.
        parse_example(_NONE, features)
        calls = int(to_tensor(num_parallel_calls))
        if calls < 1 and calls != AUTOTUNE:
            raise InvalidArgumentError("num_parallel_calls must be greater than zero.")
        return dataset.map(
            lambda serialized: parse_example(serialized, features),
            calls,
            deterministic,
        )

    return transform


def make_batched_features_dataset(
    file_pattern: Any,
    batch_size: Any,
    features: Any,
    reader: Callable[..., Any] | None = None,
    label_key: str | None = None,
    reader_args: Sequence[Any] | None = None,
    num_epochs: Any = None,
    shuffle: bool | None = True,
    shuffle_buffer_size: Any = 10000,
    shuffle_seed: Any = None,
    prefetch_buffer_size: Any = None,
    reader_num_threads: Any = None,
    parser_num_threads: Any = None,
    sloppy_ordering: bool = False,
    drop_final_batch: bool = False,
) -> Dataset:
    """Batches of the Examples in files as dicts of features, with the label beside if it is named.

    `reader(filename, *reader_args)` makes a dataset of Examples, or of pairs of a key and one; it
    is `TFRecordDataset` unless given. Without `num_epochs` it goes on for ever.

    >>> import spillway.tf as tf, tempfile
    >>> path = tempfile.mkdtemp() + "/a.tfrecord"
    >>> with tf.io.TFRecordWriter(path) as writer:
    ...     for number in range(3):
    ...         numbers = tf.train.Feature(int64_list=tf.train.Int64List(value=[number]))
    ...         named = tf.train.Features(feature={"x": numbers, "y": numbers})
    ...         writer.write(tf.train.Example(features=named).SerializeToString())
    >>> features = {name: tf.io.FixedLenFeature([], tf.int64) for name in ("x", "y")}
    >>> ds = tf.data.experimental.make_batched_features_dataset(
    ...     path, 2, features, label_key="y", num_epochs=1, shuffle=False)
    >>> [(x["x"].numpy().tolist(), y.numpy().tolist()) for x, y in ds]
    [([0, 1], [0, 1]), ([2], [2])]
    """
    open_file = TFRecordDataset if reader is None else reader
    args = () if reader_args is None else tuple(reader_args)

    def read(filename: Any) -> Any:
        return open_file(filename, *args)

    ds: Any = Dataset.list_files(file_pattern, shuffle, shuffle_seed)
    ds = ds.apply(read_files(read, reader_num_threads, sloppy_ordering))
    if _keyed(ds.element_spec):
        ds = ds.map(lambda key, example: example)
    if shuffle:
        ds = ds.shuffle(shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        ds = ds.repeat(num_epochs)
    # Batches of a pass without end are all full: their size is then part of the spec.
    ds = ds.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    calls = 2 if parser_num_threads is None else parser_num_threads
    ds = ds.apply(parse_example_dataset(features, calls))
    if label_key:
        if label_key not in features:
            raise ValueError(
                f"The `label_key` provided ({label_key}) must be one of the `features` keys: "
                f"{features.keys()}."
            )
        ds = ds.map(lambda parsed: (parsed, parsed.pop(label_key)))
    made: Dataset = ds.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)
    return made


def _keyed(spec: Any) -> bool:
    """Whether elements are pairs of strings: a key, and what is kept under it."""
    return isinstance(spec, tuple) and [
        getattr(part, "dtype", None) for part in nest.flatten(spec)
    ] == [string, string]
