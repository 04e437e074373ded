"""Print the table of results: python -m tests.model_check."""

from __future__ import annotations

import sys
import time

from .catalogue import cases
from .model import check


def main() -> int:
    """Check every case; the exit code says whether each gave its verdict."""
    began = time.monotonic()
    states = failures = 0
    print("| rule | pipeline | policy | states | deadlocked | doomed | errors (needless) | peak |")
    print("|---|---|---|---|---|---|---|---|")
    for case in cases():
        model = case.model()
        report = check(model)
        states += report.states
        wrong = "" if report.verdict == case.verdict else " WRONG"
        failures += bool(wrong)
        cells = (
            case.rule,
            case.pipeline,
            case.policy,
            report.states,
            report.deadlocks,
            report.doomed,
            f"{sum(report.errors.values())} ({report.unjustified})",
            f"{report.peak}/{model.budget}{wrong}",
        )
        print(f"| {' | '.join(map(str, cells))} |", flush=True)
    print(f"\n{states} states, {failures} unexpected, {time.monotonic() - began:.1f} s")
    return failures


if __name__ == "__main__":
    sys.exit(main())
