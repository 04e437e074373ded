"""The recorded functions do here what they did in TensorFlow, traced and as Python."""

from __future__ import annotations

import pytest

from ..ops.record import load
from .compare import problem
from .known import known
from .record import PATH
from .run_spillway import outcome

RECORDS = load(PATH)
PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
def test_recorded_functions_do_what_they_did_in_tensorflow(part: int) -> None:
    problems = []
    for program, theirs in RECORDS[part::PARTS]:
        found = problem(program, theirs, outcome(program))
        if found is not None and known(program, found) is None:
            problems.append(f"{program['use']}:\n{program['source']}  {found}")
    assert not problems, f"{len(problems)} differ\n\n" + "\n".join(problems[:5])


def test_the_sample_holds_every_use_and_errors() -> None:
    assert len(RECORDS) >= 300
    assert {program["use"] for program, _ in RECORDS} == {"map", "filter", "flat_map"}
    assert any("refused" in theirs for _, theirs in RECORDS)
