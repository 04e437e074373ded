"""The recorded sample of random programs behaves here as it did in TensorFlow."""

from __future__ import annotations

from typing import Any

import pytest

from .compare import difference, explain
from .coverage import Coverage
from .record import load
from .run_spillway import outcome

GROUP = 20
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


def test_the_recorded_sample_touches_every_operator_and_kind_of_error() -> None:
    coverage = Coverage()
    for program, theirs in RECORDS:
        coverage.add(program, theirs)
    assert coverage.missing() == []
