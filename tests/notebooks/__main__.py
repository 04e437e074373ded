"""python -m tests.notebooks [--seed S] [--count N] [--only PIECE...]: random notebooks in turn."""

from __future__ import annotations

import argparse
import importlib.util
import random

from tests.notebooks.generate import notebook
from tests.notebooks.pieces import MIB, PIECES
from tests.notebooks.running import run


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    libraries = {name for name in ("pandas", "torch", "pyarrow") if importlib.util.find_spec(name)}
    print(f"seed {given.seed}, {given.count} notebooks, with {sorted(libraries)}")
    lost = bad = 0
    seen: set[str] = set()
    for number in range(given.count):
        one = notebook(given.seed + number, libraries, given.only)
        verdict = run(one)
        seen.update(one.pieces)
        lost += verdict.lost
        bad += bool(verdict.complaints)
        print(
            f"{one.seed} {one.limit // MIB} MiB, peak {verdict.peak // MIB}: "
            f"{', '.join(f'{p}' for p in one.pieces)}: {verdict.ends}",
            flush=True,
        )
        if verdict.complaints or given.verbose:
            print(one, *verdict.complaints, sep="\n", flush=True)
    print(
        f"{given.count} notebooks, {lost} kernels lost, {bad} with complaints; pieces never seen: "
        f"{sorted(set(PIECES) - seen)}"
    )


if __name__ == "__main__":
    main()
