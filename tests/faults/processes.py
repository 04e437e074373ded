"""Who is there: the workers of a process, as /proc tells it."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DIES_FIRST = 800  # a worker's oom_score_adj; a spare one has it only when it becomes a worker


def children_of(pid: int) -> list[int]:
    """Its children, by number."""
    found: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            try:
                with open(f"/proc/{pid}/task/{task}/children") as file:
                    found += [int(p) for p in file.read().split()]
            except (FileNotFoundError, ProcessLookupError):
                continue
    except (FileNotFoundError, ProcessLookupError):
        return found
    return found


def servers_of(pid: int) -> list[int]:
    """The processes that start its workers."""
    found = []
    for child in children_of(pid):
        try:
            command = Path(f"/proc/{child}/cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if b"fork_server" in command:
            found.append(child)
    return found


def workers_of(pid: int) -> list[int]:
    """Its workers, and the one that waits to become one."""
    return [worker for server in servers_of(pid) for worker in children_of(server)]


def is_spare(pid: int) -> bool:
    """Whether it has nobody to work for yet."""
    try:
        return Path(f"/proc/{pid}/oom_score_adj").read_text().strip() != str(DIES_FIRST)
    except (FileNotFoundError, ProcessLookupError):
        return False


def state_of(pid: int) -> tuple[str, int]:
    """Its state, one letter, and its parent; "X" for one that is gone."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            state, parent = file.read().rpartition(")")[2].split()[:2]
    except (FileNotFoundError, ProcessLookupError):
        return "X", 0
    return state, int(parent)


def gone(pids: list[int], within: float) -> bool:
    """Whether all of them end in time; zombies have."""
    until = time.monotonic() + within
    while time.monotonic() < until:
        if all(state_of(pid)[0] in "ZX" for pid in pids):
            return True
        time.sleep(0.01)
    return False


def run_script(
    text: str, *arguments: str, timeout: float = 100, prefix: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """A program of its own, with this project's sources."""
    return subprocess.run(
        [*prefix, sys.executable, "-c", textwrap.dedent(text), *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "python")])},
    )
