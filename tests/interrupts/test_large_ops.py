"""Every op of the engine looks whether it is interrupted, often enough for what it has to do."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from spillway import native_ops
from tests.interrupts import large_ops

ROOT = Path(__file__).parents[2]
SEED = int(os.environ.get("SPILLWAY_SEED", str(int(time.time()) % 10**6)))
WORK = [name for name in native_ops.definitions if name not in large_ops.NO_ITEMS]
SHARES = 4


def run(*arguments: str, side: int) -> list[str]:
    """In a process of its own, on one thread: then the looks are the same every time."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.interrupts.large_ops", *arguments],
        capture_output=True, text=True, timeout=900, check=False, cwd=ROOT,
        env={**os.environ, "SPILLWAY_LARGE_SIDE": str(side)},
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-3000:]}"
    return [line.split()[0] for line in done.stdout.splitlines()]


def test_every_op_is_here() -> None:
    known = set(native_ops.definitions)
    assert known >= large_ops.NO_ITEMS
    assert known >= set(large_ops.CALLS)


@pytest.mark.parametrize("share", range(SHARES))
def test_no_op_works_on_many_items_without_a_look(share: int) -> None:
    names = WORK[share::SHARES]
    assert run(*names, side=2048) == names


@pytest.mark.skipif(not native_ops.native.test_points, reason="needs test points")
@pytest.mark.parametrize("share", range(SHARES))
def test_an_op_that_is_stopped_at_a_look_ends_and_leaves_nothing_half_made(share: int) -> None:
    print(f"seed {SEED}")
    names = WORK[share::SHARES]
    assert run("--stop", str(SEED), *names, side=1024) == names
