"""`./run programs`: the fifteen programs in a real Jupyter kernel under a hard memory limit.

Prints a table and writes it to build/programs as Markdown and JSON. Exit code 1: an end was of no
use, or a kernel did not live. `--tensorflow` runs the same programs with `import tensorflow as tf`
in an environment of its own, for the table beside it; its ends fail nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from tests.kernel.driver import ROOT
from tests.programs import data, table
from tests.programs.catalogue import BY_KEY, PROGRAMS
from tests.programs.running import Outcome, run

UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
SECONDS = {"spillway": 900.0, "tensorflow": 120.0}


def size(text: str) -> int:
    """Bytes of "2GiB" and its like."""
    for unit, factor in UNITS.items():
        if text.endswith(unit):
            return int(float(text.removesuffix(unit)) * factor)
    return int(text)


def main() -> int:
    """The command line."""
    parse = argparse.ArgumentParser(prog="./run programs", description=__doc__)
    parse.add_argument("--limit", type=size, default=size("2GiB"), help="2GiB, 768MiB ...")
    parse.add_argument("--only", nargs="+", choices=list(BY_KEY), default=list(BY_KEY))
    parse.add_argument("--tensorflow", action="store_true", help="the same with TensorFlow")
    parse.add_argument("--short", action="store_true", help="fewer elements")
    parse.add_argument("--once", action="store_true", help="do not look for growth in a second run")
    parse.add_argument("--seconds", type=float, help="for a program (900; TensorFlow: 120)")
    parse.add_argument("--notebooks", action="store_true", help="write examples/programs/*.ipynb")
    parse.add_argument("--page", action="store_true", help="write docs/programs.md from them")
    parse.add_argument("--data", type=Path, metavar="DIR", help="only make the programs' files")
    given = parse.parse_args()
    # This process only makes files; what others' processes died of is not for it to tell.
    os.environ["SPILLWAY_FLIGHT_RECORDER"] = "0"
    if given.data:
        data.make(given.data)
        return 0
    if given.page:
        from tests.programs import page

        return page.write()
    chosen = [program for program in PROGRAMS if program.key in given.only]
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="spillway-programs-") as place:
        folder = Path(place)
        data.make(folder)
        if given.notebooks:
            from tests.programs.notebooks import write

            return write(chosen, given.limit, folder, given.short)
        library = "tensorflow" if given.tensorflow else "spillway"
        seconds = given.seconds or SECONDS[library]
        outcomes = []
        for program in chosen:
            outcome = run(
                program,
                library,
                given.limit,
                folder,
                short=given.short,
                seconds=seconds,
                once=given.once,
            )
            outcomes.append(outcome)
            print(table.as_text([outcome]), flush=True)
    keep(outcomes, given.short)
    good = sum(outcome.useful for outcome in outcomes)
    alive = sum(outcome.alive for outcome in outcomes)
    print(f"{library}: {good} of {len(outcomes)} useful ends, {alive} live kernels")
    return 0 if library == "tensorflow" or good == len(outcomes) else 1


def keep(outcomes: list[Outcome], short: bool) -> None:
    """The table in build/programs, by library and limit; programs not run now keep their lines."""
    folder = ROOT / "build" / "programs"
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{outcomes[0].library}-{outcomes[0].limit >> 20}MiB" + ("-short" if short else "")
    path = folder / f"{name}.json"
    before = json.loads(path.read_text()) if path.exists() else []
    by_key = {row["key"]: row for row in before} | {o.key: table.as_data(o) for o in outcomes}
    rows = [by_key[key] for key in BY_KEY if key in by_key]
    path.write_text(json.dumps(rows, indent=1) + "\n")
    path.with_suffix(".md").write_text(table.as_markdown(rows))
    print(f"written to build/programs/{name}.md and .json")


if __name__ == "__main__":
    sys.exit(main())
