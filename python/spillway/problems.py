"""What a check found: a list that prints as a table and is written as JSON lines."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from spillway.plain_files import descriptor

_SHOWN = 50
_WIDEST = 60


@dataclass(frozen=True)
class Problem:
    """One bad file, or one bad element where no file is known.

    `offset` and `index` are None where they are not known; `index` is the element's in the stage.
    """

    file: str
    reason: str
    offset: int | None = None
    index: int | None = None
    stage: str = ""
    line: str = ""
    kind: str = "data"

    def to_json(self) -> str:
        """One line.

        >>> Problem("a.txt", "empty", 0).to_json()[:45]
        '{"file": "a.txt", "reason": "empty", "offset"'
        """
        return json.dumps(asdict(self))

    @staticmethod
    def from_facts(facts: Any) -> Problem | None:
        """What `to_json` wrote; None where it is something else. The text is not trusted."""
        if not isinstance(facts, dict) or not isinstance(facts.get("reason"), str):
            return None
        texts: dict[str, Any] = {
            k: facts.get(k, "") for k in ("file", "reason", "stage", "line", "kind")
        }
        numbers: dict[str, Any] = {k: facts.get(k) for k in ("offset", "index")}
        good = all(isinstance(v, str) for v in texts.values()) and all(
            v is None or isinstance(v, int) for v in numbers.values()
        )
        return Problem(**texts, **numbers) if good else None


class Problems(list[Problem]):
    """The bad files: empty, and so false, when everything is good.

    >>> Problems([Problem("a.txt", "the file is empty", 0, 3)], checked=10)
    1 problem, 10 elements checked
      file   offset  element  reason
      a.txt  0       3        the file is empty
    """

    def __init__(
        self,
        found: Iterable[Problem] = (),
        checked: int = 0,
        unlisted: int = 0,
        elapsed: float = 0.0,
        unit: str = "elements",
    ) -> None:
        """`unlisted`: found, but too many to be kept here; those are in the output file."""
        super().__init__(found)
        self.checked = checked
        self.unlisted = unlisted
        self.elapsed = elapsed
        self.unit = unit

    @property
    def total(self) -> int:
        """All that were found."""
        return len(self) + self.unlisted

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes JSON lines, readable by its owner alone: paths and messages tell of the data."""
        with open(open_private(path), "w", encoding="utf-8") as file:
            for problem in self:
                file.write(problem.to_json() + "\n")

    def summary(self) -> str:
        """One line.

        >>> Problems(checked=1000).summary()
        'no problems, 1,000 elements checked'
        """
        count = f"{self.total:,}" if self.total else "no"
        return (
            f"{count} problem{'' if self.total == 1 else 's'}, {self.checked:,} {self.unit} checked"
        )

    def __repr__(self) -> str:
        """The table, of the first fifty."""
        if not self:
            return self.summary()
        rows = [_row(problem) for problem in self[:_SHOWN]]
        head = ("file", "offset", "element", "reason")
        widths = [min(max(len(r[i]) for r in [head, *rows]), _WIDEST) for i in range(3)]
        lines = [self.summary()]
        for row in [head, *rows]:
            cells = [cell.ljust(width) for cell, width in zip(row[:3], widths, strict=True)]
            lines.append("  " + "  ".join([*cells, row[3]]))
        if self.total > _SHOWN:
            lines.append(f"  ... and {self.total - min(len(self), _SHOWN):,} more")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The same for a notebook; nothing in paths or messages is taken for HTML."""
        cells = [
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in _row(problem)) + "</tr>"
            for problem in self[:_SHOWN]
        ]
        more = self.total - len(cells)
        return (
            f"<p>{html.escape(self.summary())}</p><table><tr><th>file</th><th>offset</th>"
            f"<th>element</th><th>reason</th></tr>{''.join(cells)}</table>"
            + (f"<p>... and {more:,} more</p>" if more else "")
        )


def open_private(path: str | os.PathLike[str], append: bool = False) -> int:
    """A descriptor of a file that only its owner may read, as quarantine files are."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | (os.O_APPEND if append else os.O_TRUNC)
    return descriptor(path, flags, 0o600)


def printable(text: str) -> str:
    r"""Text that a terminal takes for nothing but text.

    >>> printable("a\x1b[31m\n")
    'a\\x1b[31m\\n'
    """
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _row(problem: Problem) -> tuple[str, str, str, str]:
    where = ", ".join(part for part in (problem.stage, problem.line) if part)
    shown = problem.reason if problem.file or not where else f"{where}: {problem.reason}"
    return (
        printable(problem.file) or "-",
        "-" if problem.offset is None else str(problem.offset),
        "-" if problem.index is None else str(problem.index),
        printable(shown),
    )
