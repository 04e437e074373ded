"""What is ours beyond tf.data's API: every spelling of it, run once.

Each test stands under the lines it runs, so that a change of a spelling is seen here first.
"""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw
from spillway import __main__ as cli
from spillway import errors
from spillway.tf import errors as tf_errors


def numbers(dataset: Any) -> list[int]:
    return [int(x) for x in dataset]


# sw.configure(memory_limit="2GiB", threads=None, isolate=False, guard_numpy=True,
#              spill_dir=None, cache_dir=None); also a context manager
# sw.memory(): limit, held by pipeline and stage, untracked; prints as a table, ._repr_html_


def test_configure_sets_and_as_a_context_manager_puts_back(tmp_path: Path) -> None:
    before = sw.memory().limit
    with sw.configure(
        memory_limit="2GiB",
        threads=None,
        isolate=False,
        guard_numpy=True,
        spill_dir=None,
        cache_dir=None,
    ):
        assert sw.memory().limit == 2 << 30
    assert sw.memory().limit == before
    for isolate in (True, "auto"):
        with sw.configure(isolate=isolate, spill_dir=tmp_path, threads=2):
            assert numbers(sw.Dataset.range(3).map(lambda x: x + 1)) == [1, 2, 3]


def test_memory_is_a_ledger_that_prints_as_a_table() -> None:
    it = iter(sw.Dataset.range(10).shuffle(5))
    next(it)
    ledger = sw.memory()
    assert ledger.used <= ledger.limit and ledger.untracked >= 0
    assert any("shuffle" in row["name"] for row in ledger.rows)
    assert "shuffle" in repr(ledger)
    assert "<table>" in ledger._repr_html_() and "shuffle" in ledger._repr_html_()
    it.close()


# ds = sw.Dataset.range(10).map(fn, num_parallel_calls=sw.AUTOTUNE, on_error="raise",
#         retries=2, backoff=0.1, max_errors=None, max_error_rate=None, quarantine="bad.jsonl",
#         isolate=False, num_workers=None, timeout=None, memory_limit=None, output_signature=None)
# "raise" | "skip" | "retry" | "quarantine", or sw.OnError(...); fn may be async


def test_map_takes_every_keyword(tmp_path: Path) -> None:
    ds = sw.Dataset.range(10).map(
        lambda x: x * 2,
        num_parallel_calls=sw.AUTOTUNE,
        on_error="quarantine",
        retries=2,
        backoff=0.0,
        max_errors=None,
        max_error_rate=None,
        quarantine=str(tmp_path / "bad.jsonl"),
        isolate=False,
        num_workers=None,
        timeout=None,
        memory_limit=None,
        output_signature=None,
    )
    assert numbers(ds) == list(range(0, 20, 2))


def test_map_in_workers_takes_their_keywords() -> None:
    ds = sw.Dataset.range(4).map(
        lambda x: x + 1, isolate=True, num_workers=1, timeout=60, memory_limit="1GiB"
    )
    assert numbers(ds) == [1, 2, 3, 4]


