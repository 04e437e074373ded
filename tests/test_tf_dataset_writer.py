"""`tf.data.experimental.TFRecordWriter`. What is expected is what TensorFlow 2.21 did."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import pytest

import spillway as sw
import spillway.tf as tf

Dataset = tf.data.Dataset
Writer: Any = tf.data.experimental.TFRecordWriter
RECORDS = [b"a", b"", b"c" * 5]


def strings(records: Any = RECORDS) -> Any:
    return Dataset.from_tensor_slices(records)


def read(path: Any, kind: str | None = None) -> list[bytes]:
    return list(tf.data.TFRecordDataset(str(path), kind).as_numpy_iterator())


@pytest.mark.parametrize("kind", [None, "", "GZIP", "ZLIB"])
def test_a_dataset_becomes_the_records_of_a_file(tmp_path: Path, kind: str | None) -> None:
    path = str(tmp_path / "a")
    writer = Writer(path, kind)
    assert not Path(path).exists()
    assert writer.write(strings()) is None
    assert read(path, kind) == RECORDS
    writer.write(strings().take(1))
    assert read(path, kind) == RECORDS[:1]


def test_names_may_be_text_bytes_tensors_and_paths(tmp_path: Path) -> None:
    path = str(tmp_path / "a")
    for name in (path, path.encode(), tf.constant(path), Path(path)):
        Writer(name, tf.constant("GZIP")).write(strings())
        assert read(path, "GZIP") == RECORDS
        Path(path).unlink()
    Writer(path).write(strings().take(0))
    assert Path(path).read_bytes() == b""


def test_what_is_no_dataset_of_scalar_strings_is_refused_and_the_file_kept(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"as it was")
    for other, text in (
        ([b"a"], "Expected a `tf.data.Dataset` object but got <class 'list'>"),
        (sw.Dataset.range(3), "Expected a `tf.data.Dataset` object"),
        (Dataset.range(3), r"elements with shapes \(\) and types int64"),
        (strings().batch(2), r"elements with shapes \(None,\) and types string"),
        (Dataset.zip((strings(), strings())), "scalar `tf.string` elements"),
        (Dataset.zip({"a": strings()}), "scalar `tf.string` elements"),
        (strings().window(2), "scalar `tf.string` elements"),
    ):
        with pytest.raises(TypeError, match=text):
            Writer(str(path)).write(other)
    assert path.read_bytes() == b"as it was"


def test_names_and_compressions_that_cannot_be_are_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "a")
    for name, kind in ((3, None), (path, 3)):
        with pytest.raises(TypeError):
            Writer(name, kind)
    with pytest.raises(tf.errors.InvalidArgumentError, match="filename must be a scalar"):
        Writer([path]).write(strings())
    with pytest.raises(ValueError, match='Not a valid compression_type: "zip"'):
        Writer(path, "zip").write(strings())
    assert not Path(path).exists()
    with pytest.raises(tf.errors.NotFoundError, match="No such file or directory"):
        Writer(path + "/no/such").write(strings())
    with pytest.raises(tf.errors.FailedPreconditionError, match="Is a directory"):
        Writer(str(tmp_path)).write(strings())


@pytest.mark.parametrize("kind", ["", "GZIP"])
def test_a_full_disk_is_resources_exhausted(kind: str) -> None:
    with pytest.raises(tf.errors.ResourceExhaustedError, match="/dev/full; No space left"):
        Writer("/dev/full", kind).write(strings([b"a" * 100_000] * 3))
    with pytest.raises(tf.errors.ResourceExhaustedError, match="No space left"):  # when closed
        Writer("/dev/full", kind).write(strings([b"a"]))


@pytest.mark.parametrize("kind", ["", "GZIP"])
def test_an_element_that_fails_leaves_those_before_it_whole(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"what is there before is written over, as it is by TensorFlow")

    def text(i: Any) -> Any:
        inverse = tf.debugging.check_numerics(1.0 / tf.cast(2 - i, tf.float32), "no inverse")
        return tf.strings.as_string(inverse)

    with pytest.raises(tf.errors.InvalidArgumentError, match="no inverse : Tensor had Inf"):
        Writer(str(path), kind).write(Dataset.range(4).map(text))
    assert read(path, kind) == [b"0.500000", b"1.000000"]


def test_elements_of_unknown_shape_must_be_scalars_when_they_come(tmp_path: Path) -> None:
    path = tmp_path / "a"

    def unknown(*elements: Any) -> Any:
        spec = tf.TensorSpec(None, tf.string)
        return Dataset.from_generator(lambda: iter(elements), output_signature=spec)

    Writer(str(path)).write(unknown(b"a", b"b"))
    assert read(path) == [b"a", b"b"]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"scalar strings: .* shape \(2,\)"):
        Writer(str(path)).write(unknown(b"a", [b"b", b"c"]))
    assert read(path) == [b"a"]


def test_groups_write_a_file_each(tmp_path: Path) -> None:
    def write(key: Any, group: Any) -> Any:
        name = tf.strings.join([str(tmp_path / "part"), tf.strings.as_string(key)])
        Writer(name).write(group.map(lambda _, record: record))
        return Dataset.from_tensors(name)

    ds = strings().enumerate().group_by_window(lambda i, _: i % 2, write, 100)
    assert list(tmp_path.iterdir()) == []
    names = sorted(ds.as_numpy_iterator())
    assert [read(name.decode()) for name in names] == [[b"a", b"c" * 5], [b""]]


def test_a_function_that_writes_does_so_when_it_is_called(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    writer = Writer(str(path))

    def made(x: Any) -> Any:
        Writer(str(path)).write(strings())
        return x

    def given(x: Any) -> Any:
        writer.write(strings())
        return x

    def group(key: Any, rows: Any) -> Any:
        Writer(str(path)).write(rows.map(lambda _: "new"))
        return Dataset.from_tensors(key)

    for ds in (
        Dataset.range(2).map(made),
        Dataset.range(2).map(given),
        Dataset.range(2).group_by_window(lambda x: x * 0, group, 9),
    ):
        assert path.read_bytes() == b"old"
        assert len(list(ds)) in (1, 2)
        assert len(read(path)) in (2, 3)
        path.write_bytes(b"old")


def test_records_pass_through_one_at_a_time(tmp_path: Path) -> None:
    ds = Dataset.range(100).map(lambda i: tf.strings.join([tf.strings.as_string(i), "x" * 10**6]))
    tracemalloc.start()
    try:
        Writer(str(tmp_path / "a")).write(ds)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20 * 10**6  # of 100 MB
    assert (tmp_path / "a").stat().st_size > 100 * 10**6
