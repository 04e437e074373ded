"""A report as a trace: events that Perfetto and chrome://tracing show on a time line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spillway.report import AtStage, Report

_PROCESS = 1
_MICRO = 1e6


def trace(report: Report) -> str:
    """JSON of trace events: a thread a stage, spans of work and of waiting, counters of memory.

    A stage's work and waiting are known as sums between two looks, 100 ms apart at best: a span
    stands for the sum, at the beginning of the interval.
    """
    names = [stage.name for stage in report.stages]
    events = [_meta("process_name", 0, "spillway")]
    events += [_meta("thread_name", number + 1, name) for number, name in enumerate(names)]
    events += [
        {"ph": "M", "pid": _PROCESS, "tid": number + 1, "name": "thread_sort_index",
         "args": {"sort_index": number}}
        for number in range(len(names))
    ]  # fmt: skip
    before: tuple[AtStage, ...] | None = None
    since = 0.0
    for point in report.timeline:
        for number, now in enumerate(point.stages):
            old = before[number] if before is not None else None
            events += _spans(number + 1, now, old, since, point.at_s)
        events += _counters(names, point)
        before, since = point.stages, point.at_s
    if not report.timeline:
        events += _whole(report)
    return json.dumps(
        {
            "traceEvents": events,
            "displayTimeUnit": "ms",
            "otherData": {"summary": report.summary(), "advice": _advice(report)},
        }
    )


def _advice(report: Report) -> str:
    return report.advice if report.pipeline else ""


def _meta(kind: str, thread: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "pid": _PROCESS, "tid": thread, "name": kind, "args": {"name": name}}


def _span(thread: int, name: str, at: float, lasts: float, **args: Any) -> dict[str, Any]:
    return {
        "ph": "X",
        "pid": _PROCESS,
        "tid": thread,
        "name": name,
        "cat": "stage",
        "ts": round(at * _MICRO, 1),
        "dur": round(lasts * _MICRO, 1),
        "args": args,
    }


def _spans(
    thread: int, now: AtStage, before: AtStage | None, since: float, until: float
) -> list[dict[str, Any]]:
    rows = now.rows - (before.rows if before else 0)
    busy = max(0.0, now.busy_s - (before.busy_s if before else 0.0))
    wait = max(0.0, now.wait_s - (before.wait_s if before else 0.0))
    # A call that ended only now may be longer than the interval; spans must not overlap.
    shrink = min(1.0, (until - since) / max(busy + wait, 1e-9))
    made = []
    if busy > 0:
        made.append(_span(thread, "busy", since, busy * shrink, rows=rows, seconds=busy))
    if wait > 0:
        begin = since + busy * shrink
        made.append(_span(thread, "waits for input", begin, wait * shrink, seconds=wait))
    return made


def _counters(names: list[str], point: Any) -> list[dict[str, Any]]:
    at = round(point.at_s * _MICRO, 1)
    held = {names[i]: stage.held for i, stage in enumerate(point.stages) if i < len(names)}
    return [
        {"ph": "C", "pid": _PROCESS, "name": name, "ts": at, "args": args}
        for name, args in (
            ("held by stage (bytes)", held),
            ("held of the limit (bytes)", {"held": point.used}),
            ("limit (bytes)", {"limit": point.limit}),
            ("rest of the process (bytes)", {"untracked": point.untracked}),
        )
    ]


def _whole(report: Report) -> list[dict[str, Any]]:
    """A pass too short to be looked at: its sums."""
    made = []
    for number, stage in enumerate(report.stages):
        if stage.busy_s > 0:
            made.append(_span(number + 1, "busy", 0.0, stage.busy_s, rows=stage.rows_out))
        if stage.wait_s > 0:
            made.append(_span(number + 1, "waits for input", stage.busy_s, stage.wait_s))
    return made
