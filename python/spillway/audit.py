"""What became of every element of a pass."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Entry:
    """One element that did not get through, and why; `weight` source rows are lost with it.

    With the outcome "ended early" it is a source that failed and gave no more, after `index`
    elements; nobody knows how many would have followed. With `ends_file` the rest of its file was
    not read, from byte `offset` on, and the next file followed.
    """

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
    ends_file: bool = False


@dataclass(frozen=True)
class StageRow:
    """One stage: rows_in = used + filtered + skipped + failed + dropped + held.

    In its own rows. Rows of datasets that it opened come in too; their stages follow the others,
    as `flat_map#1/map`. `busy_s` is the time on the thread that pulls the stage, at its own work or
    awaiting its own calls; `wait_s` for its inputs, `memory_wait_s` for memory, `consumer_wait_s`
    for whoever takes its rows. `parallelism` is the most calls it had under way, `effective` the
    buffer it really used.
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
    bytes_in: int = 0
    peak_bytes: int = 0
    memory_wait_s: float = 0.0
    consumer_wait_s: float = 0.0


@dataclass(frozen=True)
class Pass:
    """A pass as a whole: times end with the data, or when it is closed.

    `away_s`: the consumer was at something else. `cpu_s`: of all threads of the process. `limit` is
    what was asked for, `effective` what the rest of the machine left of it.
    """

    elapsed_s: float
    away_s: float
    cpu_s: float
    peak_bytes: int
    limit: int
    effective: int
    ended: bool


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
        rest = {k: v for k, v in facts.items() if k not in ("entries", "stages", "pass")}
        return Audit(
            entries=[Entry(**entry) for entry in facts["entries"]],
            stages=[StageRow(**stage) for stage in facts["stages"]],
            **rest,
        )

    @property
    def ended_early(self) -> list[Entry]:
        """Sources that failed and gave no more, and files read in part: the rest is missing."""
        return [e for e in self.entries if e.outcome == "ended early" or e.ends_file]

    @property
    def balanced(self) -> bool:
        """Whether every row is accounted for."""
        return _adds_up(self.total, self.delivered, self) and all(
            _adds_up(s.rows_in, s.used, s) for s in self.stages
        )


def _adds_up(whole: int, good: int, rest: Audit | StageRow) -> bool:
    parts = (good, rest.filtered, rest.skipped, rest.failed, rest.dropped, rest.held)
    return whole == sum(parts) and min(parts) >= 0
