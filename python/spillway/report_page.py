"""A report as one HTML page: no network, no other files, and nothing in it but ours is markup."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Any

from spillway._native import format_bytes
from spillway.advice import duration
from spillway.audit import Entry
from spillway.lines import with_source
from spillway.report_chart import bar, memory
from spillway.tables import as_html

if TYPE_CHECKING:
    from spillway.report import Report

_MOST_ERRORS = 200

_STYLE = """
:root { color-scheme: light dark; --ink:#1d2733; --faint:#66727f; --line:#dfe4e9; --paper:#fff;
  --box:#f4f6f8; --busy:#2f6db3; --input:#c9d9ec; --memory:#d9534f; --consumer:#dcdcdc; }
@media (prefers-color-scheme: dark) { :root { --ink:#e4e8ec; --faint:#98a4b0; --line:#39424c;
  --paper:#171b20; --box:#222830; --input:#3b4f69; --consumer:#444b53; } }
body { margin: 2rem auto; max-width: 1080px; padding: 0 1rem; background: var(--paper);
  color: var(--ink); font: 15px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.35rem; margin: 0; } h2 { font-size: 1.05rem; margin: 2rem 0 .4rem; }
p { margin: .3rem 0; } .faint { color: var(--faint); }
.advice { background: var(--box); border-left: 4px solid var(--busy); padding: .6rem .9rem;
  margin: 1rem 0; } .advice li { margin: .2rem 0; }
.advice ul { margin: .4rem 0 0 1rem; padding: 0; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: 13px; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { color: var(--faint); font-weight: 600; } td.words { white-space: normal; min-width: 18rem;
  overflow-wrap: anywhere; } tr.slowest td:first-child { font-weight: 700; }
svg { display: block; width: 100%; height: auto; } svg text { fill: var(--ink); font: 12px
  system-ui, sans-serif; } svg .grid { stroke: var(--line); } svg .lead { fill: none;
  stroke: var(--faint); } svg polyline.limit { fill: none; stroke: var(--memory); stroke-width: 2;
  stroke-dasharray: 7 4; } svg text.limit { fill: var(--memory); font-weight: 600; }
#cursor { stroke: var(--ink); stroke-dasharray: 2 3; visibility: hidden; }
.spent { white-space: nowrap; margin-right: .8rem; } .spent i { display: inline-block;
  width: .7em; height: .7em; margin-right: .35em; }
i.busy { background: var(--busy); } i.input { background: var(--input); }
i.memory { background: var(--memory); } i.consumer { background: var(--consumer); }
svg.bar { width: 420px; } .busy { fill: var(--busy); } .input { fill: var(--input); }
.memory { fill: var(--memory); } .consumer { fill: var(--consumer); }
svg text.on-busy, svg text.on-memory { fill: #fff; font-size: 11px; } svg text.on-input,
svg text.on-consumer { font-size: 11px; } #moment { min-height: 1.5em; font-size: 13px;
  color: var(--faint); font-variant-numeric: tabular-nums; }
"""

# Only says in words what is under the mouse: the page is complete without it.
_SCRIPT = """
const chart = document.getElementById("memory"), says = document.getElementById("moment");
const points = JSON.parse(document.getElementById("points").textContent);
const line = document.getElementById("cursor");
chart.addEventListener("mousemove", (event) => {
  const box = chart.getBoundingClientRect(), view = chart.viewBox.baseVal;
  const left = +chart.dataset.left, right = +chart.dataset.right, end = +chart.dataset.end;
  const at = (event.clientX - box.left) / box.width * view.width;
  if (at < left || at > right) return;
  const wanted = (at - left) / (right - left) * end;
  const near = points.reduce((a, b) =>
    Math.abs(b.at - wanted) < Math.abs(a.at - wanted) ? b : a);
  const x = left + near.at / end * (right - left);
  line.setAttribute("x1", x); line.setAttribute("x2", x); line.style.visibility = "visible";
  says.textContent = near.says;
});
"""


def fragment(report: Report) -> str:
    """For a notebook: the line, the advice, the table."""
    head, rows = report.table()
    advice = f"<p><b>Advice:</b> {html.escape(report.advice)}</p>" if report.pipeline else ""
    return f"<p>{html.escape(report.summary())}</p>{advice}{as_html(head, rows)}"


def page(report: Report) -> str:
    """The whole page."""
    chart = memory(report)
    body = [
        "<h1>Spillway report</h1>",
        f"<p>{html.escape(report.summary())}</p>",
        _advice(report),
        "<h2>Memory held, by stage</h2>",
        chart or _too_short(report),
        '<p id="moment"></p>' if chart else "",
        "<h2>Where the time went</h2>",
        _bars(report),
        "<h2>Stages</h2>",
        f'<div class="scroll">{as_html(*report.table())}</div>',
        _errors(report),
    ]
    script = ""
    if chart:
        script = (
            f'<script type="application/json" id="points">{_for_script(_moments(report))}</script>'
            f"<script>{_SCRIPT}</script>"
        )
    policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>Spillway report</title><style>{_STYLE}</style></head>"
        f"<body>{''.join(body)}{script}</body></html>\n"
    )


def _for_script(value: Any) -> str:
    """JSON that cannot end the element it stands in."""
    plain = json.dumps(value)
    return plain.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _too_short(report: Report) -> str:
    peak = format_bytes(report.run.peak_bytes)
    return (
        f'<p class="faint">The pass took {duration(report.run.elapsed_s)}: memory is looked at '
        f"every 100 ms. It held {html.escape(peak)} at most.</p>"
    )


def _advice(report: Report) -> str:
    if not report.pipeline:
        return ""
    first, *more = report.suggestions
    rest = "".join(f"<li>{html.escape(str(each))}</li>" for each in more[:4])
    others = f'<ul class="faint">{rest}</ul>' if rest else ""
    return f'<div class="advice"><b>{html.escape(str(first))}</b>{others}</div>'


def _moments(report: Report) -> list[dict[str, Any]]:
    names = [stage.name for stage in report.stages]
    found = []
    for point in report.timeline:
        held = sorted(zip((s.held for s in point.stages), names, strict=False), reverse=True)
        words = ", ".join(f"{name} {format_bytes(size)}" for size, name in held[:4] if size)
        says = f"at {duration(point.at_s)}: {format_bytes(point.used)} of "
        says += f"{format_bytes(point.limit)} held" + (f" ({words})" if words else "")
        found.append({"at": point.at_s, "says": says})
    return found


def _bars(report: Report) -> str:
    """A bar a stage, of the whole time of the pass."""
    whole = report.run.elapsed_s
    slowest = report.slowest
    rows = []
    for number, stage in enumerate(report.stages):
        spent = [
            ("busy", "at work", stage.busy_s),
            ("memory", "waits for memory", stage.memory_wait_s),
            ("input", "waits for its input", stage.wait_s),
            ("consumer", "waits for its reader", stage.consumer_wait_s),
        ]
        drawn = bar(spent, max(whole, sum(seconds for _, _, seconds in spent)))
        words = " ".join(
            f'<span class="spent"><i class="{kind}"></i>{html.escape(f"{text} {duration(took)}")}'
            "</span>"
            for kind, text, took in spent
            if took > 0 and took >= 0.005 * whole
        )
        mark = ' class="slowest"' if stage is slowest else ""
        label = report.pipeline[number].label if number < len(report.pipeline) else stage.name
        named = f"{stage.name} ({label})" if label != stage.name else stage.name
        said = f"{named}: slowest" if stage is slowest else named
        rows.append(
            f"<tr{mark}><td>{html.escape(said)}</td><td>{drawn}</td>"
            f'<td class="words">{words}<div class="faint">{html.escape(with_source(stage.line))}'
            "</div></td></tr>"
        )
    return f'<div class="scroll"><table>{"".join(rows)}</table></div>'


def _errors(report: Report) -> str:
    entries = report.audit.entries
    lost = report.audit.entries_lost
    if not entries and not lost:
        return "<h2>Errors</h2><p>None.</p>"
    rows = "".join(_error(entry) for entry in entries[:_MOST_ERRORS])
    more = len(entries) - min(len(entries), _MOST_ERRORS) + lost
    rest = f'<p class="faint">and {more:,} more</p>' if more else ""
    head = "".join(
        f'<th style="text-align:left">{name}</th>'
        for name in ("what", "stage", "element", "file", "message", "written at")
    )
    return (
        f'<h2>Elements that did not get through</h2><div class="scroll"><table><tr>{head}</tr>'
        f"{rows}</table></div>{rest}"
    )


def _error(entry: Entry) -> str:
    file = entry.file + (f", byte {entry.offset:,}" if entry.file and entry.offset >= 0 else "")
    index = f"{entry.index:,}" if entry.index >= 0 else "-"
    cells = [
        ("", entry.outcome),
        ("", entry.stage),
        ("", index),
        (' class="words"', file or entry.origin or "-"),
        (' class="words"', entry.message),
        ("", entry.line or "-"),
    ]
    return "<tr>" + "".join(f"<td{kind}>{html.escape(c)}</td>" for kind, c in cells) + "</tr>"
