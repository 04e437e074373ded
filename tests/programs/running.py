"""Runs one program: twice in one kernel, and in a fresh one that is interrupted half-way.

Where the second run left more than the first, it is run again until one does not, five times at
most: only what grows with every run is a leak.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.kernel import driver
from tests.programs.catalogue import Program
from tests.programs.kernels import FencedKernel, Held, fenced_kernel, wait

MIB = 1 << 20
# What a run may leave behind beyond the one before: pages that an allocator keeps.
MARGIN = 64 * MIB
# A second run may still start a thread or fill a pool, and ipykernel's sockets come and go with the
# threads that print; a leak goes on in every run.
MOST_TIMES = 5
HEARS_IN = 120.0  # seconds after which Ctrl-C counts as not heard


@dataclass
class Run:
    """What one pass over a program's cells came to."""

    end: str  # "result", "error", "killed", "hangs", "late", "died"
    error: str = ""  # the class
    text: str = ""  # what the user sees, cell by cell
    shows: str = ""  # of the cells that are Spillway's own
    seconds: float = 0.0
    longest: tuple[int, float] = (0, 0.0)  # the cell that took longest, and its seconds

    @property
    def outcome(self) -> str:
        return self.error if self.end == "error" else self.end


@dataclass
class Outcome:
    """All that was seen of one program."""

    key: str
    about: str
    library: str
    limit: int
    fence: str
    first: Run
    peak: int = 0
    kills: int = 0
    alive: bool = False
    wanted: list[str] = field(default_factory=list)  # words of the ends that would do
    again: Run | None = None
    times: int = 1  # that it ran in this kernel
    growth: dict[str, int] = field(default_factory=dict)
    interrupt: str = ""  # what became of Ctrl-C half-way
    complaints: list[str] = field(default_factory=list)  # why the end is of no use

    @property
    def useful(self) -> bool:
        return not self.complaints


def run(
    program: Program,
    library: str,
    limit: int,
    folder: Path,
    *,
    short: bool,
    seconds: float,
    once: bool = False,
) -> Outcome:
    """Both kernels, one after the other."""
    with fenced_kernel(library, limit, folder) as kernel:
        fence = f"cgroup v{kernel.group.version}" if kernel.group else "RLIMIT_DATA"
        first = _pass(kernel, program, library, short, seconds)
        out = Outcome(program.key, program.about, library, limit, fence, first)
        out.wanted = [word for end in program.expected(short) for word in end.words]
        before = None if once else _at_rest(kernel, first)
        while before and out.times < MOST_TIMES and (out.times == 1 or _has_grown(out)):
            out.again = _pass(kernel, program, library, short, seconds)
            out.times += 1
            after = _at_rest(kernel, out.again)
            out.growth = _growth(before, after) if after else {}
            before = after
        out.alive = kernel.alive and kernel.answers()
        out.peak, out.kills = kernel.peak, kernel.kills
        if not out.alive and kernel.group:
            out.peak = kernel.group.peak()
    if out.alive:
        with fenced_kernel(library, limit, folder) as kernel:
            out.interrupt = _interrupted(kernel, program, library, short, seconds, first)
    _judge(out, program, short)
    return out


def _pass(kernel: FencedKernel, program: Program, library: str, short: bool, seconds: float) -> Run:
    """All cells, as "Run all" does: an error ends the program, not the cells that are ours."""
    run, until = Run("result"), time.monotonic() + seconds
    cells = [cell for cell in program.cells(library, short) if cell.kind != "markdown"]
    for place, cell in enumerate(cells):
        ours = cell.kind == "spillway"
        if run.end != "result" and not (ours and run.end == "error"):
            continue
        begun = time.monotonic()
        sent = kernel.begin(cell.text)
        done = kernel.end(sent, max(1.0, until - begun))
        took = time.monotonic() - begun
        if ours:
            run.shows += f"{done.text}{done.error}\n"
            if done.status in ("late", "dead"):
                run.end = _gone(kernel, sent, done)
            continue
        run.seconds += took if place else 0.0  # the first cell only imports
        if place and took >= run.longest[1]:
            run.longest = (place, took)
        run.text += done.text if place or done.status != "ok" else ""
        if done.status == "error":
            run.end, run.error = "error", done.error.partition(":")[0]
            run.text += done.error
        elif done.status != "ok":
            run.end = _gone(kernel, sent, done)
    return run


def _gone(kernel: FencedKernel, sent: str, done: driver.Cell) -> str:
    """What became of a cell that gave no answer."""
    if done.status == "dead":
        return "killed" if kernel.kills else "died"
    kernel.interrupt()
    return "late" if kernel.end(sent, HEARS_IN).status in ("error", "ok") else "hangs"


def _at_rest(kernel: FencedKernel, run: Run) -> Held | None:
    """What is held; None when the kernel cannot tell."""
    return kernel.held() if kernel.alive and run.end in ("result", "error") else None


def _has_grown(out: Outcome) -> bool:
    grown = out.growth
    return bool(grown) and (
        grown["resident"] > MARGIN or grown["threads"] > 0 or grown["descriptors"] > 0
    )


def _growth(before: Held, after: Held) -> dict[str, int]:
    return {
        "resident": after.resident - before.resident,
        "threads": after.threads - before.threads,
        "descriptors": after.descriptors - before.descriptors,
    }


def _interrupted(
    kernel: FencedKernel, program: Program, library: str, short: bool, seconds: float, first: Run
) -> str:
    """Ctrl-C in the middle of the cell that took longest."""
    cells = [cell for cell in program.cells(library, short) if cell.kind == "code"]
    place, took = first.longest
    bare = _interrupt(kernel, kernel.begin("while True: pass"), 0.2)[0]
    for cell in cells[:place]:
        kernel.run(cell.text, seconds)
    heard, done = _interrupt(kernel, kernel.begin(cells[place].text), took / 2)
    if done.status == "late":
        return "not heard"
    if done.status == "dead" or not kernel.answers():
        return "the kernel is gone"
    if "KeyboardInterrupt" in done.error or "KeyboardInterrupt" in done.traceback:
        return f"heard in {heard * 1000:.0f} ms (bare loop: {bare * 1000:.0f})"
    return "had ended"


def _interrupt(kernel: FencedKernel, sent: str, after: float) -> tuple[float, driver.Cell]:
    """Seconds from Ctrl-C to the cell's last word."""
    wait(after, kernel)
    begun = time.monotonic()
    kernel.interrupt()
    done = kernel.end(sent, HEARS_IN)
    return time.monotonic() - begun, done


def _judge(out: Outcome, program: Program, short: bool) -> None:
    """Fills in what is wrong with the end, if anything."""
    said = out.complaints.append
    first = out.first
    ends = program.expected(short)
    met = [end for end in ends if end.kind in (first.end, first.error)]
    if not met:
        said(f"ended with {first.outcome}, not with {' or '.join(end.kind for end in ends)}")
    elif not any(all(word in first.text for word in end.words) for end in met):
        said(f"the text does not say: {' | '.join(str(end) for end in met)}")
    if not out.alive:
        said("the kernel is gone")
    if out.interrupt in ("not heard", "the kernel is gone"):
        said(f"Ctrl-C half-way: {out.interrupt}")
    if out.library != "spillway":
        return
    missing = [word for word in program.shown(short) if word not in first.shows]
    if missing:
        said(f"the cells of ours do not say {missing}: {first.shows[:600]}")
    if out.again and out.again.outcome != first.outcome:
        said(f"run {out.times} ended with {out.again.outcome}")
    if _has_grown(out):
        said(f"run {out.times} left more than run {out.times - 1}: {out.growth}")
