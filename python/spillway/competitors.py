"""Other processes that take the memory: the warning that names them, and GPUs' memory."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import sys
import time
import warnings
from dataclasses import dataclass
from typing import Any

from spillway import _native
from spillway._native import format_bytes

_MINUTE = 60.0
_NOTABLE = 0.05  # of a GPU's memory


class CompetitorWarning(RuntimeWarning):
    """Another process took memory that this one's budget counted on."""


@dataclass(frozen=True)
class Competitor:
    """A process that grew: `grown` bytes since it was looked at before, to `resident`."""

    pid: int
    command: str
    resident: int
    grown: int

    def __str__(self) -> str:
        """As a line of a table has it."""
        return (
            f"pid {self.pid} grew by {format_bytes(self.grown)} to "
            f"{format_bytes(self.resident)}: {self.command}"
        )


@dataclass(frozen=True)
class GpuMemory:
    """A GPU: bytes in all, in use, and who uses them as (pid, bytes)."""

    index: int
    name: str
    total: int
    used: int
    processes: tuple[tuple[int, int], ...]


def begin() -> None:
    """Before the first pass: the watchdog can tell what it sees."""
    _native.set_taken_hook(tell)
    if _has_nvml():
        _native.set_around_hook(gpu_watch.look)


def tell(text: str, by: list[dict[str, Any]]) -> None:
    """Warns; the engine says it once a minute for each process."""
    del by
    warnings.warn(text, CompetitorWarning, stacklevel=2)


def competitors() -> list[Competitor]:
    """Who grew since the watchdog looked: nobody while no pass was open."""
    return [Competitor(**found) for found in _native.competitors()]


def read_gpus() -> list[GpuMemory]:
    """What NVML tells; none where there is no NVML, no GPU, or it does not answer."""
    if "pynvml" not in sys.modules and not _has_nvml():
        return []
    try:
        nvml: Any = importlib.import_module("pynvml")
    except ImportError:
        return []
    try:
        nvml.nvmlInit()
        return [_gpu(nvml, i) for i in range(nvml.nvmlDeviceGetCount())]
    except nvml.NVMLError:
        return []


@functools.cache
def _has_nvml() -> bool:
    """Asked once: looking for a module that is not there takes a while."""
    return importlib.util.find_spec("pynvml") is not None


def _gpu(nvml: Any, index: int) -> GpuMemory:
    device = nvml.nvmlDeviceGetHandleByIndex(index)
    memory = nvml.nvmlDeviceGetMemoryInfo(device)
    name = nvml.nvmlDeviceGetName(device)
    running = [
        (int(process.pid), int(process.usedGpuMemory or 0))
        for process in nvml.nvmlDeviceGetComputeRunningProcesses(device)
    ]
    text = name.decode(errors="replace") if isinstance(name, bytes) else str(name)
    return GpuMemory(index, text, int(memory.total), int(memory.used), tuple(running))


class GpuWatch:
    """Sees, look by look, that others take a GPU's memory; tells of a process once a minute."""

    def __init__(self) -> None:
        """Before the first look."""
        self._before: dict[int, GpuMemory] = {}
        self._told_at: dict[tuple[int, int], float] = {}

    def look(self) -> None:
        """Called by the watchdog while a pass is open."""
        for gpu in read_gpus():
            before = self._before.get(gpu.index)
            if before is None or gpu.used - before.used < _NOTABLE * gpu.total:
                self._before.setdefault(gpu.index, gpu)
                if gpu.used < self._before[gpu.index].used:
                    self._before[gpu.index] = gpu
                continue
            self._before[gpu.index] = gpu
            takers = _grown(before, gpu)
            new = [t for t in takers if not self._recently(gpu.index, t[0])]
            if new:
                warnings.warn(_gpu_text(before, gpu, new), CompetitorWarning, stacklevel=2)

    def _recently(self, gpu: int, pid: int) -> bool:
        now = time.monotonic()
        if now - self._told_at.get((gpu, pid), -_MINUTE) < _MINUTE:
            return True
        self._told_at = {k: at for k, at in self._told_at.items() if now - at < _MINUTE}
        self._told_at[(gpu, pid)] = now
        return False


def _grown(before: GpuMemory, now: GpuMemory) -> list[tuple[int, int, int]]:
    """(pid, grown, holds) of the others, most first."""
    held = dict(before.processes)
    grown = [
        (pid, size - held.get(pid, 0), size)
        for pid, size in now.processes
        if pid != os.getpid() and size > held.get(pid, 0)
    ]
    return sorted(grown, key=lambda g: -g[1])[:3]


def _gpu_text(before: GpuMemory, now: GpuMemory, takers: list[tuple[int, int, int]]) -> str:
    lines = [
        f"another process takes the memory of GPU {now.index} ({now.name}): "
        f"{format_bytes(now.used - before.used)} more, {format_bytes(now.total - now.used)} of "
        f"{format_bytes(now.total)} are left"
    ]
    lines += [
        f"  pid {pid} grew by {format_bytes(grown)} to {format_bytes(size)}: {command_of(pid)}"
        for pid, grown, size in takers
    ]
    return "\n".join(lines)


def command_of(pid: int) -> str:
    """The command line of a process, nothing in it taken for more than text; "?" if unknown.

    >>> command_of(-1)
    '?'
    """
    from spillway.problems import printable

    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read(4096).rstrip(b"\0").split(b"\0")
    except OSError:
        return "?"
    text = printable(b" ".join(words).decode(errors="replace"))
    return (text[:117] + "...") if len(text) > 120 else text or "?"


gpu_watch = GpuWatch()
