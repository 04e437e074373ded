"""Every operator, and every op in a traced function, is the same after a pickle."""

from __future__ import annotations

import pickle
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf
from spillway import _native, native_ops

from .conformance.function_programs import record as function_records
from .conformance.function_programs import running as function_running
from .conformance.ops import record as op_records
from .conformance.ops import running as op_running
from .conformance.ops.run_spillway import ENGINE, tracing


def again(value: Any) -> Any:
    return pickle.loads(cloudpickle.dumps(value))


def events(ds: Any) -> list[Any]:
    """What a pass gives: values, and errors by their class, text and line."""
    return list(ENGINE.events(ds))


def assert_same(ds: Any, sent: Any) -> None:
    assert sent.spec_hash() == ds.spec_hash()
    assert repr(sent) == repr(ds)
    assert sent.element_spec == ds.element_spec
    assert events(sent) == events(ds)


# ---- Ops in graphs


def steps_of(function: Any) -> Iterator[str]:
    """The ops of a traced function, those of its branches too."""
    kind, parts, *_ = _native.function_parts(function)
    if kind == "graph":
        yield from _steps(parts[0])


def _steps(graph: Any) -> Iterator[str]:
    for part in graph[1]:
        if part[0] == "step":
            yield part[1]
            for _, value in part[3]:
                if isinstance(value, tuple) and value[0] == "graph":
                    yield from _steps(value[1])


def functions_of(ds: Any) -> Iterator[Any]:
    for node in _native.nodes_below(ds._node):
        params = _native.node_parts(node)[1]
        yield from (param for param in params if isinstance(param, _native.Function))


def _programs(folder: Path) -> Iterator[Any]:
    """The recorded calls of ops in a map, and what they leave out."""
    for program, _ in op_records.load():
        function = op_running.op_function(ENGINE, program)
        try:
            with tracing(True):
                yield op_running.source(ENGINE, program).map(function)
        except Exception:  # a program that must be refused
            continue
    (folder / "a.txt").write_text("text")
    rows = tf.data.Dataset.from_tensor_slices(
        np.array([["a", "b", "cd"], ["e", "ff", "g"]], object)
    )
    yield from (rows.map(function) for function in OF_STRINGS)
    yield tf.data.Dataset.from_tensors(str(folder / "a.txt")).map(tf.io.read_file)
    yield tf.data.Dataset.from_tensors(str(folder / "*")).map(tf.io.matching_files)
    yield tf.data.Dataset.range(3).map(
        lambda i: tf.image.stateless_sample_distorted_bounding_box(
            [20, 30, 3], tf.constant([[[0.0, 0.0, 1.0, 1.0]]]), seed=tf.stack([i, i])
        )
    )


OF_STRINGS: list[Callable[[Any], Any]] = [
    lambda x: tf.reverse(x, [0]),
    lambda x: tf.reverse_sequence(tf.stack([x, x]), [1, 2], seq_axis=1),
    lambda x: tf.scatter_nd([[0], [2], [1]], x, [4]),
    lambda x: tf.where([True, False, True], x, x[::-1]),
    lambda x: tf.where(x == "a", tf.tile(x, [2])[:3], x),
    lambda x: tf.strings.unicode_transcode(x, "UTF-8", "UTF-16-BE"),
    lambda x: tuple(tf.unstack(x)),
]
# They are written in terms of other ops, run as Python, or belong to `check`.
NEVER_IN_A_GRAPH = {
    "bytes_split", "check_file", "eye", "ones_like", "spread_strings", "zeros_like",
}  # fmt: skip


def test_every_op_is_the_same_in_a_traced_function_that_was_sent(tmp_path: Path) -> None:
    met: set[str] = set()
    sent = 0
    for at, ds in enumerate(_programs(tmp_path)):
        names = {name for f in functions_of(ds) for name in steps_of(f)}
        if not ds.explain().stages[-1]["native"] or (names <= met and at % 8):
            continue
        assert_same(ds, again(ds))
        sent += 1
        met |= names
    missing = set(native_ops.definitions) - met
    print(f"{sent} graphs with {len(met)} ops were sent; never: {sorted(missing)}")
    assert missing == NEVER_IN_A_GRAPH


def test_functions_of_random_programs_are_the_same_after_a_pickle() -> None:
    sent = 0
    for program, _ in op_records.load(function_records.PATH)[::4]:
        with tracing(True):
            _, ds = function_running.outcome(ENGINE, program)
        if ds is not None:
            assert_same(ds, again(ds))
            sent += 1
    assert sent > 50


# ---- Operators


def python(x: Any) -> Any:
    print(end="")
    return x


def _files(folder: Path) -> dict[str, str]:
    np.save(folder / "a.npy", np.arange(6).reshape(3, 2))
    (folder / "a.csv").write_text("1,a\n2,b\n")
    (folder / "a.txt").write_text("one\ntwo\n")
    (folder / "a.bin").write_bytes(b"aabbcc")
    with tf.io.TFRecordWriter(str(folder / "a.tfrecord")) as writer:
        writer.write(b"record")
    with tarfile.open(folder / "a.tar", "w") as tar:
        for name in ("x.txt", "y.txt"):
            (folder / name).write_text(name)
            tar.add(folder / name, name)
    sw.Dataset.range(5).save(str(folder / "saved"))
    return {path.name: str(path) for path in folder.iterdir()}


def counted(items: Any) -> Any:
    yield from (np.int64(item) for item in items)


