"""Elements by their position: `ds[i]`, and `_at` behind `tf.data.experimental.at`."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import spillway as sw

INT = sw.TensorSpec((), "int64")


def numbers(n: int) -> sw.Dataset:
    return sw.Dataset.range(n)


def by_position(ds: sw.Dataset, n: int) -> list[Any]:
    """The first `n` elements, asked for from the last to the first."""
    return [ds[i] for i in reversed(range(n))][::-1]


def same(a: Any, b: Any) -> bool:
    return bool(np.array_equal(np.asarray(a), np.asarray(b)))


PIPELINES: dict[str, Callable[[], sw.Dataset]] = {
    "range": lambda: sw.Dataset.range(9, 0, -2),
    "from_tensors": lambda: sw.Dataset.from_tensors([1, 2, 3]),
    "from_tensor_slices": lambda: sw.Dataset.from_tensor_slices([[1, 2], [3, 4]]),
    "batch": lambda: numbers(10).batch(4),
    "batch, whole ones": lambda: numbers(10).batch(4, drop_remainder=True),
    "batch, several at a time": lambda: numbers(10).batch(3, num_parallel_calls=2),
    "cache": lambda: numbers(4).cache(),
    "concatenate": lambda: numbers(3).concatenate(sw.Dataset.range(7, 9)),
    "map": lambda: numbers(5).map(lambda x: x * x),
    "map, several at a time": lambda: numbers(5).map(lambda x: x * x, num_parallel_calls=2),
    "map and batch": lambda: numbers(7).map(lambda x: x + 1).batch(2),
    "prefetch": lambda: numbers(3).prefetch(2),
    "repeat": lambda: numbers(3).repeat(3),
    "shard": lambda: numbers(10).shard(3, 1),
    "skip": lambda: numbers(5).skip(2),
    "take": lambda: numbers(5).take(2),
    "unbatch": lambda: numbers(8).batch(4, drop_remainder=True).unbatch(),
    "with_options": lambda: numbers(3).with_options(sw.Options()),
    "assert_cardinality": lambda: numbers(3).assert_cardinality(3),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_every_position_has_the_element_of_a_pass(name: str) -> None:
    ds = PIPELINES[name]()
    expected = list(ds)
    assert len(ds) == len(expected)
    got = by_position(ds, len(ds))
    assert all(same(a, b) for a, b in zip(got, expected, strict=True))
    for index in (-1, len(ds), len(ds) + 1):
        with pytest.raises(sw.errors.OutOfRangeError):
            ds._at(index)


def test_a_position_counts_from_the_end_when_negative() -> None:
    ds = numbers(10).batch(3)
    assert ds[-1].tolist() == [9]
    assert ds[-4].tolist() == [0, 1, 2]
    for none in (4, -5):
        with pytest.raises(IndexError, match=r"Index out of range \[0, 4\):" + str(none)):
            ds[none]


def test_positions_may_be_numpys_and_must_be_whole() -> None:
    ds = numbers(5)
    assert ds[np.int32(3)] == ds[np.array(3)] == 3  # type: ignore[index]
    for wrong in (1.5, "1", [1], None):
        with pytest.raises(TypeError):
            ds[wrong]  # type: ignore[index]


def test_elements_keep_their_structure() -> None:
    ds = sw.Dataset.zip({"a": numbers(3), "b": (numbers(3).map(lambda x: x * 2), numbers(5))})
    assert ds[1] == {"a": 1, "b": (2, 1)}
    assert numbers(3).map(lambda x: {"x": x, "y": x + 1}).enumerate()[2] == (2, {"x": 2, "y": 3})
    padded = sw.Dataset.from_tensor_slices({"a": [7]}).pad_to_cardinality(2)
    assert [padded[i] for i in range(2)] == [{"a": 7, "valid": True}, {"a": 0, "valid": False}]


def test_being_subscriptable_changes_neither_truth_nor_iteration() -> None:
    assert numbers(0)
    assert list(numbers(3)) == [0, 1, 2]
    assert list(numbers(3).filter(lambda x: x != 1)) == [0, 2]
    assert list(reversed(numbers(3))) == [2, 1, 0]


def in_order_only() -> dict[str, sw.Dataset]:
    def count() -> Iterator[int]:
        yield from range(3)

    return {
        "filter": numbers(3).filter(lambda x: x >= 0),
        "from_generator": sw.Dataset.from_generator(count, output_signature=INT),
        "interleave": numbers(3).interleave(lambda _: numbers(2)),
        "flat_map": numbers(3).flat_map(lambda _: numbers(2)),
        "scan": numbers(3).scan(np.int64(0), lambda s, x: (s + x, s)),
        "take_while": numbers(3).take_while(lambda x: x < 2),
        "unique": numbers(3).unique(),
        "rebatch": numbers(4).batch(2).rebatch(4),
        "map": numbers(3).map(lambda x: x, on_error="skip"),
    }


@pytest.mark.parametrize("name", in_order_only())
def test_what_can_only_be_read_in_order_says_so_with_its_line(name: str) -> None:
    ds = in_order_only()[name]
    for asked in (ds, ds.prefetch(1).map(lambda x: x)):
        with pytest.raises(
            sw.errors.UnimplementedError, match=f"not implemented for dataset {name}"
        ) as e:
            asked._at(0)
        assert isinstance(e.value, TypeError)
        assert "test_random_access.py" in str(e.value)


def test_what_has_no_number_of_elements_says_so() -> None:
    for ds in (numbers(3).repeat(), numbers(4).batch(3).unbatch(), numbers(3).unique().shuffle(2)):
        with pytest.raises(sw.errors.FailedPreconditionError, match="cardinality"):
            ds._at(0)


def test_functions_run_for_the_element_asked_for_each_time() -> None:
    called: list[int] = []

    def note(x: Any) -> Any:
        called.append(int(x))
        return x

    ds = numbers(10).map(note).batch(2)
    assert called == []
    assert ds[3].tolist() == [6, 7]
    assert ds[3].tolist() == [6, 7]
    assert called == [6, 7, 6, 7]


def test_an_error_names_the_element_the_stage_and_the_cause() -> None:
    ds = numbers(10).skip(2).map(lambda x: {2: 0, 3: 1}[int(x)]).batch(2)
    assert ds[0].tolist() == [0, 1]
    with pytest.raises(KeyError) as e:
        ds[2]
    error: Any = e.value
    assert isinstance(error, sw.errors.UserFunctionError)
    assert (error.stage, error.index) == ("map#2", 4)
    assert "range#0 element 6" in str(error)
    assert isinstance(error.__cause__, KeyError)


def test_running_out_inside_a_function_is_not_a_missing_position() -> None:
    def ends(x: Any) -> Any:
        if x >= 0:
            raise sw.errors.OutOfRangeError("inner")

    with pytest.raises(sw.errors.InvalidArgumentError):
        numbers(3).map(ends)[0]


def test_a_cache_fills_up_to_the_position_and_keeps_it_for_every_pass() -> None:
    called: list[int] = []

    def note(x: Any) -> Any:
        called.append(int(x))
        return x * 2

    ds = numbers(10).map(note).cache()
    assert [int(ds[i]) for i in (5, 2, 5)] == [10, 4, 10]
    assert called == [0, 1, 2, 3, 4, 5]
    assert ds[9] == 18
    assert [int(x) for x in ds] == list(range(0, 20, 2))
    assert called == list(range(10))


def test_a_cache_gives_any_position_of_what_can_only_be_read_in_order() -> None:
    def count() -> Iterator[int]:
        yield from range(5)

    ds = sw.Dataset.from_generator(count, output_signature=INT).prefetch(1).cache()
    assert by_position(ds, 5) == [0, 1, 2, 3, 4]
    with pytest.raises(IndexError):
        ds[5]
    with pytest.raises(TypeError, match="length is unknown"):
        ds[-1]
    endless = numbers(3).repeat().cache()
    assert by_position(endless, 8) == [0, 1, 2, 0, 1, 2, 0, 1]
    assert endless.take(4)[3] == 0
    with pytest.raises(IndexError):
        endless.take(4)[4]


def test_a_cache_in_a_file_has_no_positions(tmp_path: Any) -> None:
    with pytest.raises(sw.errors.UnimplementedError, match="in a file"):
        numbers(3).cache(os.fspath(tmp_path / "kept"))._at(0)


def test_a_failing_element_fails_in_its_place_every_time() -> None:
    ds = numbers(4).map(lambda x: 12 // (2 - int(x)), output_signature=INT).cache()
    for _ in range(2):
        assert ds[1] == 12
        for index in (2, 3):
            with pytest.raises(ZeroDivisionError):
                ds[index]


def test_a_shuffle_has_tensorflows_order_and_leaves_the_passes_alone() -> None:
    tensorflows = [2, 0, 7, 8, 9, 3, 6, 4, 1, 5]
    for buffer in (3, 10):
        ds = numbers(10).shuffle(buffer, seed=42)
        assert by_position(ds, 10) == tensorflows
        assert list(ds) == list(numbers(10).shuffle(buffer, seed=42))
        assert by_position(ds, 10) == tensorflows
    unseeded = numbers(50).shuffle(5)
    assert by_position(unseeded, 50) == by_position(unseeded.prefetch(1), 50)
    assert sorted(by_position(unseeded, 50)) == list(range(50))


def test_threads_may_ask_at_the_same_time() -> None:
    called: list[int] = []

    def note(x: Any) -> Any:
        called.append(int(x))
        return x * x

    ds = numbers(60).map(note).cache()
    wrong: list[int] = []

    def ask(first: int) -> None:
        wrong.extend(i for i in range(first, 60, 4) if ds[i] != i * i)

    threads = [threading.Thread(target=ask, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert called == list(range(60))


def test_a_function_may_ask_another_dataset() -> None:
    squares = numbers(10).map(lambda x: x * x).cache()
    ds = numbers(4).map(lambda i: squares[int(i) * 2], output_signature=INT)
    assert list(ds) == [0, 4, 16, 36]
    assert ds[3] == 36


def held() -> int:
    """What pipelines hold: all but arrays in specs, and slabs kept for the next who needs one."""
    spare = ("constants", "idle slabs")
    rows = [row for row in sw.memory().rows if row["depth"] == 0 and row["name"] not in spare]
    return sum(row["held"] for row in rows)


def test_what_was_asked_for_is_given_back() -> None:
    gc.collect()
    before = held()
    ds = numbers(64).map(lambda x: np.full(100_000, int(x))).cache().shuffle(4, seed=1).batch(2)
    kept = [ds[i] for i in range(4)]
    assert held() > before
    del kept, ds
    gc.collect()
    assert held() <= before


@pytest.mark.parametrize("cached", [False, True])
def test_behind_a_wrong_cardinality_only_what_is_missing_is_refused(cached: bool) -> None:
    """What TensorFlow 2.21 answers, without the cache."""
    source = numbers(5).cache() if cached else numbers(5)
    few, many = source.assert_cardinality(10), source.assert_cardinality(3)
    assert [int(few[i]) for i in (0, 4)] == [0, 4]
    with pytest.raises(sw.errors.FailedPreconditionError, match="10 elements but index 5 could"):
        few[5]
    with pytest.raises(sw.errors.OutOfRangeError):
        few[10]
    assert int(many[2]) == 2
    with pytest.raises(sw.errors.OutOfRangeError):
        many[3]


def test_an_element_that_does_not_fit_is_a_typed_error_and_the_next_is_served() -> None:
    ds = numbers(4).map(lambda x: np.zeros((1 + 99 * (int(x) % 2)) << 17)).batch(1)
    with sw.configure(memory_limit="32MiB"):
        assert ds[0].nbytes == 1 << 20
        with pytest.raises(sw.errors.ResourceExhaustedError):
            ds[1]
        assert ds[2].nbytes == 1 << 20


def test_an_open_random_access_does_not_hold_up_the_end_of_the_process() -> None:
    program = """
import itertools
import spillway as sw
ds = sw.Dataset.from_generator(itertools.count, output_signature=sw.TensorSpec((), "int64"))
ds = ds.prefetch(4).cache()
print(ds[3])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=500, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "3\n", "")
