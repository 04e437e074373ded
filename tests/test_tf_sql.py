"""`tf.data.experimental.SqlDataset`. What TensorFlow 2.21 gave is written as such."""

from __future__ import annotations

import gc
import itertools
import os
import pickle
import random
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf
from spillway import _native

INF = float("inf")
DTYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "bool", "float64", "string")
ENDLESS = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c)"


@pytest.fixture
def path(tmp_path: Path) -> str:
    written(tmp_path / "a.db", """
        CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, x REAL);
        INSERT INTO t VALUES (1, 'one', 1.5), (2, 'zwei', -2.25), (3, NULL, NULL), (4, '', 0.5);
        CREATE VIEW v AS SELECT id, name FROM t;
        CREATE TABLE empty(a INT, b TEXT);
    """)  # fmt: skip
    return str(tmp_path / "a.db")


def written(path: Path, script: str) -> str:
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA synchronous=OFF")
        database.executescript(script)
    return str(path)


def sql(path: Any, query: Any, *types: Any) -> Any:
    return tf.data.experimental.SqlDataset("sqlite", path, query, types)


def rows(ds: Any) -> list[Any]:
    return list(ds.as_numpy_iterator())


# ---- Values


VALUES: dict[str, tuple[Any, ...]] = {  # of TensorFlow 2.21, in the order of DTYPES
    "null": (0, 0, 0, 0, 0, 0, False, 0.0, b""),
    "0": (0, 0, 0, 0, 0, 0, False, 0.0, b"0"),
    "1": (1, 1, 1, 1, 1, 1, True, 1.0, b"1"),
    "-1": (-1, -1, -1, -1, 255, 65535, True, -1.0, b"-1"),
    "127": (127, 127, 127, 127, 127, 127, True, 127.0, b"127"),
    "128": (-128, 128, 128, 128, 128, 128, True, 128.0, b"128"),
    "255": (-1, 255, 255, 255, 255, 255, True, 255.0, b"255"),
    "300": (44, 300, 300, 300, 44, 300, True, 300.0, b"300"),
    "40000": (64, -25536, 40000, 40000, 64, 40000, True, 40000.0, b"40000"),
    "-129": (127, -129, -129, -129, 127, 65407, True, -129.0, b"-129"),
    "70000": (112, 4464, 70000, 70000, 112, 4464, True, 70000.0, b"70000"),
    "2147483648": (0, 0, -2147483648, 2147483648, 0, 0, True, 2147483648.0, b"2147483648"),
    "9223372036854775807": (-1, -1, -1, 9223372036854775807, 255, 65535, True,
        9.223372036854776e+18, b"9223372036854775807"),
    "-9223372036854775807-1": (0, 0, 0, -9223372036854775808, 0, 0, True, -9.223372036854776e+18,
        b"-9223372036854775808"),
    "1.5": (1, 1, 1, 1, 1, 1, True, 1.5, b"1.5"),
    "-1.9": (-1, -1, -1, -1, 255, 65535, True, -1.9, b"-1.9"),
    "1e300": (-1, -1, -1, 9223372036854775807, 255, 65535, True, 1e+300, b"1.0e+300"),
    "-1e300": (0, 0, 0, -9223372036854775808, 0, 0, True, -1e+300, b"-1.0e+300"),
    "9e999": (-1, -1, -1, 9223372036854775807, 255, 65535, True, INF, b"Inf"),
    "-9e999": (0, 0, 0, -9223372036854775808, 0, 0, True, -INF, b"-Inf"),
    "0.1": (0, 0, 0, 0, 0, 0, False, 0.1, b"0.1"),
    "1/3.0": (0, 0, 0, 0, 0, 0, False, 0.3333333333333333, b"0.333333333333333"),
    "1e15": (0, -32768, -1530494976, 1000000000000000, 0, 32768, True, 1000000000000000.0,
        b"1.0e+15"),
    "123456789.123456789": (21, -13035, 123456789, 123456789, 21, 52501, True,
        123456789.12345679, b"123456789.123457"),
    "2.0": (2, 2, 2, 2, 2, 2, True, 2.0, b"2.0"),
    "-0.0": (0, 0, 0, 0, 0, 0, False, -0.0, b"0.0"),
    "'12'": (12, 12, 12, 12, 12, 12, True, 12.0, b"12"),
    "'12abc'": (12, 12, 12, 12, 12, 12, True, 12.0, b"12abc"),
    "'abc'": (0, 0, 0, 0, 0, 0, False, 0.0, b"abc"),
    "''": (0, 0, 0, 0, 0, 0, False, 0.0, b""),
    "'  7 '": (7, 7, 7, 7, 7, 7, True, 7.0, b"  7 "),
    "'1e3'": (1, 1, 1, 1, 1, 1, True, 1000.0, b"1e3"),
    "'1.9'": (1, 1, 1, 1, 1, 1, True, 1.9, b"1.9"),
    "'99999999999999999999'": (-1, -1, -1, 9223372036854775807, 255, 65535, True, 1e+20,
        b"99999999999999999999"),
    "'0x10'": (0, 0, 0, 0, 0, 0, False, 0.0, b"0x10"),
    "'a'||char(0)||'b'": (0, 0, 0, 0, 0, 0, False, 0.0, b"a\x00b"),
    "'nan'": (0, 0, 0, 0, 0, 0, False, 0.0, b"nan"),
    "'inf'": (0, 0, 0, 0, 0, 0, False, 0.0, b"inf"),
    "'-'": (0, 0, 0, 0, 0, 0, False, -0.0, b"-"),
    "'300'": (44, 300, 300, 300, 44, 300, True, 300.0, b"300"),
    "x'3132'": (12, 12, 12, 12, 12, 12, True, 12.0, b"12"),
    "x'ff00'": (0, 0, 0, 0, 0, 0, False, 0.0, b"\xff\x00"),
    "x''": (0, 0, 0, 0, 0, 0, False, 0.0, b""),
    "cast(x'ff41' as text)": (0, 0, 0, 0, 0, 0, False, 0.0, b"\xffA"),
}  # fmt: skip


