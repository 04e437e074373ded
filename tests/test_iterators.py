"""Iterators over a dataset: many, on threads, closed, interrupted, in a process that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import spillway as sw

INT = sw.TensorSpec((), "int64")


def ints(ds: sw.Dataset) -> list[int]:
    return [int(x) for x in ds]


def script(text: str, **kwargs: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)],
        capture_output=True, text=True, timeout=500, check=False, **kwargs,
    )  # fmt: skip


# ---- Iterators


def test_many_iterators_run_at_a_time() -> None:
    ds = sw.Dataset.range(5).prefetch(2)
    iterators = [iter(ds) for _ in range(10)]
    for want in range(5):
        assert [int(next(it)) for it in iterators] == [want] * 10


def test_after_the_end_there_is_only_the_end() -> None:
    it = iter(sw.Dataset.range(1))
    assert [int(next(it))] == [0]
    for _ in range(3):
        with pytest.raises(StopIteration):
            next(it)


def test_an_iterator_may_be_closed_while_another_thread_waits_for_its_element() -> None:
    inside, release = threading.Event(), threading.Event()

    def wait(x: Any) -> Any:
        inside.set()
        release.wait(300)
        return x

    for _ in range(5):
        inside.clear()
        release.clear()
        it = iter(sw.Dataset.range(10).map(wait, num_parallel_calls=2))
        got: list[Any] = []
        thread = threading.Thread(target=lambda it=it, got=got: got.extend(it))
        thread.start()
        assert inside.wait(300)
        it.close()
        release.set()
        thread.join(300)
        assert got == []
        assert not thread.is_alive()


def test_the_interpreter_may_end_while_a_thread_waits_for_an_element() -> None:
    code = """
import threading, time, spillway as sw
inside = threading.Event()
def slow(x):
    inside.set()
    time.sleep(0.05)
    return x
def run(it):
    while True:
        try: next(it)
        except sw.errors.CancelledError: pass
        except StopIteration: time.sleep(0.001)
for _ in range(4):
    it = iter(sw.Dataset.range(1000).map(slow, num_parallel_calls=2))
    threading.Thread(target=run, args=(it,), daemon=True).start()
