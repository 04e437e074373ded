"""Measure a suite's systems in one interleaved run: `python -m bench engine` or `functions`.

One process a measurement. A round measures every function of a task once, and every round starts
at another system, so a disturbance of the machine falls on all of them alike.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from bench import environments, report, usage
from bench.suites import Suite

RESULTS = environments.ROOT / "build" / "bench"
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

    suite: Suite
    system: str
    function: str
    python: Path

    @property
    def label(self) -> str:
        """How the tables name it: the system, then the variant."""
        return f"{self.system.strip('_')} {self.function.partition('__')[2]}".strip()

    @property
    def names(self) -> tuple[str, str, str]:
        """What `bench.child` is asked for."""
        return self.suite.name, self.system, self.function


def child_environment() -> dict[str, str]:
    """As a user has it: with bytecode cached, so that no import is charged for compiling."""
    inherited = os.environ.copy()
    inherited.pop("PYTHONDONTWRITEBYTECODE", None)
    return inherited | QUIET


def measure(subject: Subject, timeout_s: float) -> dict[str, float | str]:
    """Run one measuring process; a failure is a result too, under the key `error`."""
    child = subprocess.Popen(
        [str(subject.python), "-m", "bench.child", *subject.names],
        cwd=environments.ROOT,
        env=child_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + timeout_s
    workers_mb, all_mb, known = 0.0, 0.0, set[int]()
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
            here_mb = sum(map(usage.pss_mb, alive & known))
            workers_mb = max(workers_mb, here_mb)
            if subject.suite.processes:
                all_mb = max(all_mb, here_mb + usage.pss_mb(child.pid))
            known = alive
    if child.returncode:
        return {"error": (err.strip().splitlines() or [f"exit {child.returncode}"])[-1][:200]}
    figures: dict[str, float | str] = json.loads(out.strip().splitlines()[-1])
    for key in {"peak_mb", "added_mb"} & figures.keys():
        figures[key] = float(figures[key]) + workers_mb
    if all_mb and not report.fruitless(figures):
        figures["pss_mb"] = all_mb
    return figures


def subjects(suite: Suite, systems: list[str], tasks: list[str]) -> dict[str, list[Subject]]:
    """What to measure for each task; a system without an environment is reported and left out."""
    found: dict[str, list[Subject]] = {task: [] for task in tasks}
    for system in systems:
        try:
            python = environments.python_of(str(suite.constant(system, "ENVIRONMENT")))
        except RuntimeError as error:
            print(f"{system}: left out: {error}", flush=True)
            continue
        for name in suite.functions(system):
            if (task := name.partition("__")[0]) in found:
                found[task].append(Subject(suite, system, name, python))
    return found


def left_out(suite: Suite, systems: list[str], tasks: list[str]) -> report.Results:
    """A row for every task a system cannot be asked, with the reason."""
    results: report.Results = {task: {} for task in tasks}
    for system in systems:
        for task, reason in suite.without(system).items():
            if task in results:
                results[task][system.strip("_")] = [{"skipped": reason}]
    return results


def run(
    chosen: dict[str, list[Subject]], rounds: int, timeout_s: float, results: report.Results
) -> report.Results:
    """All rounds of all tasks, added to `results`; who fails is not asked again in that task."""
    for task, row in chosen.items():
        failed: set[Subject] = set()
        for number in range(rounds):
            turn = number % len(row) if row else 0
            for subject in row[turn:] + row[:turn]:
                if subject in failed:
                    continue
                figures = measure(subject, timeout_s)
                results[task].setdefault(subject.label, []).append(figures)
                if report.fruitless(figures):
                    failed.add(subject)
                brief = report.brief(subject.suite.tasks[task], figures)
                print(f"{task} round {number + 1}/{rounds} {subject.label}: {brief}", flush=True)
    return results


def main(suite: Suite, arguments: list[str]) -> int:
    """Measure, print and save. The exit code tells whether Spillway delivered, not how fast."""
    known = {name.strip("_"): name for name in suite.systems()}
    tasks = list(suite.tasks)
    parser = argparse.ArgumentParser(prog=f"python -m bench {suite.name}", description=__doc__)
    parser.add_argument("--tasks", nargs="+", choices=tasks, default=tasks)
    parser.add_argument("--systems", nargs="+", choices=list(known), default=list(known))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--timeout", type=float, default=180, help="seconds for a measurement")
    parser.add_argument("--show", type=Path, help="print the report of a saved run instead")
    options = parser.parse_args(arguments)
    if options.show:
        saved = json.loads(options.show.read_text())
        print(report.markdown(suite, saved["results"], saved["machine"]))
        return 0
    systems = [known[name] for name in options.systems]
    chosen = subjects(suite, systems, options.tasks)
    if suite.prepare is not None:
        suite.prepare()
    machine = report.machine()
    without = left_out(suite, systems, options.tasks)
    results = run(chosen, options.rounds, options.timeout, without)
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / time.strftime(f"{suite.name}-%Y%m%d-%H%M%S.json")
    path.write_text(json.dumps({"machine": machine, "results": results}, indent=1))
    text = report.markdown(suite, results, machine)
    path.with_suffix(".md").write_text(text)
    print(f"\n{text}\nsaved: {path.relative_to(environments.ROOT)} and .md")
    ours = [runs[-1] for rows in results.values() for k, runs in rows.items() if report.ours(k)]
    return int(any("error" in last for last in ours))
