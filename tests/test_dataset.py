"""The dataset as users meet it: elements, functions, errors, checkpoints, generators."""

from __future__ import annotations

import asyncio
import gc
import queue
import threading
from collections import namedtuple
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw

INT = sw.TensorSpec((), "int64")


def ints(ds: sw.Dataset) -> list[int]:
    return [int(x) for x in ds]


# ---- Elements


@pytest.mark.parametrize(
    "value",
    [
        np.int8(3), np.uint64(2**63), np.float16(1.5), np.complex128(1 + 2j), np.bool_(True), b"ab",
        np.arange(6).reshape(2, 3), np.array([b"x", b"yy"], dtype=object),
        (np.int64(1), {"a": np.float32(2), "b": (b"z",)}), {"x": None, "y": np.int32(1)},
    ],
)  # fmt: skip
def test_what_goes_in_comes_out(value: Any) -> None:
    (got,) = list(sw.Dataset.from_tensors(value))
    np.testing.assert_equal(got, value)


def test_bfloat16_and_float8_travel_through_ml_dtypes() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for name in ("bfloat16", "float8_e5m2", "float8_e4m3fn", "int4", "uint4"):
        array = np.array([1, 2, 3], dtype=getattr(ml_dtypes, name))
        (got,) = list(sw.Dataset.from_tensor_slices(array).batch(3))
        assert got.dtype == array.dtype
        assert got.tobytes() == array.tobytes()


def test_a_bfloat16_scalar_keeps_its_value() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    one = ml_dtypes.bfloat16(22.375)
    spec = sw.TensorSpec((), "bfloat16")
    given = sw.Dataset.from_generator(lambda: iter([one]), output_signature=spec)
    made = sw.Dataset.range(1).map(lambda _: one, output_signature=spec)
    assert [float(x) for x in given] == [float(x) for x in made] == [22.375]


Pair = namedtuple("Pair", ["left", "right"])


@dataclass
class Sample:
    image: Any
    label: Any


def test_namedtuples_and_dataclasses_keep_their_class() -> None:
    (pair,) = list(sw.Dataset.from_tensors(Pair(np.int64(1), np.int64(2))))
    assert isinstance(pair, Pair)
    assert pair.right == 2
    (sample,) = list(sw.Dataset.from_tensors(Sample(np.zeros(2), np.int64(1))))
    assert isinstance(sample, Sample)
    assert sample.image.shape == (2,)


def test_a_dataset_and_an_optional_can_be_components() -> None:
    inner = sw.Dataset.range(3)
    (got,) = list(sw.Dataset.from_tensors((np.int64(1), inner)))
    assert ints(got[1]) == [0, 1, 2]
    (kept,) = list(sw.Dataset.from_tensors(sw.Optional.from_value(np.int64(5))))
    assert kept.get_value() == 5


def test_large_arrays_are_handed_out_as_read_only_views_that_stay_charged() -> None:
    gc.collect()  # what tests before it left would go meanwhile
    (big,) = list(sw.Dataset.range(1 << 16).batch(1 << 16))
    assert not big.flags.writeable
    assert big.base is not None
    kept = sum(row["exported"] for row in sw.memory().rows if row["depth"] == 0)
    assert kept >= big.nbytes
    assert np.from_dlpack(big)[5] == 5
    del big
    gc.collect()
    assert sum(row["exported"] for row in sw.memory().rows if row["depth"] == 0) < 1 << 16


def test_a_small_row_does_not_pin_its_chunk() -> None:
    rows = list(sw.Dataset.range(1000).batch(10))
    assert all(row.base is None for row in rows)


# ---- Functions


def test_a_function_gets_tensors_and_a_tuple_is_taken_apart() -> None:
    seen: list[Any] = []

    def look(a: Any, b: Any) -> Any:
        seen.append((type(a), type(b)))
        return a + b

    ds = sw.Dataset.from_tensor_slices((np.arange(2), np.arange(2))).map(look)
    assert ints(ds) == [0, 2]
    assert seen == [(sw.Tensor, sw.Tensor)] * 2


