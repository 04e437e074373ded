"""Files of Examples in one call. What is expected is what TensorFlow 2.21 gave."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

import spillway.tf as tf

Dataset = tf.data.Dataset
make = tf.data.experimental.make_batched_features_dataset
parse_example_dataset: Any = tf.data.experimental.parse_example_dataset
NUMBER = {"a": tf.io.FixedLenFeature([], tf.int64)}
FEATURES: dict[str, Any] = {
    **NUMBER,
    "s": tf.io.FixedLenFeature([], tf.string, default_value="none"),
    "f": tf.io.FixedLenFeature([2], tf.float32),
}
IN_ORDER = [0, 1, 2, 3, 4, 10, 30, 31, 32, 33]


def example(number: int) -> bytes:
    feature = {
        "a": tf.train.Feature(int64_list=tf.train.Int64List(value=[number])),
        "f": tf.train.Feature(float_list=tf.train.FloatList(value=[number, 0.5])),
    }
    if number % 2:
        feature["s"] = tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"odd"]))
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()


@pytest.fixture
def pattern(tmp_path: Path) -> str:
    """Files of 5, 1, 0 and 4 Examples."""
    for at, count in enumerate([5, 1, 0, 4]):
        with tf.io.TFRecordWriter(str(tmp_path / f"f{at}.rec")) as writer:
            for i in range(count):
                writer.write(example(10 * at + i))
    return str(tmp_path / "f*.rec")


def batches(ds: Any, count: int = 20) -> list[list[int]]:
    return [batch["a"].numpy().tolist() for batch in ds.take(count)]


def test_examples_are_read_batched_and_parsed(pattern: str) -> None:
    ds = make(pattern, 4, FEATURES, num_epochs=1, shuffle=False)
    assert type(ds) is Dataset
    assert ds.element_spec == {
        "a": tf.TensorSpec([None], tf.int64),
        "f": tf.TensorSpec([None, 2], tf.float32),
        "s": tf.TensorSpec([None], tf.string),
    }
    assert int(ds.cardinality()) == tf.data.experimental.UNKNOWN_CARDINALITY
    first, _, last = list(ds)
    assert list(first) == ["a", "f", "s"]
    assert first["f"].numpy().tolist() == [[0, 0.5], [1, 0.5], [2, 0.5], [3, 0.5]]
    assert first["s"].numpy().tolist() == [b"none", b"odd", b"none", b"odd"]
    assert last["a"].numpy().tolist() == [32, 33]
    assert batches(ds) == [[0, 1, 2, 3], [4, 10, 30, 31], [32, 33]]


def test_without_a_number_of_epochs_it_goes_on_for_ever_in_full_batches(pattern: str) -> None:
    ds = make(pattern, 3, NUMBER, shuffle=False)
    assert ds.element_spec == {"a": tf.TensorSpec([3], tf.int64)}
    assert int(ds.cardinality()) == tf.data.experimental.INFINITE_CARDINALITY
    assert batches(ds, 4) == [[0, 1, 2], [3, 4, 10], [30, 31, 32], [33, 0, 1]]


def test_batches_cross_epochs_and_only_the_last_may_be_short(pattern: str) -> None:
    expected = [[0, 1, 2, 3, 4, 10, 30], [31, 32, 33, 0, 1, 2, 3], [4, 10, 30, 31, 32, 33]]
    assert batches(make(pattern, 7, NUMBER, num_epochs=2, shuffle=False)) == expected
    full = make(pattern, 7, NUMBER, num_epochs=2, shuffle=False, drop_final_batch=True)
    assert full.element_spec == {"a": tf.TensorSpec([7], tf.int64)}
    assert batches(full) == expected[:2]
    assert batches(make(pattern, 7, NUMBER, num_epochs=0, shuffle=False)) == []


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            {"shuffle_seed": 1},
            [0, 10, 30, 1, 2, 32, 3, 33, 31, 4, 3, 4, 2, 0, 10, 1, 32, 31, 30, 33],
        ),
        (
            {"shuffle_seed": 1, "shuffle_buffer_size": 2, "reader_num_threads": 2},
            [0, 1, 31, 2, 32, 30, 33, 3, 10, 4, 30, 10, 32, 0, 31, 1, 2, 3, 33, 4],
        ),
        (
            {"shuffle_seed": 7},
            [2, 32, 30, 10, 33, 1, 0, 3, 31, 4, 33, 0, 2, 10, 30, 3, 31, 32, 1, 4],
        ),
    ],
)
def test_a_seed_gives_tensorflows_order(pattern: str, options: Any, expected: list[int]) -> None:
    assert batches(make(pattern, 20, NUMBER, num_epochs=2, **options)) == [expected]


@pytest.mark.parametrize(
    ("threads", "expected"),
    [
        (None, IN_ORDER),
        (2, [0, 10, 1, 2, 3, 30, 4, 31, 32, 33]),
        (3, [0, 10, 1, 30, 2, 31, 3, 32, 4, 33]),
        (9, [0, 10, 30, 1, 31, 2, 32, 3, 33, 4]),
        (tf.data.AUTOTUNE, IN_ORDER),
    ],
)
def test_several_readers_take_turns(pattern: str, threads: Any, expected: list[int]) -> None:
    ds = make(pattern, 20, NUMBER, num_epochs=1, shuffle=False, reader_num_threads=threads)
    assert batches(ds) == [expected]


def test_patterns_may_be_several_and_are_read_in_the_order_of_the_files(pattern: str) -> None:
    patterns = [pattern.replace("*", "3"), pattern.replace("*", "0")]
    expected = [[0, 1, 2, 3, 4, 30, 31, 32, 33]]
    assert batches(make(patterns, 20, NUMBER, num_epochs=1, shuffle=False)) == expected


def test_a_label_stands_beside_the_features(pattern: str) -> None:
    ds = make(pattern, 20, FEATURES, label_key="a", num_epochs=1, shuffle=False)
    features, label = ds.element_spec
    assert (sorted(features), label) == (["f", "s"], tf.TensorSpec([None], tf.int64))
    [(found, numbers)] = list(ds)
    assert (sorted(found), numbers.numpy().tolist()) == (["f", "s"], IN_ORDER)
    [(none, numbers)] = list(make(pattern, 20, NUMBER, label_key="a", num_epochs=1, shuffle=False))
    assert (none, numbers.numpy().tolist()) == ({}, IN_ORDER)
    with pytest.raises(ValueError, match=r"`label_key` provided \(q\) must be one of the `fea"):
        make(pattern, 20, NUMBER, label_key="q")


def test_readers_take_arguments_and_may_give_keys(tmp_path: Path, pattern: str) -> None:
    packed = str(tmp_path / "packed")
    with tf.io.TFRecordWriter(packed, "GZIP") as writer:
        writer.write(example(3))
    more: dict[str, Any] = {"num_epochs": 1, "shuffle": False}
    assert batches(make(packed, 2, NUMBER, reader_args=["GZIP"], **more)) == [[3]]
    with pytest.raises(tf.errors.DataLossError, match="corrupted record at 0"):
        batches(make(packed, 2, NUMBER, **more))

    def keyed(name: Any) -> Any:
        records = tf.data.TFRecordDataset(name)
        return Dataset.zip((records.map(lambda x: name), records))

    assert batches(make(pattern, 20, NUMBER, reader=keyed, **more)) == [IN_ORDER]
    with pytest.raises(TypeError, match="should be a dataset of vectors of strings"):
        make(pattern, 20, NUMBER, reader=lambda name: Dataset.range(3))
    with pytest.raises(TypeError):
        make(pattern, 20, NUMBER, reader=lambda name: name)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"reader_num_threads": 0}, "`cycle_length` must be > 0"),
        ({"parser_num_threads": 0}, "num_parallel_calls must be greater than zero"),
        ({"prefetch_buffer_size": -2}, "buffer_size must be >= 0"),
        ({"batch_size": 0}, "Batch size must be greater than zero"),
        ({"file_pattern": "/nowhere/*"}, "No files matched pattern: /nowhere/"),
        ({"file_pattern": []}, "No files matched pattern"),
    ],
)
def test_what_cannot_be_is_refused_at_once(pattern: str, options: Any, text: str) -> None:
    given = {"file_pattern": pattern, "batch_size": 2, "features": NUMBER, **options}
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        make(**given)


def test_an_example_that_lacks_a_feature_is_an_error_with_its_file(pattern: str) -> None:
    needed = {"s": tf.io.FixedLenFeature([], tf.string)}
    ds = make(pattern, 2, needed, num_epochs=1, shuffle=False)
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        next(iter(ds))
    assert r"Feature: s (data type: string) is required but could not be found" in str(caught.value)
    assert pattern.replace("*", "0") in str(caught.value)


def test_all_stages_are_native_and_a_pass_can_be_saved_and_sent(pattern: str) -> None:
    ds = make(pattern, 3, FEATURES, label_key="a", num_epochs=2, shuffle_seed=3)
    assert all(stage["native"] for stage in ds.explain().stages)
    it = iter(ds)
    next(it)
    again = iter(pickle.loads(pickle.dumps(ds)))
    again.restore(it.save())
    rest = [label.numpy().tolist() for _, label in it]
    assert [label.numpy().tolist() for _, label in again] == rest
    assert len(rest) == 6


# ---- parse_example_dataset


def serialized(**more: Any) -> Any:
    return Dataset.from_tensor_slices([example(i) for i in range(5)]).batch(2, **more)


@pytest.mark.parametrize("calls", [1, 3, tf.data.AUTOTUNE, tf.constant(2)])
def test_batches_of_examples_are_parsed(calls: Any) -> None:
    parsed = serialized().apply(parse_example_dataset(NUMBER, calls, deterministic=True))
    assert parsed.element_spec == {"a": tf.TensorSpec([None], tf.int64)}
    assert int(parsed.cardinality()) == 3
    assert batches(parsed) == [[0, 1], [2, 3], [4]]


def test_a_batch_of_known_size_stays_one() -> None:
    features = {"f": tf.io.FixedLenSequenceFeature([], tf.float32, allow_missing=True), **NUMBER}
    parsed = serialized(drop_remainder=True).apply(parse_example_dataset(features))
    assert parsed.element_spec == {
        "a": tf.TensorSpec([2], tf.int64),
        "f": tf.TensorSpec([2, None], tf.float32),
    }
    assert batches(parsed) == [[0, 1], [2, 3]]


@pytest.mark.parametrize(
    "ds",
    [
        serialized().unbatch(),
        serialized().batch(2),
        Dataset.range(4).batch(2),
        Dataset.zip((serialized(), serialized())),
        Dataset.zip((serialized(),)),
        Dataset.zip({"a": serialized()}),
    ],
)
def test_other_than_vectors_of_strings_are_refused(ds: Any) -> None:
    with pytest.raises(TypeError, match="should be a dataset of vectors of strings"):
        ds.apply(parse_example_dataset(NUMBER))


def test_features_that_cannot_be_are_refused_before_anything_is_read() -> None:
    transform = parse_example_dataset({"a": 3})  # which looks at them when it is applied
    with pytest.raises(ValueError, match="feature a:3"):
        serialized().apply(transform)
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least one"):
        serialized().apply(parse_example_dataset({}))


def test_no_features_at_all_and_no_calls_are_refused() -> None:
    with pytest.raises(ValueError, match="`features` is required"):
        parse_example_dataset(None)
    for calls in (0, -2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="must be greater than zero"):
            serialized().apply(parse_example_dataset(NUMBER, calls))
    with pytest.raises(ValueError, match="None"):
        serialized().apply(parse_example_dataset(NUMBER, None))


def test_sparse_features_are_refused_by_name(pattern: str) -> None:
    with pytest.raises(ValueError, match="VarLenFeature gives sparse tensors, which are not here"):
        make(pattern, 2, {"a": tf.io.VarLenFeature(tf.int64)})


def test_batches_of_unknown_types_are_parsed_when_they_come() -> None:
    def unknown(x: Any) -> Any:
        return bytes(x.numpy()[0])

    ds = serialized().map(unknown).batch(2)
    assert ds.element_spec is None
    assert batches(ds.apply(parse_example_dataset(NUMBER))) == [[0, 2], [4]]
