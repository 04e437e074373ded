"""`spillway.tf.data.experimental`. What TensorFlow 2.21 gave is written as such."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import spillway.tf as tf
from tests.test_tf_data import values

Dataset = tf.data.Dataset
experimental = tf.data.experimental


@pytest.mark.parametrize(
    ("transform", "expected"),
    [
        (experimental.enumerate_dataset(5), [(5, 0), (6, 1), (7, 2), (8, 3)]),
        (experimental.take_while(lambda x: x < 2), [0, 1]),
        (experimental.scan(np.int64(1), lambda s, x: (s * 2, s + x)), [1, 3, 6, 11]),
        (experimental.unique(), [0, 1, 2, 3]),
        (experimental.ignore_errors(), [0, 1, 2, 3]),
        (experimental.assert_cardinality(4), [0, 1, 2, 3]),
        (experimental.copy_to_device("/cpu:0"), [0, 1, 2, 3]),
        (experimental.prefetch_to_device("/CPU:0", 2), [0, 1, 2, 3]),
        (experimental.map_and_batch(lambda x: x * 2, 3), [[0, 2, 4], [6]]),
        (experimental.map_and_batch(lambda x: x, 3, drop_remainder=True), [[0, 1, 2]]),
        (
            experimental.parallel_interleave(
                lambda x: Dataset.from_tensors(x).repeat(2), cycle_length=2
            ),
            [0, 1, 0, 1, 2, 3, 2, 3],
        ),
        (
            experimental.group_by_window(lambda x: x % 2, lambda k, w: w.batch(9), 9),
            [[0, 2], [1, 3]],
        ),
        (experimental.bucket_by_sequence_length(lambda x: 1, [2], [3, 3]), [[0, 1, 2], [3]]),
    ],
)
def test_transformations_are_applied(transform: Any, expected: list[Any]) -> None:
    made = Dataset.range(4).apply(transform)
    assert type(made) is Dataset
    assert values(made) == expected


def test_unbatch_is_applied() -> None:
    assert values(Dataset.range(4).batch(3).apply(experimental.unbatch())) == [0, 1, 2, 3]


def test_shuffle_and_repeat_is_the_one_after_the_other() -> None:
    got = values(Dataset.range(5).apply(experimental.shuffle_and_repeat(3, count=2, seed=3)))
    assert sorted(got[:5]) == sorted(got[5:]) == [0, 1, 2, 3, 4]
    assert got == values(Dataset.range(5).shuffle(3, seed=3).repeat(2))


def test_sources_have_functional_twins() -> None:
    assert values(experimental.Counter(3, 2).take(2)) == [3, 5]
    assert values(experimental.RandomDataset(seed=4).take(1)) == [3128586565]
    assert values(experimental.sample_from_datasets([Dataset.range(2)])) == [0, 1]


def test_choosing_goes_on_when_one_is_empty_unlike_the_method() -> None:
    datasets, choice = [Dataset.range(1), Dataset.range(10, 13)], Dataset.range(2).repeat(3)
    assert values(experimental.choose_from_datasets(datasets, choice)) == [0, 10, 11, 12]
    assert values(Dataset.choose_from_datasets(datasets, choice)) == [0, 10]


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: experimental.map_and_batch(lambda x: x, 0), "batch_size must be greater"),
        (
            lambda: experimental.map_and_batch(lambda x: x, 1, num_parallel_calls=0),
            "num_parallel_calls must be greater",
        ),
        (lambda: experimental.parallel_interleave(Dataset.range, 0), "`cycle_length` must be > 0"),
        (lambda: experimental.parallel_interleave(Dataset.range, 1, 0), "`block_length` must be"),
        (lambda: experimental.copy_to_device("/gpu:0"), "only one is the CPU"),
    ],
)
def test_numbers_and_devices_that_cannot_be_are_refused(make: Any, text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        Dataset.range(2).apply(make())


@pytest.mark.parametrize("calls", [1, 4])
def test_map_and_batch_fails_once_a_batch(calls: int) -> None:
    """Batches and classes as TensorFlow 2.21 gave them."""

    def some(x: Any) -> Any:
        if int(x) in (3, 4, 7):
            raise ValueError(f"bad {int(x)}")
        return x

    both = experimental.map_and_batch(some, 3, num_parallel_calls=calls)
    ds = Dataset.range(11).apply(both)
    it = iter(ds)
    assert next(it).numpy().tolist() == [0, 1, 2]
    with pytest.raises(tf.errors.OpError, match="bad 3"):
        next(it)
    state = it.save()
    with pytest.raises(tf.errors.OpError, match="bad 7"):
        next(it)
    assert [batch.numpy().tolist() for batch in it] == [[9, 10]]
    audit = it.audit()
    assert (audit.delivered, audit.failed, audit.dropped, audit.total) == (5, 3, 3, 11)
    again = iter(ds)
    again.restore(state)
    with pytest.raises(tf.errors.OpError, match="bad 7"):
        next(again)
    assert [batch.numpy().tolist() for batch in again] == [[9, 10]]


def test_map_and_batch_takes_one_kind_of_parallelism() -> None:
    with pytest.raises(ValueError, match="allows only one of"):
        experimental.map_and_batch(lambda x: x, 2, num_parallel_batches=1, num_parallel_calls=1)


def test_a_reducer_gives_one_result_a_key_in_their_order() -> None:
    reducer = experimental.Reducer(
        lambda key: (np.int64(0), key),
        lambda s, x: (s[0] + x, s[1]),
        lambda total, key: (key, total),
    )
    numbers = np.array([5, -3, 1, -3], np.int64)
    ds = Dataset.from_tensor_slices(numbers).apply(
        experimental.group_by_reducer(lambda x: x, reducer)
    )
    assert values(ds) == [(-3, -6), (1, 1), (5, 5)]  # as TensorFlow
    assert values(Dataset.range(0).apply(experimental.group_by_reducer(lambda x: x, reducer))) == []


def reduced(init: Any, reduce: Any, finalize: Any, key: Any = lambda x: x % 2) -> Any:
    reducer = experimental.Reducer(init, reduce, finalize)
    return Dataset.range(4).apply(experimental.group_by_reducer(key, reducer))


def test_what_reducers_give_is_known_where_their_functions_tell() -> None:
    scalar = tf.TensorSpec([], tf.int64)
    assert reduced(lambda k: k, lambda s, x: s + x, lambda s: s).element_spec == scalar
    named = reduced(lambda k: (k, k), lambda s, x: (s[0] + x, s[1]), lambda a, b: {"a": a, "b": b})
    assert named.element_spec == {"a": scalar, "b": scalar}
    growing = reduced(lambda k: ([0], 1), lambda s, x: ([*s[0]] * 2, s[1]), lambda a, b: a)
    assert growing.element_spec is None or growing.element_spec.shape == [None]


@pytest.mark.parametrize(
    ("init", "key", "error", "text"),
    [
        (
            lambda k: np.int32(0),
            lambda x: x,
            TypeError,
            "do not match the element types of the old state",
        ),
        (lambda k: k, lambda x: (x, x), ValueError, "`key_func` must return a single"),
        (lambda k: k, lambda x: x > 1, ValueError, "`key_func` must return a single"),
    ],
)
def test_reducers_that_cannot_be_are_refused_when_written(
    init: Any, key: Any, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        reduced(init, lambda s, x: x, lambda s: s, key)


def test_what_resampling_gives_is_known_where_the_class_is() -> None:
    scalar = tf.TensorSpec([], tf.int64)
    ds = Dataset.range(4).map(lambda x: (x, x)).rejection_resample(lambda a, b: a, [0.5, 0.5])
    assert ds.element_spec == (scalar, (scalar, scalar))


@pytest.mark.parametrize(
    "elements",
    [
        [1, 2], ["a", "bc"], [(1, "a"), (2, "b")], [{"a": 1}, {"a": 2}], [[1, 2], [3, 4]],
        [[1], [2, 3]], [(["a"], 1.5), (["b", "c"], 2.5)],
    ],
)  # fmt: skip
def test_a_list_gives_its_elements(elements: list[Any]) -> None:
    ds = experimental.from_list(elements)
    assert len(ds) == len(elements)
    alone = [values(Dataset.from_tensors(element))[0] for element in elements]
    assert values(ds) == alone


def test_a_list_joins_the_shapes_of_its_elements() -> None:
    assert experimental.from_list([[1], [2, 3]]).element_spec == tf.TensorSpec([None], tf.int32)
    assert experimental.from_list([1, 2]).element_spec == tf.TensorSpec([], tf.int32)


@pytest.mark.parametrize(
    ("elements", "error", "text"),
    [
        ([], ValueError, "should not be empty"),
        ((1, 2), ValueError, "must be a list"),
        ([(1, 2), (1,)], ValueError, "same nested structure"),
        ([1, "a"], TypeError, "one dtype in all elements: component 0 has int32, string"),
    ],
)
def test_a_list_that_makes_no_dataset_is_refused(elements: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        experimental.from_list(elements)


@pytest.mark.parametrize("initial", [[0.9, 0.1], None])
def test_resampling_brings_classes_to_the_wanted_share(initial: Any) -> None:
    data = np.where(np.arange(6000) % 10 == 0, 1, 0)
    ds = Dataset.from_tensor_slices((data, np.arange(6000)))
    got = values(ds.rejection_resample(lambda label, x: label, [0.5, 0.5], initial, seed=7))
    labels = [label for label, _ in got]
    assert 0.4 < np.mean(labels) < 0.6
    assert all(label == element[0] for label, element in got)
    assert len({x for _, (_, x) in got}) == len(got), "an element was given twice"
    again = ds.apply(
        experimental.rejection_resample(lambda label, x: label, [0.5, 0.5], initial, seed=7)
    )
    assert values(again) == got


def test_resampling_wants_one_share_a_class() -> None:
    with pytest.raises(ValueError, match="same shape"):
        Dataset.range(2).rejection_resample(lambda x: x, [0.5, 0.5], [1.0])


def test_padding_marks_what_is_real() -> None:
    ds = Dataset.from_tensor_slices({"a": [1, 2]}).apply(experimental.pad_to_cardinality(3))
    assert values(ds) == [
        {"a": 1, "valid": True}, {"a": 2, "valid": True}, {"a": 0, "valid": False},
    ]  # fmt: skip


def test_structure_and_optionals_are_asked_by_functions() -> None:
    ds = Dataset.range(1)
    assert experimental.get_structure(ds) == experimental.get_structure(iter(ds)) == ds.element_spec
    with pytest.raises(TypeError, match=r"must be a `tf\.data\.Dataset`"):
        experimental.get_structure(3)
    assert experimental.get_next_as_optional(iter(ds)).get_value().numpy() == 0
    assert experimental.get_single_element(ds).numpy() == 0


def test_debug_mode_calls_functions_one_by_one() -> None:
    # In a process of its own: the mode stays on.
    text = """
