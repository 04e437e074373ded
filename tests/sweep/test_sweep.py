"""Resident memory minus the ledger does not grow with rows, datasets or epochs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from spillway import _native
from tests.sweep.cases import CALLED, CASES, WITHIN

ROOT = Path(__file__).resolve().parents[2]
MIB = 1 << 20
# Heaps keep pages, and what is made once may be made late: 2 MiB whatever the rows.
NOISE = 2 * MIB
BYTES_A_ROW = 1.0
# What is known to be left beside the ledger, in bytes a row.
LEFT = {
    "window": 12.0,  # of each pull that its rows came in: the chunk's columns and origins
    "ignore_errors": 20.0,  # entries of the audit, which are at most 10,000
    "on_error_with_a_quarantine": 20.0,  # the same
    "snapshot": 6.0,  # likewise of pulls
    "group_by_window_of_many_keys": 600.0,  # 4 KB a key that waits, an eighth of the rows
}
PARTS = 4


def _measure(names: list[str], limit: int, few: int, many: int, report: Path) -> dict[str, Any]:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "python")]),
        "SPILLWAY_FLIGHT_RECORDER": "0",
        "MALLOC_ARENA_MAX": "2",  # arenas of threads keep what was freed: that is no row's
    }
    command = [sys.executable, "-m", "tests.sweep.measure", str(report), str(limit)]
    done = subprocess.run(
        [*command, str(few), str(many), *names],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return dict(json.loads(report.read_text()))


def _judge(found: dict[str, Any]) -> dict[str, str]:
    """What is said of each case that grew by more than it may."""
    grown = {}
    for name, runs in found.items():
        if "skipped" in runs[0]:
            continue
        few, many = runs
        growth = many["grew"] - max(few["grew"], 0)
        allowed = NOISE + LEFT.get(name, BYTES_A_ROW) * (many["rows"] - few["rows"])
        each = growth / (many["rows"] - few["rows"])
        print(f"{name}: {growth / MIB:.2f} MiB, {each:.2f} bytes a row, {many['seconds']} s")
        if growth > allowed:
            grown[name] = f"{growth / MIB:.1f} MiB for {many['rows']} rows, {each:.1f} each"
    return grown


def _sweep(names: list[str], limit: int, few: int, many: int, report: Path) -> dict[str, str]:
    """What grows with its rows.

    What a heap happens to keep comes near to NOISE in some runs. What seems to have grown is
    measured again with three times the rows: a leak is three times as large then, noise is not.
    """
    grown = _judge(_measure(names, limit, few, many, report))
    return grown and _judge(_measure(list(grown), limit, few, 3 * many, report))


@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_grows_beside_the_ledger(part: int, tmp_path: Path) -> None:
    names = list(CASES)[part::PARTS]
    assert _sweep(names, 8 * MIB, 10_000, 100_000, tmp_path / "report.json") == {}


@pytest.mark.soak
@pytest.mark.parametrize("name", list(CASES))
def test_nothing_grows_beside_the_ledger_with_many_rows(name: str, tmp_path: Path) -> None:
    many = int(os.environ.get("SPILLWAY_SOAK_ROWS", "10000000"))
    report = tmp_path / "report.json"
    assert _judge(_measure([name], 64 * MIB, 100_000, many, report)) == {}


def operators_of(node: Any, found: set[str]) -> set[str]:
    """Names of all operators of a pipeline."""
    for each in json.loads(node.to_json())["nodes"]:
        found.add(each["op"])
    return found


def test_every_operator_is_in_the_table(tmp_path: Path) -> None:
    met = set(CALLED) | set(WITHIN)
    for name, make in CASES.items():
        if name == "from_arrow":
            met.add(name)
            continue
        folder = tmp_path / name
        folder.mkdir()
        met |= _names(make(1000, folder))
    assert {op["name"] for op in _native.operators()} - met == set()


def _names(dataset: Any) -> set[str]:
    text = str(dataset._node)
    return {line.partition("#")[0].strip() for line in text.splitlines() if "#" in line}