@pytest.mark.parametrize("action", ["raise", "retry"])
def test_raise_and_retry_end_in_the_error(action: str) -> None:
    ds = sw.Dataset.range(4).map(lambda x: 12 // x, on_error=action, backoff=0.0)
    with pytest.raises(errors.InvalidArgumentError) as caught:
        numbers(ds)
    assert caught.value.index == 0


def test_skip_leaves_out_and_a_policy_is_a_value() -> None:
    for policy in ("skip", sw.OnError("skip", retries=1, backoff=0.0, max_errors=2)):
        assert numbers(sw.Dataset.range(4).map(lambda x: 12 // x, on_error=policy)) == [12, 6, 4]


def test_an_async_function_is_awaited_k_at_a_time() -> None:
    under_way, most = 0, 0

    async def fetch(x: Any) -> Any:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1
        return int(x) * 10

    ds = sw.Dataset.range(8).map(
        fetch, num_parallel_calls=4, output_signature=sw.TensorSpec((), "int64")
    )
    assert numbers(ds) == list(range(0, 80, 10))
    assert 1 <= most <= 4


# ds.on_error("skip", max_errors=10): for every stage above


def test_on_error_holds_for_every_stage_above() -> None:
    ds = sw.Dataset.range(6).map(lambda x: 12 // x).map(lambda x: x // (x - 12))
    assert numbers(ds.on_error("skip", max_errors=10)) == [-1, -1, -1, -1]


# sw.Dataset.from_npy(paths); from_npy({"x": xs, "y": ys}) checks rows, shapes, dtypes first
# sw.Dataset.zip(a, b, strict=True): lengths must agree; the error names both
# sw.Dataset.from_arrow(anything_with_an_arrow_stream)


def test_from_npy_gives_rows_and_compares_the_files(tmp_path: Path) -> None:
    for name, rows in (("x0", 2), ("x1", 3), ("y0", 2), ("y1", 2)):
        np.save(tmp_path / f"{name}.npy", np.arange(rows))
    x, y = (sorted(map(str, tmp_path.glob(f"{c}*.npy"))) for c in "xy")
    assert numbers(sw.Dataset.from_npy(x)) == [0, 1, 0, 1, 2]
    assert [dict(row) for row in sw.Dataset.from_npy({"x": x[:1], "y": y[:1]})] == [
        {"x": 0, "y": 0},
        {"x": 1, "y": 1},
    ]
    with pytest.raises(ValueError, match=r"y1\.npy"):
        sw.Dataset.from_npy({"x": x, "y": y})


def test_a_strict_zip_names_both_when_lengths_differ() -> None:
    a, b = sw.Dataset.range(3), sw.Dataset.range(4)
    assert len(list(sw.Dataset.zip(a, a, strict=True))) == 3
    with pytest.raises(ValueError) as caught:
        list(sw.Dataset.zip(a, b, strict=True))
    assert "3" in str(caught.value) and "4" in str(caught.value)


def test_from_arrow_takes_whatever_has_a_stream() -> None:
    pa = pytest.importorskip("pyarrow")
    rows = list(sw.Dataset.from_arrow(pa.table({"x": [1, 2], "s": ["a", "b"]})))
    assert rows == [{"x": 1, "s": b"a"}, {"x": 2, "s": b"b"}]


# sw.Dataset.from_generator(gen, output_types=None, output_shapes=None, args=None,
#         output_signature=None, isolate=False, parallel=1, read_ahead=None)
# generator, async generator, iterable, callable; parallel=k: gen over slices args[0][i::k]


def count(items: Any) -> Iterator[int]:
    yield from items


async def count_async(items: Any) -> AsyncIterator[int]:
    for item in items:
        yield item


@pytest.mark.parametrize("generator", [count, count_async])
@pytest.mark.parametrize("parallel", [1, 2])
def test_from_generator_takes_every_keyword(generator: Any, parallel: int) -> None:
    ds = sw.Dataset.from_generator(
        generator,
        output_types=None,
        output_shapes=None,
        args=(list(range(6)),),
        output_signature=sw.TensorSpec((), "int64"),
        isolate=False,
        parallel=parallel,
        read_ahead=None,
    )
    assert numbers(ds) == [0, 1, 2, 3, 4, 5]


def test_from_generator_takes_iterables_types_and_workers() -> None:
    assert numbers(sw.Dataset.from_generator([1, 2])) == [1, 2]
    typed = sw.Dataset.from_generator(lambda: iter([1, 2]), output_types="int32", output_shapes=())
    assert typed.element_spec == sw.TensorSpec((), "int32") and numbers(typed) == [1, 2]
    isolated = sw.Dataset.from_generator(count, args=([3, 4],), isolate=True, read_ahead=0)
    assert numbers(isolated) == [3, 4]


# sw.Dataset.from_quarantine("bad.jsonl")


def test_what_was_put_aside_is_a_dataset(tmp_path: Path) -> None:
    path = str(tmp_path / "bad.jsonl")
    ds = sw.Dataset.range(4).map(lambda x: 12 // x, on_error="quarantine", quarantine=path)
    assert numbers(ds) == [12, 6, 4]
    assert numbers(sw.Dataset.from_quarantine(path)) == [0]


# it = iter(ds): for, next, with; many at a time
# state = it.save(); it.restore(state); it.close()


def test_an_iterator_is_saved_restored_and_closed() -> None:
    ds = sw.Dataset.range(10).shuffle(10, seed=3, reshuffle_each_iteration=False)
    everything = numbers(ds)
    it, other = iter(ds), iter(ds)
    assert [int(next(it)) for _ in range(4)] == [int(next(other)) for _ in range(4)]
    state = it.save()
    assert isinstance(state, bytes) and len(state) < 4096
    with iter(ds) as again:
        again.restore(state)
        assert numbers(again) == everything[4:]
    assert again.closed
    it.close()
    assert list(it) == [] and numbers(other) == everything[4:]


# ds.audit(), it.audit(): .total .delivered .filtered .skipped .failed .dropped .held .entries
# ds.report(), it.report(): per stage rows, bytes, busy, waits, parallelism, errors


def test_audit_and_report_are_of_the_last_epoch_or_of_one_iterator() -> None:
    ds = sw.Dataset.range(10).map(lambda x: 12 // x, on_error="skip").filter(lambda x: x > 1)
    with iter(ds) as it:
        list(it)
        for audit in (ds.audit(), it.audit()):
            assert audit.total == 10 and audit.balanced
            assert (audit.delivered, audit.filtered, audit.skipped) == (6, 3, 1)
            assert (audit.failed, audit.dropped, audit.held) == (0, 0, 0)
            assert [(entry.outcome, entry.index) for entry in audit.entries] == [("skipped", 0)]
        for report in (ds.report(), it.report()):
            stage = next(s for s in report.stages if s.name.startswith("map"))
            assert (stage.rows_in, stage.rows_out, stage.skipped) == (10, 9, 1)
            assert stage.bytes >= 0 and stage.busy_s >= 0 and stage.wait_s >= 0
            assert stage.parallelism >= 1
            assert "map" in repr(report)


# ds[i]; len(ds)


def test_elements_by_position_and_the_length_where_the_meaning_allows() -> None:
    ds = sw.Dataset.range(10).batch(4)
    assert len(ds) == 3 and ds[1].tolist() == [4, 5, 6, 7]
    filtered = ds.filter(lambda x: True)
    with pytest.raises(TypeError):
        len(filtered)
    with pytest.raises(TypeError):
        filtered[0]


# ds.check(progress=True, text=None, manifest=None) -> [Problem(file, reason, offset, index)]


def test_check_lists_what_is_bad_before_training(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.txt", tmp_path / "bad.txt"
    good.write_bytes(b"fine\n")
    bad.write_bytes(b"ok\n\xff\xfe\n")
    ds = sw.Dataset.from_tensor_slices([str(good), str(bad)]).map(lambda p: p)
    assert len(ds.check(progress=True, text=None, manifest=None)) == 0
    from spillway import tf

    lines = tf.data.TextLineDataset([str(good), str(bad)])
    (found,) = lines.check(progress=False, text="utf-8")
    assert isinstance(found, sw.Problem)
    assert found.file == str(bad) and found.offset == 3 and found.reason


# ds.explain(): what runs natively, what as Python and why (with the line)


def test_explain_names_the_line_that_decided() -> None:
    text = str(sw.Dataset.range(3).map(lambda x: x + 1).map(lambda x: print(x)).explain())
    assert "native" in text and "runs as Python" in text and "print" in text
    assert Path(__file__).name in text


# ds.to_torch(); ds.to_tf(); ds.to_jax(); ds.as_numpy_iterator(); tests/handover runs the first
# three where the frameworks are


@pytest.mark.parametrize(
    "method, package",
    [("to_torch", "torch"), ("to_tf", "tensorflow"), ("to_jax", "jax")],
)
def test_handing_over_says_what_to_install_where_it_is_missing(method: str, package: str) -> None:
    ds = sw.Dataset.range(3)
    if importlib.util.find_spec(package) is None:
        with pytest.raises(ImportError, match=f"{method}: .*pip install {package}"):
            getattr(ds, method)()
    else:
        assert [int(x) for x in getattr(ds, method)()] == [0, 1, 2]


def test_as_numpy_iterator_gives_numpy_values_in_both_fronts() -> None:
    from spillway import tf

    for front in (sw.Dataset, tf.data.Dataset):
        found = list(front.range(2).as_numpy_iterator())
        assert found == [0, 1] and all(isinstance(x, np.int64) for x in found)


# sw.guarded(fn, memory_limit="4GiB", timeout=60, restarts=1)(x); .submit(), a context manager
# sw.guarded(factory=load_model, method="predict", memory_limit="4GiB")


def test_guarded_calls_in_a_worker() -> None:
    with sw.guarded(lambda x: x + 1, memory_limit="4GiB", timeout=60, restarts=1) as call:
        assert call(1) == 2
        assert call.submit(2).result(timeout=60) == 3
    assert sw.guarded(lambda x: x + 1, memory_limit="4GiB", timeout=60, restarts=1)(1) == 2


def test_guarded_builds_an_object_inside_the_worker() -> None:
    def load_model() -> Any:
        class Model:
            def predict(self, x: int) -> int:
                return x * 2

        return Model()

    with sw.guarded(factory=load_model, method="predict", memory_limit="4GiB") as predict:
        assert predict(21) == 42
    with pytest.raises(TypeError, match="give a factory"):
        sw.guarded(load_model, method="predict")


# sw.postmortem(): what the last process that died here was doing


def test_postmortem_answers_also_when_nothing_died() -> None:
    assert isinstance(sw.postmortem().found, bool)
    assert str(sw.postmortem())


# spillway.errors, in brackets the TensorFlow class each also is


@pytest.mark.parametrize(
    "name, also, coded",
    [
        ("BudgetError", MemoryError, "ResourceExhaustedError"),
        ("ElementTooLarge", MemoryError, "ResourceExhaustedError"),
        ("FloorTooHigh", MemoryError, "ResourceExhaustedError"),
        ("DataError", ValueError, "DataLossError"),
        ("CorruptFile", ValueError, "DataLossError"),
        ("FileError", OSError, "NotFoundError"),
        ("ShapeError", ValueError, "InvalidArgumentError"),
        ("UserFunctionError", errors.SpillwayError, None),
        ("WorkerDied", errors.SpillwayError, None),
        ("StallError", TimeoutError, "DeadlineExceededError"),
        ("GeneratorNotReplayable", errors.SpillwayError, None),
        ("TooManyErrors", errors.SpillwayError, None),
    ],
)
def test_every_error_is_also_what_tensorflow_and_python_call_it(
    name: str, also: type[BaseException], coded: str | None
) -> None:
    found = getattr(errors, name)
    assert issubclass(found, errors.SpillwayError) and issubclass(found, also)
    if coded is not None:
        assert issubclass(found, getattr(tf_errors, coded))


def test_a_missing_file_is_also_pythons_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        sw.Dataset.from_npy(str(tmp_path / "none.npy"))
    assert isinstance(caught.value, errors.FileError)


def test_a_dead_worker_has_a_verdict() -> None:
    def work(x: Any) -> Any:
        import os

        os.abort()

    with pytest.raises(errors.WorkerDied) as caught:
        list(sw.Dataset.range(1).map(work, isolate=True, restarts=0))
    assert caught.value.verdict == "crashed (SIGABRT, Aborted)"


# e.kind e.code e.stage e.line e.index e.epoch e.file e.offset e.attempts e.__cause__


def test_every_error_tells_its_facts_and_its_text_holds_them() -> None:
    def broken(x: Any) -> Any:
        if int(x) == 7:
            raise KeyError("seven")
        return x

    ds = sw.Dataset.range(10).map(broken, retries=1, backoff=0.0, on_error="retry")
    with pytest.raises(KeyError) as caught:
        list(ds)
    e: Any = caught.value
    assert (e.kind, e.code, e.index, e.epoch, e.attempts) == ("user", 2, 7, 0, 2)
    assert e.stage.startswith("map") and Path(__file__).name in e.line
    assert e.file is None and e.offset is None
    assert type(e.__cause__) is KeyError
    for words in ("seven", e.stage, e.line, "element 7", "2 attempts"):
        assert words in str(e)


# The CLI mirrors the calls: spillway check | describe | postmortem


def test_the_command_line_mirrors_the_calls(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save(tmp_path / "a.npy", np.arange(3))
    assert cli.main(["check", str(tmp_path)]) == 0
    assert cli.main(["describe", "batch"]) == 0
    assert cli.main(["postmortem"]) == 0
    assert "batch(batch_size" in capsys.readouterr().out
