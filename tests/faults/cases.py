"""The faults of the study's list that concern user code in processes: rows 17 to 24, 28 to 35.

Rows 15 and 16, kills at random and at every step, are `test_soak` and `test_steps`.
"""

from __future__ import annotations

import gc
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import spillway as sw
from spillway import _native
from tests.faults.fault import Unavailable, consume, fault, named, said
from tests.faults.processes import ROOT, gone, servers_of, workers_of

MIB = 1 << 20
INT = sw.TensorSpec((), "int64")


def poisoned(bad: int) -> Any:
    def work(x: Any) -> Any:
        import ctypes

        if int(x) == bad:
            ctypes.string_at(0)
        return np.int64(int(x) * 2)

    return work


@fault("17", "an element that crashes its worker every time")
def poison() -> str:
    got, errors = consume(sw.Dataset.range(1000).map(poisoned(500), isolate=True))
    assert [int(x) for x in got] == [2 * i for i in range(1000) if i != 500]
    skipped = sw.Dataset.range(1000).map(poisoned(500), isolate=True, on_error="skip")
    assert len(list(skipped)) == 999 and skipped.audit().balanced
    (error,) = errors
    return f"999 of 999 others, then by policy; names {named(error, index=500)}. {said(error)}"


@fault("18", "SIGSTOP of a worker")
def stopped() -> str:
    with tempfile.TemporaryDirectory() as folder:
        marker = folder + "/stopped"

        def work(x: Any) -> Any:
            import os
            import signal

            if int(x) == 5 and not os.path.exists(marker):
                with open(marker, "w"):
                    os.kill(os.getpid(), signal.SIGSTOP)
            return x

        ds = sw.Dataset.range(20).map(work, isolate=True, timeout=5)
        assert [int(x) for x in ds] == list(range(20))
        os.unlink(marker)
        ds = sw.Dataset.range(20).map(work, isolate=True, timeout=5, restarts=0)
        got, errors = consume(ds)
    (error,) = errors
    return (
        "ended at its deadline and run again, 20 of 20; "
        f"without restarts {len(got)} of 19 others. {said(error)}"
    )


@fault("19", "a generator that raises: at once, at k, in its finally")
def raising() -> str:
    def raises(at: int, where: str) -> Any:
        def numbers() -> Iterator[Any]:
            if where == "start":
                raise KeyError("at the start")
            try:
                for i in range(100):
                    if where == "next" and i == at:
                        raise KeyError(f"label of {i}")
                    yield np.int64(i)
            finally:
                if where == "finally":
                    raise KeyError("in finally")

        return sw.Dataset.from_generator(numbers, output_signature=INT, isolate=True)

    for at in (0, 1, 50, 99):
        got, errors = consume(raises(at, "next"))
        assert [int(x) for x in got] == list(range(at))
        assert len(errors) == 1 and isinstance(errors[0], KeyError)
        assert getattr(errors[0], "index", None) == at
        notes = "".join(getattr(errors[0].__cause__, "__notes__", []))
        assert 'raise KeyError(f"label of {i}")' in notes
    got, errors = consume(raises(0, "start"))
    assert not got and isinstance(errors[0], KeyError)
    got, errors = consume(raises(0, "finally"))
    assert len(got) == 100 and isinstance(errors[0], KeyError)
    return "all before it, then KeyError with its text, element and line; k = 0, 1, 50, 99, ends"


HANGS = {
    "a sleep": "time.sleep(3600)",
    "a loop": "while True: pass",
    "C code that holds the GIL": "ctypes.PyDLL(None).pause()",
    "a lock": "lock = threading.Lock(); lock.acquire(); lock.acquire()",
    "a read": "os.read(os.pipe()[0], 1)",
}


