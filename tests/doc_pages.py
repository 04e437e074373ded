"""Runs the Python blocks of a page of docs/, in order, as one program in an empty folder.

    python -m tests.doc_pages docs/memory.md

A `text` block behind one is what it prints ("..." stands for anything). `<!-- needs torch -->` or
`<!-- needs sw.leaks -->` before a block leaves it out where there is no such module or name.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib.util
import io
import linecache
import os
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NEEDS = re.compile(r"<!-- needs (\S+) -->\s*\Z")
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass
class Block:
    """One block of code, and what it must print, if the page says so."""

    line: int
    code: str
    needs: str
    prints: str | None = None


def blocks(page: str) -> list[Block]:
    """The Python blocks of a page's text."""
    found: list[Block] = []
    behind = -1  # where the last Python block ended
    for fence in _FENCE.finditer(page):
        before = page[: fence.start()]
        if fence[1] == "python":
            needs = _NEEDS.search(before)
            line = before.count("\n") + 1
            found.append(Block(line, fence[2], needs[1] if needs else ""))
            behind = fence.end()
        elif fence[1] == "text" and found and not page[behind : fence.start()].strip():
            found[-1].prints = fence[2]
    return found


def _is_here(name: str) -> bool:
    if not name.startswith("sw."):
        return importlib.util.find_spec(name) is not None
    import spillway as sw

    value: Any = sw
    for part in name.split(".")[1:]:
        value = getattr(value, part, None)
    return value is not None


def run(path: Path) -> list[str]:
    """What differs from the page, a text each. Errors of the code are raised."""
    wrong: list[str] = []
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(path.read_text()):
        if block.needs and not _is_here(block.needs):
            continue
        place = f"{path.name}:{block.line}"
        # Errors tell the user's lines: the page has to have some.
        lines = block.code.splitlines(keepends=True)
        linecache.cache[place] = (len(block.code), None, lines, place)
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(block.code, place, "exec"), names)
        if block.prints is not None:
            checker = doctest.OutputChecker()
            if not checker.check_output(block.prints, said.getvalue(), _FLAGS):
                wrong.append(f"{place} printed\n{said.getvalue()}not\n{block.prints}")
    return wrong


def main() -> int:
    """One page."""
    page = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        wrong = run(page)
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
