"""Random programs, interrupted at random moments (programs.py). The seeds are printed.

Short: some dozens. `./run soak`: SPILLWAY_SOAK_INTERRUPTS of them (2000), from SPILLWAY_SEED on.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.interrupts import heard, programs

ROOT = Path(__file__).parents[2]
SEED = int(os.environ.get("SPILLWAY_SEED", str(int(time.time()) % 10**6)))


def run(module: str, *arguments: str, timeout: float) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        capture_output=True, text=True, timeout=timeout, check=False, cwd=ROOT,
    )  # fmt: skip


def run_programs(entry: str, seed: int, count: int, timeout: float) -> str:
    done = run(
        "tests.interrupts.programs",
        *("--seed", str(seed), "--count", str(count), "--entry", entry),
        timeout=timeout,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-6000:]}"
    print(done.stdout)
    return done.stdout


@pytest.mark.parametrize("entry", programs.ENTRIES)
def test_interrupted_programs_come_to_what_they_would_have(entry: str) -> None:
    run_programs(entry, SEED, 5, timeout=500)


@pytest.mark.soak
def test_thousands_of_interrupted_programs() -> None:
    count = int(os.environ.get("SPILLWAY_SOAK_INTERRUPTS", "2000"))
    for at, entry in enumerate(programs.ENTRIES):
        each = count // len(programs.ENTRIES)
        run_programs(entry, SEED + at * each, each, timeout=4 * 3600)


@pytest.mark.parametrize("name", ["matmul", "session_run"])
def test_large_computations_end_when_they_are_interrupted(name: str) -> None:
    done = run("tests.interrupts.heard", name, timeout=600)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-6000:]}"


@pytest.mark.soak
def test_how_long_large_computations_take_to_hear() -> None:
    for name in heard.CASES:
        done = run("tests.interrupts.heard", name, timeout=600)
        print(done.stdout, end="")
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-6000:]}"
