"""Workers that take too much memory: refused at their limit, replaced before it."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import spillway as sw
from spillway import _native

MIB = 1 << 20


def test_beyond_its_limit_a_function_gets_a_memory_error_at_its_element() -> None:
    def work(x: Any) -> Any:
        if int(x) == 3:
            big = bytearray(1 << 30)
            return np.int64(len(big))
        return np.int64(int(x))

    it = iter(sw.Dataset.range(6).map(work, isolate=True, memory_limit="256MiB"))
    assert [int(next(it)) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(MemoryError, match=r"memory_limit is 256") as caught:
        next(it)
    error: Any = caught.value
    assert error.index == 3
    assert isinstance(error, sw.errors.UserFunctionError)
    assert "bytearray(1 << 30)" in "".join(getattr(error.__cause__, "__notes__", []))
    assert [int(x) for x in it] == [4, 5]


def test_an_array_beyond_it_says_how_large_it_was() -> None:
    def work(x: Any) -> Any:
        return np.ones(1 << 28)[: int(x) + 1]

    with pytest.raises(MemoryError, match="Unable to allocate"):
        list(sw.Dataset.range(1).map(work, isolate=True, memory_limit=256 * MIB))


def test_a_generator_has_a_limit_too() -> None:
    def gen() -> Any:
        yield np.int64(0)
        held = np.ones(1 << 28)
        yield np.int64(len(held))

    ds = sw.Dataset.from_generator(
        gen, output_signature=sw.TensorSpec((), "int64"), isolate=True, memory_limit="256MiB"
    )
    got = []
    with pytest.raises(MemoryError) as caught:
        for x in ds:
            got.append(int(x))
    assert got == [0]
    error: Any = caught.value
    assert error.index == 1


def test_a_limit_needs_a_worker_and_some_bytes() -> None:
    with pytest.raises(ValueError, match="needs isolate=True"):
        sw.Dataset.range(3).map(lambda x: x, memory_limit="1GiB")
    with pytest.raises(ValueError, match="more than 0"):
        sw.Dataset.range(3).map(lambda x: x, isolate=True, memory_limit=0)


def test_workers_with_a_limit_are_not_those_without() -> None:
    def limit(x: Any) -> Any:
        import os
        import resource

        return np.int64(os.getpid()), np.int64(resource.getrlimit(resource.RLIMIT_DATA)[0])

    def look(**how: Any) -> tuple[set[int], set[int]]:
        rows = list(sw.Dataset.range(3).map(limit, isolate=True, **how))
        return {int(a) for a, _ in rows}, {int(b) for _, b in rows}

    free, small = look(), look(memory_limit=256 * MIB)
    again, larger = look(), look(memory_limit=512 * MIB)
    assert not free[0] & small[0]
    assert not small[0] & larger[0]
    assert free[1] == again[1]
    assert all(0 < b < 1024 * MIB for b in small[1])
    assert small[1] != larger[1]
    assert look(memory_limit=256 * MIB)[0] == small[0]  # and is kept for the next


def leaks(x: Any) -> Any:
    import builtins
    import os

    held: list[Any] = builtins.__dict__.setdefault("_spillway_leak", [])
    held.append(np.full(10 * MIB // 8, 1.0))
    return np.int64(int(x)), np.int64(os.getpid())


def test_a_worker_that_leaks_is_replaced_and_nothing_is_lost() -> None:
    started = _native.workers()["started"]
    rows = list(sw.Dataset.range(60).map(leaks, isolate=True, memory_limit=200 * MIB))
    assert [int(a) for a, _ in rows] == list(range(60))
    assert len({int(b) for _, b in rows}) >= 3
    assert _native.workers()["started"] - started >= 3
    assert os.getpid() not in {int(b) for _, b in rows}