import threading, spillway.tf as tf
tf.data.experimental.enable_debug_mode()
running, most = 0, 0
lock = threading.Lock()
def count(x):
    global running, most
    with lock:
        running += 1
        most = max(most, running)
    y = x + 1
    with lock:
        running -= 1
    return y
ds = tf.data.Dataset.range(50).map(count, num_parallel_calls=8)
assert [int(x) for x in ds] == list(range(1, 51))
assert most == 1, most
assert "num_parallel_calls" not in repr(ds), repr(ds)
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr


def test_a_list_may_hold_datasets() -> None:
    ds = experimental.from_list([(1, tf.data.Dataset.range(2)), (2, tf.data.Dataset.range(3))])
    element = tf.TensorSpec([], tf.int64)
    assert ds.element_spec == (tf.TensorSpec([], tf.int32), tf.data.DatasetSpec(element))
    assert [(int(n), [int(x) for x in inner]) for n, inner in ds] == [(1, [0, 1]), (2, [0, 1, 2])]
    assert [int(x) for x in experimental.at(ds, 1)[1]] == [0, 1, 2]


def test_classes_that_come_as_wanted_are_not_rejected() -> None:
    ds: Any = tf.data.Dataset.range(4)
    resampled = ds.rejection_resample(lambda x: x % 2, [0.5, 0.5], [0.5, 0.5])
    assert int(resampled.cardinality()) == 4
    assert [(int(c), int(x)) for c, x in resampled] == [(0, 0), (1, 1), (0, 2), (1, 3)]
