"""`python -m tests.ceiling [CASE...]`: every case, and a table of what became of it."""

from __future__ import annotations

import sys

from tests.ceiling.cases import CASES
from tests.ceiling.harness import Outcome, fence, run, table


def main(wanted: list[str]) -> int:
    print(f"fence: {fence() or 'none to be had here'}", flush=True)
    outcomes: list[Outcome] = []
    for name, case in CASES.items():
        if wanted and name not in wanted:
            continue
        outcomes.append(run(name, case.limit))
        print(table(outcomes[-1:]).splitlines()[1], flush=True)
        if outcomes[-1].verdict != "ok":
            print(outcomes[-1].output)
    print()
    print(table(outcomes))
    return 0 if all(o.verdict == "ok" for o in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
