"""`Dataset.save`, `load` and `snapshot` through both fronts."""

from __future__ import annotations

import collections
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf

Dataset = tf.data.Dataset


def values(dataset: Any) -> list[Any]:
    return list(dataset.as_numpy_iterator())


def ints(dataset: Any) -> list[int]:
    return [int(x) for x in dataset.as_numpy_iterator()]


def files(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


@pytest.mark.parametrize("compression", [None, "GZIP", "NONE"])
def test_what_was_saved_is_loaded_with_spec_and_cardinality(
    tmp_path: Path, compression: str | None
) -> None:
    dataset = Dataset.range(42)
    dataset.save(str(tmp_path), compression=compression)
    loaded = Dataset.load(str(tmp_path), dataset.element_spec, compression=compression)
    assert ints(loaded) == list(range(42))
    assert int(loaded.cardinality()) == 42
    assert loaded.element_spec == dataset.element_spec
    assert isinstance(next(iter(loaded)), tf.Tensor)


def test_every_dtype_and_nest_comes_back(tmp_path: Path) -> None:
    point = collections.namedtuple("point", ["x", "y"])
    element = {
        "a": np.arange(6, dtype="int8").reshape(2, 3),
        "b": (np.bool_(True), np.float16(1.5), np.complex128(1 + 2j), np.uint64(2**63)),
        "s": np.array([b"", b"\xff\x00", "ä".encode()], object),
        "none": None,
        "empty": np.zeros((0, 4), "float32"),
        "p": point(np.int64(1), np.float64(2)),
    }
    dataset = Dataset.from_tensors(element)
    dataset.save(tmp_path)
    (found,) = values(Dataset.load(tmp_path))
    assert Dataset.load(tmp_path).element_spec == dataset.element_spec
    for got, want in zip(sw.nest.flatten(found), sw.nest.flatten(element), strict=True):
        if want is None:
            assert got is None
            continue
        np.testing.assert_array_equal(got, want)
        assert np.asarray(got).dtype == np.asarray(want).dtype


def test_elements_of_any_length_keep_their_lengths(tmp_path: Path) -> None:
    dataset = Dataset.range(5).map(lambda n: tf.fill([n], n))
    dataset.save(tmp_path)
    assert [x.tolist() for x in values(Dataset.load(tmp_path))] == [[n] * n for n in range(5)]
    assert Dataset.load(tmp_path).element_spec.shape.as_list() == [None]


def test_a_spec_known_only_from_the_elements_is_saved(tmp_path: Path) -> None:
    seen = []

    def untraced(x: Any) -> Any:
        seen.append(x)
        return np.zeros(int(x), "float32")

    dataset = sw.Dataset.range(3).map(untraced)
    assert dataset.element_spec is None
    dataset.save(tmp_path)
    loaded = sw.Dataset.load(tmp_path)
    assert loaded.element_spec == sw.TensorSpec(None, "float32")
    assert [x.shape for x in loaded] == [(0,), (1,), (2,)]


def test_shard_and_reader_functions_decide_files_and_order(tmp_path: Path) -> None:
    Dataset.range(42).save(tmp_path, shard_func=lambda x: x // 21)
    assert len(files(tmp_path)) == 3
    expected = [i for pair in zip(range(21), range(21, 42), strict=True) for i in pair]
    assert (
        ints(Dataset.load(tmp_path, reader_func=lambda d: d.interleave(lambda x: x, 2))) == expected
    )
    assert ints(Dataset.load(tmp_path, reader_func=lambda d: d.flat_map(lambda x: x))) == [
        *range(42)
    ]
    seen: list[Any] = []

    def reader(shards: Any) -> Any:
        seen.append((type(shards), shards.element_spec, int(shards.cardinality())))
        return shards.flat_map(lambda shard: shard.batch(2)).unbatch()

    assert ints(Dataset.load(tmp_path, reader_func=reader)) == [*range(42)]
    assert seen == [(Dataset, tf.data.DatasetSpec(tf.TensorSpec([], tf.int64)), 2)]


@pytest.mark.parametrize("bad", [lambda x: tf.cast(x, tf.int32), lambda x: tf.stack([x, x])])
def test_a_shard_must_be_a_scalar_int64(tmp_path: Path, bad: Any) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="must return a scalar int64"):
        Dataset.range(3).save(tmp_path, shard_func=bad)
    assert files(tmp_path) == []


def test_an_error_leaves_what_was_there_and_names_the_element(tmp_path: Path) -> None:
    Dataset.range(3).save(tmp_path)
    before = files(tmp_path)
    failing = Dataset.range(10).map(lambda x: 1 // (x - 5))
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        failing.save(tmp_path)
    assert caught.value.index == 5
    assert files(tmp_path) == before
    failing.on_error("skip").save(tmp_path)
    assert len(values(Dataset.load(tmp_path))) == 9


def test_what_is_not_there_is_a_not_found_error(tmp_path: Path) -> None:
    with pytest.raises(tf.errors.NotFoundError):
        Dataset.load(tmp_path / "no")
    with pytest.raises(FileNotFoundError):
        sw.Dataset.load(tmp_path, sw.TensorSpec((), "int64"))


def test_what_tensorflow_saved_is_recognised(tmp_path: Path) -> None:
    (tmp_path / "dataset_spec.pb").write_bytes(b"\n\x05")
    (tmp_path / "snapshot.metadata").write_bytes(b"\x08\x01")
    with pytest.raises(tf.errors.UnimplementedError, match="saved by TensorFlow"):
        Dataset.load(tmp_path)
    with pytest.raises(tf.errors.FailedPreconditionError, match="TensorFlow"):
        Dataset.range(3).save(tmp_path)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (tf.TensorSpec([], tf.int32), "Data type mismatch at component 0: expected int32"),
        (tf.TensorSpec([2], tf.int64), r"Incompatible shapes at component 0: expected \[2\]"),
        ((tf.TensorSpec([], tf.int64),) * 2, "structure that was saved"),
    ],
)
def test_another_spec_is_refused(tmp_path: Path, spec: Any, words: str) -> None:
    Dataset.range(3).save(tmp_path)
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        Dataset.load(tmp_path, spec)


