"""Random programs of the table."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

from . import (
    table_arrays,
    table_image_files,
    table_images,
    table_math,
    table_nn,
    table_parsing,
    table_places,
    table_strings,
)
from .draw import Draw
from .packing import pack
from .table import ELSEWHERE, TABLE, Case

__all__ = [
    "ELSEWHERE",
    "TABLE",
    "program",
    "programs",
    "table_arrays",
    "table_image_files",
    "table_images",
    "table_math",
    "table_nn",
    "table_parsing",
    "table_places",
    "table_strings",
]

# Their lists would be stacked by a map: a tuple stays one.
LISTS = ("split", "unstack")


def program(case: Case, rng: random.Random, turn: int = 0) -> dict[str, Any]:
    """One program of a case."""
    draw = Draw(rng, rng.choice((1, 2, 2, 3)), turn)
    expression = case.write(draw, case.path)
    if case.path in LISTS:
        expression = f"tuple({expression})"
    names = "abcdefgh"[: len(draw.operands)]
    made: dict[str, Any] = {
        "path": case.path,
        "source": f"lambda {', '.join(names)}: {expression}",
        "rows": draw.rows,
        "operands": [pack(operand) for operand in draw.operands],
        "known": rng.choices(("all", "rank", "none"), (70, 20, 10))[0],
        "dtype": draw.dtype_drawn,
    }
    for key in ("ulps", "scaled", "loose"):
        if getattr(case, key):
            made[key] = getattr(case, key)
    return made


def programs(count: int, seed: int, have: Any = lambda path: True) -> Iterator[dict[str, Any]]:
    """Every case in turn, some more often, until there are `count` programs."""
    rng = random.Random(seed)
    order = [case for case in TABLE.values() if have(case.path) for _ in range(case.weight)]
    made = 0
    turns: Counter[str] = Counter()
    while made < count:
        for case in rng.sample(order, len(order)):
            if made == count:
                return
            made += 1
            yield program(case, rng, turns[case.path])
            turns[case.path] += 1
