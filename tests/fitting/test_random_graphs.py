"""Random expressions x limits in a memory cgroup: no kill, measured <= planned + a constant."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.ceiling.harness import BESIDE, MIB, ROOT, Group, entrance, fence

pytestmark = [
    pytest.mark.cgroup,
    pytest.mark.skipif(not fence(), reason="no memory cgroup and no RLIMIT_DATA to be had here"),
]

LIMITS = [24 * MIB, 48 * MIB, 96 * MIB, 256 * MIB]
# What is not the expression's: code paged in, the interpreter's own growth, slabs that are kept.
CONSTANT = 16 * MIB


def facts(first: int, count: int, limit: int, folder: Path, fenced: bool) -> list[dict[str, Any]]:
    """What became of expressions `first` and on within `limit`, in one process."""
    report = folder / f"report-{limit}-{first}.jsonl"
    group = Group.make(limit + BESIDE) if fenced else None
    environment = {
        **os.environ,
        "SPILLWAY_MEMORY_LIMIT": str(limit),
        "TMPDIR": str(folder),
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "python")]),
        "OPENBLAS_NUM_THREADS": "1",
    }
    command = [sys.executable, "-m", "tests.fitting.child", str(first), str(count)]
    done = subprocess.run(
        [*command, str(folder), str(report)],
        cwd=ROOT,
        env=environment,
        preexec_fn=entrance(group, limit + BESIDE if fenced else 0),
        capture_output=True,
        text=True,
        check=False,
    )
    kills = group.kills() if group else 0
    if group:
        group.close()
    seen = [json.loads(line) for line in report.read_text().splitlines()] if report.exists() else []
    where = f"expression {first + len(seen)} within {limit // MIB} MiB"
    assert kills == 0 and done.returncode == 0, f"{where}: {done.returncode}, {done.stderr[-3000:]}"
    return seen


def check(first: int, count: int, folder: Path) -> None:
    """Every expression at every limit, against one that has all the room."""
    whole = {f["seed"]: f for f in facts(first, count, 4096 * MIB, folder, False)}
    ways: Counter[str] = Counter()
    most = 0
    for limit in LIMITS:
        for fact in facts(first, count, limit, folder, True):
            ways[fact["how"].split()[0]] += 1
            where = f"expression {fact['seed']} within {limit // MIB} MiB, {fact['how']}"
            if "refused" in fact:
                assert fact["how"] == "refused", f"{where}: {fact['refused']}"
                assert fact["followed"] or "larger limit" in fact["refused"], fact["refused"]
                ways.update(f"followed: {name}" for name in fact["followed"])
                continue
            assert fact["value"] == whole[fact["seed"]]["value"], where
            beyond = fact["measured"] - fact["planned"]
            assert beyond <= CONSTANT, f"{where}: {beyond} bytes beyond the plan"
            most = max(most, beyond)
    print(f"\n{count} expressions x {len(LIMITS)} limits: {dict(ways)}")
    print(f"measured at most planned + {most / MIB:.1f} MiB")


def test_a_few_random_expressions_stay_within_their_plans(tmp_path: Path) -> None:
    check(1000, 6, tmp_path)


@pytest.mark.soak
def test_two_hundred_random_expressions_stay_within_their_plans(tmp_path: Path) -> None:
    for first in range(0, 200, 20):
        check(first, 20, tmp_path)
