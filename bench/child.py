"""Measure one function of one system in this process and print the figures as a JSON line.

    python -m bench.child SUITE SYSTEM FUNCTION

FUNCTION is a task's name, or `task__variant`, in the suite's `SYSTEM.py`. It builds a pipeline
and returns it. A warm epoch is checked value by value; the timed epochs only count elements.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from bench import usage
from bench.suites import SUITES, Suite
from bench.tasks import Case, Missing, Task

LEAST_TIMED_S = 0.4  # short epochs repeat until so much time was measured
Make = Callable[[Case], Iterable[object]]


def consume(pipeline: Iterable[object], sleep_s: float) -> tuple[int, float]:
    """Iterate to the end as a training loop would; the number of elements, when the first came."""
    count, first = 0, 0.0
    if not sleep_s:
        for count, _ in enumerate(pipeline, 1):  # noqa: B007
            first = first or time.perf_counter()
        return count, first
    for count, _ in enumerate(pipeline, 1):  # noqa: B007
        first = first or time.perf_counter()
        time.sleep(sleep_s)
    return count, first


def steadily(make: Make, case: Case) -> tuple[int, float, float, float]:
    """One epoch: elements, wall and CPU seconds after the first one, ms until it."""
    begin, count = time.perf_counter(), 0
    first = cpu = 0.0
    for count, _ in enumerate(make(case), 1):
        if count == 1:
            cpu, first = usage.cpu_s(), time.perf_counter()
    return count, time.perf_counter() - first, usage.cpu_s() - cpu, (first - begin) * 1e3


def steady_epochs(make: Make, of: type[Case], task: Task, n: int) -> dict[str, float]:
    """As `epochs`, but from the first element on: starting workers is a task of its own."""
    case, warm = of(task, n), of(task, min(n, task.warm_items))
    warm.check(make(warm))
    gc.collect()
    done, wall, cpu, first_ms = 0, 0.0, 0.0, []
    busy, start, spent = usage.machine_busy_s(), time.perf_counter(), usage.cpu_s()
    while wall < LEAST_TIMED_S:
        count, seconds, used, first = steadily(make, case)
        if count != case.elements:
            raise ValueError(f"{task.name}: elements must be {case.elements}: {count}")
        done, wall, cpu = done + 1, wall + seconds, cpu + used
        first_ms.append(first)
    others = usage.machine_busy_s() - busy - (usage.cpu_s() - spent)
    items = (n - 1) * done
    return {
        "cpu_us": cpu / items * 1e6,
        "wall_us": wall / items * 1e6,
        "rate": items / wall,
        "items": n,
        "epochs": done,
        "others_cores": max(0.0, others) / (time.perf_counter() - start),
    }


def first_elements(make: Make, of: type[Case], task: Task) -> dict[str, float]:
    """The first pipeline of this process, and a second one when the first is over."""
    figures = {}
    for name in ("cold", "warm"):
        case = of(task, task.items)
        gc.collect()
        cpu, begin = usage.cpu_s(), time.perf_counter()
        pipeline = iter(make(case))
        next(pipeline)
        figures[f"{name}_ms"] = (time.perf_counter() - begin) * 1e3
        figures[f"{name}_cpu_ms"] = (usage.cpu_s() - cpu) * 1e3
        rest = sum(1 for _ in pipeline)
        if rest != case.elements - 1:
            raise ValueError(f"{task.name}: elements must be {case.elements}: {rest + 1}")
        del pipeline
    return figures


def epochs(make: Make, of: type[Case], task: Task, n: int) -> dict[str, float]:
    """Warm, check, then time whole epochs: building the pipeline is part of each."""
    case = of(task, n)
    case.prepare()
    usage.forget_peak()
    before_mb = usage.rss_mb()
    warm = of(task, min(n, task.warm_items))
    warm.check(make(warm))
    gc.collect()
    usage.forget_peak()
    done, cpu, busy, start = 0, usage.cpu_s(), usage.machine_busy_s(), time.perf_counter()
    wall, first_ms = 0.0, []
    while wall < LEAST_TIMED_S:
        begin = time.perf_counter()
        count, first = consume(make(case), task.consumer_sleep_s)
        first_ms.append((first - begin) * 1e3)
        if count != case.elements:
            raise ValueError(f"{task.name}: elements must be {case.elements}: {count}")
        done += 1
        wall = time.perf_counter() - start
    cpu = usage.cpu_s() - cpu
    busy = usage.machine_busy_s() - busy
    peak_mb = usage.peak_mb()
    shown = {"rate": n * done / wall, "first_batch_ms": min(first_ms)} if task.first else {}
    return {
        "cpu_us": cpu / done / n * 1e6,
        "wall_us": wall / done / n * 1e6,
        "peak_mb": peak_mb,
        "added_mb": max(0.0, peak_mb - before_mb),
        "items": n,
        "epochs": done,
        "others_cores": max(0.0, busy - cpu) / wall,
        **shown,
    } | case.extra()


def start_up(suite: Suite, system: str) -> dict[str, float]:
    """Import the library, then build the first pipeline and take its first element."""
    rss, cpu, start = usage.rss_mb(), time.process_time(), time.perf_counter()
    module = load(suite, system)
    figures = {
        "import_ms": (time.perf_counter() - start) * 1e3,
        "import_cpu_ms": (time.process_time() - cpu) * 1e3,
        "import_mb": usage.rss_mb() - rss,
    }
    case = suite.case(suite.tasks["p12"], 10)
    cpu, start = time.process_time(), time.perf_counter()
    first = next(iter(module.p12(case)))
    figures["first_ms"] = (time.perf_counter() - start) * 1e3
    figures["first_cpu_ms"] = (time.process_time() - cpu) * 1e3
    del first
    return figures


def load(suite: Suite, system: str) -> ModuleType:
    """Import a system's file, and with it the library."""
    return importlib.import_module(f"bench.{suite.package}.{system}")


def main(name: str, system: str, function: str) -> None:
    """Print the figures and leave without the library's shutdown, which is not measured."""
    suite = SUITES[name]
    task = suite.tasks[function.partition("__")[0]]
    figures: dict[str, Any]
    if task.name == "p12":
        figures = start_up(suite, system)
    else:
        module = load(suite, system)
        n = getattr(module, "ITEMS", {}).get(task.name, task.items)
        try:
            make = getattr(module, function)
            if task.name == "start":
                figures = first_elements(make, suite.case, task)
            elif task.steady:
                figures = steady_epochs(make, suite.case, task, n)
            else:
                figures = epochs(make, suite.case, task, n)
        except Missing as note:
            figures = {"skipped": str(note)}
    print(json.dumps(figures), flush=True)
    for pid in usage.descendants(os.getpid()):  # or a pool's workers wait for work for ever
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:4])