def test_building_a_pipeline_never_calls_a_function() -> None:
    calls: list[int] = []

    def count(x: Any) -> Any:
        calls.append(1)
        return x

    ds = sw.Dataset.range(3).map(count).filter(lambda x: True).batch(2)
    assert ds.element_spec is None
    assert ds.cardinality() == sw.UNKNOWN_CARDINALITY
    assert calls == []
    assert [b.tolist() for b in ds] == [[0, 1], [2]]
    assert len(calls) == 3


def test_parallel_calls_overlap_and_keep_order() -> None:
    at_once = threading.Barrier(4, timeout=300)

    def meet(x: Any) -> Any:
        at_once.wait()  # passes only when four calls run at a time
        return x

    ds = sw.Dataset.range(8).map(meet, num_parallel_calls=4, output_signature=INT)
    assert ints(ds) == list(range(8))


@pytest.mark.parametrize("calls", [None, 2])
def test_elements_that_are_all_kept_and_fit_end_with_the_end(calls: int | None) -> None:
    def make(x: Any) -> Any:
        return np.full(5 << 20, int(x), np.float32)  # 20 MiB

    with sw.configure(memory_limit="66MiB"):
        kept = list(sw.Dataset.range(3).map(make, num_parallel_calls=calls))  # no room for a fourth
        assert [int(x[0]) for x in kept] == [0, 1, 2]
        it = iter(sw.Dataset.range(4).map(make, num_parallel_calls=calls))
        del kept
        kept = [next(it) for _ in range(3)]
        with pytest.raises(sw.errors.BudgetError):
            next(it)
        del kept[0]
        assert [int(x[0]) for x in [*kept, *it]] == [1, 2, 3]


# ---- Errors


def failing(x: Any) -> Any:
    if int(x) == 3:
        raise KeyError("three")
    return x