def test_a_wider_spec_is_taken(tmp_path: Path) -> None:
    Dataset.range(3).save(tmp_path)
    loaded = Dataset.load(tmp_path, tf.TensorSpec(None, tf.int64))
    assert loaded.element_spec.shape.rank is None
    assert ints(loaded) == [0, 1, 2]


def test_another_compression_is_data_loss(tmp_path: Path) -> None:
    Dataset.range(3).save(tmp_path)
    with pytest.raises(tf.errors.DataLossError):
        Dataset.load(tmp_path, compression="GZIP")
    with pytest.raises(ValueError, match="compression"):
        Dataset.range(3).save(tmp_path, compression="ZLIB")


def test_waiting_ends_when_it_is_saved(tmp_path: Path) -> None:
    where = tmp_path / "later"
    found: list[int] = []
    waiter = threading.Thread(target=lambda: found.extend(ints(Dataset.load(where, wait=True))))
    waiter.start()
    Dataset.range(3).save(where)
    waiter.join(300)
    assert found == [0, 1, 2]


def test_a_dataset_may_be_saved_over_itself(tmp_path: Path) -> None:
    Dataset.range(5).save(tmp_path)
    loaded = Dataset.load(tmp_path)
    loaded.map(lambda x: x * 2).save(tmp_path)
    assert ints(Dataset.load(tmp_path)) == [0, 2, 4, 6, 8]
    with pytest.raises(tf.errors.NotFoundError):
        values(loaded)


def test_random_access_and_checkpoints(tmp_path: Path) -> None:
    sw.Dataset.range(10).save(tmp_path, shard_func=lambda x: np.int64(0))
    assert int(sw.Dataset.load(tmp_path)[-2]) == 8
    it = iter(sw.Dataset.load(tmp_path))
    assert [int(next(it)) for _ in range(4)] == [0, 1, 2, 3]
    again = iter(sw.Dataset.load(tmp_path))
    again.restore(it.save())
    assert [int(x) for x in again] == [4, 5, 6, 7, 8, 9]


def test_checkpoint_args_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not allowed to include 'checkpoint'"):
        Dataset.range(3).save(tmp_path, checkpoint_args={"checkpoint": 1})
    with pytest.raises(tf.errors.UnimplementedError, match="checkpoint_args"):
        Dataset.range(3).save(tmp_path, checkpoint_args={"directory": "x"})
    with pytest.raises(TypeError, match="unexpected keyword arguments: \\['often'\\]"):
        Dataset.range(3).save(tmp_path, checkpoint_args={"directory": "x", "often": 1})


def test_the_older_names_warn(tmp_path: Path) -> None:
    with pytest.warns(DeprecationWarning, match=r"Use `tf.data.Dataset.save"):
        tf.data.experimental.save(Dataset.range(3), tmp_path)
    with pytest.warns(DeprecationWarning):
        assert ints(tf.data.experimental.load(tmp_path)) == [0, 1, 2]
    with pytest.warns(DeprecationWarning):
        made = tf.data.experimental.snapshot(str(tmp_path / "s"))
    assert ints(Dataset.range(3).apply(made)) == [0, 1, 2]


# ---- snapshot


def counted(stop: int, calls: list[int]) -> Any:
    def note(x: Any) -> Any:
        calls.append(int(x))
        return x

    return Dataset.range(stop).map(note, output_signature=tf.TensorSpec([], tf.int64))


