"""The recorded calls give here what they gave in TensorFlow, also in a map, traced or not."""

from __future__ import annotations

from typing import Any

import pytest

from . import public
from .compare import problem
from .known import known
from .record import load
from .run_spillway import outcome
from .table import ELSEWHERE

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


def test_every_public_function_is_recorded_or_listed() -> None:
    recorded = {program["path"] for program, _ in RECORDS}
    public_ones: list[Any] = [path for path in public.functions() if path not in ELSEWHERE]
    # Random numbers and a few others wait for their ops.
    missing = {path for path in public_ones if path not in recorded}
    assert not {path for path in missing if not _waits(path)}


def _waits(path: str) -> bool:
    return path.startswith("random.") or path in ("reverse", "unique", "math.unique")
