"""`from_generator(parallel=k)`: generators side by side."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

import spillway as sw
import spillway.tf as tf

INT = sw.TensorSpec((), "int64")


def ints(dataset: sw.Dataset) -> list[int]:
    return [int(x) for x in dataset]


def reader() -> Any:
    """Made anew, so that it travels by value."""

    def read(items: Any, scale: int = 1) -> Iterator[int]:
        for item in items:
            yield int(item) * scale

    return read


read = reader()


@pytest.mark.parametrize("isolate", [False, True])
@pytest.mark.parametrize("parallel", [1, 2, 3, 9])
def test_parallel_generators_take_turns(parallel: int, isolate: bool) -> None:
    ds = sw.Dataset.from_generator(
        read,
        args=([*range(7)], 10),
        output_signature=INT,
        parallel=parallel,
        isolate=isolate,
    )
    assert ints(ds) == ints(ds) == [10 * i for i in range(7)]


def test_their_order_is_that_of_interleave() -> None:
    def lines(files: Any) -> Iterator[int]:
        for file in files:
            yield from (int(file) * 10 + i for i in range(int(file)))

    files = [1, 4, 2, 0, 3]
    ds = sw.Dataset.from_generator(lines, args=[files], output_signature=INT, parallel=2)
    slices = [list(lines(files[i::2])) for i in range(2)]
    inner = sw.Dataset.range(2).interleave(
        lambda i: sw.Dataset.from_generator(lambda: slices[int(i)], output_signature=INT),
        cycle_length=2,
        block_length=1,
    )
    assert ints(ds) == ints(inner)


def test_parallel_generators_run_at_the_same_time() -> None:
    met = threading.Barrier(4, timeout=300)

    def meets(items: Any) -> Iterator[int]:
        for item in items:
            met.wait()  # for the other three
            yield item

    ds = sw.Dataset.from_generator(meets, args=[[*range(12)]], output_signature=INT, parallel=4)
    assert ints(ds) == [*range(12)]


def test_async_generators_run_side_by_side_too() -> None:
    async def items(given: list[int]) -> AsyncIterator[int]:
        for item in given:
            await asyncio.sleep(0)
            yield item

    ds = sw.Dataset.from_generator(items, args=[[*range(9)]], output_signature=INT, parallel=3)
    assert ints(ds) == [*range(9)]


def test_an_error_names_the_generator_and_its_element() -> None:
    def fails(items: Any) -> Iterator[int]:
        for item in items:
            if item == 7:
                raise KeyError("seven")
            yield item

    it = iter(
        sw.Dataset.from_generator(fails, args=[[*range(10)]], output_signature=INT, parallel=3)
    )
    assert [int(next(it)) for _ in range(7)] == [*range(7)]
    with pytest.raises(KeyError, match="seven") as caught:
        next(it)
    error: Any = caught.value
    assert (error.stage, error.index) == ("from_generator#1", 2)
    assert [int(x) for x in it] == [8, 9]


def test_a_checkpoint_of_parallel_generators_restores() -> None:
    def build() -> sw.Dataset:
        return sw.Dataset.from_generator(
            read, args=[[*range(20)]], output_signature=INT, parallel=3
        )

    for at in (0, 1, 8, 19, 20):
        it = iter(build())
        before = [int(next(it)) for _ in range(at)]
        again = iter(build())
        again.restore(it.save())
        assert before + [int(x) for x in again] == [*range(20)]


@pytest.mark.parametrize(
    ("more", "error", "text"),
    [
        ({"parallel": 0, "args": [[1]]}, ValueError, "parallel must be 1 or more: 0"),
        ({"parallel": 2}, ValueError, r"pass what they share .* as args=\[items\]"),
        ({"parallel": 2, "args": [{1, 2}]}, TypeError, "a set cannot be sliced"),
        ({"parallel": 2, "args": [5]}, TypeError, "a int cannot be sliced"),
        ({"parallel": 2, "args": ["ab"]}, TypeError, "'ab' is one string"),
        ({"parallel": 2, "args": [[1]], "read_ahead": 0}, ValueError, "read_ahead=0"),
    ],
)
def test_what_cannot_be_shared_out_is_refused(more: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        sw.Dataset.from_generator(read, output_signature=INT, **more)


def test_the_other_front_slices_what_tensorflow_would_pass() -> None:
    ds = tf.data.Dataset.from_generator(
        read, args=[[5, 6, 7]], output_signature=tf.TensorSpec([], tf.int64), parallel=2
    )
    assert [int(x) for x in ds] == [5, 6, 7]
