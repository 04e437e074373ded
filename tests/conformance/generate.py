"""Random programs, made by hypothesis and fixed by a seed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from . import generate_invalid
from .generate_functions import reducers
from .generate_sources import Made, Program, racy, sources
from .generate_steps import some_steps
from .program import chains, size
from .spec import has_inner

Draw = Any


def _nested(draw: Draw, depth: int) -> Made:
    source, state = sources(draw, depth, _nested)
    steps, state = some_steps(draw, state, depth, _nested, draw(st.integers(0, 2)))
    return {"source": source, "steps": steps}, state


def _draw_program(draw: Draw) -> Program:
    if draw(st.integers(0, 39)) == 0:
        return {"source": generate_invalid.sources(draw), "steps": [], "epochs": [None, None]}
    source, state = sources(draw, 0, _nested)
    steps, state = some_steps(draw, state, 0, _nested, draw(st.sampled_from([1, 2, 2, 3, 3, 4, 5])))
    if state.bound is None and racy(state):
        steps, state = [], state
    program: Program = {"source": source, "steps": steps, "epochs": [None, None]}
    if draw(st.integers(0, 11)) == 0:
        invalid = generate_invalid.steps(draw, state)
        if invalid is not None:
            program["steps"] = [*steps, invalid]
            return program
    if not has_inner(state.spec) and state.bound is not None and draw(st.integers(0, 14)) == 0:
        initial, fn = reducers(draw)
        program["reduce"] = {"initial": initial, "fn": fn}
    elif not racy(state) and draw(st.integers(0, 6)) == 0:
        program["epochs"] = [draw(st.integers(1, 4)), None, None]
    return program


programs = st.composite(_draw_program)


EXAMPLES = 100


def generate(count: int, number: int) -> list[Program]:
    """`count` different programs; the same seed gives the same ones."""
    found: dict[str, Program] = {}
    alike: Counter[str] = Counter()

    def keep(program: Program) -> None:
        form, text = skeleton(program), json.dumps(program, sort_keys=True)
        if len(found) < count and text not in found and alike[form] < _most_alike(program):
            alike[form] += 1
            found[text] = program

    part = 0
    while len(found) < count:
        _examples(number * 10_000 + part, keep)
        part += 1
    return list(found.values())


def _examples(number: int, keep: Callable[[Program], None]) -> None:
    @seed(number)
    @settings(
        max_examples=EXAMPLES,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(programs())
    def collect(program: Program) -> None:
        keep(program)

    collect()


def skeleton(program: Program) -> str:
    """What a program looks like without its numbers."""
    names = [[(step["op"], _function(step)) for step in chain] for chain in chains(program)]
    return json.dumps(names)


def _function(step: dict[str, Any]) -> str:
    fn = step.get("fn") or step.get("body", {}).get("fn") or {}
    kind = fn.get("raise", {}).get("kind", "")
    return f"{fn.get('fn', '')} {kind}"


def _most_alike(program: Program) -> int:
    """Hypothesis likes to vary what it has found: a long program is kept once."""
    return 4 if size(program) <= 3 else 1
