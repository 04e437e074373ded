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
# A sweep of few rows looks closer: what grew by more than this is measured again.
SUSPECT = MIB // 2
MEASURED_AGAIN = 3
BYTES_A_ROW = 1.0
# What is known to be left beside the ledger, in bytes a row.
LEFT: dict[str, float] = {}
PARTS = 4


def _measure(names: list[str], limit: int, rows: list[int], report: Path) -> dict[str, Any]:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "python")]),
        "SPILLWAY_FLIGHT_RECORDER": "0",
        "MALLOC_ARENA_MAX": "2",  # arenas of threads keep what was freed: that is no row's
    }
    command = [sys.executable, "-m", "tests.sweep.measure", str(report), str(limit)]
    done = subprocess.run(
        [*command, ",".join(map(str, rows)), *names],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return dict(json.loads(report.read_text()))


def _judge(found: dict[str, Any], noise: int = NOISE) -> dict[str, str]:
    """What is said of each case that grew by more than it may between its last two passes."""
    grown = {}
    for name, runs in found.items():
        if "skipped" in runs[0]:
            continue
        few, many = runs[-2:]
        growth = many["grew"] - max(few["grew"], 0)
        added = many["rows"] - few["rows"]
        each = growth / added
        print(f"{name}: {growth / MIB:.2f} MiB, {each:.2f} bytes a row, {many['seconds']} s")
        if growth > noise + LEFT.get(name, BYTES_A_ROW) * added:
            grown[name] = f"{growth / MIB:.1f} MiB for {added:,} more rows, {each:.1f} bytes each"
    return grown


def _sweep(names: list[str], limit: int, few: int, many: int, report: Path) -> dict[str, str]:
    """What grows with its rows.

    Heaps that hold spilled rows differ by some MiB between two passes, whatever the rows: one
    measurement of few rows cannot tell that from a leak. What is suspected is measured again, in
    new processes, up to three times the rows. A leak grows there between `many` and three times as
    many, each time; what was made late or kept by a heap does not.
    """
    grown = _judge(_measure(names, limit, [few, many], report), SUSPECT)
    for _ in range(MEASURED_AGAIN):
        if grown:
            grown = _judge(_measure(list(grown), limit, [few, many, 3 * many], report))
    return grown


@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_grows_beside_the_ledger(part: int, tmp_path: Path) -> None:
    names = list(CASES)[part::PARTS]
    assert _sweep(names, 8 * MIB, 10_000, 100_000, tmp_path / "report.json") == {}


def test_24_bytes_left_by_each_row_are_found(tmp_path: Path) -> None:
    found = _sweep(["a_leak_of_24_bytes_a_row"], 8 * MIB, 10_000, 100_000, tmp_path / "report.json")
    assert list(found) == ["a_leak_of_24_bytes_a_row"]


def test_what_is_made_once_and_late_is_no_leak(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    first = _judge(_measure(["made_once_and_late"], 8 * MIB, [10_000, 100_000], report), SUSPECT)
    assert list(first) == ["made_once_and_late"]
    assert _sweep(list(first), 8 * MIB, 10_000, 100_000, report) == {}


@pytest.mark.soak
@pytest.mark.parametrize("name", list(CASES))
def test_nothing_grows_beside_the_ledger_with_many_rows(name: str, tmp_path: Path) -> None:
    many = int(os.environ.get("SPILLWAY_SOAK_ROWS", "10000000"))
    report = tmp_path / "report.json"
    assert _judge(_measure([name], 64 * MIB, [100_000, many], report)) == {}


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
