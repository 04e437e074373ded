"""What every framework is handed: arrays that nobody else holds, charged while they are held.

The frameworks themselves are in tests/handover; NumPy stands for one here, through DLPack.
"""

from __future__ import annotations

import gc
import itertools
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import spillway as sw
from spillway import tf
from spillway.handover.elements import Handed

MIB = 1 << 20
ROW = sw.TensorSpec((MIB // 4,), "float32")


def rows(count: int) -> sw.Dataset:
    """Arrays of a MiB, each full of its number, made by Python."""
    return sw.Dataset.range(count).map(
        lambda i: np.full(MIB // 4, int(i), np.float32), output_signature=ROW
    )


def traced(count: int) -> sw.Dataset:
    """The same made by the engine."""
    return sw.Dataset.range(count).map(lambda i: tf.fill([MIB // 4], tf.cast(i, tf.float32)))


def generated(count: int) -> sw.Dataset:
    def elements() -> Iterator[Any]:
        for i in range(count):
            yield np.full(MIB // 4, i, np.float32)

    return sw.Dataset.from_generator(elements, output_signature=ROW)


def handed(dataset: Any) -> Handed:
    return Handed(dataset, np.from_dlpack)


def kept_bytes() -> int:
    """Bytes of elements that are charged because somebody still holds them."""
    gc.collect()
    return sum(row["exported"] for row in sw.memory().rows if row["depth"] == 0)


# ---- The nest and the types


def test_leaves_are_arrays_also_of_rank_0_and_strings_stay_bytes() -> None:
    ds = sw.Dataset.from_tensors((1, {"s": "a", "t": ["b", "c"], "n": None}, [1.5]))
    ((number, rest, vector),) = handed(ds)
    assert isinstance(number, np.ndarray) and number.shape == () and number == 1
    assert rest["s"] == b"a" and rest["t"].tolist() == [b"b", b"c"] and rest["n"] is None
    assert vector.dtype == np.float32 and vector.tolist() == [1.5]


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2000,), (64, 1024), (0, 5)])
def test_arrays_of_any_size_can_be_written_to(shape: tuple[int, ...]) -> None:
    given = np.ones(shape, np.float32)
    for dataset in (sw.Dataset.from_tensors(given), sw.Dataset.from_tensors(given).batch(1)):
        (array,) = handed(dataset)
        array += 1
        assert (array == 2).all()
    assert (given == 1).all()


def test_plain_elements_are_read_only_and_shown_by_dlpack_as_such() -> None:
    before = kept_bytes()
    (array,) = rows(1)
    assert not array.flags.writeable
    shown = np.from_dlpack(array)
    assert not shown.flags.writeable and np.shares_memory(shown, array)
    del array
    assert kept_bytes() - before >= MIB
    del shown
    assert kept_bytes() == before


# ---- Whose bytes they are


@pytest.mark.parametrize("make", [rows, traced, generated])
def test_bytes_stay_charged_until_the_last_array_that_shows_them_is_gone(make: Any) -> None:
    before = kept_bytes()
    for ds in (make(1), make(4).batch(4), make(8).prefetch(1).batch(8)):
        it = handed(ds)
        array = next(it)
        assert next(it, None) is None
        it.close()
        part = array.reshape(-1)[5:7]
        size = array.nbytes
        del array
        assert size <= kept_bytes() - before <= 1.5 * size
        del part
        assert kept_bytes() == before


@pytest.mark.parametrize("make", [rows, traced])
def test_a_batch_is_handed_over_without_a_copy(make: Any) -> None:
    array = next(handed(make(4).batch(4)))
    # A copy would be charged to the pass itself, beside its stages.
    ledger = sw.memory().rows
    (at,) = [i for i, r in enumerate(ledger) if r["depth"] == 0 and r["exported"] >= array.nbytes]
    inside = itertools.takewhile(lambda row: row["depth"] > 0, ledger[at + 1 :])
    assert ledger[at]["exported"] == sum(row["exported"] for row in inside)


def test_no_element_is_copied_where_each_has_its_own_bytes() -> None:
    # Addresses tell: a copy would be made by the engine's own allocator.
    made: list[int] = []

    def make(i: Any) -> Any:
        array = np.full(MIB // 4, int(i), np.float32)
        made.append(array.__array_interface__["data"][0])
        return array

    found = list(handed(sw.Dataset.range(5).map(make, output_signature=ROW)))
    assert [array.__array_interface__["data"][0] for array in found] == made


MADE_OTHERWISE = {
    "an array of the user": lambda array: sw.Dataset.from_tensors(array),
    "rows of the user's": lambda array: sw.Dataset.from_tensor_slices(np.stack([array, array])),
    "a cache of the user's": lambda array: sw.Dataset.from_tensors(array).cache(),
    "a cache": lambda array: rows(3).cache(),
    "a cache of batches": lambda array: rows(4).batch(2).cache(),
    "rows of a cached batch": lambda array: rows(4).batch(2).cache().unbatch(),
    "a captured constant": lambda array: sw.Dataset.range(2).map(lambda i: array),
    "an array a function keeps": lambda array: sw.Dataset.range(2).map(
        lambda i: (int(i), array)[1]
    ),
    "an array a generator keeps": lambda array: sw.Dataset.from_generator(
        lambda: iter([array, array])
    ),
    "an element repeated": lambda array: rows(1).repeat(3),
    "an element twice": lambda array: rows(1).cache().repeat(3),
    "a component of two": lambda array: rows(2).cache().map(lambda x: (x, x)).map(lambda x, y: y),
    "a shuffled cache": lambda array: (
        rows(3).cache().shuffle(3, seed=1, reshuffle_each_iteration=False)
    ),
    "windows": lambda array: rows(4).cache().window(2).flat_map(lambda w: w.batch(2)),
}


@pytest.mark.parametrize("made", MADE_OTHERWISE)
def test_writing_into_an_array_changes_nothing_else(made: str) -> None:
    given = np.zeros(MIB // 4, np.float32)
    ds = MADE_OTHERWISE[made](given)
    wanted = [x.copy() for x in ds]
    for _ in range(2):
        for array in handed(ds):
            array[...] = 77
    assert not given.any()
    assert all(np.array_equal(a, b) for a, b in zip(ds, wanted, strict=True))


def test_two_components_of_the_same_bytes_are_two_arrays() -> None:
    ((x, y),) = handed(rows(1).map(lambda x: (x, x)))
    x[...] = 5
    assert y.max() == 0


def test_elements_of_one_pass_do_not_overlap() -> None:
    for ds in (traced(6), rows(6), generated(6), traced(6).batch(3).unbatch()):
        found = []
        for array in handed(ds):
            array += 100
            found.append(array)
        assert [float(a.min()) for a in found] == [float(a.max()) for a in found]
        assert [float(a[0]) for a in found] == [100.0, 101.0, 102.0, 103.0, 104.0, 105.0]


def test_an_array_that_goes_back_into_a_pipeline_is_copied_there() -> None:
    (array,) = Handed(rows(1), lambda array: array)
    cached = sw.Dataset.from_generator(lambda: iter([array, array])).cache()
    assert [float(x.max()) for x in cached] == [0.0, 0.0]
    array[...] = 9
    assert [float(x.max()) for x in cached] == [0.0, 0.0]


def test_results_of_workers_are_handed_over() -> None:
    ds = sw.Dataset.range(3).map(
        lambda i: np.full(MIB // 4, int(i), np.float32), isolate=True, output_signature=ROW
    )
    found = []
    for array in handed(ds):
        array += 10
        found.append(array)
    assert [float(a.max()) for a in found] == [10.0, 11.0, 12.0]


# ---- Memory


@pytest.mark.parametrize(
    "make",
    [
        rows,
        traced,
        generated,
        lambda count: rows(1).cache().repeat(count),
        lambda count: sw.Dataset.from_tensor_slices(np.zeros((count, MIB // 4), np.float32)),
    ],
    ids=["function", "traced", "generator", "cache", "array"],
)
def test_a_program_that_keeps_every_array_is_refused_with_the_table(make: Any) -> None:
    ds = make(80)
    kept: list[Any] = []
    with sw.configure(memory_limit="24MiB"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # at half of the limit: told once until most is let go
        it = handed(ds)
        with pytest.raises(sw.errors.BudgetError) as caught:
            for array in it:
                kept.append(array)
        assert "kept by you" in str(caught.value)
        assert 8 <= len(kept) <= 24
        del array
        kept.clear()
        assert next(it).size == MIB // 4
        it.close()


def test_an_element_that_was_refused_memory_is_the_next_one_when_there_is_room() -> None:
    given = np.arange(60, dtype=np.float32).repeat(MIB // 4).reshape(60, -1)
    seen: list[int] = []
    refused = 0
    with sw.configure(memory_limit="16MiB"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        it = handed(sw.Dataset.from_tensor_slices(given))
        while len(seen) < 60:
            kept = []
            try:
                for array in it:
                    kept.append(array)
            except sw.errors.BudgetError:
                refused += 1
                assert kept
            seen += [int(array[0]) for array in kept]
            del kept, array
    assert seen == list(range(60)) and refused > 1


# ---- A framework that is not there


@pytest.mark.parametrize(
    "method, package",
    [("to_torch", "torch"), ("to_jax", "jax"), ("to_tf", "tensorflow")],
)
@pytest.mark.parametrize("front", [sw.Dataset, tf.data.Dataset])
def test_a_missing_framework_is_an_import_error_that_says_what_to_install(
    method: str, package: str, front: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from spillway.handover import torch_tensors

    torch_tensors._class.cache_clear()
    monkeypatch.setitem(sys.modules, package, None)  # as if it were not installed
    with pytest.raises(ImportError) as caught:
        getattr(front.range(3), method)()
    assert str(caught.value).startswith(f"{method}: needs the package {package}")
    assert str(caught.value).endswith(f"pip install {package}")
    assert caught.value.name is not None