@pytest.mark.parametrize("value", VALUES)
def test_a_value_is_made_into_any_dtype_as_in_tensorflow(value: str) -> None:
    ds = sql(":memory:", f"SELECT {', '.join([value] * len(DTYPES))}", *DTYPES)
    (row,) = rows(ds)
    assert row == VALUES[value]
    for found, dtype in zip(row, DTYPES, strict=True):
        assert dtype == "string" or found.dtype == np.dtype(dtype)


def test_rows_come_in_the_order_of_the_query(path: str) -> None:
    ds = sql(path, "SELECT id, name, x FROM t ORDER BY id", tf.int64, tf.string, tf.float64)
    assert rows(ds) == [(1, b"one", 1.5), (2, b"zwei", -2.25), (3, b"", 0.0), (4, b"", 0.5)]
    assert rows(sql(path, "SELECT * FROM v ORDER BY id DESC LIMIT 1", "int8", "string")) == [
        (4, b"")
    ]
    assert int(ds.cardinality()) == tf.data.UNKNOWN_CARDINALITY
    assert ds.element_spec == tuple(
        tf.TensorSpec([], dtype) for dtype in (tf.int64, tf.string, tf.float64)
    )


def test_elements_have_the_form_of_the_types() -> None:
    def of(types: Any, columns: int) -> Any:
        query = "SELECT " + ", ".join(str(i + 1) for i in range(columns))
        return rows(tf.data.experimental.SqlDataset("sqlite", ":memory:", query, types))

    assert of(tf.int32, 1) == [1]
    assert of({"b": tf.int32, "a": tf.int64}, 2) == [{"a": 1, "b": 2}]
    assert of((tf.int32, (tf.int64, tf.string)), 3) == [(1, (2, b"3"))]


def test_text_of_a_database_in_utf_16_is_given_as_utf_8(tmp_path: Path) -> None:
    script = "PRAGMA encoding='UTF-16le'; CREATE TABLE t(a); INSERT INTO t VALUES ('7é'), (x'3132')"
    path = written(tmp_path / "a.db", script)
    assert rows(sql(path, "SELECT a, a FROM t", "string", "int64")) == [
        ("7é".encode(), 7),
        (b"12", 12),
    ]


# ---- Passes


def test_every_pass_runs_the_query_anew(path: str) -> None:
    ds = sql(path, "SELECT count(*) FROM t", tf.int64).repeat(2)
    assert rows(ds) == [(4,), (4,)]
    written(Path(path), "DELETE FROM t WHERE id = 4")
    assert rows(ds) == [(3,), (3,)]


def test_an_empty_result_is_an_empty_dataset(path: str) -> None:
    ds = sql(path, "SELECT * FROM empty", tf.int32, tf.string)
    assert rows(ds) == [] and rows(ds.repeat(3)) == []


