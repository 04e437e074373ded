"""Another process takes the memory while a pass is open: it is named."""

from __future__ import annotations

import os
import subprocess
import sys
import types
import warnings
from pathlib import Path
from typing import Any

import pytest

import spillway as sw
from spillway import competitors
from spillway.competitors import CompetitorWarning, GpuWatch
from tests.ceiling.harness import Group

ROOT = Path(__file__).resolve().parent.parent
MIB = 1 << 20
GIB = 1 << 30

# In a container of 640 MiB: a pass is open, then a child takes 300 MiB, which the budget loses.
PROGRAM = """
import subprocess, sys, time, warnings
warnings.simplefilter("always")
import spillway as sw

sw.configure(memory_limit="400MiB")
seen = []
def note(message, category, *rest, **more):
    seen.append((category.__name__, str(message)))
warnings.showwarning = note
it = iter(sw.Dataset.range(10**12).batch(1))
while len(it.report().timeline) < 3:  # the watchdog has looked
    next(it)
taker = subprocess.Popen(
    [sys.executable, "-c", "'the taker'; import sys; x = b'1' * (300 << 20); "
     "print(1, flush=True); sys.stdin.read()"],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE)
taker.stdout.readline()
steps, until = 0, time.monotonic() + 300
while not seen and time.monotonic() < until:  # a busy watchdog looks late
    next(it)
    steps += 1
    if steps % 20_000 == 0:
        print(sw.memory().effective >> 20, sw.memory().others >> 20, flush=True)
print(repr(sw.memory()))
taker.stdin.close()
taker.wait()
for category, text in seen:
    print(category, f"taker={taker.pid}", text)
"""


def test_a_child_that_takes_the_containers_memory_is_named() -> None:
    group = Group.make(640 * MIB)
    if group is None:
        pytest.skip("no memory cgroup can be made here")
    try:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
            preexec_fn=group.enter,
            capture_output=True,
            text=True,
            timeout=500,
            check=False,
        )
    finally:
        group.close()
    assert done.returncode == 0, done.stdout + done.stderr
    said = next(
        (line for line in done.stdout.splitlines() if line.startswith("CompetitorWarning")), ""
    )
    assert "another process takes the memory" in said, done.stdout + done.stderr
    pid = said.split("taker=")[1].split()[0]
    assert f"pid {pid} grew by " in done.stdout
    assert "the taker" in done.stdout
    assert "other processes hold " in done.stdout


# The same container, but what takes its memory are arrays of the program itself, kept and dropped.
OWN_ARRAYS = """
import time, warnings
warnings.simplefilter("always")
import numpy as np
import spillway as sw

sw.configure(memory_limit="400MiB")
seen = []
def note(message, category, *rest, **more):
    seen.append(str(message))
warnings.showwarning = note
it = iter(sw.Dataset.range(10**12).batch(1))
for turn in range(6):
    kept = [np.ones(1 << 20) for _ in range(40)]
    before = len(it.report().timeline)
    while len(it.report().timeline) < before + 3:  # the watchdog has looked
        next(it)
    print(repr(sw.memory()))
    del kept
print("seen", seen)
"""


def test_arrays_of_the_program_itself_are_no_other_process() -> None:
    group = Group.make(640 * MIB)
    if group is None:
        pytest.skip("no memory cgroup can be made here")
    try:
        done = subprocess.run(
            [sys.executable, "-c", OWN_ARRAYS],
            env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
            preexec_fn=group.enter,
            capture_output=True,
            text=True,
            timeout=500,
            check=False,
        )
    finally:
        group.close()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "seen []" in done.stdout, done.stdout
    assert "other processes hold" not in done.stdout, done.stdout
    assert "beside Spillway (your own arrays and objects, and libraries)" in done.stdout


def test_memory_without_competition_names_nobody() -> None:
    now = sw.memory()
    if now.effective == now.limit:
        assert now.competitors == []
        assert "other processes hold" not in repr(now)


# ---- GPUs, with a module in NVML's place


class _Nvml(types.ModuleType):
    """One GPU of 8 GiB."""

    class NVMLError(Exception):
        pass

    def __init__(self) -> None:
        super().__init__("pynvml")
        self.processes: dict[int, int] = {}
        self.answers = True

    def nvmlInit(self) -> None:  # noqa: N802
        if not self.answers:
            raise self.NVMLError("driver not loaded")

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        return 1

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:  # noqa: N802
        return index

    def nvmlDeviceGetName(self, device: int) -> bytes:  # noqa: N802
        return b"Fake 3000"

    def nvmlDeviceGetMemoryInfo(self, device: int) -> Any:  # noqa: N802
        return types.SimpleNamespace(total=8 * GIB, used=sum(self.processes.values()))

    def nvmlDeviceGetComputeRunningProcesses(self, device: int) -> list[Any]:  # noqa: N802
        return [
            types.SimpleNamespace(pid=pid, usedGpuMemory=used)
            for pid, used in self.processes.items()
        ]


@pytest.fixture
def nvml(monkeypatch: pytest.MonkeyPatch) -> _Nvml:
    fake = _Nvml()
    monkeypatch.setitem(sys.modules, "pynvml", fake)
    return fake


def _told(watch: GpuWatch) -> list[str]:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        watch.look()
    assert all(w.category is CompetitorWarning for w in seen)
    return [str(w.message) for w in seen]


def test_a_process_that_takes_gpu_memory_is_named_once_a_minute(nvml: _Nvml) -> None:
    watch = GpuWatch()
    parent = os.getppid()
    nvml.processes = {os.getpid(): GIB, parent: 100 * MIB}
    assert _told(watch) == []
    nvml.processes[parent] = 3 * GIB
    (text,) = _told(watch)
    assert "memory of GPU 0 (Fake 3000): 2.90 GiB more, 4.00 GiB of 8.00 GiB are left" in text
    assert f"pid {parent} grew by 2.90 GiB to 3.00 GiB: {competitors.command_of(parent)}" in text
    nvml.processes[parent] = 5 * GIB
    assert _told(watch) == []


def test_what_this_process_takes_of_a_gpu_is_no_news(nvml: _Nvml) -> None:
    watch = GpuWatch()
    nvml.processes = {os.getpid(): GIB}
    assert _told(watch) == []
    nvml.processes[os.getpid()] = 4 * GIB
    assert _told(watch) == []


def test_small_steps_of_another_process_add_up(nvml: _Nvml) -> None:
    watch = GpuWatch()
    nvml.processes = {1: GIB}
    assert _told(watch) == []
    told: list[str] = []
    for step in range(1, 6):
        nvml.processes[1] = GIB + step * 100 * MIB
        told += _told(watch)
    assert len(told) == 1


def test_memory_shows_gpus_and_who_holds_them(nvml: _Nvml) -> None:
    nvml.processes = {1: 2 * GIB, os.getpid(): GIB}
    now = sw.memory()
    assert now.gpus[0].used == 3 * GIB
    assert "GPU 0 (Fake 3000): 3.00 GiB of 8.00 GiB used" in repr(now)
    assert "pid 1 holds 2.00 GiB" in repr(now)
    assert f"pid {os.getpid()} holds" not in repr(now)
    assert "GPU 0 (Fake 3000)" in now._repr_html_()


def test_an_nvml_that_does_not_answer_is_left_alone(nvml: _Nvml) -> None:
    nvml.answers = False
    assert competitors.read_gpus() == []
    assert "GPU" not in repr(sw.memory())
    assert _told(GpuWatch()) == []


def test_without_nvml_there_are_no_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert competitors.read_gpus() == []