def test_an_error_is_both_the_users_class_and_tensorflows_and_says_where() -> None:
    ds = sw.Dataset.range(5).map(failing, output_signature=INT)
    it = iter(ds)
    assert [int(next(it)) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(KeyError) as caught:
        next(it)
    error: Any = caught.value
    assert isinstance(error, sw.errors.UnknownError)
    assert isinstance(error.__cause__, KeyError)
    assert (error.index, error.epoch, error.stage, error.kind) == (3, 0, "map#1", "user")
    assert "test_dataset.py" in str(error.line)
    assert "three" in str(error)
    assert "element 3" in str(error)
    assert int(next(it)) == 4


@pytest.mark.parametrize("calls", [None, 2])
def test_skipping_is_counted_and_the_audit_balances(calls: int | None) -> None:
    ds = sw.Dataset.range(10).map(
        failing, num_parallel_calls=calls, on_error="skip", output_signature=INT
    )
    ds = ds.batch(3, drop_remainder=True)
    assert [b.tolist() for b in ds] == [[0, 1, 2], [4, 5, 6], [7, 8, 9]]
    audit = ds.audit()
    assert (audit.total, audit.delivered, audit.skipped, audit.dropped) == (10, 9, 1, 0)
    assert audit.balanced
    (entry,) = audit.entries
    assert (entry.outcome, entry.index, entry.stage) == ("skipped", 3, "map#1")


def test_the_audit_of_a_pass_cut_short_balances_too() -> None:
    ds = sw.Dataset.range(100).map(failing, on_error="skip", output_signature=INT).batch(4)
    it = iter(ds)
    for _ in range(3):
        next(it)
    it.close()
    audit = ds.audit()
    assert audit.delivered == 12
    assert audit.balanced


def test_quarantine_keeps_the_input_and_can_be_run_again(tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    ds = sw.Dataset.range(6).map(
        failing, on_error="quarantine", quarantine=bad, output_signature=INT
    )
    assert ints(ds) == [0, 1, 2, 4, 5]
    assert ints(ds) == [0, 1, 2, 4, 5]
    assert len(bad.read_text().splitlines()) == 1, "the same element twice is one entry"
    assert bad.stat().st_mode & 0o777 == 0o600
    assert ints(sw.Dataset.from_quarantine(bad)) == [3]


def test_too_many_errors_end_the_patience() -> None:
    def never(x: Any) -> Any:
        raise ValueError("no")

    ds = sw.Dataset.range(10).map(never, on_error="skip", max_errors=3, output_signature=INT)
    with pytest.raises(sw.errors.TooManyErrors):
        list(ds)
    rated = sw.Dataset.range(1000).map(never, on_error="skip", max_error_rate=0.5)
    with pytest.raises(sw.errors.TooManyErrors):
        list(rated)


def test_retry_calls_again_before_it_gives_up() -> None:
    left = {3: 2}

    def flaky(x: Any) -> Any:
        if left.get(int(x), 0) > 0:
            left[int(x)] -= 1
            raise OSError("busy")
        return x

    ds = sw.Dataset.range(5).map(
        flaky, on_error="retry", retries=3, backoff=0.0, output_signature=INT
    )
    assert ints(ds) == [0, 1, 2, 3, 4]


def test_on_error_covers_every_stage_above() -> None:
    ds = sw.Dataset.range(6).map(failing, output_signature=INT).on_error("skip")
    assert ints(ds) == [0, 1, 2, 4, 5]


# ---- Checkpoints


@pytest.mark.parametrize("cut", [0, 1, 7, 20])
def test_a_saved_iterator_goes_on_in_an_equal_pipeline(cut: int) -> None:
    def build() -> sw.Dataset:
        ds = sw.Dataset.range(60).shuffle(16, seed=3).map(lambda x: x * 2, num_parallel_calls=3)
        return ds.repeat(2).prefetch(4).batch(3)

    whole = [b.tolist() for b in build()]
    it = iter(build())
    got = [next(it).tolist() for _ in range(cut)]
    state = it.save()
    assert isinstance(state, bytes)
    assert len(state) < 1000
    fresh = iter(build())
    fresh.restore(state)
    assert got + [b.tolist() for b in fresh] == whole


def test_another_pipelines_state_is_refused() -> None:
    state = iter(sw.Dataset.range(3)).save()
    with pytest.raises(sw.errors.NotFoundError, match="another pipeline"):
        iter(sw.Dataset.range(4)).restore(state)


@pytest.mark.parametrize(
    "state", [b"", b"rubbish", b"\x06SPW\x02\xff\xff\xff\xff", bytes(range(64))]
)
def test_a_forged_state_is_refused(state: bytes) -> None:
    with pytest.raises(sw.errors.SpillwayError):
        iter(sw.Dataset.range(3).shuffle(2)).restore(state)


def test_a_function_changed_in_its_code_changes_the_hash_but_its_name_does_not() -> None:
    a = sw.Dataset.range(3).map(lambda x: x + 1)
    b = sw.Dataset.range(3).map(lambda x: x + 1, num_parallel_calls=4)
    c = sw.Dataset.range(3).map(lambda x: x + 2)
    assert a.spec_hash() == b.spec_hash()
    assert a.spec_hash() != c.spec_hash()


def test_so_does_a_generator() -> None:
    def made(generator: Any) -> Any:
        spec = sw.TensorSpec((), "int64")
        return sw.Dataset.from_generator(generator, output_signature=spec)

    a = made(lambda: iter(range(5)))
    assert a.spec_hash() == made(lambda: iter(range(5))).spec_hash()
    other = made(lambda: iter(range(6)))
    assert a.spec_hash() != other.spec_hash()
    it = iter(a)
    next(it)
    with pytest.raises(sw.errors.SpillwayError):
        iter(other).restore(it.save())


# ---- Generators


def test_any_object_can_be_an_argument() -> None:
    feed: queue.Queue[int | None] = queue.Queue(maxsize=10)

    def produce() -> None:
        for i in range(10):
            feed.put(i)
        feed.put(None)

    def consume(q: queue.Queue[int | None]) -> Iterator[int]:
        while (item := q.get()) is not None:
            yield item

    thread = threading.Thread(target=produce)
    thread.start()
    assert ints(sw.Dataset.from_generator(consume, args=(feed,), output_signature=INT)) == [
        *range(10)
    ]
    thread.join()


def test_async_generators_are_taken_directly() -> None:
    async def count() -> Any:
        for i in range(5):
            await asyncio.sleep(0)
            yield i

    assert ints(sw.Dataset.from_generator(count, output_signature=INT)) == [0, 1, 2, 3, 4]


def test_a_dropped_iterator_closes_its_generator() -> None:
    closed = threading.Event()

    def count() -> Iterator[int]:
        try:
            yield from range(10**9)
        finally:
            closed.set()

    it = iter(sw.Dataset.from_generator(count, output_signature=INT))
    next(it)
    del it
    assert closed.wait(300)


@pytest.mark.parametrize("read_ahead", [True, False])
@pytest.mark.parametrize("buffered", [0, 3])
def test_a_pass_that_has_ended_gives_back_its_generator(read_ahead: bool, buffered: int) -> None:
    released = threading.Event()

    class Endless:
        def __iter__(self) -> Any:
            return self

        def __next__(self) -> int:
            return 42

        def __del__(self) -> None:
            released.set()

    ds = sw.Dataset.from_generator(Endless, output_signature=INT)
    ds = ds.prefetch(buffered).take(2) if buffered else ds.take(2)
    options = sw.Options()
    options.experimental_optimization.inject_prefetch = read_ahead
    it = iter(ds.with_options(options))
    assert [int(x) for x in it] == [42, 42]
    assert released.wait(300)
    state = it.save()  # the pass is still there to be asked
    assert it.audit().delivered == 2
    again = iter(ds.with_options(options))
    again.restore(state)
    assert list(again) == []


def test_a_generator_is_not_read_beyond_what_take_can_use() -> None:
    advanced: list[int] = []

    def count() -> Iterator[int]:
        for i in range(100):
            advanced.append(i)
            yield i

    assert ints(sw.Dataset.from_generator(count, output_signature=INT).take(10)) == [*range(10)]
    assert len(advanced) == 10


def test_an_element_of_the_wrong_kind_is_named_and_the_next_one_comes() -> None:
    items = [1, "no", 3]
    it = iter(sw.Dataset.from_generator(lambda: items, output_signature=INT))
    assert int(next(it)) == 1
    with pytest.raises(sw.errors.InvalidArgumentError, match="could not be converted"):
        next(it)
    assert int(next(it)) == 3


def test_a_generators_error_names_the_file_it_had_open(tmp_path: Path) -> None:
    path = tmp_path / "broken.txt"
    path.write_text("x")

    def read() -> Iterator[int]:
        yield 1
        int(path.read_text())

    it = iter(sw.Dataset.from_generator(read, output_signature=INT))
    next(it)
    with pytest.raises(ValueError, match="invalid literal") as caught:
        next(it)
    error: Any = caught.value
    assert error.file == str(path)


def test_a_generator_that_reuses_its_array_does_not_change_what_was_yielded() -> None:
    def reuse() -> Iterator[Any]:
        buffer = np.zeros(20_000, np.int64)
        for i in range(4):
            buffer[:] = i
            yield buffer

    spec = sw.TensorSpec((None,), "int64")
    got = list(sw.Dataset.from_generator(reuse, output_signature=spec))
    assert [int(a[0]) for a in got] == [0, 1, 2, 3]


def test_a_dataset_iterated_inside_a_generator_shares_the_budget() -> None:
    def outer() -> Iterator[int]:
        for i in range(3):
            yield from (int(x) for x in sw.Dataset.range(i + 1).batch(2).unbatch())

    assert ints(sw.Dataset.from_generator(outer, output_signature=INT)) == [0, 0, 1, 0, 1, 2]
