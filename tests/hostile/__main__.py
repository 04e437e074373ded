"""Runs hostile calls and shows what is wrong with how they ended.

`python -m tests.hostile ops --count 3000 --seed 1`; `--tensorflow PYTHON`: what TensorFlow refuses
in that environment and has a value here. It exits with 1 where something is wrong.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from typing import Any

from . import operators, ops, pool
from .judge import fault
from .values import VALUES


def wanted(given: argparse.Namespace) -> list[dict[str, Any]]:
    """The programs that the options ask for."""
    values = [name for name in VALUES if given.value in name]
    table = operators if given.what == "datasets" else ops
    every = [one for one in table.every(values) if given.path in one[0]]
    if given.count:
        random.Random(given.seed).shuffle(every)
        every = every[: given.count]
    return [table.program(*one) for one in every]


def main() -> None:
    """What the module says."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("what", choices=("ops", "datasets"))
    arguments.add_argument("--count", type=int, default=0, help="0: every one")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--path", default="", help="only of functions whose path has it")
    arguments.add_argument("--value", default="", help="only values whose name has it")
    arguments.add_argument("--shown", type=int, default=3, help="programs of each kind of fault")
    arguments.add_argument("--tensorflow", default="", help="an interpreter that has it")
    given = arguments.parse_args()
    programs = wanted(given)
    ended = list(pool.outcomes(programs))
    found: dict[str, list[str]] = {}
    sites: Counter[str] = Counter()
    theirs: list[Any] = [None] * len(programs)
    if given.tensorflow:
        pairs = pool.outcomes(programs, "theirs", interpreter=given.tensorflow)
        theirs = [outcome for _, outcome in pairs]
    for (program, ours), other in zip(ended, theirs, strict=True):
        wrong = fault(program, ours)
        if other is not None:
            silent = other.get("end") == "error" and ours.get("end") == "value"
            wrong = "TensorFlow refuses it" if silent else None
        if wrong is None:
            continue
        said = (other or ours).get("message", ours)
        told = f"{program['path']} {program['parameter']} = {program['value']}"
        told += f"\n     {program['source'][:150]}\n     {said!s:.300}"
        told += f"\n     {ours.get('shown', '')!s:.100} {ours.get('where', '')}"
        found.setdefault(wrong[:60], []).append(told)
        sites[f"{program['path']} {program['parameter']}: {program['value']}"] += 1
    for kind, some in sorted(found.items(), key=lambda each: -len(each[1])):
        print(f"== {len(some)} {kind}")
        for told in random.Random(1).sample(some, min(len(some), given.shown)):
            print("  ", told.encode("utf-8", "replace").decode())
    faults = sum(map(len, found.values()))
    print(f"{len(programs)} programs, {faults} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
