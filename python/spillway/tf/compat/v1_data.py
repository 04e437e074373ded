"""`tf.compat.v1.data`: what elements look like, as TensorFlow 1 asked for it.

>>> import spillway.tf as tf
>>> tf.compat.v1.data.get_output_shapes(tf.data.Dataset.range(3).batch(2))
TensorShape([None])
"""

from __future__ import annotations

from typing import Any

from spillway import nest
from spillway.sessions.dataset_iterator import GraphIterator
from spillway.specs import DatasetSpec, OptionalSpec
from spillway.tensor import Tensor
from spillway.tf import _names
from spillway.tf.data.dataset import Dataset
from spillway.tf.data.iterator import Iterator
from spillway.tf.data.optional import Optional

__all__ = [
    "Dataset",
    "get_output_classes",
    "get_output_shapes",
    "get_output_types",
    "make_initializable_iterator",
    "make_one_shot_iterator",
]


def make_one_shot_iterator(dataset: Dataset) -> GraphIterator:
    """An iterator over one pass, for graphs and outside them."""
    return GraphIterator(dataset, True)


def make_initializable_iterator(dataset: Dataset, shared_name: str | None = None) -> GraphIterator:
    """An iterator that begins when its `initializer` runs."""
    return GraphIterator(dataset, False)


def get_output_classes(dataset_or_iterator: Dataset | Iterator) -> Any:
    """The class of each component, in the form of an element."""
    return nest.map_structure(_class_of, dataset_or_iterator.element_spec)


def get_output_shapes(dataset_or_iterator: Dataset | Iterator) -> Any:
    """The shape of each component, in the form of an element."""
    return nest.map_structure(lambda spec: spec.shape, dataset_or_iterator.element_spec)


def get_output_types(dataset_or_iterator: Dataset | Iterator) -> Any:
    """The dtype of each component, in the form of an element."""
    return nest.map_structure(lambda spec: spec.dtype, dataset_or_iterator.element_spec)


def _class_of(spec: Any) -> type:
    if isinstance(spec, DatasetSpec):
        return Dataset
    return Optional if isinstance(spec, OptionalSpec) else Tensor


def __getattr__(name: str) -> Any:
    raise _names.missing(__name__, name)