def test_rows_are_read_as_they_are_asked_for() -> None:
    ds = sql(":memory:", f"{ENDLESS} SELECT n FROM c", tf.int64)
    assert rows(ds.take(3)) == [(1,), (2,), (3,)]


def test_position_is_restored_from_a_checkpoint(path: str, tmp_path: Path) -> None:
    ds = sql(path, "SELECT id FROM t ORDER BY id", tf.int64).repeat(2)
    for passed in range(9):
        iterator = iter(ds)
        for _ in range(passed):
            next(iterator)
        saved = tf.train.Checkpoint(it=iterator).save(str(tmp_path / "position"))
        other = iter(ds)
        tf.train.Checkpoint(it=other).restore(saved).assert_consumed()
        assert [int(x) for (x,) in other] == [1, 2, 3, 4, 1, 2, 3, 4][passed:]


def test_names_and_queries_may_be_elements(path: str) -> None:
    query = "SELECT id FROM t ORDER BY id LIMIT 2"
    files = tf.data.Dataset.from_tensor_slices([path, path])
    assert rows(files.flat_map(lambda p: sql(p, query, tf.int64))) == [(1,), (2,), (1,), (2,)]
    assert rows(files.interleave(lambda p: sql(p, query, tf.int64))) == [(1,), (1,), (2,), (2,)]
    numbers = tf.data.Dataset.range(2).map(
        lambda i: tf.strings.join(["SELECT ", tf.strings.as_string(i)])
    )
    assert rows(numbers.flat_map(lambda q: sql(path, q, tf.int64))) == [(0,), (1,)]


def test_it_travels_to_another_process(path: str) -> None:
    ds = sql(path, "SELECT id FROM t ORDER BY id", tf.int64)
    assert rows(pickle.loads(pickle.dumps(ds))) == rows(ds) == [(1,), (2,), (3,), (4,)]


def free_to_write(path: str) -> bool:
    """Waits until nobody reads, which is when the connection is closed."""
    with closing(sqlite3.connect(path, timeout=60, isolation_level=None)) as database:
        database.execute("BEGIN EXCLUSIVE")
    return True


def test_the_file_is_closed_when_the_pass_ends(path: str) -> None:
    ds = sql(path, "SELECT id FROM t", tf.int64)
    assert len(rows(ds)) == 4 and free_to_write(path)
    with pytest.raises(tf.errors.UnknownError):
        rows(sql(path, "SELECT abs(-9223372036854775807 - id) FROM t", tf.int64))
    assert free_to_write(path)


def test_the_file_is_closed_when_the_iterator_is_dropped(path: str) -> None:
    iterator = iter(sql(path, "SELECT a.id FROM t a, t b, t c, t d, t e, t f, t g", tf.int64))
    next(iterator)
    del iterator
    gc.collect()
    assert free_to_write(path)