@fault("20", "a generator that hangs: sleep, loop, C code with the GIL, lock, read")
def hanging() -> str:
    late = []
    for hang in HANGS.values():
        place: dict[str, Any] = {}
        exec(
            "def hangs():\n"
            "    import ctypes, os, threading, time\n"
            "    import numpy as np\n"
            "    yield np.int64(0)\n"
            f"    {hang}\n"
            "    yield np.int64(1)\n",
            place,
        )
        ds = sw.Dataset.from_generator(
            place["hangs"], output_signature=INT, isolate=True, timeout=2, restarts=0
        )
        begun = 0.0
        try:
            for _ in ds:
                begun = time.monotonic()
        except sw.errors.StallError as error:
            late.append(time.monotonic() - begun - 2)
            assert "line 5 in hangs" in str(error), error
            assert error.index == 1
            text = said(error)
    assert len(late) == len(HANGS)
    slowest = max(late) * 1000
    return f"5 of 5 with the exact line, the slowest {slowest:.0f} ms after the deadline. {text}"


def own_memory() -> int:
    """Bytes of this process that no file is behind."""
    size, shared = (int(n) for n in Path("/proc/self/statm").read_text().split()[1:3])
    return (size - shared) * resource.getpagesize()


@fault("21", "a function and a generator that leak 10 MB an element")
def leaking() -> str:
    def leak(x: Any) -> Any:
        import builtins

        held: list[Any] = builtins.__dict__.setdefault("_leaked", [])
        held.append(np.ones(10 << 20, np.uint8))
        return x

    def leaks(count: int) -> Iterator[Any]:
        held = []
        for i in range(count):
            held.append(np.ones(10 << 20, np.uint8))
            yield np.int64(i)

    list(sw.Dataset.range(1).map(leak, isolate=True))
    before, started = own_memory(), _native.workers()["started"]
    assert [int(x) for x in sw.Dataset.range(120).map(leak, isolate=True)] == list(range(120))
    recycled = _native.workers()["started"] - started
    ds = sw.Dataset.from_generator(leaks, args=(60,), output_signature=INT, isolate=True)
    assert [int(x) for x in ds] == list(range(60))
    grown = max(own_memory() - before, 0) / MIB
    assert recycled >= 1 and grown < 16, (recycled, grown)
    _native.end_idle_workers()
    return f"120 of 120 and 60 of 60; the function's worker recycled; the notebook +{grown:.0f} MiB"


@fault("22", "a generator that is killed and does not repeat itself")
def not_replayable() -> str:
    with tempfile.TemporaryDirectory() as folder:
        marker = folder + "/killed"

        def noise() -> Iterator[Any]:
            import os
            import signal

            for i in range(100):
                if i == 50 and not os.path.exists(marker):
                    with open(marker, "w"):
                        os.kill(os.getpid(), signal.SIGKILL)
                yield np.int64(int.from_bytes(os.urandom(7)))

        ds = sw.Dataset.from_generator(noise, output_signature=INT, isolate=True, read_ahead=0)
        got, errors = consume(ds)
    (error,) = errors
    assert len(got) <= 50 and len({int(x) for x in got}) == len(got)
    return f"what had arrived, nothing twice. {said(error)}"


@fault("23", "a leak in a worker that shares its cgroup with a larger notebook", alone="cgroup")
def shared_cgroup() -> str:
    notebook = np.ones(200 * MIB, np.uint8)

    def leak(x: Any) -> Any:
        held = []
        while int(x) == 5:
            held.append(np.ones(4 << 20, np.uint8))
        return x

    got, errors = consume(sw.Dataset.range(10).map(leak, isolate=True))
    (error,) = errors
    assert [int(x) for x in got] == [0, 1, 2, 3, 4, 6, 7, 8, 9] and notebook.all()
    assert isinstance(error, MemoryError) and "kept the process alive" in str(error)
    return f"a MemoryError with the {named(error, index=5)}; nothing died, 9 of 9 others"


def through_workers() -> str:
    """16 arrays of 32 MB from two workers."""

    def work(x: Any) -> Any:
        return np.full(32 << 20, int(x) % 250, np.uint8)

    ds = sw.Dataset.range(16).map(work, isolate=True, num_parallel_calls=2)
    got = [int(x[0]) if (x == x[0]).all() else -1 for x in ds]
    assert got == list(range(16))
    left = os.listdir("/dev/shm") if os.path.isdir("/dev/shm") else []
    assert not left, left
    return "unaffected, 16 of 16, nothing left there"


