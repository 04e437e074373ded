"""Rows of Arrow streams and Parquet files."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from_arrow = sw.Dataset.from_arrow
from_parquet = sw.Dataset.from_parquet


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    return value.tolist() if hasattr(value, "tolist") else value


def values(ds: Any) -> list[Any]:
    return [plain(row) for row in ds]


@pytest.mark.parametrize(
    ("kind", "given", "expected", "dtype"),
    [
        (pa.int8(), [1, -2], [1, -2], "int8"),
        (pa.uint64(), [1, 2**64 - 1], [1, 2**64 - 1], "uint64"),
        (pa.float16(), np.array([0.5, 2], "float16"), [0.5, 2.0], "float16"),
        (pa.float64(), [0.1, math.inf], [0.1, math.inf], "float64"),
        (pa.bool_(), [True, False], [True, False], "bool"),
        (pa.string(), ["a", ""], [b"a", b""], "string"),
        (pa.large_string(), ["a", "\u00e9"], [b"a", "\u00e9".encode()], "string"),
        (pa.string_view(), ["a", "longer than twelve"], [b"a", b"longer than twelve"], "string"),
        (pa.binary(), [b"\0", b"\xff"], [b"\0", b"\xff"], "string"),
        (pa.binary(2), [b"ab", b"cd"], [b"ab", b"cd"], "string"),
        (pa.dictionary(pa.int8(), pa.string()), ["b", "a"], [b"b", b"a"], "string"),
        (pa.dictionary(pa.uint16(), pa.float32()), [2.5, 1], [2.5, 1.0], "float32"),
        (pa.date32(), [datetime.date(1970, 1, 2)] * 2, [1, 1], "int64"),
        (pa.timestamp("ms", "UTC"), [1, 2], [1, 2], "int64"),
        (pa.time32("s"), [1, 2], [1, 2], "int64"),
        (pa.duration("ns"), [1, 2], [1, 2], "int64"),
        (pa.list_(pa.int16(), 2), [[1, 2], [3, 4]], [[1, 2], [3, 4]], "int16"),
        (
            pa.list_(pa.list_(pa.bool_(), 2), 1),
            [[[True, False]]] * 2,
            [[[True, False]]] * 2,
            "bool",
        ),
        (pa.list_(pa.float32()), [[1, 2, 3], []], [[1.0, 2.0, 3.0], []], "float32"),
        (pa.large_list(pa.string()), [["a"], ["b", "c"]], [[b"a"], [b"b", b"c"]], "string"),
    ],
)
def test_columns_become_tensors(kind: Any, given: Any, expected: list[Any], dtype: str) -> None:
    table = pa.table({"c": pa.array(given, kind)})
    ds = from_arrow(table)
    assert ds.element_spec["c"].dtype.name == dtype
    assert [row["c"] for row in values(ds)] == expected
    assert [row["c"] for row in values(from_arrow(table.slice(1)))] == expected[1:]
    whole = pa.chunked_array([table["c"].chunk(0), table["c"].chunk(0).slice(1)])
    assert [row["c"] for row in values(from_arrow(pa.table({"c": whole})))] == [
        *expected,
        expected[1],
    ]


def test_specs_have_shapes_and_structs_are_dicts() -> None:
    table = pa.table(
        {
            "z": pa.array([[1, 2]], pa.list_(pa.int64(), 2)),
            "list": pa.array([[1]], pa.list_(pa.int64())),
            "point": pa.array([{"y": 2.0, "x": 1.0}], pa.struct([("y", "f8"), ("x", "f8")])),
        }
    )
    spec = from_arrow(table).element_spec
    assert spec["z"].shape.as_list() == [2]
    assert spec["list"].shape.as_list() == [None]
    assert values(from_arrow(table)) == [{"list": [1], "point": {"x": 1.0, "y": 2.0}, "z": [1, 2]}]


@pytest.mark.parametrize(
    ("column", "filled"),
    [
        (pa.array([1, None, 3]), 0),
        (pa.array([1.0, None, 3.0]), math.nan),
        (pa.array([True, None, True]), False),
        (pa.array(["a", None, "b"]), b""),
        (pa.array(["a", None, "b"]).dictionary_encode(), b""),
        (pa.array([[1], None, [3]]), []),
        (pa.array([[1], [None], [3]]), [0]),
        (pa.array([[1.0, 2.0], None, [3.0, 4.0]], pa.list_(pa.float64(), 2)), [math.nan] * 2),
    ],
)
def test_a_null_is_an_error_with_column_and_row_or_filled(column: Any, filled: Any) -> None:
    table = pa.table({"c": column})
    ds = from_arrow(table)
    it = iter(ds)
    next(it)
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="column c must have a value: row 1"
    ) as e:
        next(it)
    assert e.value.index == 1
    assert plain(next(it)) == {"c": column[2].as_py() if filled != b"" else b"b"}
    skipped = ds.on_error("skip")
    assert len(list(skipped)) == 2
    assert skipped.audit().skipped == 1
    found = values(from_arrow(table, nulls="fill"))[1]["c"]
    assert repr(found) == repr(filled)
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be 'error' or 'fill'"):
        from_arrow(table, nulls="drop")


def test_a_null_struct_makes_its_fields_null() -> None:
    kind = pa.struct([("x", pa.float64()), ("n", pa.int64())])
    table = pa.table({"p": pa.array([{"x": 1.0, "n": 1}, None], kind)})
    assert repr(values(from_arrow(table, nulls="fill"))[1]) == "{'p': {'n': 0, 'x': nan}}"


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (pa.decimal128(5, 2), "column c has no tensor"),
        (pa.list_(pa.list_(pa.int8())), "lists within lists are not rectangular"),
        (pa.list_(pa.struct([("x", "i4")])), "lists of structs"),
        (pa.map_(pa.string(), pa.int8()), "column c has no tensor"),
        (pa.null(), "column c has no tensor"),
    ],
)
def test_what_has_no_tensor_is_refused_by_name(kind: Any, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        from_arrow(pa.table({"c": pa.array([], kind)}))


def test_a_table_may_be_read_again_and_a_reader_once() -> None:
    table = pa.table({"x": [1, 2, 3]})
    ds = from_arrow(table)
    assert values(ds) == values(ds) == [{"x": 1}, {"x": 2}, {"x": 3}]
    once = from_arrow(table.to_reader())
    assert len(values(once)) == 3
    with pytest.raises(
        sw.errors.GeneratorNotReplayable, match="RecordBatchReader can be read only"
    ):
        list(once)
    again = from_arrow(table.to_reader)
    assert values(again.repeat(2)) == values(ds) * 2


def test_a_stream_that_is_empty_the_second_time_is_not_taken_for_an_end() -> None:
    class Hidden:
        def __init__(self) -> None:
            self.reader = pa.table({"x": [1]}).to_reader()

        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            return self.reader.__arrow_c_stream__(requested_schema)

    ds = from_arrow(Hidden())
    assert len(list(ds)) == 1
    with pytest.raises(tf.errors.FailedPreconditionError):
        list(ds)


def test_a_python_producer_is_called_from_other_threads_and_its_error_stands_in_its_place() -> None:
    batch = pa.record_batch({"x": np.arange(10)})

    def batches() -> Iterator[Any]:
        yield batch
        yield batch
        raise ValueError("the third is gone")

    ds = from_arrow(lambda: pa.RecordBatchReader.from_batches(batch.schema, batches()))
    it = iter(ds.prefetch(4).map(lambda row: row["x"] + 1, num_parallel_calls=2))
    assert [int(next(it)) for _ in range(20)] == [*range(1, 11)] * 2
    with pytest.raises(tf.errors.DataLossError, match="the third is gone"):
        next(it)
    assert list(it) == []


def test_batches_of_numbers_are_views_of_the_table() -> None:
    column = pa.array(np.arange(100_000, dtype=np.float64))
    (batch,) = from_arrow(pa.table({"x": column})).batch(100_000)
    assert batch["x"].tolist() == list(range(100_000))
    del column
    assert batch["x"].sum() == 99_999 * 50_000


def test_a_pass_resumes_where_it_was(tmp_path: Path) -> None:
    table = pa.table({"x": np.arange(1000), "s": [str(i) for i in range(1000)]})
    paths = [str(tmp_path / f"{i}.parquet") for i in range(2)]
    for path in paths:
        pq.write_table(table, path, row_group_size=100)
    for ds in (from_arrow(table), from_parquet(paths, batch_size=64)):
        it = iter(ds)
        for _ in range(750):
            next(it)
        again = iter(ds)
        again.restore(it.save())
        rest = values(again)
        assert rest == values(it)
        assert rest[0] == {"s": b"750", "x": 750}


def test_what_is_no_stream_is_refused() -> None:
    with pytest.raises(TypeError, match="must have __arrow_c_stream__"):
        from_arrow(3)
    with pytest.raises(TypeError, match="must return what has __arrow_c_stream__"):
        from_arrow(lambda: 3)


def test_the_other_front_has_it() -> None:
    ds = tf.data.Dataset.from_arrow(pa.table({"x": [1, 2]})).batch(2)
    assert isinstance(ds, tf.data.Dataset)
    assert [batch["x"].numpy().tolist() for batch in ds] == [[1, 2]]


@pytest.mark.parametrize("library", ["polars", "duckdb"])
def test_other_producers(library: str) -> None:
    module = pytest.importorskip(library)
    if library == "polars":
        made = module.DataFrame({"x": [1, 2], "s": ["a", "b"]})
    else:
        made = module.sql("select unnest([1, 2]) as x, unnest(['a', 'b']) as s")
    ds = from_arrow(made)
    assert values(ds) == values(ds) == [{"s": b"a", "x": 1}, {"s": b"b", "x": 2}]


# ---- Parquet


def test_columns_of_parquet_files(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": [1, 2, 3], "y": ["a", "b", "c"]}), path, row_group_size=2)
    assert values(from_parquet(path)) == [
        {"x": 1, "y": b"a"}, {"x": 2, "y": b"b"}, {"x": 3, "y": b"c"},
    ]  # fmt: skip
    ds = from_parquet([path, path], columns=["y"])
    assert values(ds) == [{"y": y} for y in (b"a", b"b", b"c")] * 2
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"columns must be in the file: \['z'\]"
    ):
        from_parquet(path, columns=["z"])
    with pytest.raises(ValueError, match="at least one file"):
        from_parquet([])


def test_a_file_that_cannot_be_read_is_one_error_with_its_name(tmp_path: Path) -> None:
    good, cut, bad = (tmp_path / name for name in ("good", "cut", "bad"))
    pq.write_table(pa.table({"x": np.arange(5000)}), good, compression="none", use_dictionary=False)
    content = bytearray(good.read_bytes())
    cut.write_bytes(content[:-20])
    content[4:40] = b"\xff" * 36  # the first page's header
    bad.write_bytes(content)
    ds = from_parquet([good, cut, bad, tmp_path / "none", good])
    it = iter(ds)
    for i in range(5000):
        assert int(next(it)["x"]) == i
    for path, kind in (
        (cut, tf.errors.DataLossError),
        (bad, tf.errors.DataLossError),
        (tmp_path / "none", tf.errors.NotFoundError),
    ):
        with pytest.raises(kind) as caught:
            next(it)
        assert str(path) in str(caught.value)
        assert caught.value.file == str(path)
    assert len(list(it)) == 5000


def test_files_with_other_columns_are_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [1]}), tmp_path / "a")
    pq.write_table(pa.table({"x": [1.5]}), tmp_path / "b")
    it = iter(from_parquet([tmp_path / "a", tmp_path / "b"]))
    next(it)
    with pytest.raises(sw.errors.ShapeError, match="must have the columns of the first") as caught:
        next(it)
    assert caught.value.file == str(tmp_path / "b")


def test_without_pyarrow_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ImportError, match="pip install pyarrow"):
        from_parquet(tmp_path / "a")
