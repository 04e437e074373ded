"""Turn the figures of a run into tables, verdicts on the goals, and ranks among the peers."""

from __future__ import annotations

import os
import platform
import statistics
from pathlib import Path

from bench.goals import GOALS, Goal
from bench.physical import distances
from bench.suites import Suite
from bench.tasks import Task

Figures = dict[str, float | str]
Results = dict[str, dict[str, list[Figures]]]

COLUMNS = {
    "cpu_us": "CPU us/item",
    "wall_us": "wall us/item",
    "peak_mb": "peak MB",
    "added_mb": "of it the task's",
}
START_COLUMNS = {
    "import_cpu_ms": "import CPU ms",
    "import_ms": "import wall ms",
    "import_mb": "import MB",
    "first_ms": "first element ms",
    "first_cpu_ms": "its CPU ms",
}
WORKER_COLUMNS = {
    "cold_ms": "first pipeline ms",
    "warm_ms": "second pipeline ms",
    "cold_cpu_ms": "CPU ms of the first",
    "warm_cpu_ms": "of the second",
}
STEADY_COLUMNS = {"cpu_us": "CPU us/item", "wall_us": "wall us/item", "rate": "items/s"}
EXTRA_COLUMNS = {  # of some tasks
    "window": "calls at a time",
    "rate": "items/s",
    "first_batch_ms": "first batch ms",
    "slope_mb": "MB gained per 10,000",
    "pss_mb": "peak MB of all processes",
}
BUSY_CORES = 0.3
ENOUGH_ROUNDS = 5


def columns_of(task: Task) -> dict[str, str]:
    """What is shown of a task, by the names of its figures."""
    if task.name == "p12":
        return START_COLUMNS
    if task.name == "start":
        return WORKER_COLUMNS
    return STEADY_COLUMNS if task.steady else COLUMNS


def ours(label: str) -> bool:
    """Whether a row is Spillway's."""
    return label.split()[0] == "spillway"


def machine() -> dict[str, str]:
    """What the figures were measured on."""
    info = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":")[1].strip() for line in info if line.startswith("model name")), "")
    return {
        "cpu": f"{os.cpu_count()} x {model or platform.machine()}",
        "kernel": platform.release(),
        "python": platform.python_version(),
    }


def values(runs: list[Figures], metric: str) -> list[float]:
    """A metric of every successful measurement."""
    return [float(run[metric]) for run in runs if metric in run]


def short(value: float) -> str:
    """Three significant digits without an exponent."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value >= 1e-4 or value == 0 else f"{value:.7f}"


def spread(found: list[float]) -> str:
    """Median (least-most)."""
    if not found:
        return "-"
    return f"{short(statistics.median(found))} ({short(min(found))}-{short(max(found))})"


def fruitless(figures: Figures) -> bool:
    """Whether nothing was measured, and asking again is no use."""
    return "error" in figures or "skipped" in figures


def reason(figures: Figures) -> str:
    """Why nothing was measured."""
    if "skipped" in figures:
        return f"skipped: {figures['skipped']}"
    return f"failed: {figures.get('error')}"


def brief(task: Task, figures: Figures) -> str:
    """A measurement in a few words, for the progress line."""
    if fruitless(figures):
        return reason(figures)
    shown = columns_of(task)
    return ", ".join(f"{name} {short(float(figures[key]))}" for key, name in shown.items())


def compare(mine: list[float], theirs: list[float]) -> str:
    """Lower is better; ranges that touch are a tie."""
    if max(mine) < min(theirs):
        return "ahead of"
    return "behind" if min(mine) > max(theirs) else "tied with"


def ranks(task: Task, rows: dict[str, list[Figures]]) -> str:
    """Spillway's plain row against every row of every peer."""
    mine = values(rows.get("spillway", []), task.rank_by)
    if not mine:
        return "not measured"
    placed: dict[str, list[str]] = {"behind": [], "tied with": [], "ahead of": []}
    for label, runs in rows.items():
        if not ours(label) and label.split()[0] != "limits" and values(runs, task.rank_by):
            placed[compare(mine, values(runs, task.rank_by))].append(label)
    said = [f"{how} {', '.join(labels)}" for how, labels in placed.items() if labels]
    return "; ".join(said) or "no peer measured"


def verdict(goal: Goal, rows: dict[str, list[Figures]]) -> str:
    """Met or missed, with both sides of the comparison."""
    mine = values(rows.get(goal.row, []), goal.metric)
    limit = values(rows.get(goal.limit, []), goal.metric) if goal.limit else [0.0]
    if not mine or not limit:
        return "not measured"
    value, bound = statistics.median(mine), goal.bound(statistics.median(limit))
    said = "met" if value <= bound else "MISSED"
    return f"{said}: {short(value)} against {short(bound)} {goal.unit}"


def table(task: Task, rows: dict[str, list[Figures]]) -> list[str]:
    """The rows of a task, best first, each with its ratio to the best limit and the best peer."""
    columns = columns_of(task)
    measured = [run for runs in rows.values() for run in runs]
    found = {key: name for key, name in EXTRA_COLUMNS.items() if values(measured, key)}
    columns = columns | found
    key = task.rank_by

    def order(label: str) -> float:
        return statistics.median(values(rows[label], key) or [float("inf")])

    def ratio(label: str, others: list[str]) -> str:
        best = min(map(order, others), default=float("inf"))
        return f"{order(label) / best:.2f}" if best < float("inf") else "-"

    limits = [label for label in rows if label.split()[0] == "limits"]
    peers = [label for label in rows if not ours(label) and label not in limits]
    lines = [f"| system | {' | '.join(columns.values())} | x limit | x best peer | items |"]
    lines.append("|" + "-|" * (len(columns) + 4))
    for label in sorted(rows, key=order):
        runs = rows[label]
        if not values(runs, key):
            lines.append(f"| {label} | {reason(runs[-1])} |" + " |" * (len(columns) + 2))
            continue
        cells = [spread(values(runs, column)) for column in columns]
        ratios = f"{ratio(label, limits)} | {ratio(label, peers)}"
        items = f"{max(values(runs, 'items'), default=task.items):,.0f}"
        lines.append(f"| {label} | {' | '.join(cells)} | {ratios} | {items} |")
    return lines


def markdown(suite: Suite, results: Results, machine: dict[str, str]) -> str:
    """The whole report."""
    everything = [run for rows in results.values() for runs in rows.values() for run in runs]
    rounds = max((len(runs) for rows in results.values() for runs in rows.values()), default=0)
    few = rounds < ENOUGH_ROUNDS
    lines = [
        f"# {suite.title}",
        "",
        f"{machine['cpu']}, Linux {machine['kernel']}, Python {machine['python']}. "
        f"Median (least-most) of {rounds} interleaved rounds"
        + (f"; under {ENOUGH_ROUNDS}, ranks and verdicts are provisional." if few else "."),
    ]
    if others := values(everything, "others_cores"):
        used = statistics.median(others)
        advice = ": distrust the wall times." if used > BUSY_CORES else "."
        lines.append(f"Other processes used {used:.2f} cores meanwhile (median){advice}")
    for name, rows in results.items():
        task = suite.tasks[name]
        lines += ["", f"## {name}: {task.title}", "", *table(task, rows), ""]
        lines += [f"- goal, {g.text}: {verdict(g, rows)}" for g in GOALS if g.task == name]
        by = columns_of(task)[task.rank_by]
        lines.append(f"- rank by {by}: {ranks(task, rows)}")
        lines += distances(task, rows, results)
    return "\n".join(lines) + "\n"
