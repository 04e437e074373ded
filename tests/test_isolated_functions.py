"""`isolate=True`: a stage's function in worker processes, where it may crash, hang or be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw
from spillway import _native


def crash_at(bad: int, how: str) -> Any:
    """A function that ends its process at one element."""

    def work(x: Any) -> Any:
        import ctypes
        import os
        import signal

        if int(x) == bad:
            if how == "segv":
                ctypes.string_at(0)
            if how == "abort":
                os.abort()
            if how == "exit":
                os._exit(7)
            if how == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
        return np.int64(int(x) * 2)

    return work


def test_results_are_those_of_the_function_and_it_runs_elsewhere() -> None:
    def where(x: Any) -> Any:
        import os

        return {"pid": np.int64(os.getpid()), "x": x, "text": str(int(x)).encode()}

    rows = list(sw.Dataset.range(100).map(where, isolate=True))
    assert [int(row["x"]) for row in rows] == list(range(100))
    assert [row["text"] for row in rows] == [str(i).encode() for i in range(100)]
    assert os.getpid() not in {int(row["pid"]) for row in rows}


@pytest.mark.parametrize("calls", [None, 2, sw.AUTOTUNE])
def test_large_arrays_come_back_in_order(calls: Any) -> None:
    def picture(x: Any) -> Any:
        made = np.full((64, 64, 3), float(x), np.float32)
        made[0, 0, 0] = -1
        return made

    ds = sw.Dataset.range(200).map(picture, num_parallel_calls=calls, isolate=True).batch(8)
    seen = np.concatenate(list(ds))
    assert seen.shape == (200, 64, 64, 3)
    assert (seen[:, 1, 1, 1] == np.arange(200)).all()


@pytest.mark.parametrize(
    ("how", "words"),
    [("segv", "SIGSEGV"), ("abort", "SIGABRT"), ("exit", "exit code 7")],
)
def test_an_element_that_kills_its_worker_fails_alone_and_is_named(how: str, words: str) -> None:
    ds = sw.Dataset.range(1000).map(crash_at(500, how), isolate=True)
    got, errors = [], []
    it = iter(ds)
    while True:
        try:
            got.append(int(next(it)))
        except StopIteration:
            break
        except sw.errors.WorkerDied as error:
            errors.append(error)
    assert got == [2 * i for i in range(1000) if i != 500]
    assert len(errors) == 1
    assert errors[0].index == 500
    assert words in str(errors[0])
    assert "test_isolated_functions.py" in str(errors[0])


def test_a_crash_says_where_the_users_code_was() -> None:
    ds = sw.Dataset.range(3).map(crash_at(1, "segv"), isolate=True)
    with pytest.raises(sw.errors.WorkerDied, match=r"in work") as caught:
        list(ds)
    assert "fork_server" not in str(caught.value)


def test_skip_and_the_audit_balance() -> None:
    ds = sw.Dataset.range(100).map(crash_at(7, "segv"), isolate=True, on_error="skip")
    it = iter(ds)
    assert [int(x) for x in it] == [2 * i for i in range(100) if i != 7]
    audit = it.audit()
    assert audit.skipped == 1
    assert audit.delivered == 99


def test_somebody_elses_kill_is_not_an_error() -> None:
    ds = sw.Dataset.range(2000).map(slow_double(), isolate=True)
    stop = threading.Event()
    arrived = threading.Semaphore(0)
    kills = []

    def kill() -> None:
        # Each time when more has arrived, however slow the machine: or no worker would get far.
        while arrived.acquire() and not stop.is_set():
            for pid in worker_pids():
                try:
                    os.kill(pid, signal.SIGKILL)
                    kills.append(pid)
                except ProcessLookupError:
                    continue

    killer = threading.Thread(target=kill)
    killer.start()
    got: list[int] = []
    try:
        for x in ds:
            got.append(int(x))
            if len(got) % 200 == 0:
                arrived.release()
    finally:
        stop.set()
        arrived.release()
        killer.join()
    assert got == [2 * i for i in range(2000)]
    assert kills


def slow_double() -> Any:
    def work(x: Any) -> Any:
        import time

        time.sleep(0.0002)
        return np.int64(int(x) * 2)

    return work


def children_of(pid: int) -> list[int]:
    """Its children, by number."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            found += [int(p) for p in (task / "children").read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def worker_pids() -> list[int]:
    """The workers of this process: what its fork servers forked."""
    found = []
    for child in children_of(os.getpid()):
        try:
            command = Path(f"/proc/{child}/cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if b"fork_server" in command:
            found += children_of(child)
    return found


class TwoArgumentsError(Exception):
    def __init__(self, first: str, second: int) -> None:
        super().__init__(f"{first} {second}")
        self.second = second


def test_the_users_exception_keeps_its_class_message_and_line() -> None:
    def work(x: Any) -> Any:
        import os

        os.getpid()
        if int(x) == 3:
            raise TwoArgumentsError("no label", 42)
        return x

    it = iter(sw.Dataset.range(5).map(work, isolate=True))
    assert [int(next(it)) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(TwoArgumentsError, match="no label 42") as caught:
        next(it)
    assert caught.value.second == 42
    assert isinstance(caught.value, sw.errors.UserFunctionError)
    assert caught.value.index == 3
    notes = "".join(getattr(caught.value.__cause__, "__notes__", []))
    assert 'raise TwoArgumentsError("no label", 42)' in notes
    assert int(next(it)) == 4


def test_a_result_that_is_no_tensor_is_the_elements_error() -> None:
    def work(x: Any) -> Any:
        import os

        return object() if int(x) == 1 and os.getpid() else x

    it = iter(sw.Dataset.range(3).map(work, isolate=True))
    assert int(next(it)) == 0
    with pytest.raises(sw.errors.SpillwayError) as caught:
        next(it)
    assert caught.value.index == 1
    assert int(next(it)) == 2


def test_what_cannot_travel_is_refused_by_name_where_it_is_written() -> None:
    lock = threading.Lock()

    def work(x: Any) -> Any:
        with lock:
            return x

    with pytest.raises(TypeError, match=r"map: .*work cannot go to a worker.*`lock`.*_thread.lock"):
        sw.Dataset.range(3).map(work, isolate=True)


def test_timeout_without_isolate_is_refused() -> None:
    with pytest.raises(ValueError, match="needs isolate=True"):
        sw.Dataset.range(3).map(lambda x: x, timeout=1)


def test_a_hang_is_ended_at_its_deadline_and_says_where() -> None:
    def work(x: Any) -> Any:
        import time

        if int(x) == 2:
            time.sleep(3600)
        return x

    it = iter(sw.Dataset.range(4).map(work, isolate=True, timeout=2, restarts=0))
    assert [int(next(it)), int(next(it))] == [0, 1]
    with pytest.raises(sw.errors.StallError, match=r"deadline of 2 s") as caught:
        next(it)
    assert caught.value.index == 2
    assert "in work" in str(caught.value)
    assert int(next(it)) == 3


def test_a_pure_function_stays_native() -> None:
    before = _native.workers()["started"]
    ds = sw.Dataset.range(10).map(lambda x: x + 1, isolate=True)
    assert [int(x) for x in ds] == list(range(1, 11))
    assert _native.workers()["started"] == before


def test_filter_runs_there_too() -> None:
    def odd(x: Any) -> Any:
        import os

        return bool(int(x) % 2) and os.getpid() > 0

    assert [int(x) for x in sw.Dataset.range(10).filter(odd, isolate=True)] == [1, 3, 5, 7, 9]


def test_the_worker_sees_folder_environment_and_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "beside_the_notebook.py").write_text("def triple(x):\n    return x * 3\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("SPILLWAY_TEST_WORD", "hello")

    def work(x: Any) -> Any:
        import os

        import beside_the_notebook  # type: ignore[import-not-found]

        folder = os.getcwd().encode()
        return beside_the_notebook.triple(int(x)), os.environ["SPILLWAY_TEST_WORD"], folder

    _native.end_idle_workers()
    row = next(iter(sw.Dataset.range(2, 3).map(work, isolate=True)))
    assert int(row[0]) == 6
    assert row[1] == b"hello"
    assert row[2] == str(tmp_path).encode()


def test_explain_says_where_it_runs() -> None:
    text = str(sw.Dataset.range(4).map(crash_at(9, "segv"), isolate=True).explain())
    assert "runs in worker processes" in text


def test_what_a_function_keeps_of_its_inputs_is_not_overwritten() -> None:
    def work(x: Any) -> Any:
        import builtins

        kept: list[Any] = builtins.__dict__.setdefault("_spillway_kept", [])
        kept.append(x)
        first = kept[0].numpy() if hasattr(kept[0], "numpy") else kept[0]
        return np.float32(np.asarray(first)[0])

    data = np.repeat(np.arange(100, dtype=np.float32)[:, None], 50_000, axis=1)
    ds = sw.Dataset.from_tensor_slices(data).map(work, isolate=True)
    seen = [float(x) for x in ds]
    # A worker that keeps too much is ended after its call; its first input stays what it was.
    assert all(value == int(value) for value in seen)
    assert seen[0] == 0.0
    starts = [i for i in range(100) if seen[i] == i]
    for begin, end in zip(starts, [*starts[1:], 100], strict=True):
        assert set(seen[begin:end]) == {float(begin)}


def test_cycles_of_opening_and_breaking_leave_nothing_behind() -> None:
    def cycle() -> None:
        for x in sw.Dataset.range(10).map(crash_at(99, "segv"), isolate=True):
            if int(x) == 4:
                break

    cycle()
    fds = len(os.listdir("/proc/self/fd"))
    threads = threading.active_count()
    for _ in range(50):
        cycle()
    assert len(os.listdir("/proc/self/fd")) <= fds + 2
    assert threading.active_count() <= threads
    assert len(worker_pids()) <= 6


def run_script(text: str, timeout: float = 500) -> subprocess.CompletedProcess[str]:
    """A program of its own."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def gone(pids: list[int], within: float) -> bool:
    """Whether all of them end in time; zombies have."""
    until = time.monotonic() + within
    while time.monotonic() < until:
        alive = []
        for pid in pids:
            try:
                state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            except (FileNotFoundError, ProcessLookupError):
                continue
            if state not in "ZX":
                alive.append(pid)
        if not alive:
            return True
        time.sleep(0.02)
    return False


STUCK = """
    import os, sys, time
    import spillway as sw

    def work(x):
        import os, time
        with open({path!r}, "a") as file:
            file.write(f"{{os.getpid()}} {{os.getppid()}}\\n")
        if int(x) == 3:
            time.sleep(3600)
        return x

    it = iter(sw.Dataset.range(10).map(work, num_parallel_calls=2, isolate=True))
    for _ in range(3):
        next(it)
    import threading
    threading.Thread(target=lambda: next(it), daemon=True).start()
    while open({path!r}).read().count("\\n") < 4:
        time.sleep(0.01)
    {end}
"""


@pytest.mark.parametrize("end", ["sys.exit(0)", "os.kill(os.getpid(), 9)"])
def test_workers_end_with_the_program_whatever_ends_it(tmp_path: Path, end: str) -> None:
    path = tmp_path / "pids"
    path.touch()
    run_script(STUCK.format(path=str(path), end=end))
    pids = sorted({int(word) for word in path.read_text().split()})
    assert pids
    assert gone(pids, 60), f"still there: {pids}"


def test_functions_of_a_script_travel(tmp_path: Path) -> None:
    done = run_script(
        """
        import os
        import spillway as sw

        FACTOR = 3

        def helper(x):
            return x * FACTOR

        def work(x):
            os.getpid()
            return helper(int(x))

        print([int(x) for x in sw.Dataset.range(4).map(work, isolate=True)])
        """
    )
    assert done.stdout.strip() == "[0, 3, 6, 9]", done.stderr
