"""`from_generator(isolate=True)`: a generator in a worker process of its own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw

SPEC = sw.TensorSpec((), "int64")


def test_elements_are_the_generators_and_it_runs_elsewhere() -> None:
    def numbers(n: int) -> Any:
        import os

        for i in range(n):
            yield np.int64(i), np.int64(os.getpid())

    ds = sw.Dataset.from_generator(
        numbers, args=(5000,), output_signature=(SPEC, SPEC), isolate=True
    )
    rows = [(int(a), int(b)) for a, b in ds]
    assert [a for a, _ in rows] == list(range(5000))
    assert os.getpid() not in {b for _, b in rows}


def test_nothing_needs_to_be_declared() -> None:
    def mixed() -> Any:
        for i in range(20):
            yield {"n": i, "v": np.full(i, i, np.float32), "s": b"x" * i}

    rows = list(sw.Dataset.from_generator(mixed, isolate=True))
    assert [len(row["v"]) for row in rows] == list(range(20))
    assert rows[3]["s"] == b"xxx"


def test_large_elements_arrive() -> None:
    def pictures() -> Any:
        for i in range(30):
            yield np.full((256, 256, 3), i, np.float32)

    spec = sw.TensorSpec((256, 256, 3), "float32")
    ds = sw.Dataset.from_generator(pictures, output_signature=spec, isolate=True)
    assert [float(x[1, 2, 1]) for x in ds] == list(map(float, range(30)))


@pytest.mark.parametrize("at", [0, 1, 500, 999])
def test_an_exception_comes_in_its_place_with_its_class(at: int) -> None:
    def raises() -> Any:
        for i in range(1000):
            if i == at:
                raise KeyError(f"label of {i}")
            yield np.int64(i)

    it = iter(sw.Dataset.from_generator(raises, output_signature=SPEC, isolate=True))
    got = []
    with pytest.raises(KeyError, match=f"label of {at}") as caught:
        for x in it:
            got.append(int(x))
    assert got == list(range(at))
    error: Any = caught.value
    assert error.index == at


def crashing(path: Path, at: int, times: int) -> Any:
    """Numbers; the process ends before number `at`, so many times."""

    def numbers() -> Any:
        import ctypes

        for i in range(1000):
            if i == at:
                with open(path, "a+") as file:
                    file.seek(0)
                    before = len(file.read())
                    file.write("x")
                if before < times:
                    ctypes.string_at(0)
            yield np.int64(i)

    return numbers


def test_after_a_crash_it_goes_on_where_it_was(tmp_path: Path) -> None:
    numbers = crashing(tmp_path / "crashes", 600, 1)
    ds = sw.Dataset.from_generator(numbers, output_signature=SPEC, isolate=True)
    assert [int(x) for x in ds] == list(range(1000))


def test_one_that_crashes_again_is_an_error_after_all_before_it(tmp_path: Path) -> None:
    numbers = crashing(tmp_path / "crashes", 600, 99)
    got = []
    with pytest.raises(sw.errors.WorkerDied, match="SIGSEGV") as caught:
        for x in sw.Dataset.from_generator(numbers, output_signature=SPEC, isolate=True):
            got.append(int(x))
    assert got == list(range(600))
    assert caught.value.index == 600


def test_one_that_does_not_repeat_itself_is_not_guessed_at(tmp_path: Path) -> None:
    path = tmp_path / "crashes"

    def noise() -> Any:
        import ctypes
        import os

        for i in range(100):
            if i == 50:
                with open(path, "a+") as file:
                    file.seek(0)
                    first = not file.read()
                    file.write("x")
                if first:
                    ctypes.string_at(0)
            yield np.int64(int.from_bytes(os.urandom(7)))

    got = []
    with pytest.raises(sw.errors.GeneratorNotReplayable, match="does not yield the same"):
        for x in sw.Dataset.from_generator(
            noise, output_signature=SPEC, isolate=True, read_ahead=0
        ):
            got.append(int(x))
    assert len(got) <= 50  # what had arrived
    assert len(set(got)) == len(got)


def test_a_hang_is_ended_and_says_where() -> None:
    def hangs() -> Any:
        import time

        yield np.int64(0)
        time.sleep(3600)
        yield np.int64(1)

    it = iter(
        sw.Dataset.from_generator(hangs, output_signature=SPEC, isolate=True, timeout=2, restarts=0)
    )
    assert int(next(it)) == 0
    with pytest.raises(sw.errors.StallError, match="in hangs"):
        next(it)


def test_its_finally_runs_when_the_loop_is_left(tmp_path: Path) -> None:
    path = tmp_path / "closed"

    def numbers() -> Any:
        try:
            for i in range(1_000_000):
                yield np.int64(i)
        finally:
            path.write_text("yes")

    for x in sw.Dataset.from_generator(numbers, output_signature=SPEC, isolate=True):
        if int(x) == 3:
            break
    assert path.read_text() == "yes"


def test_a_queue_is_refused_by_name() -> None:
    import queue

    def numbers(q: Any) -> Any:
        yield q.get()

    with pytest.raises(TypeError, match=r"from_generator: an argument cannot go.*Queue"):
        sw.Dataset.from_generator(
            numbers, args=(queue.Queue(),), output_signature=SPEC, isolate=True
        )


def test_a_running_iterator_is_refused() -> None:
    with pytest.raises(TypeError, match="running iterator cannot go to a worker"):
        sw.Dataset.from_generator(iter([1, 2]), output_signature=SPEC, isolate=True)