fault("24", "/dev/shm of 64 MB, elements of 32 MB", alone="small shm")(through_workers)
fault("24b", "no /dev/shm at all", alone="no shm")(through_workers)


@fault("28", "no further process is to be had, then none at all", alone="process")
def no_processes() -> str:
    with tempfile.TemporaryDirectory() as folder:
        return without_processes(folder + "/told")


def without_processes(told: str) -> str:
    warnings = logged(lambda: Path(told).touch())

    def work(x: Any) -> Any:
        import os
        import time

        while not os.path.exists(told):  # until a call had no worker, so that more are wanted
            time.sleep(0.001)
        return x

    def run() -> list[int]:
        ds = sw.Dataset.range(200).map(work, isolate=True, num_parallel_calls=4)
        return [int(x) for x in ds]

    Path(told).touch()
    assert list(sw.Dataset.range(1).map(work, isolate=True))
    Path(told).unlink()
    (server,) = servers_of(os.getpid())
    with few_processes(server):
        assert run() == list(range(200))
    (warning,) = warnings
    end_workers()
    assert run() == list(range(200))
    end_workers()
    with few_processes(os.getpid()):
        _, errors = consume(sw.Dataset.range(2).map(work, isolate=True))
    assert run() == list(range(200))
    refused = said(errors[0])
    return f"fewer workers, 200 of 200, with a warning: {warning}; with none: {refused}"


def end_workers() -> None:
    """Ends all, and what starts them, which a pass that is just ending may hold for a moment."""
    for _ in range(200):
        _native.end_idle_workers()
        if gone(servers_of(os.getpid()), 0.05):
            return
    raise AssertionError(f"still there: {servers_of(os.getpid())}")


@contextmanager
def few_processes(pid: int) -> Iterator[None]:
    """A process that may start no other: a group of its own with room for what it is now."""
    group = Path(f"/sys/fs/cgroup/pids/spillway-faults-{os.getpid()}")
    try:
        group.mkdir()
        (group / "cgroup.procs").write_text(str(pid))
        (group / "pids.max").write_text((group / "pids.current").read_text())
    except OSError as error:
        raise Unavailable(f"no group that counts processes can be made here: {error}") from error
    try:
        yield
    finally:
        (group.parent / "cgroup.procs").write_text(str(pid))
        group.rmdir()


def logged(then: Callable[[], None] = lambda: None) -> list[str]:
    """What is logged from now on; `then` is called after each."""
    import logging

    said: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            said.append(record.getMessage())
            then()

    logging.getLogger("spillway").addHandler(Keep())
    return said


@fault("29", "the clock jumps an hour to and fro", alone="clock")
def clock_jumps() -> str:
    asked = [time.time() - time.clock_gettime(time.CLOCK_MONOTONIC) for _ in range(400)]
    jumped = {round(ahead / 3600) for ahead in asked}
    assert len(jumped) > 1, "the clock stood still"
    warnings = logged()

    def work(x: Any) -> Any:
        import time

        time.sleep(0.0005)
        return x

    ds = sw.Dataset.range(2000).map(work, isolate=True, timeout=20, restarts=0)
    assert [int(x) for x in ds] == list(range(2000))
    assert not warnings
    return "no false stall, 2000 of 2000"


