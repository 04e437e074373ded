"""Passes that are left early leave no process, descriptor, memory file or thread behind."""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw
from spillway import _native


def work(x: Any) -> Any:
    import os

    return np.int64(int(x) + 0 * os.getpid())


def count(n: int) -> Any:
    for i in range(n):
        yield np.full(20_000, i, np.float32)


CASES: dict[str, Callable[[], Any]] = {
    "map": lambda: sw.Dataset.range(50).map(work, isolate=True),
    "parallel map": lambda: sw.Dataset.range(50).map(work, num_workers=2),
    "generator": lambda: sw.Dataset.from_generator(count, args=(50,), isolate=True),
    "interleave": lambda: sw.Dataset.range(4).interleave(
        lambda n: sw.Dataset.from_generator(count, args=(int(n) + 3,), isolate=True),
        cycle_length=2,
    ),
}


def tasks_below(pid: int) -> list[int]:
    """The processes that this one started, and those that they did."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            children = [int(child) for child in (task / "children").read_text().split()]
        except OSError:
            continue
        for child in children:
            found += [child, *(tasks_below(child) if Path(f"/proc/{child}").exists() else [])]
    return found


def state_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "gone"


def open_files() -> dict[str, int]:
    """How many descriptors there are of each kind: sockets, pipes, memory files, ..."""
    kinds: dict[str, int] = {}
    for fd in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{fd}")
        except OSError:
            continue
        kind = "file " + target.partition("[")[0].rstrip("0123456789")
        kinds[kind] = kinds.get(kind, 0) + 1
    return kinds


def mappings() -> int:
    """Of memory files."""
    return sum("memfd:" in line for line in Path("/proc/self/maps").read_text().splitlines())


def left() -> dict[str, int]:
    """What there is once nobody works any more: workers that wait for work are ended."""
    gc.collect()
    _native.end_idle_workers()
    below = tasks_below(os.getpid())
    return {
        "processes": len(below),
        "zombies": sum(state_of(pid) == "Z" for pid in below),
        "memory files": mappings(),
        "threads": len(os.listdir("/proc/self/task")),
        "python threads": threading.active_count(),
        **open_files(),
    }


def more(now: dict[str, int], before: dict[str, int]) -> dict[str, int]:
    """What there is more of. Threads of the pools that had nothing to do may have gone."""
    return {key: count for key, count in now.items() if count > before.get(key, 0)}


def settled(before: dict[str, int] | None = None) -> dict[str, int]:
    """What is left, when everything that is on its way out has gone: at most two minutes."""
    end = time.monotonic() + 120
    last: dict[str, int] = {}
    while True:
        now = left()
        done = now == last if before is None else not more(now, before)
        if done or time.monotonic() > end:
            return now
        last = now
        threading.Event().wait(0.1)


def cycle(build: Callable[[], Any], turn: int) -> None:
    ds = build()
    it = iter(ds)
    for _ in range(turn % 4):
        next(it)
    if turn % 3 == 0:
        it.close()
    # else: dropped, as a loop does that is left by `break`


def check(name: str, turns: int) -> None:
    build = CASES[name]
    for turn in range(8):  # the first worker, the pools' threads
        cycle(build, turn)
    before = settled()
    assert before["zombies"] == 0
    for turn in range(turns):
        cycle(build, turn)
    assert not more(settled(before), before)


@pytest.mark.parametrize("name", CASES)
def test_a_hundred_passes_that_are_left_early_leave_nothing(name: str) -> None:
    check(name, 100)


@pytest.mark.soak
@pytest.mark.parametrize("name", CASES)
def test_a_thousand_passes_that_are_left_early_leave_nothing(name: str) -> None:
    check(name, 1000)