def _datasets(folder: Path) -> dict[str, Callable[[], Any]]:
    """Datasets that together hold every operator."""
    f = _files(folder)
    r: Any = sw.Dataset.range
    odd = sw.Dataset.from_tensor_slices(np.array([1, 0, 1], np.int64))
    return {
        "chain": lambda: (
            r(40).enumerate().map(lambda i, x: x + i).skip(1).take(30).shard(2, 1).repeat(2)
            .shuffle(7, seed=3).batch(4).rebatch(3).unbatch().unique().prefetch(1).cache()
        ),
        "functions": lambda: (
            r(20).map(python).filter(lambda x: x % 3 > 0).take_while(lambda x: x < 15)
            .scan(np.int64(0), lambda s, x: (s + x, s))
        ),
        "nested": lambda: (
            r(6).window(3).flat_map(lambda w: w.batch(2))
            .concatenate(r(2).interleave(lambda x: r(x + 2).batch(2), cycle_length=2))
        ),
        "in turn": lambda: sw.Dataset.from_generator(
            counted, args=[[0, 1, 2, 3]], parallel=2,
            output_signature=sw.TensorSpec((), "int64"),
        ),
        "groups": lambda: r(9).group_by_window(
            lambda x: x % 2, lambda k, w: w.batch(3), window_size=3),
        "padded": lambda: r(1, 5).map(lambda n: tf.fill([n], n)).padded_batch(2),
        "choices": lambda: sw.Dataset.zip(
            sw.Dataset.choose_from_datasets([r(5), r(10, 15)], odd),
            sw.Dataset.sample_from_datasets([r(9), r(20, 29)], [0.3, 0.7], seed=2),
        ),
        "sources": lambda: sw.Dataset.zip(
            sw.Dataset.from_tensors((1, b"a")).repeat(3),
            sw.Dataset.counter(2, 3),
            sw.Dataset.random(seed=4),
            sw.Dataset.from_generator(lambda: iter([1.5, 2.5, 3.5]),
                                      output_signature=sw.TensorSpec((), "float32")),
        ),
        "errors": lambda: (
            r(6).map(lambda x: 12 // (x - 2)).on_error("skip")
            .with_options(sw.Options()).apply(tf.data.experimental.ignore_errors())
        ),
        "together": lambda: r(6).apply(tf.data.experimental.map_and_batch(lambda x: 12 // x, 2)),
        "counted": lambda: r(5).apply(tf.data.experimental.assert_cardinality(5)),
        "padded to": lambda: tf.data.Dataset.from_tensor_slices({"a": [1, 2]}).apply(
            tf.data.experimental.pad_to_cardinality(4)),
        "files": lambda: sw.Dataset.list_files(str(folder / "a.*"), shuffle=False),
        "npy": lambda: sw.Dataset.from_npy(f["a.npy"]),
        "records": lambda: tf.data.TFRecordDataset(f["a.tfrecord"]),
        "lines": lambda: tf.data.TextLineDataset(f["a.txt"]),
        "fixed": lambda: tf.data.FixedLengthRecordDataset(f["a.bin"], 2),
        "csv": lambda: tf.data.experimental.CsvDataset(f["a.csv"], [tf.int32, tf.string]),
        "tar": lambda: sw.Dataset.from_tar(f["a.tar"]),
        "saved": lambda: sw.Dataset.load(f["saved"]),
        "saved by": lambda: sw.Dataset.load(
            f["saved"], reader_func=lambda shards: shards.flat_map(lambda shard: shard)),
        "shard": lambda: next(iter(sw.Dataset.load(f["saved"], reader_func=lambda all: all))),
        "snapshot": lambda: r(4).snapshot(str(folder / "snapshot")),
    }  # fmt: skip


def operators_of(ds: Any) -> set[str]:
    """The operators of a pipeline, those of the forms in it too."""
    found = set()
    for node in _native.nodes_below(ds._node):
        op, params, *_ = _native.node_parts(node)
        found.add(op)
        for param in params:
            if isinstance(param, _native.Function):
                kind, parts, *_ = _native.function_parts(param)
                if kind == "template":
                    found |= {_native.node_parts(each)[0] for each in parts[0]}
    return found


# Made inside of `reduce`, `save` and `sample_from_datasets`; the others have tests of their own.
NEVER_HELD = {"reduce", "save", "random_choice", "from_arrow", "window_rows"}


def test_every_operator_is_the_same_after_a_pickle(tmp_path: Path) -> None:
    met: set[str] = set()
    for name, build in _datasets(tmp_path).items():
        ds = build()
        met |= operators_of(ds)
        print(name, sorted(operators_of(ds)))
        assert_same(ds, again(ds))
    missing = {op["name"] for op in _native.operators()} - met - NEVER_HELD
    print(f"{len(met)} operators were sent; never: {sorted(missing)}")
    assert not missing


def test_the_rows_of_a_window_belong_to_their_pass() -> None:
    window = next(iter(sw.Dataset.range(6).window(3)))
    with pytest.raises(TypeError, match=r"window_rows.*held by a running pass and cannot travel"):
        cloudpickle.dumps(window)


def test_arrow_tables_and_files_travel_and_streams_do_not(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = arrow.table({"x": [1, 2, 3], "s": ["a", "b", "c"]})
    parquet.write_table(table, tmp_path / "a.parquet")
    for ds in (
        sw.Dataset.from_arrow(table),
        sw.Dataset.from_parquet(str(tmp_path / "a.parquet")),
        sw.Dataset.from_arrow(lambda: table.to_reader()),
    ):
        assert_same(ds, again(ds))
    with pytest.raises(TypeError, match=r"from_arrow, .*RecordBatchReader cannot travel"):
        cloudpickle.dumps(sw.Dataset.from_arrow(table.to_reader()))
