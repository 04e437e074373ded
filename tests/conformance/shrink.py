"""Makes a failing program smaller: drops steps and parts while it still fails."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

from .program import inner_programs, inner_steps, size

Program = dict[str, Any]


def _chains(program: Program) -> Iterator[list[Any]]:
    """Every list of steps of a program, to be changed in place."""
    yield program["steps"]
    for step in [program["source"], *program["steps"]]:
        yield from _chains_of_step(step)


def _chains_of_step(step: dict[str, Any]) -> Iterator[list[Any]]:
    for steps in inner_steps(step):
        yield steps
        for inner in steps:
            yield from _chains_of_step(inner)
    for inner in inner_programs(step):
        yield from _chains(inner)


def smaller(program: Program) -> Iterator[Program]:
    """Programs with one part less."""
    for inner in inner_programs(program["source"]):
        yield {**copy.deepcopy(inner), "epochs": program["epochs"]}
    for i in range(sum(1 for _ in _chains(program))):
        length = len(list(_chains(program))[i])
        for j in reversed(range(length)):
            candidate = copy.deepcopy(program)
            del list(_chains(candidate))[i][j]
            yield candidate
    for i, steps in enumerate(_chains(program)):
        for j, step in enumerate(steps):
            if "raise" in step.get("fn", {}):
                candidate = copy.deepcopy(program)
                del list(_chains(candidate))[i][j]["fn"]["raise"]
                yield candidate
    if program["epochs"] != [None]:
        yield {**program, "epochs": [None]}
    if program.get("reduce") is not None:
        yield {**program, "reduce": None}


def shrink(program: Program, fails: Callable[[Program], bool], attempts: int = 80) -> Program:
    """The smallest failing program found; `fails` runs both engines."""
    left = attempts
    progress = True
    while progress:
        progress = False
        for candidate in sorted(smaller(program), key=size):
            if left == 0:
                return program
            left -= 1
            if fails(candidate):
                program, progress = candidate, True
                break
    return program