inside.wait()
"""
    assert subprocess.run([sys.executable, "-c", code], timeout=500).returncode == 0


def test_a_closed_iterator_has_ended_and_with_closes_it() -> None:
    with iter(sw.Dataset.range(10)) as it:
        next(it)
    assert it.closed
    with pytest.raises(StopIteration):
        next(it)


def test_random_access_where_the_meaning_allows() -> None:
    ds = sw.Dataset.range(10).skip(2).batch(3)
    assert ds[0].tolist() == [2, 3, 4]
    assert ds[-1].tolist() == [8, 9]
    with pytest.raises(IndexError):
        ds[3]
    with pytest.raises(TypeError):
        sw.Dataset.range(3).filter(lambda x: True)[0]


@pytest.mark.parametrize("read", [7, 40])
def test_a_generator_that_yields_something_else_is_not_resumed_in_silence(read: int) -> None:
    runs = iter(range(2))

    def numbers() -> Iterator[int]:
        base = 1000 * next(runs)
        yield from range(base, base + 50)

    def shorter() -> Iterator[int]:
        yield from range(3 if next(runs) == 1 else 50)

    for generator in (numbers, shorter):
        runs = iter(range(2))
        ds = sw.Dataset.from_generator(generator, output_signature=INT)
        it = iter(ds)
        for _ in range(read):
            next(it)
        state = it.save()
        again = iter(ds)
        again.restore(state)
        with pytest.raises(sw.errors.GeneratorNotReplayable, match="element"):
            next(again)


# ---- Threads


def test_threads_that_share_an_iterator_are_served_in_turn() -> None:
    inside, go_on = threading.Event(), threading.Event()

    def numbers() -> Iterator[int]:
        for i in range(300):
            if i == 1:
                inside.set()
                assert go_on.wait(300)
            yield i

    ds = sw.Dataset.from_generator(numbers, output_signature=INT)
    it = iter(ds)
    seen = [int(next(it))]

    def take() -> None:
        seen.extend(int(x) for x in it)

    threads = [threading.Thread(target=take) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert inside.wait(300)
    go_on.set()
    for thread in threads:
        thread.join()
    assert sorted(seen) == list(range(300))


def test_a_function_that_asks_its_own_pipeline_is_refused_and_named() -> None:
    held: list[Any] = [iter([1])]

    def ask(x: Any) -> Any:
        return next(held[0]) + x

    held[0] = iter(sw.Dataset.range(3).map(ask))
    with pytest.raises(ValueError, match="already executing"):
        next(held[0])


# ---- The process


def test_ctrl_c_is_heard_while_waiting() -> None:
    done = script(
        """
        import os, signal, threading
        import spillway as sw
        signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it in background
        waiting, ended = threading.Event(), threading.Event()
        def slow():
            waiting.set()
            ended.wait(10)
            ended.set()
            yield 1
        def press():
            waiting.wait()
            os.kill(os.getpid(), signal.SIGINT)
        ds = sw.Dataset.from_generator(slow, output_signature=sw.TensorSpec((), "int64"))
        threading.Thread(target=press).start()
        try:
            next(iter(ds))
        except KeyboardInterrupt:
            print("heard", not ended.is_set())
        ended.set()
        print(len(list(sw.Dataset.range(3))))
        """
    )
    assert done.stdout.split() == ["heard", "True", "3"], done.stderr
    assert done.returncode == 0


def test_the_process_ends_in_the_middle_of_an_epoch() -> None:
    done = script(
        """
        import time
        import spillway as sw
        def slow():
            while True:
                time.sleep(0.01)
                yield 1
        spec = sw.TensorSpec((), "int64")
        it = iter(sw.Dataset.from_generator(slow, output_signature=spec).prefetch(3))
        print(next(it))
        """
    )
    assert done.stdout.split() == ["1"], done.stderr
    assert done.returncode == 0


def test_a_forked_child_gets_a_clear_error_and_the_parent_goes_on() -> None:
    done = script(
        """
        import os
        import spillway as sw
        it = iter(sw.Dataset.range(5).prefetch(2))
        print(int(next(it)), flush=True)
        if os.fork() == 0:
            try:
                next(it); next(it); next(it)
            except sw.errors.FailedPreconditionError as error:
                print("fork" in str(error), flush=True)
            os._exit(0)
        os.wait()
        print([int(x) for x in it])
        """
    )
    assert done.stdout.split("\n")[:3] == ["0", "True", "[1, 2, 3, 4]"], done.stderr


@pytest.mark.skipif(
    "SPILLWAY_EXPECT_UNDER" in os.environ, reason="a sanitizer's own memory passes RLIMIT_DATA"
)
def test_numpy_refuses_what_would_kill_the_process() -> None:
    done = script(
        """
        import resource
        resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30))
        import numpy as np
        import spillway as sw
        try:
            np.random.rand(10000, 10000, 3)
        except MemoryError as error:
            print("refused", "spillway" in str(error))
        """
    )
    assert done.stdout.split() == ["refused", "True"], done.stderr


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs POSIX")
def test_nothing_is_left_behind_in_temporary_directories(tmp_path: Path) -> None:
    done = script(
        """
        import os, signal
        import numpy as np
        import spillway as sw
        sw.configure(memory_limit="16MiB")
        spec = sw.TensorSpec((100_000,), "int64")
        ds = sw.Dataset.range(400).map(lambda x: np.full(100_000, x), output_signature=spec)
        it = iter(ds.shuffle(300, seed=1))
        next(it)
        os.kill(os.getpid(), signal.SIGKILL)
        """,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert list(tmp_path.iterdir()) == []
