"""The recorded sample of random programs behaves here as it did in TensorFlow."""

from __future__ import annotations

from typing import Any

import pytest

from . import processes
from .compare import difference, explain
from .coverage import Coverage
from .program import operators
from .record import load
from .run_spillway import MODES, outcome

GROUP = 20
PARTS = 4
RECORDS = load()
GROUPS = [RECORDS[first : first + GROUP] for first in range(0, len(RECORDS), GROUP)]


@pytest.mark.parametrize("group", GROUPS, ids=[f"group{i}" for i in range(len(GROUPS))])
def test_recorded_programs_do_what_they_did_in_tensorflow(group: list[Any]) -> None:
    problems = []
    for program, theirs in group:
        problem = difference(theirs, outcome(program))
        if problem is not None:
            problems.append(explain(program, problem))
    assert not problems, f"{len(problems)} of {len(group)} differ\n\n" + "\n".join(problems[:5])


def _first_pass(outcome: dict[str, Any]) -> dict[str, Any]:
    return {**outcome, "epochs": outcome["epochs"][:1]} if "epochs" in outcome else outcome


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("mode", MODES[1:])
def test_recorded_programs_do_the_same_in_every_mode(mode: str, part: int) -> None:
    records = RECORDS[part::PARTS]
    outcomes = processes.spillway((program for program, _ in records), mode)
    problems = []
    for (program, theirs), ours in zip(records, outcomes, strict=True):
        if mode == "resume" and "cache" in operators(program):
            # A pipeline built anew fills its cache anew: only the first pass must be the same.
            theirs, ours = _first_pass(theirs), _first_pass(ours)
        problem = difference(theirs, ours)
        if problem is not None:
            problems.append(explain(program, problem))
    assert not problems, f"{len(problems)} of {len(records)} differ\n\n" + "\n".join(problems[:5])


def _at_their_floors(records: list[Any]) -> list[str]:
    problems = []
    outcomes = processes.spillway((program for program, _ in records), "own_floor")
    for (program, theirs), ours in zip(records, outcomes, strict=True):
        problem = difference(theirs, ours)
        if problem is not None:
            problems.append(explain(program, problem))
    return problems


def test_recorded_programs_run_at_their_own_floor() -> None:
    """The least limit that `ds.forecast().floor` names is enough, and nothing is refused there."""
    records = RECORDS[::10]
    problems = _at_their_floors(records)
    assert not problems, f"{len(problems)} of {len(records)} differ\n\n" + "\n".join(problems[:5])


@pytest.mark.soak
@pytest.mark.parametrize("part", range(PARTS))
def test_all_recorded_programs_run_at_their_own_floor(part: int) -> None:
    records = RECORDS[part::PARTS]
    problems = _at_their_floors(records)
    assert not problems, f"{len(problems)} of {len(records)} differ\n\n" + "\n".join(problems[:5])


def test_the_recorded_sample_touches_every_operator_and_kind_of_error() -> None:
    coverage = Coverage()
    for program, theirs in RECORDS:
        coverage.add(program, theirs)
    assert coverage.missing() == []
