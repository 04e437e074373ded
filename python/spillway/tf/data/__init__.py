"""`tf.data`: input pipelines.

>>> import spillway.tf as tf
>>> list(tf.data.Dataset.range(2))
[Tensor(0, shape=(), dtype=int64), Tensor(1, shape=(), dtype=int64)]
"""

from __future__ import annotations

from typing import Any

from spillway.building import AUTOTUNE
from spillway.dataset import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from spillway.options import Options, ThreadingOptions
from spillway.specs import DatasetSpec
from spillway.tf import _names
from spillway.tf.data.dataset import Dataset
from spillway.tf.data.iterator import Iterator, IteratorSpec, NumpyIterator
from spillway.tf.data.readers import FixedLengthRecordDataset, TextLineDataset, TFRecordDataset

from . import experimental  # after what it builds on

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "Dataset",
    "DatasetSpec",
    "FixedLengthRecordDataset",
    "Iterator",
    "IteratorSpec",
    "NumpyIterator",
    "Options",
    "TFRecordDataset",
    "TextLineDataset",
    "ThreadingOptions",
    "experimental",
]


def __getattr__(name: str) -> Any:
    raise _names.missing(__name__, name)
