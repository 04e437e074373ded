"""What a process and its descendants have used, read from the kernel without a library."""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path

TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def descendants(pid: int) -> list[int]:
    """The live children of a process, their children and so on."""
    found: list[int] = []
    todo = [pid]
    while todo:
        for children in Path(f"/proc/{todo.pop()}/task").glob("*/children"):
            try:
                born = [int(pid) for pid in children.read_text().split()]
            except OSError:
                continue
            found += born
            todo += born
    return found


def cpu_s() -> float:
    """User and system seconds of this process, its reaped and its live descendants."""
    reaped = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = time.process_time() + reaped.ru_utime + reaped.ru_stime
    for pid in descendants(os.getpid()):
        try:
            total += time.clock_gettime((~pid << 3) | 2)  # Linux: the CPU clock of another process
        except OSError:
            continue
    return total


def machine_busy_s() -> float:
    """Busy seconds of all cores since boot, whoever used them; in steps of a clock tick."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    user, nice, system, _idle, _wait, irq, softirq, steal = map(int, fields[:8])
    return (user + nice + system + irq + softirq + steal) * TICK_S


def _kilobytes(path: str, key: str) -> float:
    for line in Path(path).read_text().splitlines():
        if line.startswith(key):
            return float(line.split()[1])
    return 0.0


def rss_mb() -> float:
    """Resident megabytes of this process now, counted page by page."""
    return _kilobytes("/proc/self/smaps_rollup", "Rss:") / 1024


def pss_mb(pid: int) -> float:
    """Megabytes of a process, a shared page divided by the number that share it; 0 if gone."""
    try:
        return _kilobytes(f"/proc/{pid}/smaps_rollup", "Pss:") / 1024
    except OSError:
        return 0.0


def forget_peak() -> None:
    """Let the peak begin again at the present size, where the kernel allows it."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def peak_mb() -> float:
    """Peak resident megabytes of this process alone."""
    return _kilobytes("/proc/self/status", "VmHWM:") / 1024
