"""A pipeline over more data than it may hold, some of it damaged, under a hard memory limit.

    ./run demo

Makes its own files, shuffles all of them with a buffer three times the memory limit, and prints
what became of every element. The process runs in a memory cgroup of its own where it may make one
(as root), else under RLIMIT_DATA: passing the limit would end it, not slow it down.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import spillway as sw

FILES = 400
ROWS = 64 * 1024  # float64 each: 512 KiB a file, 200 MiB in all
DAMAGED = (17, 203, 399)
LIMIT = "64MiB"
HARD_LIMIT = 192 << 20
MIB = 1 << 20


def make_files(folder: Path) -> int:
    """Every file's content is its own number; a few are cut short."""
    total = 0
    for number in range(FILES):
        path = folder / f"part-{number:03}.npy"
        np.save(path, np.full(ROWS, number, dtype=np.float64))
        if number in DAMAGED:
            os.truncate(path, 1000 + number)
        total += path.stat().st_size
    return total


def load(path: sw.Tensor) -> Any:
    return np.load(path.numpy().decode())


def run(folder: Path, fence: str) -> None:
    """The pipeline, and what it says about itself."""
    sw.configure(memory_limit=LIMIT)
    print(
        f"limits    : {LIMIT} for the pipeline; {HARD_LIMIT // MIB} MiB for the process ({fence})"
    )
    dataset = (
        sw.Dataset.list_files(str(folder / "*.npy"), shuffle=False)
        .map(load, num_parallel_calls=sw.AUTOTUNE, on_error="skip")
        .shuffle(FILES, seed=7)
        .batch(8)
        .prefetch(2)
    )
    began = time.perf_counter()
    seen: list[int] = []
    for batch in dataset:
        assert (batch == batch[:, :1]).all(), "a row was mixed with another"
        seen.extend(int(row[0]) for row in batch)
    seconds = time.perf_counter() - began

    assert sorted(seen) == [n for n in range(FILES) if n not in DAMAGED], "an element is missing"
    assert seen != sorted(seen), "the order was not shuffled"
    audit, memory = dataset.audit(), sw.memory()
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(
        "delivered :", audit.delivered, "of", audit.total, f"in {seconds:.1f} s; first", *seen[:6]
    )
    print("skipped   :", audit.skipped)
    for entry in audit.entries:
        print(f"            {Path(entry.file or entry.origin).name}: {entry.message}")
    print(f"peak      : {memory.peak / MIB:.0f} MiB held by the pipeline of {LIMIT};", end=" ")
    print(f"{resident / MIB:.0f} MiB resident")
    print(f"audit     : {'balances' if audit.balanced else 'DOES NOT BALANCE'}")
    print(dataset.report())


def cgroup() -> Path | None:
    """A new memory cgroup with the hard limit, or None where we may not make one."""
    for parent, name in (
        (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"),
        (Path("/sys/fs/cgroup"), "memory.max"),
    ):
        group = parent / f"spillway-demo-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / name).write_text(str(HARD_LIMIT))
        except OSError:
            group.rmdir()
            continue
        return group
    return None


def main() -> int:
    if len(sys.argv) == 3:
        run(Path(sys.argv[1]), sys.argv[2])
        return 0
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        size = make_files(Path(folder))
        print(
            f"files     : {FILES}, {size / MIB:.0f} MiB in {folder}; {len(DAMAGED)} of them damaged"
        )
        group = cgroup()
        fence = "memory cgroup" if group else "RLIMIT_DATA"

        def enter() -> None:
            if group:
                (group / "cgroup.procs").write_text(str(os.getpid()))
            else:
                resource.setrlimit(resource.RLIMIT_DATA, (HARD_LIMIT, HARD_LIMIT))

        command = [sys.executable, __file__, folder, fence]
        try:
            code = subprocess.run(command, preexec_fn=enter, check=False).returncode
        finally:
            if group:
                group.rmdir()
    print("the process is alive" if code == 0 else f"the pipeline's process ended with {code}")
    return 0 if code == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