def test_a_query_that_never_gives_a_row_is_ended_with_its_iterator(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_wanted, counting = _native.stop_wanted, threading.Event()

    def look() -> bool:
        counting.set()
        return stop_wanted()

    monkeypatch.setattr(_native, "stop_wanted", look)
    query = f"{ENDLESS} SELECT id FROM t WHERE id < 3 UNION ALL SELECT count(*) FROM c"
    iterator = iter(sql(path, query, tf.int64).prefetch(2))
    assert int(next(iterator)[0]) == 1
    assert counting.wait(300)
    del iterator
    gc.collect()
    assert free_to_write(path)


# ---- Names of files


def test_odd_names_are_names_and_uris_are_uris(tmp_path: Path) -> None:
    script = "CREATE TABLE t(a); INSERT INTO t VALUES (7)"
    for name in ("o?d#d %41&mode=rwc.db", "é b.db", "-", "a\\b"):
        path = written(tmp_path / name, script)
        assert rows(sql(path, "SELECT a FROM t", tf.int8)) == [(7,)]
    path = written(tmp_path / "a.db", script)
    for source in (Path(path), path.encode(), tf.constant(path), f"file:{path}?immutable=1#x"):
        assert rows(sql(source, "SELECT a FROM t", tf.int8)) == [(7,)]
    raw = os.fsencode(tmp_path) + b"/\xff.db"
    os.link(path, raw)
    assert rows(sql(raw, "SELECT a FROM t", tf.int8)) == [(7,)]
    with pytest.raises(tf.errors.NotFoundError):
        rows(sql(raw + b"2", "SELECT 1", tf.int8))
    for source in ("", ":memory:"):
        assert rows(sql(source, "SELECT 8", tf.int8)) == [(8,)]


def test_a_database_in_wal_mode_is_read(tmp_path: Path) -> None:
    script = "PRAGMA journal_mode=WAL; CREATE TABLE t(a); INSERT INTO t VALUES (7)"
    path = written(tmp_path / "a.db", script)
    assert rows(sql(path, "SELECT a FROM t", tf.int8)) == [(7,)]


def test_a_missing_file_is_not_created(tmp_path: Path) -> None:
    path = str(tmp_path / "missing.db")
    with pytest.raises(tf.errors.NotFoundError, match="no such file") as caught:
        rows(sql(path, "SELECT 1", tf.int64))
    assert isinstance(caught.value, FileNotFoundError) and caught.value.file == path
    with pytest.raises(tf.errors.NotFoundError):
        rows(sql(str(tmp_path / "no" / "such.db"), "SELECT 1", tf.int64))
    with pytest.raises(tf.errors.InvalidArgumentError, match="folder"):
        rows(sql(str(tmp_path), "SELECT 1", tf.int64))
    assert list(tmp_path.iterdir()) == []


# ---- What is refused


WRITTEN: list[tuple[Callable[[], Any], type[BaseException], str]] = [  # classes of TensorFlow 2.21
    (lambda: tf.data.experimental.SqlDataset("postgres", "a", "b", (tf.int8,)),
     tf.errors.InvalidArgumentError, "The database type, postgres, is not supported"),
    (lambda: tf.data.experimental.SqlDataset("SQLite", "a", "b", (tf.int8,)),
     tf.errors.InvalidArgumentError, "The database type, SQLite"),
    (lambda: tf.data.experimental.SqlDataset(["sqlite"], "a", "b", (tf.int8,)),
     tf.errors.InvalidArgumentError, "driver_name must be a scalar"),
    (lambda: tf.data.experimental.SqlDataset(1, "a", "b", (tf.int8,)), TypeError, "."),
    (lambda: tf.data.experimental.SqlDataset(None, "a", "b", (tf.int8,)), ValueError, "."),
    (lambda: sql(["a"], "b", tf.int8), tf.errors.InvalidArgumentError, "data_source_name must be"),
    (lambda: sql("a", ["b"], tf.int8), tf.errors.InvalidArgumentError, "query must be a scalar"),
    (lambda: sql("a", None, tf.int8), ValueError, "."),
    (lambda: sql("a", "b", tf.float32), tf.errors.InvalidArgumentError,
     "one of: string, int8.*: float32"),
    (lambda: sql("a", "b", tf.int8, tf.uint32), tf.errors.InvalidArgumentError, "uint32"),
    (lambda: sql("a", "b", float), tf.errors.InvalidArgumentError, "float32"),
    (lambda: sql("a", "b"), tf.errors.InvalidArgumentError, "at least 1"),
    (lambda: sql("a", "b", "nonsense"), TypeError, "nonsense"),
    (lambda: sql("a", "b", None), TypeError, "None"),
    (lambda: sql("a", "b", tf.TensorSpec([], tf.int8)), TypeError, "TensorSpec"),
    (lambda: tf.data.experimental.SqlDataset("sqlite", "a", "b", [tf.int8]), TypeError, "."),
    (lambda: sql("a", b"SELECT '\xff'", tf.string), tf.errors.InvalidArgumentError, "UTF-8"),
]  # fmt: skip


@pytest.mark.parametrize(("ask", "kind", "text"), WRITTEN)
def test_wrong_arguments_are_refused_where_they_are_written(
    ask: Callable[[], Any], kind: type[BaseException], text: str
) -> None:
    with pytest.raises(kind, match=text):
        ask()


INVALID, UNKNOWN = tf.errors.InvalidArgumentError, tf.errors.UnknownError
FAILING: list[tuple[str, int, type[BaseException], str]] = [  # classes of TensorFlow 2.21
    ("SELECT * FROM nope", 1, UNKNOWN, "no such table: nope"),
    ("SELECT nope FROM t", 1, UNKNOWN, "no such column: nope"),
    ("SELEKT 1", 1, UNKNOWN, "syntax error"),
    ("SELECT 1 REGEXP 2", 1, UNKNOWN, "no such function"),
    ("SELECT load_extension('x')", 1, UNKNOWN, "not authorized"),
    ("SELECT zeroblob(2000000000)", 1, tf.errors.ResourceExhaustedError, "too big"),
    ("", 1, INVALID, r"columns in query \(0\) must match"),
    ("-- nothing", 1, INVALID, r"columns in query \(0\) must match"),
    ("SELECT id, name FROM t", 1, INVALID,
     r"\(2\) must match .* \(1\): columns id, name; types int64"),
    ("SELECT id FROM t", 2, INVALID, r"\(1\) must match .* \(2\)"),
    ("SELECT * FROM empty", 1, INVALID, r"\(2\) must match .* \(1\)"),
]  # fmt: skip


@pytest.mark.parametrize(("query", "columns", "kind", "text"), FAILING)
def test_a_query_that_fails_names_itself_and_the_file(
    path: str, query: str, columns: int, kind: type[BaseException], text: str
) -> None:
    with pytest.raises(kind, match=text) as caught:
        rows(sql(path, query, *[tf.int64] * columns))
    assert caught.value.file == path and f"query {query}" in str(caught.value)  # type: ignore[attr-defined]


@pytest.mark.parametrize("query", ["SELECT 1; SELECT 2", "SELECT ?", "SELECT :a", "SELECT 1\0"])
def test_what_tensorflow_would_leave_out_of_a_query_is_refused(path: str, query: str) -> None:
    with pytest.raises(INVALID, match="one statement without parameters and NULs"):
        rows(sql(path, query, tf.int64))
    assert rows(sql(path, "SELECT 1; -- a comment", tf.int64)) == [(1,)]


@pytest.mark.parametrize("failing", range(5))
def test_rows_before_a_failing_one_are_given(path: str, failing: int) -> None:
    least = "-9223372036854775807 - 1"
    query = f"SELECT abs(CASE id WHEN {failing} THEN {least} ELSE id END) FROM t ORDER BY id;"
    iterator = iter(sql(path, query, tf.int64))
    good = failing - 1 if failing else 4
    assert [int(x) for (x,) in itertools.islice(iterator, good)] == [1, 2, 3, 4][:good]
    if failing:
        where = f"row {good} cannot be read" if good else "the query failed"
        with pytest.raises(UNKNOWN, match=f"{where}: integer overflow") as caught:
            next(iterator)
        assert caught.value.index == good
    with pytest.raises(StopIteration):
        next(iterator)


def test_a_database_that_is_locked_is_unavailable(path: str, monkeypatch: Any) -> None:
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: connect(*a, **{**k, "timeout": 0}))
    with closing(connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises(tf.errors.UnavailableError, match="SQLITE_BUSY"):
            rows(sql(path, "SELECT id FROM t", tf.int64))


# ---- Hostile queries and files


CHANGING = [
    "INSERT INTO t(id) VALUES (9)",
    "INSERT INTO t(id) VALUES (9) RETURNING id",  # TensorFlow inserts it
    "UPDATE t SET name = 'x' RETURNING id",
    "DELETE FROM t RETURNING id",
    "REPLACE INTO t(id) VALUES (1) RETURNING id",
    "CREATE TABLE n(a)",
    "CREATE TEMP TABLE n(a)",
    "DROP TABLE t",
    "ALTER TABLE t ADD COLUMN n",
    "VACUUM",
    "VACUUM INTO 'stolen.db'",  # "mode=ro" does not prevent it
    "ATTACH 'new.db' AS n",  # nor this
    "ATTACH 'file:new.db?mode=rwc' AS n",
    "ANALYZE",
    "REINDEX",
    "BEGIN IMMEDIATE",
    "COMMIT",
    "SAVEPOINT s",
    "PRAGMA journal_mode=WAL",
    "PRAGMA user_version=5",
    "PRAGMA query_only=OFF",
    "PRAGMA writable_schema=ON",
    "PRAGMA trusted_schema=ON",
    "PRAGMA hard_heap_limit=1000",  # of the whole process
    "PRAGMA temp_store_directory='.'",  # of the whole process
    "PRAGMA wal_checkpoint",
    "PRAGMA optimize",
]


@pytest.mark.parametrize("query", CHANGING)
def test_a_query_can_change_nothing(
    path: str, query: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = Path(path).read_bytes()
    for source in (path, f"file:{path}?mode=rwc", f"file:{path}?%6dode=rw"):
        with pytest.raises(sw.errors.SpillwayError) as caught:
            rows(sql(source, query, tf.int64))
        assert isinstance(caught.value, INVALID) or "within a transaction" in str(caught.value)
    assert Path(path).read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["a.db"]


def test_what_only_reads_is_allowed(path: str, tmp_path: Path) -> None:
    assert rows(sql(path, "SELECT name FROM pragma_table_info('t')", tf.string))[0] == (b"id",)
    assert rows(sql(path, "PRAGMA user_version", tf.int64)) == [(0,)]
    assert rows(sql(path, "SELECT value FROM json_each('[1, 2]')", tf.int8)) == [(1,), (2,)]
    assert rows(sql(path, "VALUES (1), (2)", tf.int8)) == [(1,), (2,)]
    script = "CREATE VIRTUAL TABLE r USING rtree(id, a, b); INSERT INTO r VALUES (1, 2, 3)"
    boxes = written(tmp_path / "r.db", script)
    assert rows(sql(boxes, "SELECT id FROM r WHERE a < 5", tf.int64)) == [(1,)]


def test_a_value_beyond_the_budget_is_refused_before_it_is_made() -> None:
    with sw.configure(memory_limit="64MiB"):
        (row,) = rows(sql(":memory:", "SELECT zeroblob(10000000)", tf.string))
        assert len(row[0]) == 10_000_000
        with pytest.raises(tf.errors.ResourceExhaustedError, match="a quarter of the memory"):
            rows(sql(":memory:", "SELECT zeroblob(20000000)", tf.string))


def test_what_is_no_database_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(b"no database at all" * 99)
    with pytest.raises(INVALID, match="SQLITE_NOTADB"):  # TensorFlow's class
        rows(sql(str(path), "SELECT 1", tf.int64))
    path.write_bytes(b"")
    assert rows(sql(str(path), "SELECT 1", tf.int64)) == [(1,)]


def test_damaged_files_end_in_typed_errors(tmp_path: Path) -> None:
    script = f"""
        CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, x REAL); CREATE INDEX i ON t(name);
        CREATE VIEW v AS SELECT id AS "idé", name, x FROM t WHERE x > 0.5 ORDER BY name;
        INSERT INTO t SELECT n, hex(n * 7919), n * 1.5 FROM ({ENDLESS} SELECT n FROM c LIMIT 500);
    """
    good = Path(written(tmp_path / "a.db", script)).read_bytes()
    draw = random.Random(7)
    damaged = tmp_path / "b.db"
    refused = 0
    for turn in range(200):
        content = bytearray(good)
        for _ in range(draw.choice([1, 5, 30])):
            content[draw.randrange(4096 if turn % 2 else len(content))] = draw.randrange(256)
        damaged.write_bytes(content[: draw.randrange(len(content)) if turn % 9 == 0 else None])
        query = draw.choice(["SELECT * FROM t", "SELECT * FROM v"])
        try:
            rows(sql(str(damaged), query, tf.int64, tf.string, tf.float64))
        except sw.errors.SpillwayError as error:
            assert error.file == str(damaged)
            refused += 1
    assert refused > 20


def test_a_damaged_page_is_data_loss_with_its_row(tmp_path: Path) -> None:
    script = f"""
        CREATE TABLE t(id INTEGER PRIMARY KEY, a);
        INSERT INTO t SELECT n, hex(zeroblob(20)) FROM ({ENDLESS} SELECT n FROM c LIMIT 2000);
    """
    path = Path(written(tmp_path / "a.db", script))
    content = bytearray(path.read_bytes())
    content[4096 * 12 : 4096 * 13] = b"\xff" * 4096
    path.write_bytes(content)
    iterator = iter(sql(str(path), "SELECT id FROM t ORDER BY id", tf.int64))
    with pytest.raises(tf.errors.DataLossError, match=r"row \d+ cannot be read") as caught:
        for expected in itertools.count(1):
            assert int(next(iterator)[0]) == expected
    assert caught.value.index == expected - 1 > 0


def test_an_unfinished_write_is_told_and_left_alone(tmp_path: Path) -> None:
    path = written(tmp_path / "a.db", "CREATE TABLE t(a); INSERT INTO t VALUES ('old')")
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA cache_size=2")
        writer.execute("BEGIN")
        writer.executemany("INSERT INTO t VALUES (?)", [("x" * 3000,)] * 200)
        for end in ("", "-journal"):
            (tmp_path / f"b.db{end}").write_bytes(Path(path + end).read_bytes())
        writer.execute("ROLLBACK")
    with pytest.raises(tf.errors.FailedPreconditionError, match="left it unfinished"):
        rows(sql(str(tmp_path / "b.db"), "SELECT a FROM t LIMIT 1", tf.string))
