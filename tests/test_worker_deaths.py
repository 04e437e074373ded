"""Workers that are killed, fork, or lose their channel: the right rows or a true error, in time."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw
from spillway import _native

INT = sw.TensorSpec((), "int64")


def outcomes(ds: Any) -> list[Any]:
    """What an epoch gives: numbers, and errors in their places."""
    got: list[Any] = []
    it = iter(ds)
    while True:
        try:
            got.append(int(next(it)))
        except StopIteration:
            assert it.audit().balanced
            return got
        except sw.errors.SpillwayError as error:
            got.append(error)


# ---- Killed each time


def killing(bad: int, log: Path, number: int = signal.SIGKILL) -> Any:
    def work(x: Any) -> Any:
        import os

        if int(x) == bad:
            with open(log, "a") as file:
                file.write(".")
            os.kill(os.getpid(), number)
        return np.int64(int(x))

    return work


@pytest.mark.parametrize(("restarts", "times"), [(0, 3), (1, 3), (4, 5)])
def test_a_call_whose_worker_is_killed_each_time_is_made_three_times(
    tmp_path: Path, restarts: int, times: int
) -> None:
    log = tmp_path / "calls"
    got = outcomes(sw.Dataset.range(40).map(killing(7, log), isolate=True, restarts=restarts))
    assert [x for x in got if isinstance(x, int)] == [*range(7), *range(8, 40)]
    error = got[7]
    assert isinstance(error, sw.errors.WorkerDied)
    assert len(log.read_text()) == times
    assert error.attempts == times
    assert f"attempt {times}; the workers before it died there too" in error.message
    assert "killed from outside (SIGKILL" in error.message
    assert "restarts=" in error.message


def test_a_generator_whose_worker_is_killed_each_time_ends_after_three(tmp_path: Path) -> None:
    log = tmp_path / "calls"

    def gen() -> Any:
        yield np.int64(0)
        yield np.int64(1)
        with open(log, "a") as file:
            file.write(".")
        os.kill(os.getpid(), signal.SIGKILL)

    ds = sw.Dataset.from_generator(gen, output_signature=INT, isolate=True)
    got = outcomes(ds)
    assert got[:2] == [0, 1]
    assert isinstance(got[2], sw.errors.WorkerDied)
    assert len(log.read_text()) <= 4  # once with the rows before it
    assert "killed from outside" in got[2].message


def test_workers_that_are_killed_while_they_wait_are_no_calls_fault(tmp_path: Path) -> None:
    def meet(x: Any) -> Any:
        import os
        import time

        (tmp_path / str(os.getpid())).touch()
        while len(os.listdir(tmp_path)) < 3:  # until three workers are here
            time.sleep(0.001)
        return np.int64(os.getpid())

    ds = sw.Dataset.range(40).map(meet, isolate=True, num_parallel_calls=4)
    pids = {int(pid) for pid in ds}
    assert len(pids) >= 3
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    assert not pids & {int(pid) for pid in ds}


def test_three_kills_at_as_many_elements_are_nobodys_fault(tmp_path: Path) -> None:
    def work(x: Any) -> Any:
        import os

        mark = tmp_path / str(int(x))
        if int(x) % 10 == 5 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return np.int64(int(x))

    assert outcomes(sw.Dataset.range(100).map(work, isolate=True)) == list(range(100))


CRASHES = """
import signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, signal.SIGTERM, signal.SIGUSR1})
import spillway as sw
def work(x):
    import ctypes
    if int(x) == 2:
        ctypes.string_at(0)
    return x
it = iter(sw.Dataset.range(4).map(work, isolate=True))
for _ in range(4):
    try:
        print(int(next(it)))
    except sw.errors.WorkerDied as error:
        print(error.verdict, error.attempts)
