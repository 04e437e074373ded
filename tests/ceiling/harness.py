"""Runs a case in a fresh interpreter that may not hold more than so many bytes.

The fence is a memory cgroup of its own (v1 or v2), where the kernel kills what goes beyond. Where
none can be made it is RLIMIT_DATA, which refuses instead of killing and knows no peak.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
MIB = 1 << 20
# What the interpreter, NumPy and the module need beside the limit (40 MiB measured), the engine's
# own reserve of 16 MiB, and what is left for the unforeseen.
BESIDE = 96 * MIB


@dataclass(frozen=True)
class Outcome:
    """What became of one case."""

    case: str
    limit: int
    allowed: int  # bytes the fence lets the process have; 0: no fence
    fence: str
    seconds: float
    code: int  # of the process; negative: the signal that ended it
    peak: int  # of the group; 0: not known
    kills: int
    facts: dict[str, Any] = field(default_factory=dict)  # what the case itself reports
    output: str = ""

    @property
    def killed(self) -> bool:
        """Whether the kernel ended the process, or something in it, for want of memory."""
        return self.kills > 0 or self.code == -signal.SIGKILL

    @property
    def verdict(self) -> str:
        """One word or two for the table."""
        if self.killed:
            return "KILLED"
        if self.code != 0:
            return f"exit {self.code}"
        return str(self.facts.get("outcome", "no report"))


class Group:
    """A memory cgroup with a hard limit. Gone when closed."""

    def __init__(self, path: Path, version: int) -> None:
        self.path, self.version = path, version

    @staticmethod
    def make(limit: int) -> Group | None:
        """None where the process may not make one."""
        for version, parent in _parents():
            group = Group(parent / f"spillway-ceiling-{os.getpid()}-{time.monotonic_ns()}", version)
            try:
                group.path.mkdir()
            except OSError:
                continue
            try:
                group._set_limit(limit)
                return group
            except OSError:
                group.path.rmdir()
        return None

    def _set_limit(self, limit: int) -> None:
        name = "memory.limit_in_bytes" if self.version == 1 else "memory.max"
        (self.path / name).write_text(str(limit))
        # Swapped-out pages would hide what does not fit.
        swap = (
            ("memory.memsw.limit_in_bytes", limit) if self.version == 1 else ("memory.swap.max", 0)
        )
        if (self.path / swap[0]).exists():
            (self.path / swap[0]).write_text(str(swap[1]))

    def enter(self) -> None:
        """Moves the calling process in."""
        (self.path / "cgroup.procs").write_text(str(os.getpid()))

    def peak(self) -> int:
        """The most bytes the group ever held; 0 where the kernel does not say (v2 before 5.19)."""
        name = "memory.max_usage_in_bytes" if self.version == 1 else "memory.peak"
        try:
            return int((self.path / name).read_text())
        except OSError:
            return 0

    def kills(self) -> int:
        """Processes of the group that the kernel killed."""
        name = "memory.oom_control" if self.version == 1 else "memory.events"
        for line in (self.path / name).read_text().splitlines():
            key, _, value = line.partition(" ")
            if key == "oom_kill":
                return int(value)
        return 0

    def close(self) -> None:
        """Removes the group; its process has ended."""
        for _ in range(100):
            try:
                self.path.rmdir()
                return
            except OSError:
                time.sleep(0.02)  # the kernel has not yet let go of the last process


def _parents() -> list[tuple[int, Path]]:
    """Where a group may be made: (version, folder), the likeliest first."""
    out = []
    if Path("/sys/fs/cgroup/memory/memory.limit_in_bytes").exists():
        out.append((1, Path("/sys/fs/cgroup/memory")))
    root = Path("/sys/fs/cgroup")
    if (root / "cgroup.controllers").exists():
        own = Path("/proc/self/cgroup").read_text().rpartition("::")[2].strip().lstrip("/")
        # A group with processes of its own cannot have limited children: look above it too.
        for folder in (root / own, *(root / own).parents):
            if folder != root and root not in folder.parents:
                break
            if "memory" in (folder / "cgroup.subtree_control").read_text().split():
                out.append((2, folder))
    return out


def fence() -> str:
    """What holds the cases here: "cgroup v1", "cgroup v2", "RLIMIT_DATA" or "" for nothing."""
    group = Group.make(1 << 30)
    if group is not None:
        group.close()
        return f"cgroup v{group.version}"
    return "RLIMIT_DATA" if sys.platform == "linux" else ""


def run(
    case: str, limit: int, *, fenced: bool = True, told: int | None = None, seconds: float = 500
) -> Outcome:
    """The case with `limit` bytes; `told` is what it configures instead (the mutants)."""
    allowed = limit + BESIDE if fenced else 0
    group = Group.make(allowed) if fenced else None
    name = f"cgroup v{group.version}" if group else "RLIMIT_DATA" if fenced else "none"
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="spillway-ceiling-") as folder:
        report = Path(folder) / "report.json"
        environment = {
            **os.environ,
            "SPILLWAY_MEMORY_LIMIT": str(limit if told is None else told),
            "TMPDIR": folder,
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "python")]),
            "OPENBLAS_NUM_THREADS": "1",
        }
        command = [sys.executable, "-X", "faulthandler", "-m", "tests.ceiling.cases"]
        begun = time.monotonic()
        try:
            done = subprocess.run(
                [*command, case, str(limit), str(report)],
                cwd=ROOT,
                env=environment,
                preexec_fn=entrance(group, allowed),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=seconds,
                check=False,
            )
            code, output = done.returncode, done.stdout
        except subprocess.TimeoutExpired as late:
            said = late.stdout or b""
            text = said.decode(errors="replace") if isinstance(said, bytes) else said
            code, output = -signal.SIGALRM, f"{text}\nno end after {seconds:.0f} s"
        took = time.monotonic() - begun
        peak, kills = (group.peak(), group.kills()) if group else (0, 0)
        if group:
            group.close()
        facts = json.loads(report.read_text()) if report.exists() else {}
    return Outcome(case, limit, allowed, name, took, code, peak, kills, facts, output[-6000:])


def entrance(group: Group | None, allowed: int) -> Callable[[], None]:
    """What a child runs before its program: it goes behind the fence."""

    def enter() -> None:
        if group is not None:
            group.enter()
        elif allowed:
            resource.setrlimit(resource.RLIMIT_DATA, (allowed, allowed))

    return enter


def table(outcomes: list[Outcome]) -> str:
    """The outcomes as text, a line each."""
    head = ["case", "limit", "fence", "peak", "sizes in effect", "lost", "doubled", "outcome", "s"]
    rows = [head]
    for o in outcomes:
        rows.append(
            [
                o.case,
                _mib(o.limit),
                _mib(o.allowed),
                _mib(o.peak),
                str(o.facts.get("effective", "")),
                str(o.facts.get("lost", "?")),
                str(o.facts.get("doubled", "?")),
                o.verdict,
                f"{o.seconds:.1f}",
            ]
        )
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def _mib(size: int) -> str:
    return f"{size / MIB:.0f} MiB" if size else "-"
