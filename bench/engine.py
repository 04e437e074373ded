"""Measure the engine, its peers and the limits in one interleaved run: `python -m bench engine`.

One process a measurement. A round measures every function of a task once, and every round starts
at another system, so a disturbance of the machine falls on all of them alike.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from bench import environments, report, usage
from bench.tasks import TASKS

RESULTS = environments.ROOT / "build" / "bench"
SYSTEMS = environments.ROOT / "bench" / "systems"
SAMPLE_S = 0.2
QUIET = {
    "OPENBLAS_NUM_THREADS": "1",  # NumPy's import would start and spin one thread a core
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "CUDA_VISIBLE_DEVICES": "",
    "PYTHONWARNINGS": "ignore",
}


@dataclass(frozen=True)
class Subject:
    """One function of one system."""

    system: str
    function: str
    python: Path

    @property
    def label(self) -> str:
        """How the tables name it: the system, then the variant."""
        return f"{self.system.strip('_')} {self.function.partition('__')[2]}".strip()


def functions(system: str) -> tuple[str, list[str]]:
    """A system's environment and its task functions, read without importing the library."""
    tree = ast.parse((SYSTEMS / f"{system}.py").read_text())
    environment = next(
        str(ast.literal_eval(node.value))
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "ENVIRONMENT"
    )
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    return environment, [name for name in names if name.partition("__")[0] in TASKS]


def child_environment() -> dict[str, str]:
    """As a user has it: with bytecode cached, so that no import is charged for compiling."""
    inherited = os.environ.copy()
    inherited.pop("PYTHONDONTWRITEBYTECODE", None)
    return inherited | QUIET


def measure(subject: Subject, timeout_s: float) -> dict[str, float | str]:
    """Run one measuring process; a failure is a result too, under the key `error`."""
    child = subprocess.Popen(
        [str(subject.python), "-m", "bench.child", subject.system, subject.function],
        cwd=environments.ROOT,
        env=child_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + timeout_s
    workers_mb, known = 0.0, set[int]()
    while True:
        try:
            out, err = child.communicate(timeout=SAMPLE_S)
            break
        except subprocess.TimeoutExpired:
            if time.monotonic() > deadline:
                os.killpg(child.pid, signal.SIGKILL)
                child.communicate()
                return {"error": f"no result in {timeout_s:.0f} s"}
            # seen twice: a process between fork and exec would count its parent's pages
            alive = set(usage.descendants(child.pid))
            workers_mb = max(workers_mb, sum(map(usage.pss_mb, alive & known)))
            known = alive
    if child.returncode:
        return {"error": (err.strip().splitlines() or [f"exit {child.returncode}"])[-1][:200]}
    figures: dict[str, float | str] = json.loads(out.strip().splitlines()[-1])
    for key in {"peak_mb", "added_mb"} & figures.keys():
        figures[key] = float(figures[key]) + workers_mb
    return figures


def subjects(systems: list[str], tasks: list[str]) -> dict[str, list[Subject]]:
    """What to measure for each task; a system without an environment is reported and left out."""
    found: dict[str, list[Subject]] = {task: [] for task in tasks}
    for system in systems:
        environment, names = functions(system)
        try:
            python = environments.python_of(environment)
        except RuntimeError as error:
            print(f"{system}: left out: {error}", flush=True)
            continue
        for name in names:
            if (task := name.partition("__")[0]) in found:
                found[task].append(Subject(system, name, python))
    return found


def run(chosen: dict[str, list[Subject]], rounds: int, timeout_s: float) -> report.Results:
    """All rounds of all tasks; who fails is not asked again in that task."""
    results: report.Results = {task: {} for task in chosen}
    for task, row in chosen.items():
        failed: set[Subject] = set()
        for number in range(rounds):
            turn = number % len(row) if row else 0
            for subject in row[turn:] + row[:turn]:
                if subject in failed:
                    continue
                figures = measure(subject, timeout_s)
                results[task].setdefault(subject.label, []).append(figures)
                if "error" in figures:
                    failed.add(subject)
                brief = report.brief(TASKS[task], figures)
                print(f"{task} round {number + 1}/{rounds} {subject.label}: {brief}", flush=True)
    return results


def main(arguments: list[str]) -> int:
    """Measure, print and save. The exit code tells whether Spillway delivered, not how fast."""
    names = sorted(path.stem for path in SYSTEMS.glob("*.py") if path.stem != "__init__")
    known = {name.strip("_"): name for name in names}
    parser = argparse.ArgumentParser(prog="python -m bench engine", description=__doc__)
    parser.add_argument("--tasks", nargs="+", choices=list(TASKS), default=list(TASKS))
    parser.add_argument("--systems", nargs="+", choices=list(known), default=list(known))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--timeout", type=float, default=180, help="seconds for a measurement")
    parser.add_argument("--show", type=Path, help="print the report of a saved run instead")
    options = parser.parse_args(arguments)
    if options.show:
        saved = json.loads(options.show.read_text())
        print(report.markdown(saved["results"], saved["machine"]))
        return 0
    chosen = subjects([known[name] for name in options.systems], options.tasks)
    machine = report.machine()
    results = run(chosen, options.rounds, options.timeout)
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / time.strftime("engine-%Y%m%d-%H%M%S.json")
    path.write_text(json.dumps({"machine": machine, "results": results}, indent=1))
    text = report.markdown(results, machine)
    path.with_suffix(".md").write_text(text)
    print(f"\n{text}\nsaved: {path.relative_to(environments.ROOT)} and .md")
    ours = [runs[-1] for rows in results.values() for k, runs in rows.items() if report.ours(k)]
    return int(any("error" in last for last in ours))
