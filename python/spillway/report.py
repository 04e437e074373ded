"""`ds.report()`: what every stage of a pass did, waited for and held, and what would help."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from spillway._native import format_bytes
from spillway.advice import Advice, PassNumbers, StageFacts, advise, duration
from spillway.audit import Audit, Pass, StageRow
from spillway.stages import PipelineStage, stages_of
from spillway.tables import as_text

_HEAD = (
    *("stage", "rows", "in", "out", "busy", "waits: input", "memory", "consumer"),
    *("calls", "peak held", "skipped", "failed", "spilled", "line"),
)
_ALWAYS = 6  # columns that are shown whatever is in them
_MOST_EARLY = 3  # sources and files that ended early, in a summary


class AtStage(NamedTuple):
    """A stage at one moment; times and rows count from the beginning."""

    held: int
    busy_s: float
    wait_s: float
    rows: int


class Point(NamedTuple):
    """One moment of a pass: what all pipelines held, the limit then, and the stages."""

    at_s: float
    used: int
    limit: int
    untracked: int
    stages: tuple[AtStage, ...]


class Report:
    """A pass, stage by stage: prints as a table, shows as one in a notebook, saves as a page.

    >>> import spillway as sw
    >>> ds = sw.Dataset.range(1000).map(lambda x: x + 1).batch(10)
    >>> for _ in ds: pass
    >>> report = ds.report()
    >>> [(s.name, s.rows_out) for s in report.stages]
    [('range#0', 1000), ('map#1', 1000), ('batch#2', 100)]
    >>> report.run.ended, report.slowest.name in ('range#0', 'map#1', 'batch#2')
    (True, True)
    """

    def __init__(
        self,
        audit: Audit,
        run: Pass | None = None,
        timeline: Sequence[Point] = (),
        node: Any = None,
    ) -> None:
        """`node`: the pipeline; without it there is no advice."""
        self.audit = audit
        self.stages: list[StageRow] = audit.stages
        self.run = run or Pass(0.0, 0.0, 0.0, 0, 0, 0, False)
        self.timeline = list(timeline)
        self.pipeline: list[PipelineStage] = [] if node is None else stages_of(node)

    @staticmethod
    def of(facts: dict[str, Any], timeline: Sequence[Any], node: Any) -> Report:
        """From what the engine reports."""
        points = [
            Point(at, used, limit, rest, tuple(AtStage(*stage) for stage in stages))
            for at, used, limit, rest, stages in timeline
        ]
        audit, run = Audit.of(facts), Pass(**facts["pass"])
        whole = _completed(audit.stages, stages_of(node), run)
        return Report(replace(audit, stages=whole), run, points, node)

    @property
    def slowest(self) -> StageRow | None:
        """The stage that took the most time itself."""
        return max(self.stages, key=lambda s: s.busy_s, default=None)

    @property
    def rows(self) -> int:
        """Elements that left the last stage."""
        return self.stages[self._root].rows_out if self.stages else 0

    @property
    def _root(self) -> int:
        """Stages of nested datasets follow the pipeline's own."""
        return (len(self.pipeline) or len(self.stages)) - 1

    @property
    def suggestions(self) -> list[Advice]:
        """What would help, the best first."""
        return advise(self._numbers())

    @property
    def advice(self) -> str:
        """The best of them, in a sentence."""
        return str(self.suggestions[0])

    def _numbers(self) -> PassNumbers:
        made = [_facts(stage, row) for stage, row in zip(self.pipeline, self.stages, strict=False)]
        return PassNumbers(
            made,
            self.run.elapsed_s,
            self.run.away_s,
            self.run.cpu_s,
            len(os.sched_getaffinity(0)),
            self.run.effective,
            self.run.ended,
        )

    def summary(self) -> str:
        """One line: how much, how fast, how large; and one for each that ended early."""
        run = self.run
        speed = f" ({self.rows / run.elapsed_s:,.0f} a second)" if run.elapsed_s > 0 else ""
        state = "" if run.ended else ", not at its end"
        text = f"{self.rows:,} elements in {duration(run.elapsed_s)}{speed}{state}"
        text += f"; held at most {format_bytes(run.peak_bytes)} of {format_bytes(run.effective)}"
        bad = [
            f"{count:,} {what}"
            for what, count in (("skipped", self.audit.skipped), ("failed", self.audit.failed))
            if count
        ]
        text += "; " + ", ".join(bad) if bad else ""
        early = self.audit.ended_early
        for entry in early[:_MOST_EARLY]:
            text += f"\n{entry.stage}: {entry.message}"
        if len(early) > _MOST_EARLY:
            text += f"\nand {len(early) - _MOST_EARLY:,} more that ended early"
        return text

    def table(self) -> tuple[Sequence[str], list[list[str]]]:
        """Headings, and a row a stage; columns in which nothing happened are left out."""
        rows = [self._row(stage) for stage in self.stages]
        usual = {"calls": "1"}
        kept = [
            i
            for i, name in enumerate(_HEAD)
            if i < _ALWAYS or any(row[i] != usual.get(name, "-") for row in rows)
        ]
        return [_HEAD[i] for i in kept], [[row[i] for i in kept] for row in rows]

    def _row(self, s: StageRow) -> list[str]:
        def bytes_or_none(count: int) -> str:
            return format_bytes(count) if count else "-"

        def time_or_none(seconds: float) -> str:
            return duration(seconds) if seconds >= 1e-6 else "-"

        return [
            s.name,
            f"{s.rows_out:,}",
            bytes_or_none(s.bytes_in),
            bytes_or_none(s.bytes),
            time_or_none(s.busy_s),
            time_or_none(s.wait_s),
            time_or_none(s.memory_wait_s),
            time_or_none(s.consumer_wait_s),
            str(s.parallelism),
            bytes_or_none(s.peak_bytes),
            f"{s.skipped:,}" if s.skipped else "-",
            f"{s.failed:,}" if s.failed else "-",
            bytes_or_none(s.spilled_bytes),
            _short_line(s.line) or "-",
        ]

    def __repr__(self) -> str:
        """The table, a line about the whole, and the advice."""
        head, rows = self.table()
        lines = [self.summary(), as_text(head, rows)]
        if self.pipeline:
            lines.append(f"advice: {self.advice}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from spillway.report_page import fragment

        return fragment(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes `*.html`, one page with all of it, or `*.json`, a trace for Perfetto.

        The page needs no network, the trace opens in ui.perfetto.dev and chrome://tracing. Both
        are readable by their owner alone: paths and messages tell of the data.

        >>> import pathlib, spillway as sw, tempfile
        >>> ds = sw.Dataset.range(10)
        >>> _ = list(ds)
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "report.html"
        >>> ds.report().save(path)
        >>> path.read_text().startswith("<!doctype html>")
        True
        """
        from spillway import report_page, report_trace
        from spillway.problems import open_private

        name = os.fspath(path)
        if name.endswith((".html", ".htm")):
            text = report_page.page(self)
        elif name.endswith(".json"):
            text = report_trace.trace(self)
        else:
            raise ValueError(f"report: save as .html (a page) or .json (a trace): {name!r}")
        # Names of files may be no UTF-8: shown as they are escaped.
        with open(open_private(path), "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)


def _completed(rows: list[StageRow], pipeline: list[PipelineStage], run: Pass) -> list[StageRow]:
    """With what follows from the others: bytes that came in, and time that rows lay ready.

    A node that several read hands each of them a part. A driver that works ahead is at its input,
    or waits for somebody to take its rows.
    """
    readers = [0] * len(pipeline)
    for stage in pipeline:
        for i in stage.inputs:
            readers[i] += 1
    made = list(rows)
    for stage in pipeline:
        row = rows[stage.number]
        waited = run.away_s if stage is pipeline[-1] else 0.0
        if stage.op == "prefetch" and stage.param("buffer_size", -1) != 0 and row.rows_out:
            driven = rows[stage.inputs[0]]
            at_input = driven.busy_s + driven.wait_s + driven.memory_wait_s
            waited = max(0.0, run.elapsed_s - at_input)
        came = sum(rows[i].bytes // readers[i] for i in stage.inputs)
        made[stage.number] = replace(row, bytes_in=came, consumer_wait_s=waited)
    return made


def _short_line(line: str) -> str:
    """Without the folders of the file."""
    return line if line.startswith("In[") else line.rsplit("/", 1)[-1]


def _facts(stage: PipelineStage, row: StageRow) -> StageFacts:
    function = next(iter(stage.functions), None)
    python = next((f for f in stage.functions if not f.native), None)
    calls = stage.node.param("num_parallel_calls") if stage.op == "map" else None
    return StageFacts(
        name=stage.name,
        op=stage.op,
        label=stage.label,
        inputs=stage.inputs,
        rows=row.rows_out,
        bytes=row.bytes,
        busy_s=row.busy_s,
        memory_wait_s=row.memory_wait_s,
        peak_bytes=row.peak_bytes,
        spilled_bytes=row.spilled_bytes,
        parallelism=row.parallelism,
        buffer=stage.param("buffer_size", 0) if stage.op == "shuffle" else 0,
        calls=calls,
        native=stage.native,
        why=python.why if python else "",
        draws=_draws(stage),
        row_by_row=bool(function and function.row_by_row),
        isolated=any(each.isolated for each in stage.functions),
        times=stage.param("count", -1) if stage.op == "repeat" else 1,
    )


def _draws(stage: PipelineStage) -> bool:
    """Whether its functions may give something else in the next epoch."""
    from spillway import _native
    from spillway.guard.draws import draws

    if all(function.native for function in stage.functions):
        return any(not function.pure for function in stage.functions)
    for value in _native.node_parts(stage.node)[1]:
        if isinstance(value, _native.Function):
            try:
                kind, parts, *_ = _native.function_parts(value)
            except TypeError:  # in a worker: what it is cannot be asked
                return True
            if kind == "python" and draws(parts[0]):
                return True
    return False
