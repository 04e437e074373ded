"""Runs random functions in pipelines of TensorFlow and of Spillway, traced and as Python.

`python -m tests.conformance.function_programs --count 3000 --seed 1`. It exits with 1 where
something differs.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from .. import processes
from ..ops.record import save
from .compare import problem
from .generate import programs
from .known import known
from .record import sample

Data = dict[str, Any]


class Coverage:
    """What became of the functions, and what the programs held."""

    def __init__(self) -> None:
        self.programs = 0
        self.against = 0
        self.ways: Counter[str] = Counter()
        self.why: Counter[str] = Counter()
        self.theirs: Counter[str] = Counter()
        self.words: Counter[str] = Counter()

    def add(self, program: Data, theirs: Data, ours: Data) -> None:
        self.programs += 1
        self.against += "skipped" not in theirs
        use, traced = program["use"], ours["traced"]
        if "refused" in traced:
            self.ways[f"{use} refused"] += 1
        else:
            self.ways[f"{use} {'traced' if traced['native'] else 'as Python'}"] += 1
            if not traced["native"]:
                self.why[traced["why"].removeprefix("<program>:").lstrip("0123456789: ")[:70]] += 1
            if traced["spec"] is None:
                self.ways[f"{use} without a spec"] += 1
        if "refused" in theirs:
            self.theirs[f"refused {theirs['refused']['error'][0]}"] += 1
        for event in theirs.get("events", ()):
            self.theirs["error " + event["error"][0] if "error" in event else "values"] += 1
        for word in set(program["source"].replace("(", " ").replace("[", " ").split()):
            if word.startswith(("tf.", "np.")):
                self.words[word] += 1

    def report(self) -> str:
        lines = [
            f"{self.programs} programs, {self.against} against TensorFlow, "
            f"{len(self.words)} functions of tf and np in them",
            f"functions: {dict(self.ways.most_common())}",
            f"TensorFlow: {dict(self.theirs.most_common())}",
            "run as Python because:",
            *(f"  {count:5} {why}" for why, count in self.why.most_common(20)),
        ]
        return "\n".join(lines)


def run(wanted: list[Data], shown: int, record: Path | None) -> bool:
    coverage = Coverage()
    met: Counter[str] = Counter()
    unusable: Counter[str] = Counter()
    agreeing: list[tuple[Data, Data]] = []
    differing = 0
    started = time.monotonic()
    pairs = processes.of_both("function_programs", wanted)
    for i, (program, theirs, ours) in enumerate(pairs, 1):
        if i % 500 == 0:
            seconds = time.monotonic() - started
            print(
                f"functions: {i} of {len(wanted)}, {differing} different, {seconds:.0f} s",
                flush=True,
            )
        if "lost" in theirs or "harness" in theirs:
            unusable[f"TensorFlow {theirs}"[:150]] += 1
            continue
        if "traced" not in ours:
            found: str | None = f"lost: {ours}"
        else:
            coverage.add(program, theirs, ours)
            found = problem(program, theirs, ours)
        if found is None:
            agreeing.append((program, theirs))
            continue
        meant = known(program, found)
        if meant is not None:
            met[meant] += 1
            continue
        differing += 1
        if differing <= shown:
            kinds = [f"{data[0]}{data[1][1:]}" for data in program["data"]]
            print(f"---- {program['use']} of {program['form']} {kinds}, batch {program['batch']}")
            print(f"{program['source']}  {found}")
    print(coverage.report())
    for text, count in met.most_common():
        print(f"  known {count:5}: {text}")
    for text, count in unusable.most_common():
        print(f"  not compared {count:5}: {text}")
    print(f"{differing} of {coverage.programs} programs differ")
    if record is not None:
        save(sample(agreeing), record)
    return not differing


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shown", type=int, default=25)
    parser.add_argument("--record", type=Path, help="write a sample of what agrees to this file")
    given = parser.parse_args()
    wanted = list(programs(given.count, given.seed))
    return 0 if run(wanted, given.shown, given.record) else 1


if __name__ == "__main__":
    sys.exit(main())
