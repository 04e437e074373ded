"""What docs/differences.md says of this side, a row of its tables each.

The first cell of the row stands before its check, so a row that is reworded or gone fails here.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway.tf as tf

Dataset = tf.data.Dataset
PAGE = Path(__file__).parent.parent / "docs" / "differences.md"
CHECKS: dict[str, Callable[[], None]] = {}


def row(first_cell: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    def keep(check: Callable[[], None]) -> Callable[[], None]:
        CHECKS[first_cell] = check
        return check

    return keep


def listed(ds: Any) -> list[Any]:
    return list(ds.as_numpy_iterator())


@row("a function with side effects")
def _row1() -> None:
    seen: list[int] = []

    def tell(x: Any) -> Any:
        seen.append(int(x))
        return x

    ds = Dataset.range(3).map(tell)
    assert seen == []
    assert ds.element_spec is None
    listed(ds)
    assert seen == [0, 1, 2]
    assert "append" in str(ds.explain()) or "seen" in str(ds.explain())


@row("such a function's result")
def _row2() -> None:
    def unlike(x: Any) -> Any:
        print(end="")
        return int(x) if int(x) < 2 else "text"

    it = Dataset.range(3).map(unlike).as_numpy_iterator()
    assert [next(it), next(it)] == [0, 1]
    with pytest.raises((TypeError, tf.errors.InvalidArgumentError)):
        next(it)


@row("`np.sin(x)` inside a function")
def _row3() -> None:
    ds = Dataset.from_tensor_slices([0.5]).map(lambda x: np.sin(x))
    assert ds.element_spec == tf.TensorSpec([], tf.float32)
    assert listed(ds) == [np.sin(np.float32(0.5))]


@row("a value that a traced function captures")
def _row4() -> None:
    by = 2
    ds = Dataset.range(2).map(lambda x: x * by)
    by = 3
    assert listed(ds) == [0, 2]


@row("arrays that come out")
def _row5() -> None:
    (array,) = listed(Dataset.from_tensors([1, 2]))
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 5


@row("a batch of datasets")
def _row6() -> None:
    (batch,) = Dataset.range(4).window(2).batch(2)
    assert isinstance(batch, np.ndarray)
    assert batch.dtype == object


@row("dicts")
def _row7() -> None:
    given = collections.OrderedDict([("b", 1), ("a", 2)])
    (out,) = listed(Dataset.from_tensors(given))
    assert type(out) is dict
    assert list(out) == ["a", "b"]
    with pytest.raises(TypeError, match="string"):
        Dataset.from_tensors({1: 2})


@row("a number of elements, a size or a seed that is a tensor")
def _row8() -> None:
    assert listed(Dataset.range(5).take(tf.constant(2, tf.int32))) == [0, 1]


@row("`TypeError` in Python, `InvalidArgumentError` in a graph")
def _row9() -> None:
    with pytest.raises(TypeError) as found:
        tf.reshape(tf.constant([1]), "a")
    assert isinstance(found.value, tf.errors.InvalidArgumentError)


@row("sums of floats")
def _row10() -> None:
    values = np.full(1_000_001, 0.1, np.float32)
    assert tf.reduce_sum(values).numpy() == np.float32(values.astype(np.float64).sum())


@row("random ops inside a map function")
def _row11() -> None:
    def pass_with(calls: int | None) -> list[float]:
        ds = Dataset.range(20).map(
            lambda x: tf.random.uniform([], seed=1), num_parallel_calls=calls
        )
        return [float(x) for x in listed(ds)]

    assert pass_with(None) == pass_with(4)


@row("`sort`, `argsort`, `top_k` with NaN")
def _row12() -> None:
    assert np.isnan(tf.sort([np.nan, 1.0, 0.0]).numpy()).tolist() == [False, False, True]


@row("`tf.function` with side effects")
def _row13() -> None:
    calls: list[int] = []

    @tf.function  # type: ignore[untyped-decorator]
    def tell(x: Any) -> Any:
        calls.append(1)
        return x

    tell(tf.constant(1))
    tell(tf.constant(2))
    assert len(calls) == 2
    assert tell.explain() != ["a graph"]


@row("traces of a `tf.function`")
def _row14() -> None:
    @tf.function  # type: ignore[untyped-decorator]
    def twice(x: Any) -> Any:
        return x * 2

    for n in range(70):
        twice(tf.zeros([n]))
    assert len(twice.explain()) <= 64


@row("`str(tf.int32)`")
def _row15() -> None:
    assert (str(tf.int32), repr(tf.int32)) == ("int32", "tf.int32")


@row("`tf.constant` of a list that holds tensors")
def _row16() -> None:
    assert tf.constant([tf.constant(1), 2]).numpy().tolist() == [1, 2]


@row("`tf.saturate_cast` of int64 to uint64")
def _row17() -> None:
    made = tf.saturate_cast(tf.constant([-5, 2**62], tf.int64), tf.uint64)
    assert made.numpy().tolist() == [0, 2**62]


@row("`TensorSpec.is_compatible_with` of a NumPy array")
def _row18() -> None:
    assert tf.TensorSpec([2], tf.int64).is_compatible_with(np.array([1, 2]))
    assert not tf.TensorSpec([3], tf.int64).is_compatible_with(np.array([1, 2]))


@row("a dataset's `repr`")
def _row19() -> None:
    text = repr(Dataset.range(3).batch(2))
    assert "range#0" in text
    assert "batch#1" in text


@row("`rejection_resample`")
def _row20() -> None:
    ds = Dataset.range(50).rejection_resample(
        lambda x: tf.cast(x % 2, tf.int32), target_dist=[0.5, 0.5], seed=1
    )
    found = [int(x) for _, x in listed(ds)]
    assert len(set(found)) == len(found) <= 50


@row("`assert_cardinality`")
def _row21() -> None:
    it = iter(Dataset.range(2).apply(tf.data.experimental.assert_cardinality(3)))
    assert [int(next(it)), int(next(it))] == [0, 1]
    with pytest.raises(tf.errors.FailedPreconditionError):
        next(it)
    with pytest.raises(StopIteration):
        next(it)


@row('a stage with `on_error="skip"` or `"quarantine"`')
def _row22() -> None:
    def half(x: Any) -> Any:
        print(end="")
        return x

    with pytest.raises(tf.errors.OpError):
        Dataset.range(3).map(half, on_error="skip")[0]


@row("`range(output_type=tf.string)`")
def _row23() -> None:
    with pytest.raises((TypeError, tf.errors.OpError)):
        Dataset.range(3, output_type=tf.string)


@row("Python's `str` for a `tf.string` in `from_generator`")
def _row24() -> None:
    ds = Dataset.from_generator(
        lambda: iter(["\u00e4"]), output_signature=tf.TensorSpec([], tf.string)
    )
    assert listed(ds) == ["\u00e4".encode()]


@row("`repeat` whose length overflows")
def _row25() -> None:
    assert int(Dataset.range(2**40).repeat(2**40).cardinality()) == 2**63 - 1


@row("`shard(..., SHARD_HINT)`")
def _row26() -> None:
    hinted = Dataset.range(4).shard(tf.data.experimental.SHARD_HINT, 0)
    assert int(hinted.cardinality()) == tf.data.UNKNOWN_CARDINALITY


@row("`bool * 2` on tensors")
def _row27() -> None:
    with pytest.raises((TypeError, tf.errors.OpError)):
        tf.constant(True) * 2


def test_random_access_counts_from_the_end_and_raises_both_kinds() -> None:
    ds = Dataset.range(3)
    assert int(ds[-1]) == 2
    with pytest.raises(tf.errors.OutOfRangeError):
        tf.data.experimental.at(ds, -1)
    with pytest.raises(IndexError) as found:
        ds[5]
    assert isinstance(found.value, tf.errors.OutOfRangeError)


@pytest.mark.parametrize("first_cell", CHECKS)
def test_the_page_says_what_happens_here(first_cell: str) -> None:
    cells = [line.split("|")[1].strip() for line in PAGE.read_text().splitlines() if "|" in line]
    assert first_cell in cells
    CHECKS[first_cell]()
