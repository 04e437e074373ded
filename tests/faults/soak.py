"""Kills workers for as long as it takes, and compares every element with the fault-free run.

`python -m tests.faults.soak [--deaths N] [--elements N] [--state FILE]`. With a state file a soak
goes on where another one ended. Kills come from a process of its own at exponential times
(`killer`), and from workers that end themselves at a step of the protocol (`steps`).
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from spillway import _native
from tests.faults.board import Board
from tests.faults.kinds import KINDS, Kind, fault_free, print_of
from tests.faults.processes import ROOT, workers_of
from tests.faults.steps import ALL_STEPS, doomed

REPORT_S = 10.0


@dataclass
class Totals:
    """What a soak has seen so far; goes to the state file and back."""

    elements: int = 0
    kills: int = 0  # by the killer, of workers that had work
    spare_kills: int = 0
    server_kills: int = 0
    step_deaths: dict[str, int] = field(default_factory=dict)
    calls: int = 0  # of user code: those beyond the elements were made again
    wanted_calls: int = 0
    rounds: int = 0
    lost: int = 0
    doubled: int = 0
    out_of_order: int = 0
    seconds: float = 0.0
    next_call_ms: list[float] = field(default_factory=list)  # from a death to the next call
    next_result_ms: list[float] = field(default_factory=list)  # to the next result at the consumer

    @property
    def deaths(self) -> int:
        return self.kills + sum(self.step_deaths.values())

    @property
    def faultless(self) -> bool:
        return self.lost == self.doubled == self.out_of_order == 0

    def line(self) -> str:
        return (
            f"{self.deaths} deaths ({self.kills} kill -9, {sum(self.step_deaths.values())} at "
            f"steps; besides {self.spare_kills} spare ones, {self.server_kills} servers), "
            f"{self.elements} elements, {self.calls - self.wanted_calls} calls made again, "
            f"lost {self.lost}, doubled {self.doubled}, out of order {self.out_of_order}, "
            f"{self.seconds:.0f} s"
        )

    def report(self) -> str:
        lines = [
            self.line(),
            "from a death to the next call:   " + percentiles(self.next_call_ms),
            "from a death to the next result: " + percentiles(self.next_result_ms),
        ]
        steps = (f"{name}: {many}" for name, many in sorted(self.step_deaths.items()))
        return "\n".join([*lines, "deaths at steps: " + ", ".join(steps)])


def percentiles(values: list[float]) -> str:
    """p50, p99 and the most, in milliseconds."""
    if not values:
        return "not seen"
    ranked = sorted(values)
    p50, p99 = ranked[len(ranked) // 2], ranked[min(len(ranked) - 1, len(ranked) * 99 // 100)]
    return f"p50 {p50:.1f} ms, p99 {p99:.1f} ms, max {ranked[-1]:.1f} ms (of {len(ranked)})"


class Soak:
    """Rounds of pipelines under kills."""

    def __init__(self, totals: Totals, mean_ms: float, odds: int, scale: float = 1.0) -> None:
        self.totals = totals
        self.mean_ms, self.odds, self.scale = mean_ms, odds, scale
        self._expected: dict[str, list[int]] = {}
        self._spoken = time.monotonic()

    def run(self, deaths: int, elements: int, state: Path | None = None) -> Totals:
        """Rounds of every kind in turn until both are reached."""
        totals = self.totals
        with tempfile.TemporaryDirectory() as folder:
            board = Board.make(Path(folder) / "board")
            with killer(board, self.mean_ms, seed=totals.rounds + 1):
                while totals.deaths < deaths or totals.elements < elements:
                    for kind in KINDS:
                        self._round(kind, board)
                        if state is not None:
                            state.write_text(json.dumps(asdict(totals)))
                        if totals.deaths >= deaths and totals.elements >= elements:
                            break
        return totals

    def _count(self, kind: Kind) -> int:
        return max(20, int(kind.count * self.scale))

    def _round(self, kind: Kind, board: Board) -> None:
        count, totals = self._count(kind), self.totals
        if kind.name not in self._expected:
            self._expected[kind.name] = fault_free(kind, count, board.path)
        expected = self._expected[kind.name]
        before = (board.kills, board.spare_kills, board.server_kills, board.calls)
        steps_before = board.step_deaths
        begun = time.monotonic()
        ds = kind.make(count, doomed(board.path, kind.steps, self.odds * kind.rarely))
        board.pause(False)
        try:
            got = self._consume(ds, board, kind.alone)
        finally:
            board.pause(True)
        totals.seconds += time.monotonic() - begun
        totals.rounds += 1
        totals.elements += len(got)
        totals.kills += board.kills - before[0]
        totals.spare_kills += board.spare_kills - before[1]
        totals.server_kills += board.server_kills - before[2]
        totals.calls += board.calls - before[3]
        totals.wanted_calls += count
        for number, (was, now) in enumerate(zip(steps_before, board.step_deaths, strict=True)):
            if now > was:
                name = ALL_STEPS[number]
                totals.step_deaths[name] = totals.step_deaths.get(name, 0) + now - was
        self._compare(kind, expected, got)
        del ds
        gc.collect()

    def _consume(self, ds: object, board: Board, alone: bool) -> list[int]:
        got: list[int] = []
        seen = board.kills
        died = 0
        for value, made in ds:  # type: ignore[attr-defined]
            if alone:
                if died and int(made) > died:
                    now = time.monotonic_ns()
                    self.totals.next_call_ms.append((int(made) - died) / 1e6)
                    self.totals.next_result_ms.append((now - died) / 1e6)
                    died = 0
                kills = board.kills
                if kills > seen:
                    died = died or board.time_of(seen)
                    seen = kills
            got.append(print_of(value))
            board.arrived()
            if time.monotonic() - self._spoken > REPORT_S:
                self._spoken = time.monotonic()
                print(f"soak: {self.totals.line()}; this round {len(got)}", flush=True)
        return got

    def _compare(self, kind: Kind, expected: list[int], got: list[int]) -> None:
        if got == expected:
            return
        wanted, found = Counter(expected), Counter(got)
        lost, doubled = sum((wanted - found).values()), sum((found - wanted).values())
        self.totals.lost += lost
        self.totals.doubled += doubled
        self.totals.out_of_order += 0 if lost or doubled else 1
        at = next((i for i, (a, b) in enumerate(zip(expected, got, strict=False)) if a != b), -1)
        print(f"soak: {kind.name}: differs from element {at} on: lost {lost}, doubled {doubled}")


@contextmanager
def killer(board: Board, mean_ms: float, seed: int) -> Iterator[None]:
    """Lets it kill this process's workers, whenever the board is not paused."""
    board.pause(True)
    arguments = [str(os.getpid()), board.path, str(mean_ms), str(seed)]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.faults.killer", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "python")])},
    )
    try:
        yield
    finally:
        board.stop()
        process.wait(timeout=500)


def left_behind() -> list[int]:
    """Workers that are still there after those that nobody uses were ended."""
    gc.collect()
    _native.end_idle_workers()
    return workers_of(os.getpid())


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--deaths", type=int, default=100_000)
    parser.add_argument("--elements", type=int, default=5_000_000)
    parser.add_argument("--mean-ms", type=float, default=12.0)
    parser.add_argument("--odds", type=int, default=200)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--state", type=Path)
    given = parser.parse_args()
    totals = Totals()
    if given.state is not None and given.state.exists():
        totals = Totals(**json.loads(given.state.read_text()))
    soak = Soak(totals, given.mean_ms, given.odds, given.scale)
    soak.run(given.deaths, given.elements, given.state)
    print(totals.report())
    print("left behind:", left_behind() or "nothing")
    return 0 if totals.faultless else 1


if __name__ == "__main__":
    sys.exit(main())
