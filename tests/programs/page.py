"""docs/programs.md, from the tables that runs left in build/programs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.kernel.driver import ROOT
from tests.programs import table
from tests.programs.catalogue import BY_KEY, PROGRAMS
from tests.programs.running import MIB

PAGE = ROOT / "docs" / "programs.md"
TABLES = ROOT / "build" / "programs"
LIMITS = (2048, 768)
_HEAD = """# Fifteen programs that kill notebooks

Written by `./run programs --page` from what `./run programs`, with and without `--tensorflow`,
measured last. Each program (`tests/programs/sources`; as notebooks with outputs:
[examples/programs](../examples/programs)) runs in a real Jupyter kernel in a memory cgroup with a
hard limit, cell by cell, twice in the same kernel (again where the second left more), and once in
another that is interrupted half-way. What TensorFlow 2.21 runs differs by the import line only; a
program that has not ended after `--seconds` (120 for TensorFlow) is interrupted. **Bold**: the end
is of no use, that is, neither the result nor an error that names what is wrong. Peak is the
kernel's resident memory; of one that was killed, its cgroup's. Times leave out the import; on a
busy machine they are long, and so is the time to hear Ctrl-C, of which a bare `while` loop's is
told beside it.
"""
_PLACES = re.compile(r"(?:/\S*)?/(?=(?:spillway|ipykernel_\d+|site-packages)/)")
_MARKS = re.compile(r"(<!-- programs -->)\n.*?(<!-- /programs -->)", re.DOTALL)
MOST = 14  # lines of an answer


def write() -> int:
    """Writes the page from whichever tables are there."""
    out = [_HEAD]
    for limit in LIMITS:
        ours, theirs = _read("spillway", limit), _read("tensorflow", limit)
        if ours:
            out += [f"## Limit {limit} MiB", "", _counts(ours, theirs), ""]
            out += [table.beside(ours, theirs)]
    ours, theirs = _read("spillway", LIMITS[0]), _read("tensorflow", LIMITS[0])
    out += [f"## What a user sees, at {LIMITS[0]} MiB", ""]
    for row in ours:
        other = next((other for other in theirs if other["key"] == row["key"]), None)
        out += _seen(row, other)
    PAGE.write_text("\n".join(out).rstrip() + "\n")
    print(PAGE.relative_to(ROOT))
    _put_table(ROOT / "README.md", f"{_counts(ours, theirs)}\n\n{table.beside(ours, theirs)}")
    return 0


def _put_table(page: Path, text: str) -> None:
    """Between the marks of a page that has them."""
    if page.exists() and _MARKS.search(said := page.read_text()):
        page.write_text(_MARKS.sub(lambda marks: f"{marks[1]}\n{text}{marks[2]}", said))
        print(page.relative_to(ROOT))


def _read(library: str, limit: int) -> list[dict[str, Any]]:
    path = TABLES / f"{library}-{limit}MiB.json"
    rows: list[dict[str, Any]] = json.loads(path.read_text()) if path.exists() else []
    return rows


def _counts(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> str:
    told = []
    for name, rows in (("Spillway", ours), ("TensorFlow", theirs)):
        if rows:
            useful = sum(row["useful"] for row in rows)
            alive = sum(row["alive"] for row in rows)
            missing = len(PROGRAMS) - len(rows)
            ran = f"{len(rows)} run" + (f" ({missing} not run)" if missing else "")
            told.append(f"{name}: {useful} useful ends of {ran}, {alive} live kernels")
    return "; ".join(told) + "."


def _seen(row: dict[str, Any], other: dict[str, Any] | None) -> list[str]:
    program = BY_KEY[row["key"]]
    source = Path("tests/programs/sources") / program.file
    out = [f"### {row['key']} {row['about']}", "", f"[{program.file}](../{source})", ""]
    out += ["```text", *_lines(row["first"]["text"]), "```", ""]
    if row["first"]["shows"].strip():
        out += ["Cells that only Spillway has:", "", "```text"]
        out += [*_lines(row["first"]["shows"]), "```", ""]
    grown = row["growth"]
    facts = [f"Ctrl-C half-way: {row['interrupt']}"]
    if grown:
        more = f"{grown['resident'] / MIB:+.0f} MiB, {grown['threads']:+} threads"
        more += f", {grown['descriptors']:+} descriptors"
        facts.append(f"after run {row['times']} in the same kernel: {more}")
    out += ["; ".join(facts) + ".", ""]
    if other and other["first"]["end"] != "result":
        first = other["first"]
        told = table.told_lines(first["text"], first["end"], first["error"], other["wanted"])
        out += ["TensorFlow:", "", "```text", *_lines("\n".join(told[:4])), "```", ""]
    return out


def _lines(text: str) -> list[str]:
    lines = [line.rstrip() for line in text.strip().splitlines()]
    lines = [_PLACES.sub("", line) for line in lines if not table.LOG.match(line)]
    lines = [line if len(line) <= 160 else line[:159] + "…" for line in lines]
    return lines if len(lines) <= MOST else [*lines[:MOST], "..."]
