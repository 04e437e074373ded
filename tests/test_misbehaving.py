"""Random attacks on workers: `tests/misbehaving.py` says what is done and what must hold."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

_MARK = "SPILLWAY_TEST_ATTACK"


def alive(mark: str) -> list[str]:
    """Processes that inherited the mark, zombies aside."""
    found = []
    for process in Path("/proc").iterdir():
        if not process.name.isdigit() or int(process.name) == os.getpid():
            continue
        try:
            if mark.encode() not in (process / "environ").read_bytes():
                continue
            if (process / "stat").read_text().rpartition(")")[2].split()[0] != "Z":
                found.append(f"{process.name}: {(process / 'cmdline').read_bytes()!r}")
        except OSError:
            continue
    return found


def attack(rounds: int, within_s: int) -> None:
    seed = random.SystemRandom().randrange(10**9)
    mark = f"{_MARK}={uuid.uuid4()}"
    name, _, value = mark.partition("=")
    done = subprocess.run(
        [
            *(sys.executable, "-W", "ignore", "-m", "tests.misbehaving"),
            *("--seed", str(seed), "--rounds", str(rounds)),
        ],
        env=os.environ | {name: value},
        capture_output=True,
        text=True,
        timeout=within_s,
        check=False,
    )
    print(done.stdout)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    assert done.stdout.endswith("all as it should be\n")
    for _ in range(200):  # the kernel ends them after the program
        left = alive(mark)
        if not left:
            return
        time.sleep(0.05)
    raise AssertionError(f"left running: {left}")


def test_workers_that_misbehave_at_random_cost_their_rows_only() -> None:
    attack(8, 500)


@pytest.mark.soak
def test_many_that_misbehave_at_random() -> None:
    for _ in range(40):
        attack(50, 3000)
