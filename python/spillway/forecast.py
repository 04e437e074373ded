"""`ds.forecast()` and `sw.forecast(tensor)`: what will be held, before anything runs."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from spillway import _native
from spillway._native import format_bytes
from spillway.tables import as_html, as_text

_HEAD = ("stage", "holds", "guaranteed", "what", "when memory is short", "line")


@dataclass(frozen=True)
class StageForecast:
    """What one stage, or one tensor, will hold. `bytes` None: not known before it runs."""

    name: str
    bytes: int | None
    guaranteed: int = 0
    what: str = ""
    short: str = ""
    line: str = ""


@dataclass(frozen=True)
class Forecast:
    """What a pipeline or tensors will hold at most, and what becomes of what does not fit.

    `bytes`: the most held at a time, as far as sizes are known. `limit`: the budget now, `held`:
    of that, what is held already. `fits`: True, False, or None where unknown sizes decide.
    `outcome`: "fits", "unknown", "spills", "shrinks" or "refused"; of tensors also "parts", and
    `how` then says which. `suggestions`: what would fit. `floor`: the least limit that
    passes over a dataset run with; None where only elements tell.
    """

    bytes: int
    limit: int
    fits: bool | None
    stages: list[StageForecast] = field(repr=False)
    held: int = 0
    outcome: str = "fits"
    suggestions: list[str] = field(default_factory=list, repr=False)
    how: str = ""
    floor: int | None = None

    @property
    def unknown(self) -> list[StageForecast]:
        """Stages whose elements nobody can size before they are there."""
        return [stage for stage in self.stages if stage.bytes is None]

    def summary(self) -> str:
        """One line: how much of how much, and what becomes of it."""
        least = "at least " if self.unknown else ""
        room = format_bytes(self.limit)
        if self.held:
            room += f" ({format_bytes(self.held)} of it held already)"
        how = f" ({self.how})" if self.outcome == "parts" else ""
        return f"{least}{format_bytes(self.bytes)} of {room}: {_OUTCOMES[self.outcome]}{how}"

    def _rows(self) -> tuple[list[str], list[list[str]]]:
        rows = [
            [
                stage.name,
                "?" if stage.bytes is None else format_bytes(stage.bytes) if stage.bytes else "-",
                format_bytes(stage.guaranteed) if stage.guaranteed else "-",
                stage.what or "-",
                stage.short or "-",
                stage.line.rsplit("/", 1)[-1] or "-",
            ]
            for stage in self.stages
        ]
        kept = [i for i in range(len(_HEAD)) if i < 2 or any(row[i] != "-" for row in rows)]
        return [_HEAD[i] for i in kept], [[row[i] for i in kept] for row in rows]

    def __str__(self) -> str:
        """The line, a table, and what would fit."""
        head, rows = self._rows()
        lines = [self.summary(), *(_flush(head, rows) if rows else [])]
        lines += [f"would fit: {each}" for each in self.suggestions]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, rows = self._rows()
        more = "".join(f"<li>{html.escape(each)}</li>" for each in self.suggestions)
        would = f"<p>Would fit:</p><ul>{more}</ul>" if more else ""
        table = as_html(head, rows, left=len(head)) if rows else ""
        return f"<p>{html.escape(self.summary())}</p>{table}{would}"


_OUTCOMES = {
    "fits": "fits",
    "unknown": "fits as far as sizes are known",
    "shrinks": "fits, with less read ahead",
    "spills": "runs, with part of it on disk, which is slower",
    "parts": "is computed in parts",
    "refused": "refused before it runs",
}


def _flush(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Sizes to the right, words to the left."""
    words = [i for i, name in enumerate(head) if name not in ("holds", "guaranteed")]
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    padded = [
        [cell.ljust(widths[i]) if i in words else cell.rjust(widths[i]) for i, cell in enumerate(r)]
        for r in [head, *rows]
    ]
    return as_text(padded[0], padded[1:], left=len(head)).splitlines()


def forecast(value: Any) -> Forecast:
    """What `value` will hold when it is computed or iterated over; nothing is run.

    `value`: a dataset, a tensor, or a list of tensors that are asked for together.

    >>> import spillway as sw
    >>> sw.forecast(sw.Dataset.range(100).batch(10)).fits
    True
    """
    from spillway.dataset import Dataset

    if isinstance(value, Dataset):
        return value.forecast()
    return forecast_tensors(value)


def forecast_tensors(value: Any) -> Forecast:
    """Of tensors that are not computed yet."""
    from spillway.tensor import Tensor

    tensors = list(value) if isinstance(value, list | tuple) else [value]
    for tensor in tensors:
        if not isinstance(tensor, Tensor):
            raise TypeError(
                "forecast: must be a dataset, a tensor or a list of tensors: "
                f"{type(tensor).__name__}"
            )
    native: Any = _native
    needed, limit, fits, how, offenders = native.forecast_tensors(tensors)
    stages = [StageForecast(op, size, 0, spec, "", line) for size, spec, op, line in offenders]
    outcome = "refused" if how == "refused" else "fits" if how == "whole" else "parts"
    return Forecast(needed, limit, bool(fits), stages, 0, outcome, [], how)
