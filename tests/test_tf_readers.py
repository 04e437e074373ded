"""Datasets of the records of files, under TensorFlow's names."""

from __future__ import annotations

import gzip
import pickle
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf

D = tf.data.Dataset
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "": lambda content: content,
    "GZIP": gzip.compress,
    "ZLIB": zlib.compress,
}


def written(path: Path, records: list[bytes], options: Any = None) -> str:
    with tf.io.TFRecordWriter(str(path), options) as writer:
        for record in records:
            writer.write(record)
    return str(path)


def values(ds: Any) -> list[Any]:
    return [x.numpy() for x in ds]


@pytest.mark.parametrize("kind", PACKED)
def test_what_was_written_is_read(tmp_path: Path, kind: str) -> None:
    records = [b"one", b"", b"x" * 100_000, b"last"]
    path = written(tmp_path / "a", records, kind)
    assert values(tf.data.TFRecordDataset(path, kind)) == records
    assert values(tf.data.TFRecordDataset(path, kind, buffer_size=1)) == records


@pytest.mark.parametrize("kind", PACKED)
def test_lines_and_records_of_one_length(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a"
    path.write_bytes(PACKED[kind](b"one\r\ntwo\n\nlast"))
    assert values(tf.data.TextLineDataset(path, kind)) == [b"one", b"two", b"", b"last"]
    path.write_bytes(PACKED[kind](b"HHonetwoF"))
    ds = tf.data.FixedLengthRecordDataset(str(path), 3, 2, 1, compression_type=kind)
    assert values(ds) == [b"one", b"two"]


def test_files_may_be_paths_lists_tensors_or_a_dataset(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_text("1\n2\n")
    second.write_text("3\n")
    expected = [b"1", b"2", b"3"]
    names = [str(first), str(second)]
    for files in ([first, second], tf.constant(names), tf.constant([names]), names):
        assert values(tf.data.TextLineDataset(files)) == expected
    listed = D.from_tensor_slices(names)
    assert values(tf.data.TextLineDataset(listed)) == expected
    assert values(listed.flat_map(tf.data.TextLineDataset)) == expected
    assert values(tf.data.TextLineDataset(names, num_parallel_reads=2)) == [b"1", b"3", b"2"]


IN_TURN = {  # of TensorFlow 2.21, for files of 5, 1, 0, 7, 3, 2 and 4 records
    None: "00 01 02 03 04 10 30 31 32 33 34 35 36 40 41 42 50 51 60 61 62 63",
    1: "00 01 02 03 04 10 30 31 32 33 34 35 36 40 41 42 50 51 60 61 62 63",
    2: "00 10 01 02 03 30 04 31 32 40 33 41 34 42 35 36 50 51 60 61 62 63",
    3: "00 10 01 30 02 40 31 03 41 32 04 42 33 34 50 60 35 51 61 36 62 63",
    4: "00 10 30 01 40 31 02 50 41 32 03 51 42 33 04 34 60 35 61 36 62 63",
    7: "00 10 30 40 50 60 01 31 41 51 61 02 32 42 62 03 33 63 04 34 35 36",
    10: "00 10 30 40 50 60 01 31 41 51 61 02 32 42 62 03 33 63 04 34 35 36",
    tf.data.AUTOTUNE: "00 01 02 03 04 10 30 31 32 33 34 35 36 40 41 42 50 51 60 61 62 63",
}


@pytest.mark.parametrize("reads", IN_TURN)
def test_files_are_read_by_turns_as_tensorflow_does(tmp_path: Path, reads: int | None) -> None:
    lines, records, pieces = list[str](), list[str](), list[str]()
    for i, count in enumerate([5, 1, 0, 7, 3, 2, 4]):
        each = [b"%d%d" % (i, k) for k in range(count)]
        records.append(written(tmp_path / f"{i}.tfrecord", each))
        (tmp_path / f"{i}.txt").write_bytes(b"\n".join(each))
        lines.append(str(tmp_path / f"{i}.txt"))
        (tmp_path / f"{i}.bin").write_bytes(b"".join(each))
        pieces.append(str(tmp_path / f"{i}.bin"))
    wanted = IN_TURN[reads].encode().split()
    in_turn: Any = {"num_parallel_reads": reads}
    assert values(tf.data.TFRecordDataset(records, **in_turn)) == wanted
    assert values(tf.data.TextLineDataset(lines, **in_turn)) == wanted
    assert values(tf.data.FixedLengthRecordDataset(pieces, 2, **in_turn)) == wanted
    listed = D.from_tensor_slices(records)
    assert values(tf.data.TFRecordDataset(listed, **in_turn)) == wanted


@pytest.mark.parametrize("reads", [0, -2])
def test_a_number_of_files_at_a_time_is_at_least_one(tmp_path: Path, reads: int) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="cycle_length"):
        values(tf.data.TextLineDataset(written(tmp_path / "a", []), num_parallel_reads=reads))


def test_a_function_that_opens_files_runs_without_python(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1\n")
    ds = D.from_tensors(str(tmp_path / "a")).flat_map(lambda f: tf.data.TextLineDataset(f).skip(0))
    assert all(stage["native"] for stage in ds.explain().stages)
    assert values(ds) == [b"1"]


@pytest.mark.parametrize(
    ("files", "text"),
    [
        (3, "must contain `tf.string` elements. Got `tf.int32`"),
        (D.range(2), "must contain `tf.string` elements. Got a dataset of `tf.int64`"),
        (D.from_tensors(["a", "b"]), r"of shape \[\] \(i.e. scalars\)"),
    ],
)
def test_what_names_no_files_is_refused(files: Any, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        tf.data.TFRecordDataset(files)


@pytest.mark.parametrize("files", [[], (), np.array([]), np.array([], object)])
@pytest.mark.parametrize("reads", [None, 2, tf.data.AUTOTUNE])
def test_no_files_have_no_elements(files: Any, reads: int | None) -> None:
    assert values(tf.data.TextLineDataset(files, num_parallel_reads=reads)) == []
    assert values(tf.data.TFRecordDataset(files, num_parallel_reads=reads)) == []
    fixed = tf.data.FixedLengthRecordDataset(files, 4, num_parallel_reads=reads)
    assert values(fixed) == []
    assert fixed.element_spec == tf.TensorSpec([], tf.string)


def test_no_files_have_no_elements_in_the_other_front() -> None:
    assert list(sw.Dataset.text_lines([])) == []
    assert list(sw.Dataset.tf_record([])) == []
    assert list(tf.data.experimental.CsvDataset([], [tf.int32])) == []


def test_a_tensor_of_no_numbers_names_no_files() -> None:
    with pytest.raises(TypeError, match=r"must contain `tf\.string` elements\. Got `tf\.float32`"):
        tf.data.TextLineDataset(tf.constant([]))


@pytest.mark.parametrize(("number", "kind"), [(0, ""), (1, "ZLIB"), (2, "GZIP")])
def test_a_compression_may_be_named_by_tensorflows_number(
    tmp_path: Path, number: int, kind: str
) -> None:
    options = tf.io.TFRecordOptions(number)
    assert options.compression_type == kind
    path = written(tmp_path / "a", [b"one", b"two"], options)
    assert values(tf.data.TFRecordDataset(path, kind)) == [b"one", b"two"]
    assert Path(path).read_bytes()[:2] == {"": b"\x03\x00", "ZLIB": b"\x78\x9c"}.get(
        kind, b"\x1f\x8b"
    )


@pytest.mark.parametrize("kind", [3, -1, True, "LZ4"])
def test_a_compression_that_is_none_is_refused(kind: Any) -> None:
    with pytest.raises(ValueError, match="Not a valid compression_type"):
        tf.io.TFRecordOptions(kind)


def test_an_error_names_file_offset_and_index_and_the_next_file_follows(tmp_path: Path) -> None:
    good = written(tmp_path / "good", [b"one", b"two"])
    content = bytearray(Path(good).read_bytes())
    content[19 + 12] ^= 1
    bad = tmp_path / "bad"
    bad.write_bytes(content)
    ds = tf.data.TFRecordDataset([good, str(bad), str(tmp_path / "none"), good])
    it = iter(ds)
    assert [next(it).numpy() for _ in range(3)] == [b"one", b"two", b"one"]
    with pytest.raises(tf.errors.DataLossError, match="corrupted record at 19") as caught:
        next(it)
    error: Any = caught.value
    assert (error.file, error.offset, error.index) == (str(bad), 19, 3)
    assert isinstance(error, sw.errors.CorruptFile)
    with pytest.raises(FileNotFoundError) as missing:
        next(it)
    assert isinstance(missing.value, tf.errors.NotFoundError)
    assert [x.numpy() for x in it] == [b"one", b"two"]
    audited = ds.on_error("skip")
    assert values(audited) == [b"one", b"two", b"one", b"one", b"two"]
    assert [entry.file for entry in audited.audit().entries] == [str(bad), str(tmp_path / "none")]


def test_a_bad_record_may_be_passed_over_within_its_file(tmp_path: Path) -> None:
    path = Path(written(tmp_path / "a", [b"one", b"two", b"three"]))
    content = bytearray(path.read_bytes())
    content[19] ^= 0x10  # the second one's length
    path.write_bytes(content)
    ds = sw.Dataset.tf_record(str(path), resynchronise=True, on_error="skip")
    assert list(ds.as_numpy_iterator()) == [b"one", b"three"]


def test_a_pass_resumes_within_a_file(tmp_path: Path) -> None:
    names = [written(tmp_path / n, [n.encode() * i for i in range(1, 40)]) for n in "abc"]

    def build() -> Any:
        return tf.data.TFRecordDataset(names, num_parallel_reads=2).shuffle(5, seed=1).batch(7)

    it = iter(build())
    for _ in range(4):
        next(it)
    saved = tf.train.Checkpoint(iterator=it).save(str(tmp_path / "at"))
    rest = [x.numpy().tolist() for x in it]
    again = iter(build())
    tf.train.Checkpoint(iterator=again).restore(saved)
    assert [x.numpy().tolist() for x in again] == rest


def test_a_writer_that_is_closed_or_given_no_bytes_says_so(tmp_path: Path) -> None:
    writer = tf.io.TFRecordWriter(str(tmp_path / "a"))
    with pytest.raises(TypeError, match="bytes or str: int"):
        writer.write(3)
    writer.flush()
    writer.close()
    writer.close()
    with pytest.raises(tf.errors.FailedPreconditionError, match="closed"):
        writer.write(b"x")
    with pytest.raises(tf.errors.FailedPreconditionError, match="closed"):
        writer.flush()
    with pytest.raises(tf.errors.NotFoundError):
        tf.io.TFRecordWriter(str(tmp_path / "no" / "such"))
    with pytest.raises(ValueError, match="Not a valid compression_type"):
        tf.io.TFRecordOptions(compression_type="zip")


def test_a_full_disk_is_resources_exhausted_whenever_it_is_noticed() -> None:
    for kind in PACKED:
        for do in ("flush", "close"):
            writer = tf.io.TFRecordWriter("/dev/full", kind)
            writer.write(b"x")
            with pytest.raises(tf.errors.ResourceExhaustedError, match="/dev/full; No space left"):
                getattr(writer, do)()
    with pytest.raises(tf.errors.ResourceExhaustedError), tf.io.TFRecordWriter("/dev/full") as out:
        out.write(b"x" * 1_000_000)


def test_a_function_that_writes_records_does_so_for_every_element(tmp_path: Path) -> None:
    path = str(tmp_path / "a")

    def write(x: Any) -> Any:
        writer.write(b"seen")
        return x

    with tf.io.TFRecordWriter(path) as writer:
        assert values(D.range(3).map(write)) == [0, 1, 2]
    assert values(tf.data.TFRecordDataset(path)) == [b"seen"] * 3


def test_records_are_data_and_never_code(tmp_path: Path) -> None:
    payload = pickle.dumps(print)
    assert values(tf.data.TFRecordDataset(written(tmp_path / "a", [payload]))) == [payload]
