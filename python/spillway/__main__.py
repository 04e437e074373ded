"""The command line tool: `spillway describe`, `check`, `forecast`, `postmortem`; also `python -m`.

`describe` prints what apps/spillway.cc prints, from the same definitions.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from spillway import _native, check_command, flight_report, forecast_command, policies


def _table(lines: Sequence[Sequence[str]], indent: str) -> str:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rows = []
    for line in lines:
        padded = [cell.ljust(width) for cell, width in zip(line, widths, strict=True)]
        rows.append(indent + "  ".join([*padded[:-1], line[-1]]) + "\n")
    return "".join(rows)


def describe_operators() -> str:
    """A line an operator.

    >>> [line.split()[0] for line in describe_operators().splitlines()][:2]
    ['assert_cardinality', 'batch']
    """
    shown = [op for op in _native.operators() if not op["hidden"]]
    return _table(sorted((op["name"], op["summary"]) for op in shown), "")


def describe_operator(op: dict[str, Any]) -> str:
    """Signature, summary, a line a parameter, the example."""
    params = op["params"]
    names = (p["name"] + (f"={p['default']}" if p["default"] else "") for p in params)
    text = f"{op['name']}({', '.join(names)})\n\n{op['summary']}\n"
    if params:
        lines = [
            (
                p["name"],
                p["type"] + (f" = {p['default']}" if p["default"] else ""),
                p["doc"] + (" (never changes results)" if p["tuning"] else ""),
            )
            for p in params
        ]
        text += "\n" + _table(lines, "  ")
    if op["policy"]:
        text += f"\n  and for elements that fail: {' '.join(policies.NAMES)}\n"
    if op["example"]:
        text += "\n  " + op["example"].replace("\n", "\n  ") + "\n"
    return text


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the tool; 2 for wrong usage, 1 for problems that a check found."""
    parser = argparse.ArgumentParser(
        prog="spillway", description="Input pipelines under a memory limit."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    describing = commands.add_parser(
        "describe", help="What operators there are, or what one of them does."
    )
    describing.add_argument("operator", nargs="?", help="its name; without one, all are listed")
    check_command.add_parser(commands)
    forecast_command.add_parser(commands)
    commands.add_parser("postmortem", help="What the last process that died here was doing.")
    given = parser.parse_args(arguments)
    if given.command == "check":
        return check_command.run(given)
    if given.command == "forecast":
        return forecast_command.run(given)
    if given.command == "postmortem":
        print(flight_report.postmortem())
        return 0
    name = given.operator
    if name is None:
        print(describe_operators(), end="")
        return 0
    for op in _native.operators():
        if op["name"] == name and not op["hidden"]:
            print(describe_operator(op), end="")
            return 0
    print(f"spillway: no such operator: {name}; `spillway describe` lists them", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
