"""How far a task is from what the machine can do at all, by figures of the same run."""

from __future__ import annotations

import os
import statistics

from bench.function_tasks import SLEEP_S
from bench.tasks import Task

Rows = dict[str, list[dict[str, float | str]]]
LIMITS = {
    "limits copy": "a copy in memory",
    "limits copy_cached": "a copy in cache",
}


def _median(rows: Rows, label: str, metric: str) -> float | None:
    found = [float(run[metric]) for run in rows.get(label, []) if metric in run]
    return statistics.median(found) if found else None


def _bandwidth(task: Task, rows: Rows, results: dict[str, Rows]) -> list[str]:
    """CPU time an item against the time memory needs to carry its bytes."""
    mine = _median(rows, "spillway", "cpu_us")
    said = []
    for label, words in LIMITS.items():
        # a copy of 1 MB reads and writes it: it carries 2 MB
        carried = _median(results.get("bandwidth", {}), label, "cpu_us")
        if mine is None or not carried:
            continue
        least = task.moves / 2e6 * carried
        said.append(f"{mine / least:.2f}x {words} ({least:.0f} us)")
    if not said:
        return []
    return [f"- carries {task.moves / 1e6:.2f} MB an item; spillway takes {', '.join(said)}"]


def _overlap(rows: Rows) -> list[str]:
    """The rate against what the calls under way at a time, and the cores, would allow."""
    lines = []
    for label in rows:
        window, wall = _median(rows, label, "window"), _median(rows, label, "wall_us")
        cpu = _median(rows, label, "cpu_us")
        if window and wall and cpu:
            ideal = max(SLEEP_S * 1e6 / window, cpu / (os.cpu_count() or 1))
            lines.append(
                f"- {label}: {1e6 / wall:.0f} items/s, {100 * ideal / wall:.0f} % of the ideal "
                f"for {window:.0f} calls at a time on these cores"
            )
    return lines


def distances(task: Task, rows: Rows, results: dict[str, Rows]) -> list[str]:
    """Lines below a task's table; none where no such limit is known."""
    if task.moves:
        return _bandwidth(task, rows, results)
    return _overlap(rows) if task.name == "sleep" else []
