"""What became of every element of a pass."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Entry:
    """One element that did not get through, and why; `weight` source rows are lost with it."""

    outcome: str
    stage: str
    line: str
    origin: str
    index: int
    epoch: int
    file: str
    offset: int
    code: int
    kind: str
    message: str
    attempts: int
    weight: int


@dataclass(frozen=True)
class StageRow:
    """One stage: rows_in = used + filtered + skipped + failed + dropped + held.

    In its own rows. Rows of datasets that it opened come in too; their stages follow the others,
    as `flat_map#1/map`.
    """

    name: str
    line: str
    rows_in: int
    rows_out: int
    used: int
    filtered: int
    skipped: int
    failed: int
    dropped: int
    held: int
    bytes: int
    busy_s: float
    wait_s: float
    parallelism: int
    spilled_bytes: int
    effective: int


@dataclass(frozen=True)
class Audit:
    """Source rows: total = delivered + filtered + skipped + failed + dropped + held.

    Held is what lies in buffers, was read ahead, or was left in an iterator closed early; once the
    data has ended it is dropped. Elements that datasets were made of are used up: their rows count.
    """

    total: int
    delivered: int
    filtered: int
    skipped: int
    failed: int
    dropped: int
    held: int
    entries: list[Entry] = field(repr=False)
    stages: list[StageRow] = field(repr=False)
    entries_lost: int = 0

    @staticmethod
    def of(facts: dict[str, Any]) -> Audit:
        """From what the engine reports."""
        rest = {k: v for k, v in facts.items() if k not in ("entries", "stages")}
        return Audit(
            entries=[Entry(**entry) for entry in facts["entries"]],
            stages=[StageRow(**stage) for stage in facts["stages"]],
            **rest,
        )

    @property
    def balanced(self) -> bool:
        """Whether every row is accounted for."""
        return _adds_up(self.total, self.delivered, self) and all(
            _adds_up(s.rows_in, s.used, s) for s in self.stages
        )


def _adds_up(whole: int, good: int, rest: Audit | StageRow) -> bool:
    parts = (good, rest.filtered, rest.skipped, rest.failed, rest.dropped, rest.held)
    return whole == sum(parts) and min(parts) >= 0


class Report:
    """Time, bytes and errors, a line a stage; prints as a table."""

    def __init__(self, audit: Audit) -> None:
        """Shows an audit's stages."""
        self.stages = audit.stages
        self.audit = audit

    def __repr__(self) -> str:
        """The table."""
        from spillway._native import format_bytes

        head = ("stage", "rows", "bytes", "busy s", "waited s", "calls", "errors", "spilled")
        rows = [
            (
                s.name,
                str(s.rows_out),
                format_bytes(s.bytes),
                f"{s.busy_s:.3f}",
                f"{s.wait_s:.3f}",
                str(s.parallelism),
                str(s.skipped + s.failed),
                format_bytes(s.spilled_bytes) if s.spilled_bytes else "-",
            )
            for s in self.stages
        ]
        widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
        return "\n".join(
            "  ".join(
                cell.ljust(w) if i == 0 else cell.rjust(w)
                for i, (cell, w) in enumerate(zip(row, widths, strict=True))
            )
            for row in [head, *rows]
        )
