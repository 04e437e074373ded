"""Runs every function of tensors in TensorFlow and in Spillway and compares what they give.

`python -m tests.conformance.ops --count 6000 --seed 1`. It exits with 1 where something differs or
a public function never gave a value.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from .. import processes
from . import public
from .compare import problem
from .coverage import Coverage
from .generate import programs
from .known import known
from .record import sample, save

Data = dict[str, Any]


def run(wanted: list[Data], shown: int, record: Path | None) -> bool:
    coverage = Coverage()
    differing: Counter[str] = Counter()
    met: Counter[str] = Counter()
    unusable: Counter[str] = Counter()
    agreeing: list[tuple[Data, Data]] = []
    started = time.monotonic()
    for i, (program, theirs, ours) in enumerate(processes.of_both("ops", wanted), 1):
        if i % 500 == 0:
            seconds = time.monotonic() - started
            told = f"{sum(differing.values())} different, {seconds:.0f} s"
            print(f"ops: {i} of {len(wanted)}, {told}", flush=True)
        if "rows" not in theirs:
            unusable[f"{program['path']}: TensorFlow {theirs}"[:150]] += 1
            continue
        if "rows" not in ours:
            differing[program["path"]] += 1
            print(f"{program['source']}\n  lost: {ours}")
            continue
        coverage.add(program, theirs, ours)
        found = problem(program, theirs, ours)
        if found is None:
            agreeing.append((program, theirs))
            continue
        meant = known(program, found)
        if meant is not None:
            met[meant] += 1
            continue
        differing[program["path"]] += 1
        if differing[program["path"]] <= shown:
            kinds = [f"{data[0]}{data[1][1:]}" for data in program["operands"]]
            print(
                f"tf.{program['path']}: {program['source']}  {kinds} {program['known']}\n  {found}"
            )
    print(coverage.report())
    for text, count in met.most_common():
        print(f"  known {count:5}: {text}")
    for text, count in unusable.most_common():
        print(f"  not compared {count:5}: {text}")
    missing = coverage.missing()
    if missing:
        print("never gave a value:", ", ".join(missing))
    print("differing:", dict(differing.most_common()))
    print(f"{sum(differing.values())} of {coverage.programs} programs differ")
    if record is not None:
        save(sample(agreeing), record)
    return not differing and not missing


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shown", type=int, default=2, help="differences shown a function")
    parser.add_argument("--only", default="", help="functions whose path holds this")
    parser.add_argument("--record", type=Path, help="write a sample of what agrees to this file")
    given = parser.parse_args()

    def have(path: str) -> bool:
        return given.only in path and public.find(path) is not None

    wanted = list(programs(given.count, given.seed, have))
    return 0 if run(wanted, given.shown, given.record) else 1


if __name__ == "__main__":
    sys.exit(main())
