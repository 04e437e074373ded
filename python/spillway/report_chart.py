"""The pictures of a report, as SVG: memory held against the limit, and where the time went."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from spillway._native import format_bytes
from spillway.advice import duration

if TYPE_CHECKING:
    from spillway.report import Report

COLOURS = (
    *("#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#edc948", "#76b7b2", "#e15759", "#9c755f"),
    *("#a0cbe8", "#ffbe7d", "#8cd17d", "#d4a6c8"),
)
_OTHERS = "#bab0ac"
_WIDTH, _HEIGHT = 1040, 330
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 230, 26, 40
_LABEL = 17  # between two labels
_MOST_LABELS = 14

Place = Callable[[float], float]  # where a time or a size is in the picture


def text(x: float, y: float, words: str, more: str = "") -> str:
    """Words at a place; never taken for markup."""
    return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{html.escape(words)}</text>'


def ticks(most: float, about: int) -> list[float]:
    """Round numbers up to `most`.

    >>> ticks(7.3, 4)
    [0.0, 2.0, 4.0, 6.0]
    """
    if most <= 0:
        return [0.0]
    rough = most / about
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * m for m in (1, 2, 5, 10) if unit * m >= rough)
    return [i * step for i in range(int(most / step + 1e-9) + 1)]


def byte_ticks(most: float, about: int) -> list[float]:
    """The same in powers of two, as bytes are counted.

    >>> [format_bytes(int(at)) for at in byte_ticks(300 * 2**20, 3)]
    ['0 B', '128 MiB', '256 MiB']
    """
    if most <= 0:
        return [0.0]
    step = 2.0 ** math.ceil(math.log2(max(most / about, 1)))
    return [i * step for i in range(int(most / step) + 1)]


class _Bands:
    """What is held, one above the other: stages, and whatever else the budget holds."""

    def __init__(self, report: Report) -> None:
        points = report.timeline
        tracked = max(len(point.stages) for point in points)
        self.at = [0.0, *(point.at_s for point in points)]
        names = [stage.name for stage in report.stages[:tracked]]
        held = [[0, *(point.stages[i].held for point in points)] for i in range(tracked)]
        rest = [max(0, p.used - sum(stage.held for stage in p.stages)) for p in points]
        kept = [i for i in range(tracked) if max(held[i]) > 0]
        self.names = [names[i] for i in kept]
        self.held = [held[i] for i in kept]
        self.colours = [COLOURS[i % len(COLOURS)] for i in kept]
        if max(rest) > 0.01 * max(point.used for point in points):
            self.names.append("idle, and all else")
            self.held.append([0, *rest])
            self.colours.append(_OTHERS)

    def edges(self) -> list[list[int]]:
        """The upper edge of each band at each moment, below them zero."""
        above = [[0] * len(self.at)]
        for held in self.held:
            above.append([low + more for low, more in zip(above[-1], held, strict=True)])
        return above


def memory(report: Report) -> str:
    """Bytes held over time, by stage, under the limit; empty: the pass was too short to look at."""
    points = report.timeline
    if not points:
        return ""
    bands = _Bands(report)
    edges = bands.edges()
    limits = [points[0].limit, *(point.limit for point in points)]
    peak, end = max(edges[-1]), max(report.run.elapsed_s, bands.at[-1])
    # A limit far above all that was held would press it flat.
    top = max(limits) * 1.04 if max(limits) <= 4 * peak else peak * 1.25
    top = max(top, 1)

    def x(at: float) -> float:
        return _LEFT + (at / end) * (_WIDTH - _LEFT - _RIGHT)

    def y(count: float) -> float:
        return _HEIGHT - _BOTTOM - (min(count, top) / top) * (_HEIGHT - _TOP - _BOTTOM)

    parts = [
        f'<svg id="memory" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'data-left="{_LEFT}" data-right="{_WIDTH - _RIGHT}" data-end="{end}">',
        _grid(x, y, top, end),
    ]
    for number, colour in enumerate(bands.colours):
        up = [f"{x(at):.1f},{y(v):.1f}" for at, v in zip(bands.at, edges[number + 1], strict=True)]
        down = [f"{x(at):.1f},{y(v):.1f}" for at, v in zip(bands.at, edges[number], strict=True)]
        parts.append(f'<polygon points="{" ".join([*up, *down[::-1]])}" fill="{colour}"/>')
    parts.append(_labels(bands, edges, x, y))
    parts.append(_limit(limits, bands.at, x, y, top))
    parts.append(f'<line id="cursor" x1="0" x2="0" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}"/></svg>')
    return "".join(parts)


def _grid(x: Place, y: Place, top: float, end: float) -> str:
    parts = []
    for at in byte_ticks(top, 5):
        parts.append(
            f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y(at):.1f}" '
            f'y2="{y(at):.1f}"/>'
        )
        parts.append(text(_LEFT - 8, y(at) + 4, format_bytes(int(at)), 'text-anchor="end"'))
    for at in ticks(end, 8):
        parts.append(text(x(at), _HEIGHT - _BOTTOM + 18, duration(at), 'text-anchor="middle"'))
    parts.append(
        text(_WIDTH - _RIGHT, _HEIGHT - 4, "time since the pass began", 'text-anchor="end"')
    )
    return "".join(parts)


def _labels(bands: _Bands, edges: list[list[int]], x: Place, y: Place) -> str:
    """Beside the chart, each at the height of its band where that is thickest, apart enough."""
    wanted = []
    for number, held in enumerate(bands.held):
        widest = max(range(len(held)), key=lambda i: held[i])
        middle = (edges[number][-1] + edges[number + 1][-1]) / 2
        wanted.append((y(middle), number, held[widest]))
    if len(wanted) > _MOST_LABELS:
        most = sorted(wanted, key=lambda w: -w[2])[:_MOST_LABELS]
        wanted = [w for w in wanted if w in most]
    parts = []
    lowest: float = _HEIGHT - _BOTTOM + _LABEL
    # From the bottom up, as the bands lie.
    for place, number, most_held in sorted(wanted, key=lambda w: w[1]):
        at = min(place, lowest - _LABEL)
        lowest = at
        edge = _WIDTH - _RIGHT
        parts.append(
            f'<polyline class="lead" points="{edge},{place:.1f} {edge + 10},{at:.1f}"/>'
            f'<rect x="{edge + 12}" y="{at - 6:.1f}" width="11" height="11" '
            f'fill="{bands.colours[number]}"/>'
        )
        words = f"{_shortened(bands.names[number])}: {format_bytes(most_held)}"
        parts.append(text(edge + 28, at + 4, words))
    return "".join(parts)


def _shortened(name: str, most: int = 30) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def _limit(limits: Sequence[int], at: Sequence[float], x: Place, y: Place, top: float) -> str:
    words = f"limit {format_bytes(limits[-1])}"
    if min(limits) > top:
        return text(_LEFT + 6, _TOP - 10, f"{words}: far above this picture", 'class="limit"')
    path = " ".join(f"{x(a):.1f},{y(v):.1f}" for a, v in zip(at, limits, strict=True))
    return f'<polyline class="limit" points="{path}"/>' + text(
        _LEFT + 6, max(y(limits[0]) - 6, 12), words, 'class="limit"'
    )


def bar(parts: Sequence[tuple[str, str, float]], whole: float) -> str:
    """How a stage spent the pass: (class, words, seconds) side by side, each with its words."""
    width, height = 420.0, 20
    if whole <= 0:
        return ""
    at, made = 0.0, []
    for kind, words, seconds in parts:
        share = min(seconds / whole * width, width - at)
        if share < 0.5:
            continue
        made.append(
            f'<rect class="{kind}" x="{at:.1f}" width="{share:.1f}" height="{height}">'
            f"<title>{html.escape(f'{words} {duration(seconds)}')}</title></rect>"
        )
        said = f"{words} {duration(seconds)}"
        if len(said) * 6.2 + 8 < share:
            made.append(text(at + 5, 14, said, f'class="on-{kind}"'))
        at += share
    return f'<svg class="bar" viewBox="0 0 {width:.0f} {height}">{"".join(made)}</svg>'
