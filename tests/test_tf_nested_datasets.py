"""Datasets as components: in lists, in batches, and out of them again."""

from __future__ import annotations

from typing import Any

import pytest

import spillway.tf as tf

Dataset = tf.data.Dataset
SCALAR = tf.TensorSpec([], tf.int64)


def values(dataset: Any) -> list[int]:
    return [int(x) for x in dataset]


def test_the_slices_of_a_list_of_datasets_are_these_datasets() -> None:
    ds = Dataset.from_tensor_slices([Dataset.range(2), Dataset.range(3)])
    assert ds.element_spec == tf.data.DatasetSpec(SCALAR)
    assert int(ds.cardinality()) == 2
    assert [values(inner) for inner in ds] == [[0, 1], [0, 1, 2]]
    assert values(tf.data.experimental.at(ds, 1)) == [0, 1, 2]


def test_a_list_of_datasets_may_stand_beside_other_components() -> None:
    ds = Dataset.from_tensor_slices(([Dataset.range(2), Dataset.range(3)], [5, 6]))
    assert [(values(inner), int(n)) for inner, n in ds] == [([0, 1], 5), ([0, 1, 2], 6)]


def test_datasets_of_one_list_must_have_elements_of_one_kind() -> None:
    with pytest.raises(TypeError, match="expected structure"):
        Dataset.from_tensor_slices([Dataset.range(2), Dataset.from_tensors("a")])
    with pytest.raises(TypeError, match="expected datasets only"):
        Dataset.from_tensor_slices([Dataset.range(2), 3])


def test_a_batch_of_datasets_is_an_array_of_datasets_of_this_front() -> None:
    ds = Dataset.range(4).map(Dataset.from_tensors).batch(2)
    batch = next(iter(ds))
    assert batch.shape == (2,)
    assert all(isinstance(inner, Dataset) for inner in batch)


def test_a_batch_of_datasets_goes_through_a_map_and_apart_again() -> None:
    ds = Dataset.range(4).map(Dataset.from_tensors).batch(2).map(lambda batch: batch)
    assert ds.element_spec == tf.data.DatasetSpec(SCALAR, [None])
    assert values(ds.unbatch().flat_map(lambda inner: inner)) == [0, 1, 2, 3]


def test_a_position_within_datasets_of_a_list_is_restored() -> None:
    def build() -> Any:
        ds = Dataset.from_tensor_slices([Dataset.range(2), Dataset.range(3)])
        return ds.flat_map(lambda inner: inner)

    it = iter(build())
    assert [int(next(it)) for _ in range(3)] == [0, 1, 0]
    again = iter(build())
    again.restore(it.save())
    assert values(again) == [1, 2]


def test_a_variable_that_sizes_an_inner_dataset_is_read_for_every_element() -> None:
    """It had the value of the moment when the stage was written; TensorFlow 2.21 reads it anew."""
    v = tf.Variable(2, dtype=tf.int64)
    repeated = Dataset.range(2).flat_map(lambda x: Dataset.from_tensors(x).repeat(v))
    taken = Dataset.range(2).interleave(lambda x: Dataset.range(100).take(v).batch(v))
    made = Dataset.range(2).flat_map(lambda x: Dataset.from_tensors(v))
    v.assign(3)
    assert [int(x) for x in repeated] == [0, 0, 0, 1, 1, 1]
    assert [x.numpy().tolist() for x in taken] == [[0, 1, 2], [0, 1, 2]]
    assert [int(x) for x in made] == [3, 3]
    v.assign(0)
    assert [int(x) for x in repeated] == []