def forking(count: int) -> str:
    """Children by fork in the middle of a pass: one for itself, one that uses what it inherited."""

    def work(x: Any) -> Any:
        import os

        return np.full(20_000, int(x) if os.getpid() else 0)

    ds = sw.Dataset.range(count).map(work, isolate=True, num_parallel_calls=2)
    guarded = sw.guarded(lambda x: x + 1)
    assert guarded(1) == 2
    it = iter(ds)
    kept = [next(it) for _ in range(50)]
    said_there = []
    for uses in (False, True):
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.write(write, _in_the_child(uses, it, kept, guarded).encode())
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as answer:
            said_there.append(answer.read())
        os.waitpid(pid, 0)
    assert [int(x[0]) for x in kept] == list(range(50))
    assert all((x == x[0]).all() for x in kept)
    rest = [int(x[0]) for x in it]
    assert rest == list(range(50, count)) and guarded(2) == 3
    return f"[unrelated] {said_there[0]}, parent {count}/{count} [uses_it] {said_there[1]}"


def _in_the_child(uses: bool, it: Any, kept: list[Any], guarded: Any) -> str:
    if [int(x[0]) for x in kept] != list(range(50)):
        return "child saw other values"
    del kept[:10]
    gc.collect()
    if not uses:
        import atexit

        atexit._run_exitfuncs()  # as at the end of any program
        return "child ok"
    told = []
    calls: list[Callable[[], Any]] = [lambda: next(it), lambda: guarded(1)]
    for call in calls:
        try:
            told.append(f"child got {call()}")
        except Exception as error:
            told.append(said(error))
    return "child: " + "; guarded: ".join(told)


@fault("30", "the user forks in mid-epoch", alone="process")
def forked() -> str:
    return forking(300)


@fault("31", "Ctrl-C at random times in a map, a generator and a guarded call", alone="process")
def interrupted() -> str:
    import random

    def slow(x: Any) -> Any:
        import time

        time.sleep(0.003)
        return x

    def numbers() -> Iterator[Any]:
        import time

        for i in range(100):
            time.sleep(0.003)
            yield np.int64(i)

    def sleep(seconds: float) -> float:
        import time

        time.sleep(seconds)
        return seconds

    guarded = sw.guarded(sleep)
    guarded(0)
    mapped = sw.Dataset.range(100).map(slow, isolate=True, num_parallel_calls=2)
    generated = sw.Dataset.from_generator(numbers, output_signature=INT, isolate=True)
    bodies: list[Callable[[], Any]] = [
        lambda: list(mapped),
        lambda: list(generated),
        lambda: guarded(0.3),
    ]
    chance, waits = random.Random(3), []
    for n in range(60):
        sent: list[float] = []

        def interrupt(after: float = chance.uniform(0, 0.1), sent: list[float] = sent) -> None:
            time.sleep(after)
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=interrupt)
        try:
            thread.start()
            bodies[n % 3]()
            while True:
                time.sleep(0.01)
        except KeyboardInterrupt:
            waits.append(time.monotonic() - sent[0])
        thread.join()
        if n % 20 == 19:
            assert [int(x) for x in mapped] == list(range(100))
            assert [int(x) for x in generated] == list(range(100))
            assert guarded(0.0) == 0.0
    guarded.close()
    gc.collect()
    _native.end_idle_workers()
    assert not workers_of(os.getpid())
    waits.sort()
    assert waits[-1] < 60  # not after a hang
    slowest, median = waits[-1] * 1000, waits[30] * 1000
    within = f"the slowest after {slowest:.0f} ms, half within {median:.0f} ms"
    return f"60 of 60 raised, {within}; the next epoch right, no process left"


@fault(
    "32",
    "1,000 iterators dropped, with and without an exception",
    alone="process",
)
def dropped() -> str:
    def work(x: Any) -> Any:
        import os

        return x if os.getpid() else 0

    def numbers() -> Iterator[Any]:
        for i in range(100):
            yield np.int64(i)

    mapped = sw.Dataset.range(20).map(work, isolate=True)
    parallel = sw.Dataset.range(20).map(work, isolate=True, num_parallel_calls=2)
    generated = sw.Dataset.from_generator(numbers, output_signature=INT, isolate=True)

    def cycle(n: int) -> None:
        it = iter((mapped, parallel, generated)[n % 3])
        for _ in range(n % 7):
            next(it)
        if n % 2:
            try:
                for _ in it:
                    raise ValueError("in the body")
            except ValueError:
                return

    for n in range(12):
        cycle(n)
    before = held()
    for n in range(1000):
        cycle(n)
    _native.end_idle_workers()
    assert not any(grown_since(before)), grown_since(before)
    assert not workers_of(os.getpid())
    return "threads +0, descriptors +0, memory files +0, processes +0"


