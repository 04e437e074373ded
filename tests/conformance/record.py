"""Records a varied sample of programs with TensorFlow's outcomes.

`python -m tests.conformance.record --count 400 --seed 1` writes `recorded.jsonl.gz`: the programs
of `edges`, and random ones, chosen so that each adds something not yet seen. Each is run twice,
in two processes, and dropped where TensorFlow does not agree with itself.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import processes
from .coverage import Coverage, features
from .edges import EDGES
from .generate import generate
from .program import pretty, size

Record = tuple[dict[str, Any], dict[str, Any]]

PATH = Path(__file__).with_name("recorded.jsonl.gz")
LARGEST = 12_000


def load(path: Path = PATH) -> list[Record]:
    with gzip.open(path, "rt") as lines:
        return [(data["program"], data["outcome"]) for data in map(json.loads, lines)]


def _text(record: Record) -> str:
    program, outcome = record
    return json.dumps({"program": program, "outcome": outcome}, separators=(",", ":"))


def save(records: list[Record], path: Path = PATH) -> None:
    text = "".join(_text(record) + "\n" for record in records)
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def unusable(outcome: dict[str, Any]) -> str | None:
    """Why an outcome of TensorFlow's cannot be compared."""
    for reason in ("lost", "not_applicable", "inferred"):
        if reason in outcome:
            return f"{reason}: {outcome[reason]}"
    # The shapes that choose_from_datasets and sample_from_datasets give their kernel are lost
    # in a concatenate above them: TensorFlow then refuses its own iterator.
    if '"Incompatible shapes at component' in json.dumps(outcome.get("epochs")):
        return "TensorFlow cannot iterate what it built"
    return None


def usable(outcome: dict[str, Any]) -> bool:
    return unusable(outcome) is None


def run(programs: list[dict[str, Any]]) -> list[Record]:
    """The programs that can be compared, with TensorFlow's outcomes."""
    pairs = zip(programs, processes.tensorflow(programs), strict=True)
    return [(program, outcome) for program, outcome in pairs if usable(outcome)]


def agreeing(records: list[Record]) -> Iterator[Record]:
    """The records that TensorFlow repeats when asked again, in another process."""
    again = processes.tensorflow([program for program, _ in records])
    for (program, outcome), second in zip(records, again, strict=True):
        if outcome == second:
            yield program, outcome
        else:
            print("TensorFlow does not agree with itself:\n" + pretty(program))


def choose(records: list[Record], count: int) -> list[Record]:
    """Greedily those that show what is rarest so far, small ones first."""
    pool = [record for record in records if len(_text(record)) <= LARGEST]
    shown = [set(features(*record)) for record in pool]
    seen: Counter[tuple[str, str]] = Counter()
    left = set(range(len(pool)))
    chosen: list[Record] = []
    while left and len(chosen) < count:
        best = max(
            left,
            key=lambda i: (
                sum(1.0 / (1 + seen[item]) ** 2 for item in shown[i]) / (2 + size(pool[i][0])),
                -i,
            ),
        )
        left.remove(best)
        chosen.append(pool[best])
        seen.update(shown[best])
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    edges = run(list(EDGES.values()))
    records = run(generate(arguments.count * 3, arguments.seed))
    chosen = list(agreeing(edges + choose(records, arguments.count)))
    save(chosen)
    coverage = Coverage()
    for record in chosen:
        coverage.add(*record)
    print(coverage.report())
    print("missing:", coverage.missing() or "nothing")
    print(f"{len(chosen)} of {len(records)} recorded, {PATH.stat().st_size} bytes")


if __name__ == "__main__":
    main()
