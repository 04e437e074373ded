"""`sw.guarded`: any callable in a worker process of its own."""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np
import pytest

import spillway as sw


def test_it_is_called_elsewhere_with_copies() -> None:
    given = [1, 2]

    def work(values: list[int], *, more: int) -> Any:
        import os

        values.append(more)
        return values, os.getpid()

    with sw.guarded(work) as call:
        values, pid = call(given, more=3)
    assert values == [1, 2, 3]
    assert given == [1, 2]
    assert pid != os.getpid()


def test_arrays_go_and_come_and_can_be_written_to() -> None:
    with sw.guarded(lambda a, b: {"sum": a + b, "a": a}) as call:
        for i in range(10):
            a = np.full((300, 400), float(i))
            out = call(a, 1.0)
            assert (out["sum"] == i + 1).all()
            out["sum"][0, 0] = 7
            assert (out["a"] == a).all()


def test_state_is_kept_between_calls_and_ends_with_the_worker() -> None:
    def counter() -> Any:
        count = 0

        def step(crash: bool = False) -> int:
            nonlocal count
            if crash:
                import os

                os.abort()
            count += 1
            return count

        return step

    with sw.guarded(factory=counter) as step:
        assert [step() for _ in range(100)] == list(range(1, 101))
        with pytest.raises(sw.errors.WorkerDied, match="SIGABRT"):
            step(crash=True)
        assert step() == 1


def test_an_exception_is_raised_here_as_it_was_there() -> None:
    def work(x: int) -> int:
        return 10 // x

    with sw.guarded(work) as call:
        with pytest.raises(ZeroDivisionError) as caught:
            call(0)
        assert "return 10 // x" in "".join(getattr(caught.value, "__notes__", []))
        assert call(2) == 5


def test_beyond_its_memory_it_gets_a_memory_error_and_goes_on() -> None:
    def work(size: int) -> int:
        return len(bytearray(size))

    with sw.guarded(work, memory_limit="256MiB") as call:
        assert call(1 << 20) == 1 << 20
        with pytest.raises(MemoryError, match="memory_limit is 256"):
            call(1 << 30)
        assert call(1 << 20) == 1 << 20


def test_allocating_without_end_costs_the_worker_only() -> None:
    def work(forever: bool) -> int:
        held = []
        while forever:
            held.append(bytearray(16 << 20))
        return 1

    with sw.guarded(work, memory_limit="1GiB") as call:
        with pytest.raises((MemoryError, sw.errors.WorkerDied)):
            call(True)
        assert call(False) == 1


def test_a_call_that_takes_too_long_is_ended() -> None:
    def work(seconds: float) -> float:
        import time

        time.sleep(seconds)
        return seconds

    with sw.guarded(work, timeout=2) as call:
        with pytest.raises(sw.errors.StallError, match="in work"):
            call(3600)
        assert call(0.01) == 0.01


def test_restarts_try_a_call_again(tmp_path: Any) -> None:
    path = tmp_path / "tries"

    def work() -> int:
        import os

        with open(path, "a+") as file:
            file.seek(0)
            tries = len(file.read())
            file.write("x")
        if tries < 2:
            os.abort()
        return tries

    with sw.guarded(work, restarts=2) as call:
        assert call() == 2


def test_submit_gives_a_future() -> None:
    with sw.guarded(lambda x: x * 2) as call:
        futures = [call.submit(i) for i in range(5)]
        assert [f.result(timeout=60) for f in futures] == [0, 2, 4, 6, 8]


def test_threads_take_turns() -> None:
    def work(x: int) -> int:
        return x + 1

    got: dict[int, int] = {}
    with sw.guarded(work) as call:
        threads = [
            threading.Thread(target=lambda i=i: got.__setitem__(i, call(i))) for i in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert got == {i: i + 1 for i in range(8)}


def test_a_closed_one_says_so() -> None:
    call = sw.guarded(lambda: 1)
    call.close()
    with pytest.raises(sw.errors.InvalidArgumentError, match="was closed"):
        call()


def test_what_cannot_travel_is_named() -> None:
    lock = threading.Lock()
    with pytest.raises(TypeError, match="`lock`"):
        sw.guarded(lambda: lock.acquire())
    with sw.guarded(lambda x: x) as call, pytest.raises(TypeError, match="cannot go to another"):
        call(lock)


def test_a_factory_makes_what_cannot_travel() -> None:
    def make() -> Any:
        import threading

        lock = threading.Lock()

        def work(x: int) -> int:
            with lock:
                return x

        return work

    with sw.guarded(factory=make) as call:
        assert call(4) == 4


def test_one_of_function_and_factory_is_needed() -> None:
    with pytest.raises(TypeError, match="needs a function, or factory="):
        sw.guarded()


@pytest.mark.parametrize(
    "error",
    [
        MemoryError("no more"),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
        FileNotFoundError(2, "No such file", "data.bin"),
        KeyError("label"),
        StopIteration(3),
    ],
)
def test_exceptions_of_python_keep_what_they_say(error: Exception) -> None:
    def work() -> None:
        raise error

    with sw.guarded(work) as call, pytest.raises(type(error)) as caught:
        call()
    assert str(caught.value) == str(error)
    assert caught.value.args == error.args