def held() -> tuple[int, int, int]:
    """Threads, descriptors and files in memory of this process."""
    gc.collect()
    links = []
    for fd in os.listdir("/proc/self/fd"):
        try:
            links.append(os.readlink(f"/proc/self/fd/{fd}"))
        except FileNotFoundError:
            continue
    return len(os.listdir("/proc/self/task")), len(links), sum("memfd" in link for link in links)


def grown_since(before: tuple[int, int, int]) -> list[int]:
    """What there is more of now, after what ends by itself had time to end."""
    until = time.monotonic() + 120
    while True:
        grown = [max(0, now - was) for now, was in zip(held(), before, strict=True)]
        if not any(grown) or time.monotonic() > until:
            return grown
        time.sleep(0.05)


LEAVING = """
import os, sys, time
import spillway as sw

def work(x):
    import os, time
    with open({path!r}, "a") as file:
        file.write(f"{{os.getpid()}} {{os.getppid()}}\\n")
    if {stuck} and int(x) == 3:
        time.sleep(3600)
    return x

it = iter(sw.Dataset.range(1000).map(work, num_parallel_calls=2, isolate=True))
for _ in range(3):
    next(it)
if {stuck}:
    import threading
    threading.Thread(target=lambda: next(it), daemon=True).start()
    while open({path!r}).read().count("\\n") < 4:
        time.sleep(0.01)
print(time.monotonic(), flush=True)
{end}
"""


def leave(end: str, stuck: bool) -> tuple[float, bool]:
    """Seconds from its last line until a program is gone, and whether its workers are too."""
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/pids"
        Path(path).touch()
        own = Path(folder, "tmp")  # other programs leave files in the one of all
        own.mkdir()
        done = subprocess.run(
            [sys.executable, "-c", LEAVING.format(path=path, stuck=stuck, end=end)],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT / "python"), "TMPDIR": str(own)},
            timeout=500,
            check=False,
        )
        took = time.monotonic() - float(done.stdout.split()[0])
        pids = sorted({int(word) for word in Path(path).read_text().split()})
        assert pids
        return took, gone(pids, 60) and not os.listdir(own)


@fault("33", "the interpreter ends in mid-epoch, also with a worker that is stuck")
def exits() -> str:
    took, clean = leave("sys.exit(0)", stuck=False)
    late, clean_too = leave("sys.exit(0)", stuck=True)
    assert clean and clean_too
    return f"exit in {took:.2f} s, stuck {late:.2f} s; no process and no file left"


@fault("34", "the notebook is killed with kill -9")
def killed() -> str:
    with tempfile.TemporaryDirectory():
        _, clean = leave("os.kill(os.getpid(), 9)", stuck=True)
    assert clean
    return "its workers and their server end with it"


@fault("35", "two pipelines and a validation share one budget", alone="process")
def sharing() -> str:
    limit = 96 * MIB
    sw.configure(memory_limit=limit)

    def work(x: Any) -> Any:
        return np.full(MIB, int(x) % 250, np.uint8)

    def pipeline(count: int) -> sw.Dataset:
        ds = sw.Dataset.range(count).map(work, isolate=True, num_parallel_calls=2)
        return ds.prefetch(50)

    train, other = iter(pipeline(300)), iter(pipeline(300))
    for n in range(300):
        for it in (train, other):
            assert int(next(it)[0]) == n % 250
        if n % 100 == 50:
            assert [int(x[0]) for x in pipeline(60)] == list(range(60))
    most = sw.memory().peak
    assert most <= limit, most
    return f"600 and 3 x 60 of them, at most {most / MIB:.0f} MiB of {limit / MIB:.0f} MiB held"
