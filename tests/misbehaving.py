"""Attacks on workers: user code that forks, damages descriptors, stops, dies or raises monsters.

`python -m tests.misbehaving --seed 7 --rounds 20` runs random ones in random places and prints what
it does. Each round must give the right rows, or an error that tells, at the row that misbehaved,
with an audit that balances; whoever starts this sees to the time and to what is left running.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

import spillway as sw

ROWS = 16
TIMEOUT = 3.0
INT = sw.TensorSpec((), "int64")


def misbehave(kind: str) -> None:
    """Does it. Comes back from some."""
    import contextlib
    import ctypes
    import fcntl
    import multiprocessing
    import os
    import signal
    import sys
    import threading
    import time

    def fds() -> list[int]:
        return sorted(fd for fd in map(int, os.listdir("/proc/self/fd")) if fd > 2)

    def write_junk(junk: bytes) -> None:
        for fd in fds():
            try:
                fcntl.fcntl(fd, fcntl.F_SETFL, os.O_NONBLOCK)
                for _ in range(20):
                    os.write(fd, junk * (4096 // len(junk)))
            except OSError:
                continue

    def in_child(do: Callable[[], None]) -> None:
        if os.fork() == 0:
            do()

    def raise_(error: BaseException) -> None:
        raise error

    def close_all() -> None:
        for fd in fds():
            with contextlib.suppress(OSError):
                os.close(fd)

    def chained() -> Exception:
        error: Exception = ValueError("x" * 1000)
        for i in range(3000):
            outer = ValueError(str(i))
            outer.__context__, error = error, outer
        return error

    def recurse(n: int) -> int:
        return recurse(n + 1) + 1

    def forever() -> None:
        while True:
            time.sleep(0.01)

    def junk_for_ever() -> None:
        def write() -> None:
            while True:
                write_junk(b"junk")

        threading.Thread(target=write, daemon=True).start()

    def of_class(**methods: Any) -> Exception:
        return type("HostileError", (ValueError,), methods)("hostile")  # type: ignore[no-any-return]

    def process() -> None:
        child = multiprocessing.get_context("fork").Process(target=int)
        child.start()
        child.join()

    acts: dict[str, Callable[[], Any]] = {
        "fork, return": lambda: in_child(lambda: None),
        "fork, raise": lambda: in_child(lambda: raise_(ValueError("child"))),
        "fork, exit": lambda: in_child(lambda: sys.exit(1)),
        "fork, sleep": lambda: in_child(lambda: time.sleep(3600)),
        "fork past libc": lambda: ctypes.CDLL(None).syscall(57),
        "multiprocessing": process,
        "close": close_all,
        "zeros": lambda: write_junk(b"\0"),
        "text": lambda: write_junk(b"junk"),
        "small lengths": lambda: write_junk(b"\x20" + b"\0" * 7),
        "random": lambda: write_junk(os.urandom(4096)),
        "junk for ever": junk_for_ever,
        "huge text": lambda: raise_(ValueError("x" * 50_000_000)),
        "huge name": lambda: raise_(type("N" * 5_000_000, (ValueError,), {})("x")),
        "huge argument": lambda: raise_(KeyError(list(range(3_000_000)))),
        "long chain": lambda: raise_(chained()),
        "str raises": lambda: raise_(of_class(__str__=lambda self: 1 // 0)),
        "str hangs": lambda: raise_(of_class(__str__=lambda self: forever())),
        "str is huge": lambda: raise_(of_class(__str__=lambda self: "y" * 50_000_000)),
        "reduce raises": lambda: raise_(of_class(__reduce__=lambda self: 1 // 0)),
        "reduce hangs": lambda: raise_(of_class(__reduce__=lambda self: forever())),
        "new raises": lambda: raise_(of_class(__setstate__=lambda self, _: 1 // 0)),
        "repr of argument raises": lambda: raise_(ValueError(of_class(__repr__=lambda self: 1))),
        "stop": lambda: os.kill(os.getpid(), signal.SIGSTOP),
        "stop the server": lambda: os.kill(os.getppid(), signal.SIGSTOP),
        "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
        "terminate": lambda: os.kill(os.getpid(), signal.SIGTERM),
        "abort": os.abort,
        "segfault": lambda: ctypes.string_at(0),
        "_exit 0": lambda: os._exit(0),
        "_exit 3": lambda: os._exit(3),
        "sys.exit": lambda: sys.exit(3),
        "interrupt": lambda: raise_(KeyboardInterrupt()),
        "GeneratorExit": lambda: raise_(GeneratorExit()),
        "StopIteration": lambda: raise_(StopIteration()),
        "BaseException": lambda: raise_(type("OddError", (BaseException,), {})("odd")),
        "recursion": lambda: recurse(0),
        "SIGCHLD": lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
        "all signals": lambda: signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals()),
        "hang": forever,
    }
    if kind not in acts:
        raise LookupError(kind)
    acts[kind]()


KINDS = [
    "fork, return",
    "fork, raise",
    "fork, exit",
    "fork, sleep",
    "fork past libc",
    "multiprocessing",
    "close",
    "zeros",
    "text",
    "small lengths",
    "random",
    "junk for ever",
    "huge text",
    "huge name",
    "huge argument",
    "long chain",
    "str raises",
    "str hangs",
    "str is huge",
    "reduce raises",
    "reduce hangs",
    "new raises",
    "repr of argument raises",
    "stop",
    "stop the server",
    "kill",
    "terminate",
    "abort",
    "segfault",
    "_exit 0",
    "_exit 3",
    "sys.exit",
    "interrupt",
    "GeneratorExit",
    "StopIteration",
    "BaseException",
    "recursion",
    "SIGCHLD",
    "all signals",
    "hang",
]
PLACES = ["map", "parallel map", "generator", "guarded", "sandbox", "boxed call"]


# These reach the caller as they are, and the element is made again, so each happens once; sandboxed
# code cannot interrupt anybody.
INTERRUPTING = {"interrupt", "sys.exit", "GeneratorExit", "BaseException"}
BOXED = {"sandbox", "boxed call"}
# A thread that goes on when the call has returned: any later element may be the one it strikes.
LASTING = {"junk for ever"}


def is_planned(row: int, plan: dict[int, str]) -> bool:
    """Whether an error of this row has a reason in the plan."""
    return row in plan or any(kind in LASTING and at < row for at, kind in plan.items())


def attacked(plan: dict[int, str], marks: str, rare: set[str]) -> Callable[[Any], Any]:
    """Twice the number, after what the plan says; what is `rare` only the first time."""

    def work(x: Any) -> Any:
        i = int(x)
        if i in plan:
            mark = f"{marks}/{i}"
            if plan[i] not in rare or not os.path.exists(mark):
                if plan[i] in rare:
                    open(mark, "w").close()
                misbehave(plan[i])
        return np.int64(2 * i)

    return work


def run(place: str, plan: dict[int, str], work: Callable[[Any], Any], calls: int) -> None:
    """One round; AssertionError where it went wrong."""
    how: dict[str, Any] = {"timeout": TIMEOUT}
    if place in ("guarded", "boxed call"):
        with sw.guarded(work, sandbox=place == "boxed call", **how) as call:
            for i in range(ROWS):
                check(i, outcome(lambda i=i: call(i)), plan)  # type: ignore[misc]
        return
    if place == "generator":

        def gen() -> Any:
            for i in range(ROWS):
                yield work(i)

        ds = sw.Dataset.from_generator(gen, output_signature=INT, isolate=True, **how)
    elif place == "sandbox":
        ds = sw.Dataset.range(ROWS).map(work, sandbox=True, **how)
    else:
        more: dict[str, Any] = {"num_parallel_calls": calls} if place == "parallel map" else {}
        ds = sw.Dataset.range(ROWS).map(work, isolate=True, **how, **more)
    it = iter(ds)
    row = 0
    interrupted: set[int] = set()
    while True:
        got = outcome(lambda: next(it))
        if isinstance(got, StopIteration) and getattr(got, "index", None) is None:
            break
        check(row, got, plan)
        if is_interruption(got):
            assert row not in interrupted, f"row {row} again: {got!r}"
            interrupted.add(row)  # and its value comes next
        else:
            row += 1
    if place == "generator":
        assert row == ROWS or is_planned(row - 1, plan), f"{row} rows of {ROWS}"
    else:
        assert row == ROWS, f"{row} rows of {ROWS}"
    audit = it.audit()
    assert audit.balanced, audit


def is_interruption(got: Any) -> bool:
    return isinstance(got, BaseException) and not isinstance(got, Exception)


def outcome(do: Callable[[], Any]) -> Any:
    """What a call gives: a value, or what it raised."""
    try:
        return do()
    except BaseException as error:
        return error


def check(row: int, got: Any, plan: dict[int, str]) -> None:
    """The right value; or, where the plan says so, an error that somebody can act on."""
    if not isinstance(got, BaseException):
        assert int(got) == 2 * row, f"row {row} is {got}"
        return
    assert is_planned(row, plan), f"row {row}: {got!r}"[:2000]
    kind = plan.get(row, "")
    if kind != "str raises":  # an error is of the user's own class, and so is what str() does
        assert len(str(got)) < 300_000
    if kind in INTERRUPTING:
        return
    assert isinstance(got, Exception), f"row {row}: {got!r}"[:2000]
    assert not isinstance(got, sw.errors.InternalError), f"row {row}: {got!r}"[:2000]


def main() -> None:
    """Runs rounds, each of its own seed, so that one can be run again alone."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    parser.add_argument("--rounds", type=int, default=20)
    given = parser.parse_args()
    for seed in range(given.seed, given.seed + given.rounds):
        rng = random.Random(seed)
        place = rng.choice(PLACES)
        plan = {rng.randrange(ROWS): rng.choice(KINDS) for _ in range(rng.choice([1, 1, 2, 4]))}
        calls = rng.choice([1, 2, 4])
        once = rng.random() < 0.3
        rare = set(KINDS) if once else set() if place in BOXED else INTERRUPTING
        print(f"seed {seed}: {place}, {calls} calls, once={once}: {plan}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            run(place, plan, attacked(plan, folder, rare), calls)
    print("all as it should be", flush=True)


if __name__ == "__main__":
    main()
