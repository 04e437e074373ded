"""Runs random programs in TensorFlow and in Spillway and compares what they do.

`python -m tests.conformance --count 3000 --seed 1`. It exits with 1 where an outcome differs, or
where a registered operator, dtype, structure, function or kind of error never occurred.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import processes
from .compare import difference, explain
from .coverage import Coverage
from .edges import EDGES
from .generate import generate
from .known import reason
from .program import operators
from .record import PATH, load, save, unusable, usable
from .shrink import shrink

Program = dict[str, Any]
Outcome = dict[str, Any]
BATCH = 250
SHOWN = 25
SHRUNK = 10


def _problem(theirs: Outcome, ours: Outcome) -> str | None:
    if not usable(theirs):
        return None
    return difference(theirs, ours)


def _differs(program: Program) -> bool:
    theirs = next(processes.tensorflow([program]))
    return _problem(theirs, next(processes.spillway([program]))) is not None


def _tensorflow_agrees_with_itself(program: Program, theirs: Outcome) -> bool:
    return all(again == theirs for again in processes.tensorflow([program, program]))


class Run:
    """One run of the suite: what was compared, what differed, what was not comparable."""

    def __init__(self, known: list[tuple[Program, Outcome]]) -> None:
        self.known = known
        self.coverage = Coverage()
        self.left_out: Counter[str] = Counter()
        self.meant: Counter[str] = Counter()
        self.failures: list[tuple[Program, str]] = []
        self.pairs: list[tuple[Program, Outcome]] = []

    def all(self, programs: list[Program]) -> None:
        started = time.monotonic()
        for first in range(0, len(programs), BATCH):
            self.batch(programs[first : first + BATCH])
            print(
                f"conformance: {min(first + BATCH, len(programs))} of {len(programs)}, "
                f"{len(self.failures)} different, {time.monotonic() - started:.0f} s",
                flush=True,
            )

    def _theirs(self, programs: list[Program]) -> Iterator[Outcome]:
        if self.known:
            outcomes = {id(program): outcome for program, outcome in self.known}
            return (outcomes[id(program)] for program in programs)
        return processes.tensorflow(programs)

    def batch(self, programs: list[Program]) -> None:
        theirs = list(self._theirs(programs))
        ours = processes.spillway(programs)
        for program, want, got in zip(programs, theirs, ours, strict=True):
            if not usable(want):
                self._leave_out(program, want)
                continue
            self.pairs.append((program, want))
            self.coverage.add(program, want)
            problem = _problem(want, got)
            if problem is not None:
                self._failed(program, want, got, problem)

    def _leave_out(self, program: Program, outcome: Outcome) -> None:
        self.left_out[str(unusable(outcome))[:70]] += 1
        if "inferred" in outcome:
            self.failures.append((program, f"the harness infers another type: {outcome}"[:600]))

    def _failed(self, program: Program, want: Outcome, got: Outcome, problem: str) -> None:
        many = len(self.failures) >= SHOWN
        if not many and not self.known:
            if not _tensorflow_agrees_with_itself(program, want):
                self.left_out["TensorFlow does not agree with itself"] += 1
                return
            meant = reason(
                program,
                problem,
                lambda plain: _problem(next(processes.tensorflow([plain])), got) is None,
            )
            if meant is not None:
                self.meant[meant] += 1
                self.pairs.pop()
                return
        self.failures.append((program, problem))

    def report(self, shrinking: bool) -> bool:
        for i, (program, problem) in enumerate(self.failures[:SHOWN]):
            if shrinking and i < SHRUNK:
                program = shrink(program, _differs)
                theirs = next(processes.tensorflow([program]))
                problem = _problem(theirs, next(processes.spillway([program]))) or problem
            print(explain(program, problem))
        print(self.coverage.report())
        if self.left_out:
            print("not compared:", dict(self.left_out))
        if self.meant:
            print("documented differences met:", dict(self.meant))
        missing = self.coverage.missing()
        if missing:
            print("never occurred:", ", ".join(missing))
        if self.failures:
            blamed = Counter(op for program, _ in self.failures for op in set(operators(program)))
            print("operators of the programs that differ:", dict(blamed.most_common()))
        print(f"{len(self.failures)} of {self.coverage.programs} programs differ")
        return not self.failures and not missing


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-shrink", action="store_true", help="show mismatches as found")
    parser.add_argument(
        "--recorded",
        type=Path,
        nargs="?",
        const=PATH,
        help="compare with recorded outcomes, without TensorFlow (default: the sample)",
    )
    parser.add_argument("--keep", type=Path, help="also write programs and outcomes to this file")
    arguments = parser.parse_args()
    known = load(arguments.recorded) if arguments.recorded is not None else []
    run = Run(known)
    programs = [program for program, _ in known]
    if not known:
        programs = [*EDGES.values(), *generate(arguments.count, arguments.seed)]
    run.all(programs)
    if arguments.keep is not None:
        save(run.pairs, arguments.keep)
    fine = run.report(shrinking=not arguments.no_shrink and not known)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
