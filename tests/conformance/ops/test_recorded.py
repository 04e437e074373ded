"""The recorded calls give here what they gave in TensorFlow, also in a map, traced or not."""

from __future__ import annotations

import pytest

from . import public
from .compare import problem
from .generate import TABLE
from .known import known
from .record import load
from .run_spillway import outcome

RECORDS = load()
PARTS = 8


@pytest.mark.parametrize("part", range(PARTS))
def test_recorded_calls_give_what_they_gave_in_tensorflow(part: int) -> None:
    problems = []
    for program, theirs in RECORDS[part::PARTS]:
        found = problem(program, theirs, outcome(program))
        if found is not None and known(program, found) is None:
            problems.append(f"tf.{program['path']}: {program['source']}\n  {found}")
    assert not problems, f"{len(problems)} differ\n\n" + "\n".join(problems[:5])


def test_every_function_of_the_table_is_recorded() -> None:
    recorded = {program["path"] for program, _ in RECORDS}
    there = [path for path in TABLE if public.find(path) is not None]
    assert not {path for path in there if path not in recorded}