"""


def test_where_sigchld_is_ignored_a_crash_is_still_seen_as_one() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CRASHES], capture_output=True, text=True, timeout=500, check=True
    )
    assert done.stdout.split("\n") == [
        "0",
        "1",
        "crashed (SIGSEGV, Segmentation fault) 2",
        "3",
        "",
    ]


# ---- Forks that come back


def forking(how: str) -> Any:
    """A function whose forked child comes back from it, or raises out of it."""

    def fork() -> int:
        import ctypes
        import os

        if how == "past libc":
            return int(ctypes.CDLL(None).syscall(57))
        return os.fork()

    def work(x: Any) -> Any:
        import multiprocessing
        import os

        if how == "multiprocessing":
            context = multiprocessing.get_context("fork")
            child = context.Process(target=int, args=(1,))
            child.start()
            child.join()
        else:
            pid = fork()
            if pid == 0 and how == "raises":
                raise ValueError("in the child")
            if pid == 0 and how == "exits":
                sys.exit(3)
            if pid > 0 and how != "leaves":
                os.waitpid(pid, 0)
        return np.int64(int(x))

    return work


HOWS = ["returns", "past libc", "raises", "exits", "leaves", "multiprocessing"]


@pytest.mark.parametrize("how", HOWS)
def test_a_child_that_comes_back_is_no_second_worker(how: str, tmp_path: Path) -> None:
    log = tmp_path / "calls"
    inner = forking(how)

    def work(x: Any) -> Any:
        number = int(x)
        made = inner(number)
        with open(log, "a") as file:
            file.write(f"{number}\n")
        return made

    ds = sw.Dataset.range(60).map(work, isolate=True, num_parallel_calls=2)
    for _ in range(2):
        assert outcomes(ds) == list(range(60))
    calls = Counter(int(line) for line in log.read_text().split())
    # The child may come as far as the end of the call that it was forked in, and no further.
    assert max(calls.values()) <= 4


@pytest.mark.parametrize("how", HOWS)
def test_nor_of_a_generator(how: str) -> None:
    inner = forking(how)

    def gen() -> Any:
        for i in range(60):
            yield inner(i)

    ds = sw.Dataset.from_generator(gen, output_signature=INT, isolate=True)
    assert outcomes(ds) == list(range(60))


@pytest.mark.parametrize("how", HOWS)
def test_nor_of_a_guarded_call(how: str) -> None:
    with sw.guarded(forking(how)) as call:
        assert [int(call(i)) for i in range(30)] == list(range(30))


def test_nor_of_an_async_function() -> None:
    async def work(x: Any) -> Any:
        import os

        if os.fork() > 0:
            os.wait()
        return x

    got = outcomes(sw.Dataset.range(10).map(work, isolate=True, num_parallel_calls=2, timeout=60))
    assert got == list(range(10))


def test_what_a_worker_started_ends_with_it(tmp_path: Path) -> None:
    def work(x: Any) -> Any:
        import os
        import subprocess
        import sys

        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
        if os.fork() == 0:
            import time

            time.sleep(3600)
        return np.int64(child.pid)

    [pid] = list(sw.Dataset.range(1).map(work, isolate=True))
    _native.end_idle_workers()
    try:
        child = os.pidfd_open(int(pid))
    except ProcessLookupError:
        return  # it is gone already
    ended = select.select([child], [], [], 60)[0]
    os.close(child)
    assert ended


# ---- Channels that are damaged


def breaking(how: str) -> Any:
    """A function that damages what its worker speaks by, at element 3."""

    def work(x: Any) -> Any:
        import fcntl
        import os

        if int(x) == 3:
            for fd in sorted(int(name) for name in os.listdir("/proc/self/fd")):
                if fd < 3:
                    continue
                try:
                    if how == "close":
                        os.close(fd)
                    elif how == "null":
                        null = os.open("/dev/null", os.O_RDWR)
                        os.dup2(null, fd)
                    else:
                        fcntl.fcntl(fd, fcntl.F_SETFL, os.O_NONBLOCK)
                        junk = {"zeros": b"\0", "text": b"x", "small": b"\x10" + b"\0" * 7}[how]
                        for _ in range(4):
                            os.write(fd, junk * 4096)
                except OSError:
                    continue
        return np.int64(int(x))

    return work


BREAKS = ["close", "null", "zeros", "text", "small"]


@pytest.mark.parametrize("timeout", [None, 20])
@pytest.mark.parametrize("how", BREAKS)
def test_a_worker_that_breaks_its_channel_costs_its_element(how: str, timeout: Any) -> None:
    ds = sw.Dataset.range(30).map(breaking(how), isolate=True, timeout=timeout)
    got = outcomes(ds)
    assert [x for x in got if isinstance(x, int)] in ([*range(3), *range(4, 30)], list(range(30)))
    errors = [x for x in got if not isinstance(x, int)]
    assert all(isinstance(x, sw.errors.WorkerDied) for x in errors)
    assert all(x.index == 3 for x in errors)
    assert len(got) == 30


@pytest.mark.parametrize("how", BREAKS)
def test_a_guarded_call_that_breaks_its_channel_fails_alone(how: str) -> None:
    with sw.guarded(breaking(how), timeout=20) as call:
        for i in range(6):
            try:
                assert int(call(i)) == i
            except sw.errors.WorkerDied:
                assert i >= 3  # junk may be found by the call after it
        assert int(call(6)) == 6


def test_junk_does_not_change_what_others_sent() -> None:
    """The memory that all share cannot be written to by its descriptor."""

    def work(x: Any) -> Any:
        import os

        for fd in range(3, 64):
            try:
                if "memfd" in os.readlink(f"/proc/self/fd/{fd}"):
                    os.lseek(fd, 0, os.SEEK_SET)
                    os.write(fd, b"junk" * 1_000_000)
                    return np.full(100_000, -1, np.int64)
            except OSError:
                continue
        return np.full(100_000, int(x), np.int64)

    ds = sw.Dataset.range(40).map(work, isolate=True, num_parallel_calls=2)
    for i, row in enumerate(ds):
        assert (row == i).all()


def test_a_fork_server_that_is_stopped_is_replaced() -> None:
    def work(x: Any) -> Any:
        import os

        return np.int64(os.getppid())

    [server] = list(sw.Dataset.range(1).map(work, isolate=True))
    _native.end_idle_workers()
    [server] = list(sw.Dataset.range(1).map(work, isolate=True))
    os.kill(int(server), signal.SIGSTOP)

    def crash(x: Any) -> Any:
        import os

        if int(x) in (3, 6):
            os.abort()
        return x

    got = outcomes(sw.Dataset.range(10).map(crash, isolate=True, timeout=60))
    assert [x for x in got if isinstance(x, int)] == [0, 1, 2, 4, 5, 7, 8, 9]
    assert all(isinstance(got[i], sw.errors.WorkerDied) for i in (3, 6))
    [now] = list(sw.Dataset.range(1).map(work, isolate=True))
    assert int(now) != int(server)


# ---- Several callers of one guarded call

SECOND = """
import os, signal, sys, threading, time
import spillway as sw

gate = sys.argv[1]

def wait(path):
    import os, time
    open(path + ".begun", "w").close()
    while not os.path.exists(path):
        time.sleep(0.01)
    return 7

call = sw.guarded(wait)
first = call.submit(gate)
while not os.path.exists(gate + ".begun"):
    time.sleep(0.01)
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    call(gate)
except KeyboardInterrupt:
    print("heard", first.done())
open(gate, "w").close()
print(first.result(), call(gate))
call.close()
"""


def test_a_second_caller_hears_ctrl_c_while_the_first_call_runs(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SECOND, str(tmp_path / "gate")],
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.stdout.split("\n") == ["heard False", "7 7", ""], done.stderr


def test_callers_of_one_guarded_call_take_turns() -> None:
    with sw.guarded(lambda x: x * 2) as call:
        got: list[list[int]] = [[] for _ in range(4)]

        def run(k: int) -> None:
            got[k] = [call(k * 100 + i) for i in range(25)]

        threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert got == [[2 * (k * 100 + i) for i in range(25)] for k in range(4)]