def test_a_snapshot_is_written_once_and_read_by_later_passes(tmp_path: Path) -> None:
    calls: list[int] = []
    dataset = counted(20, calls).snapshot(str(tmp_path))
    assert int(dataset.cardinality()) == 20
    assert ints(dataset) == ints(dataset) == ints(dataset.repeat(2))[20:] == list(range(20))
    assert len(calls) == 20
    fingerprint, *more = os.listdir(tmp_path)
    assert not more
    run, metadata = sorted(os.listdir(tmp_path / fingerprint))
    assert metadata == "snapshot.metadata"
    shards = sorted(os.listdir(tmp_path / fingerprint / run))
    assert shards == [f"{i:08d}.shard" for i in range(min(20, os.cpu_count() or 1))]


@pytest.mark.parametrize("compression", ["AUTO", "GZIP", "SNAPPY", None])
def test_snapshots_of_every_compression(tmp_path: Path, compression: Any) -> None:
    dataset = Dataset.range(100).snapshot(str(tmp_path), compression=compression)
    assert ints(dataset) == ints(dataset) == list(range(100))


def test_a_pass_that_ends_early_or_fails_leaves_no_snapshot(tmp_path: Path) -> None:
    calls: list[int] = []
    dataset = counted(6, calls).snapshot(str(tmp_path))
    assert ints(dataset.take(6)) == list(range(6))
    it = iter(dataset)
    next(it)
    del it
    assert not [name for name in files(tmp_path) if name.endswith("metadata")]
    assert ints(dataset) == ints(dataset) == list(range(6))
    failing = Dataset.range(6).map(lambda x: 1 // (x - 3)).snapshot(str(tmp_path / "f"))
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError):
            values(failing)


def test_a_shuffle_before_a_snapshot_is_kept(tmp_path: Path) -> None:
    dataset = Dataset.range(50).shuffle(50).snapshot(str(tmp_path))
    first = ints(dataset)
    assert sorted(first) == list(range(50))
    assert ints(dataset) == first


def test_reader_and_shard_functions_of_a_snapshot(tmp_path: Path) -> None:
    dataset = Dataset.range(9).snapshot(
        str(tmp_path),
        shard_func=lambda x: x % 3,
        reader_func=lambda shards: shards.flat_map(lambda shard: shard),
    )
    assert ints(dataset) == list(range(9))
    assert ints(dataset) == [0, 3, 6, 1, 4, 7, 2, 5, 8]
    # Without `shard_func` the reader sees numbered elements, as TensorFlow's does.
    numbered = Dataset.range(9).snapshot(
        str(tmp_path / "n"),
        reader_func=lambda shards: shards.interleave(lambda s: s, 99).map(
            lambda i, x: (i, x + 1000)
        ),
    )
    assert ints(numbered) == list(range(9))
    assert ints(numbered) == list(range(1000, 1009))


def test_a_float_is_no_shard(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="shard_func"):
        Dataset.range(3).snapshot(str(tmp_path), shard_func=lambda x: tf.cast(x, tf.float32))


def test_a_file_in_the_way_is_said(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    with pytest.raises(tf.errors.FailedPreconditionError, match="is not a directory"):
        Dataset.range(3).save(tmp_path / "x")
    with pytest.raises((tf.errors.FailedPreconditionError, tf.errors.NotFoundError)):
        values(Dataset.range(3).snapshot(str(tmp_path / "x")))


def large(number: int) -> dict[str, Any]:
    return {"a": np.full((2, 40_000), number, "int64"), "b": np.full(9, number, "uint8")}


def test_large_rows_come_back_and_every_damage_is_found(tmp_path: Path) -> None:
    rows = [large(i) for i in range(3)]
    spec = {"a": tf.TensorSpec((2, None), "int64"), "b": tf.TensorSpec((9,), "uint8")}
    sw.Dataset.from_generator(lambda: iter(rows), output_signature=spec).save(tmp_path)
    for got, want in zip(sw.Dataset.load(tmp_path), rows, strict=True):
        np.testing.assert_array_equal(got["a"], want["a"])
        np.testing.assert_array_equal(got["b"], want["b"])
    (shard,) = tmp_path.rglob("*.shard")
    whole = shard.read_bytes()
    record = (len(whole) - 16 - 24) // 3
    # Of the second row: its head, dtype, rank, dimensions, items, and the second component.
    places = [0, 7, 8, 12, 16, 17, 18, 25, 26, 33, 34, 5000, record - 19, record - 18, record - 1]
    for place in places:
        at = 16 + record + place
        shard.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        it = iter(sw.Dataset.load(tmp_path))
        assert next(it)["a"][0, 0] == 0
        with pytest.raises(sw.errors.CorruptFile) as caught:
            next(it)
        assert (caught.value.file, caught.value.offset) == (str(shard), 16 + record), place
        assert next(it, None) is None


def test_a_pass_over_large_rows_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    sw.Dataset.range(4).map(lambda x: tf.fill([200_000], x)).save(tmp_path)
    it = iter(sw.Dataset.load(tmp_path))
    assert int(next(it)[0]) == 0
    state = it.save()
    again = iter(sw.Dataset.load(tmp_path))
    again.restore(state)
    assert [int(x[-1]) for x in again] == [1, 2, 3]
