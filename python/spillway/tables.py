"""Tables: as text with aligned columns, and as HTML in which nothing of theirs is a tag."""

from __future__ import annotations

import html
from collections.abc import Sequence


def as_text(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """The first `left` columns, and a last one without a heading's end, are flush left.

    >>> print(as_text(("stage", "rows"), [("range#0", "10"), ("map#1", "1,000")]))
    stage     rows
    range#0     10
    map#1    1,000
    """
    table = [[*head], *([*row] for row in rows)]
    widths = [max(len(row[i]) for row in table) for i in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    )


def as_html(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """The same for a notebook.

    >>> as_html(("a",), [("<b>",)])
    '<table><tr><th style="text-align:left">a</th></tr><tr><td style="text-align:left">&lt;b&gt;\
</td></tr></table>'
    """

    def line(tag: str, cells: Sequence[str]) -> str:
        made = (
            f'<{tag} style="text-align:{"left" if i < left else "right"}">{html.escape(cell)}'
            f"</{tag}>"
            for i, cell in enumerate(cells)
        )
        return f"<tr>{''.join(made)}</tr>"

    return f"<table>{line('th', head)}{''.join(line('td', row) for row in rows)}</table>"
