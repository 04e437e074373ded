"""CSV files, under TensorFlow's names."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf

CsvDataset = tf.data.experimental.CsvDataset
make_csv_dataset = tf.data.experimental.make_csv_dataset


def written(path: Path, text: str) -> str:
    path.write_bytes(text.encode())
    return str(path)


def values(ds: Any) -> list[Any]:
    return list(ds.as_numpy_iterator())


def test_defaults_may_be_types_names_arrays_or_values(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "1,2,3,4,\n,,3,4,x\n")
    ds = CsvDataset(path, [[9], 0.5, "int64", np.float64, tf.constant(["none"])])
    assert [spec.dtype.name for spec in ds.element_spec] == [
        "int32", "float32", "int64", "float64", "string",
    ]  # fmt: skip
    assert values(ds) == [(1, 2.0, 3, 4.0, b"none"), (9, 0.5, 3, 4.0, b"x")]


def test_an_error_names_file_line_offset_field_expected_and_found(tmp_path: Path) -> None:
    good = written(tmp_path / "good.csv", "n,x\n1,1\n")
    bad = written(tmp_path / "bad.csv", 'n,x\n2,2\n"3",abc\n4,4\n')
    ds = CsvDataset([good, bad, str(tmp_path / "none.csv")], [tf.int32, tf.float32], header=True)
    it = ds.as_numpy_iterator()
    assert [next(it), next(it)] == [(1, 1), (2, 2)]
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        next(it)
    error: Any = caught.value
    assert (error.file, error.offset, error.index) == (bad, 12, 2)
    assert f"{bad}: line 3: Field 1 in record is not a valid float: abc" in str(error)
    assert next(it) == (4, 4)
    with pytest.raises(tf.errors.NotFoundError):
        next(it)
    assert list(it) == []
    skipping = ds.on_error("skip")
    assert values(skipping) == [(1, 1), (2, 2), (4, 4)]
    audit = skipping.audit()
    assert (audit.total, audit.delivered, audit.skipped) == (5, 3, 2)


def test_a_pass_resumes_behind_a_bad_record_and_still_knows_the_line(tmp_path: Path) -> None:
    text = "".join(f'{i},"a\nb"\n' for i in range(300)) + "x,c\n" + "7,d\n"
    for kind, content in (("", text.encode()), ("GZIP", gzip.compress(text.encode()))):
        path = tmp_path / f"a{kind}"
        path.write_bytes(content)
        ds = CsvDataset(str(path), [tf.int32, tf.string], kind)
        it = iter(ds)
        for _ in range(100):
            next(it)
        again = iter(ds)
        again.restore(it.save())
        assert [int(next(again)[0]) for _ in range(200)] == list(range(100, 300))
        with pytest.raises(tf.errors.InvalidArgumentError, match="line 601: Field 0 in record"):
            next(again)
        assert [x.numpy() for x in next(again)] == [7, b"d"]


def test_what_cannot_be_read_is_refused_when_it_is_written(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "1\n")
    for text, more in (
        ("field_delim should be only 1 char", {"field_delim": ",,"}),
        ("select_cols should match output size", {"select_cols": [0, 1]}),
        ("Either select_cols or exclude_cols", {"select_cols": [0], "exclude_cols": [1]}),
        ("buffer_size should be positive", {"buffer_size": 0}),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            CsvDataset(path, [tf.int32], **more)
    with pytest.raises(tf.errors.InvalidArgumentError, match="uint8 is not in the list of allowed"):
        CsvDataset(path, [tf.constant([], tf.uint8)])
    with pytest.raises(tf.errors.InvalidArgumentError, match="only be 1 default per field"):
        CsvDataset(path, [[0, 1]])
    with pytest.raises(tf.errors.InvalidArgumentError):
        CsvDataset(path, [])


def test_files_may_come_with_elements_and_are_opened_without_python(tmp_path: Path) -> None:
    paths = [written(tmp_path / f"{i}.csv", f"{i},a\n{i},b\n") for i in range(3)]
    ds = tf.data.Dataset.from_tensor_slices(paths).interleave(
        lambda path: CsvDataset(path, [tf.int32, [""]]), cycle_length=3
    )
    assert [int(n) for n, _ in ds] == [0, 1, 2, 0, 1, 2]
    assert all(stage["native"] for stage in ds.explain().stages)


def test_make_csv_dataset_names_columns_and_finds_their_types(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "i,big,x,s,y\n1,3000000000,0.5,a,0\n2,1,,nan,1\n3,2,1,b,0\n")
    ds = make_csv_dataset(path, 2, label_name="y", num_epochs=1, shuffle=False)
    features, label = ds.element_spec
    assert {
    name: spec.dtype.name for name, spec in features.items()
    } == {
        "i": "int32", "big": "int64", "x": "float32", "s": "string",
    }  # fmt: skip
    assert label.dtype.name == "int32"
    assert label.shape.as_list() == [None]
    batches = values(ds)
    assert [len(label) for _, label in batches] == [2, 1]
    assert batches[0][0]["x"].tolist() == [0.5, 0.0]
    assert batches[0][0]["s"].tolist() == [b"a", b"nan"]


def test_make_csv_dataset_goes_on_for_ever_shuffled_unless_it_is_told(tmp_path: Path) -> None:
    for i in range(2):
        written(tmp_path / f"{i}.csv", "n\n" + "".join(f"{i * 10 + j}\n" for j in range(10)))
    ds = make_csv_dataset(str(tmp_path / "*.csv"), 5, shuffle_seed=3)
    assert ds.element_spec["n"].shape.as_list() == [5]
    assert int(ds.cardinality()) == sw.dataset.INFINITE_CARDINALITY
    seen = np.concatenate([batch["n"] for batch in values(ds.take(4))])
    assert sorted(seen.tolist()) == list(range(20))
    assert seen.tolist() != list(range(20))


def test_a_line_too_long_to_be_looked_at_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "x" * (1 << 24))
    with pytest.raises(ValueError, match="must be shorter than 16777216 characters"):
        make_csv_dataset(path, 1)


def test_the_front_without_tensorflows_names_has_it_too(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "1;a\n;b\n")
    ds = sw.Dataset.csv_rows(path, (np.array([5]), [""]), field_delim=";")
    assert list(ds) == [(1, b"a"), (5, b"b")]
    assert sw.Dataset.from_json(ds.to_json()).spec_hash() == ds.spec_hash()
