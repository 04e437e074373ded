"""What was seen, as text, Markdown and JSON."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from tests.programs.catalogue import PROGRAMS
from tests.programs.running import MIB, Outcome

_ENDS = {
    "result": "result",
    "killed": "kernel killed",
    "died": "kernel died",
    "hangs": "hangs, Ctrl-C not heard",
    "late": "no end in time",
}
LOG = re.compile(r"^(?:\d{4}-\d\d-\d\d |[WIEF]\d{4} |To enable the following)")
WIDTH = 150


def shown(outcome: Outcome, lines: int = 2) -> str:
    """The first lines of an error, or those of a result that hold what was wanted."""
    first = outcome.first
    told = told_lines(first.text, first.end, first.error, outcome.wanted)[:lines]
    return " / ".join(line if len(line) <= WIDTH else line[: WIDTH - 1] + "…" for line in told)


def told_lines(said: str, end: str, error: str, wanted: list[str]) -> list[str]:
    """What matters of what a program said."""
    text = [line.strip() for line in said.splitlines() if line.strip()]
    text = [line for line in text if not LOG.match(line)]
    hits = [line for line in text if any(word in line for word in wanted)]
    if end in ("killed", "died"):
        return ["(nothing: the kernel is gone)"]
    if end != "error":
        return hits[-2:] or text[-1:]
    text = text[next((i for i, line in enumerate(text) if line.startswith(error)), 0) :]
    if not text[0].endswith(":"):
        return text
    # TensorFlow's begin with a heading and a stack: what happened stands behind them.
    plain = [line for line in text[1:] if not line.startswith(("File ", "[[{{", "Hint:"))]
    return [text[0], *(hits or plain[-1:])]


def end_of(outcome: Outcome) -> str:
    """How it ended, in a word or two."""
    return _ENDS.get(outcome.first.end, outcome.first.error)


def time_of(outcome: Outcome) -> str:
    """Of the program's cells, the import left out."""
    seconds = outcome.first.seconds
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def row(outcome: Outcome) -> list[str]:
    """One line of the table."""
    return [
        outcome.key,
        end_of(outcome),
        shown(outcome),
        f"{outcome.peak / MIB:.0f} MiB",
        time_of(outcome),
        "yes" if outcome.alive else "NO",
        outcome.interrupt or "-",
        _growth(outcome),
        "yes" if outcome.useful else "NO",
    ]


HEAD = ["", "outcome", "shown", "peak", "time", "alive", "Ctrl-C half-way", "again", "useful"]


def _growth(outcome: Outcome) -> str:
    if not outcome.growth:
        return "-"
    grown = outcome.growth
    more = f"{grown['threads']:+} threads, {grown['descriptors']:+} files"
    return f"{grown['resident'] / MIB:+.0f} MiB, {more}"


def as_text(outcomes: list[Outcome]) -> str:
    """For a terminal: a line of facts, then what the user saw."""
    lines = []
    for outcome in outcomes:
        key, end, said, peak, time, alive, interrupt, growth, useful = row(outcome)
        lines.append(
            f"{key}  {'ok ' if useful == 'yes' else 'BAD'} {end:24} {peak:>9} {time:>8}  "
            f"alive {alive:3}  Ctrl-C {interrupt:34} again {growth}"
        )
        lines.append(f"         {said}")
        lines += [f"         not useful: {why}" for why in outcome.complaints]
    return "\n".join(lines)


def as_data(outcome: Outcome) -> dict[str, Any]:
    """Everything, and its line of the table."""
    return {**dataclasses.asdict(outcome), "useful": outcome.useful, "row": row(outcome)}


def as_markdown(rows: list[dict[str, Any]]) -> str:
    """The table, with a line that says under what it was measured."""
    first = rows[0]
    good = sum(row["useful"] for row in rows)
    alive = sum(row["alive"] for row in rows)
    out = [
        f"{first['library']}, {first['limit'] // MIB} MiB hard limit ({first['fence']}): "
        f"{good} of {len(rows)} useful ends, {alive} live kernels.",
        "",
        "| " + " | ".join(["program", *HEAD[1:]]) + " |",
        "|" + "---|" * len(HEAD),
    ]
    for row in rows:
        cells = [f"{row['key']} {row['about']}", *row["row"][1:]]
        out.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(out) + "\n"


def beside(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> str:
    """Two libraries' JSON as one table: what each came to. What was not run is told, too."""
    rows = [{row["key"]: row for row in side} for side in (theirs, ours)]
    out = ["| program | TensorFlow | Spillway |", "|---|---|---|"]
    for program in PROGRAMS:
        told = [_told(side[program.key]) if program.key in side else "not run" for side in rows]
        cells = [f"{program.key} {program.about}", *told]
        out.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(out) + "\n"


def _told(row: dict[str, Any]) -> str:
    """End, peak and time of a program, in bold where it is of no use."""
    end = _ENDS.get(row["first"]["end"], f"`{row['first']['error']}`")
    end = end if row["useful"] else f"**{end}**"
    seconds = row["first"]["seconds"]
    took = f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
    return f"{end}, {took}, {row['peak'] // MIB} MiB"
