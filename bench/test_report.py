"""The verdicts and the check of delivered values, on figures made up for the purpose."""

from __future__ import annotations

import numpy as np
import pytest

from bench import file_data, file_tasks, report
from bench.function_tasks import FunctionCase
from bench.goals import GOALS
from bench.suites import FUNCTIONS, SUITES
from bench.tasks import TASKS, Case


def rows(**figures: list[float]) -> dict[str, list[report.Figures]]:
    """Rows of CPU times; an underscore in a name stands for the space before a variant."""
    return {
        label.replace("_", " ", 1): [{"cpu_us": value} for value in values]
        for label, values in figures.items()
    }


def test_a_goal_compares_medians() -> None:
    """One bad round out of three does not miss a goal."""
    goal = next(goal for goal in GOALS if goal.task == "p5a")
    met = rows(spillway=[0.2, 0.2, 9.0], limits_generator=[0.1, 0.1, 0.1])
    assert report.verdict(goal, met).startswith("met: 0.2 against 0.25")
    missed = rows(spillway=[0.3], limits_generator=[0.1])
    assert report.verdict(goal, missed).startswith("MISSED")
    assert report.verdict(goal, rows(limits_generator=[0.1])) == "not measured"


def test_overlapping_ranges_are_a_tie() -> None:
    """Only ranges that do not touch decide a rank."""
    measured = rows(spillway=[2, 3], tf=[4, 5], mlx=[3, 6], torch_by_batch=[1], limits_x=[0.1])
    said = report.ranks(TASKS["p6"], measured)
    assert said == "behind torch by_batch; tied with mlx; ahead of tf"


def test_a_failed_row_is_shown_last() -> None:
    """A failure is part of the table, not a reason to lose it."""
    measured = rows(tf=[2.0], limits_generator=[1.0]) | {"mlx": [{"error": "no result"}]}
    lines = report.table(TASKS["p5a"], measured)
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| limits generator", "| tf", "| mlx"]
    assert "failed: no result" in lines[-1]


def test_wrong_values_are_not_accepted() -> None:
    """Lost, altered and unshuffled items are all errors."""
    plain, shuffled = Case(TASKS["one_by_one"], 4), Case(TASKS["shuffle"], 4)
    plain.check([0, 1, 2, 3])
    shuffled.check([3, 0, 1, 2])
    for case, delivered in ((plain, [0, 1, 2]), (plain, [0, 1, 2, 4]), (shuffled, [0, 1, 2, 3])):
        with pytest.raises(ValueError, match=case.task.name):
            case.check(delivered)


def test_functions_are_checked_too() -> None:
    """What a filter drops, and the one element a skip leaves, are counted."""
    FunctionCase(FUNCTIONS.tasks["p3"], 9).check([np.array([3, 9, 15])])
    FunctionCase(FUNCTIONS.tasks["p4"], 9).check([18])
    with pytest.raises(ValueError, match="p3"):
        FunctionCase(FUNCTIONS.tasks["p3"], 9).check([np.array([3, 9, 16])])


def test_a_skipped_row_says_why() -> None:
    """A peer without an answer stays in the table."""
    measured = rows(spillway=[2.0], tf=[4.0], limits_numpy=[1.0]) | {"mlx": [{"skipped": "no x"}]}
    lines = report.table(FUNCTIONS.tasks["image"], measured)
    assert "| mlx | skipped: no x |" in lines[-1]
    assert "| 2.00 | 0.50 |" in next(line for line in lines if line.startswith("| spillway"))


@pytest.mark.parametrize(
    ("suite", "system"),
    [(suite, system) for suite in SUITES for system in SUITES[suite].systems()],
)
def test_every_system_answers_every_task(suite: str, system: str) -> None:
    """A missing function would silently drop a peer from a table."""
    names = {name.partition("__")[0] for name in SUITES[suite].functions(system)}
    without = set(SUITES[suite].without(system))
    assert names | without == set(SUITES[suite].tasks)
    assert not names & without


def test_a_goal_may_be_about_a_variant() -> None:
    """Lines are asked for twice: as string tensors, and as Python objects."""
    goals = [goal for goal in GOALS if goal.task == "p9"]
    measured = rows(spillway=[0.1], spillway_numpy=[0.3], limits_splitlines=[0.2])
    assert [report.verdict(goal, measured)[:3] for goal in goals] == ["met", "MIS"]


def test_a_batch_of_strings_is_checked_whatever_it_is_made_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Lists, arrays of objects and arrays filled up with zeros hold the same strings."""
    lines = [b"one", b"", b"three"]
    monkeypatch.setattr(file_data, "digests", lambda _: np.array([*map(file_data.digest, lines)]))
    case = file_tasks.FileCase(file_tasks.TASKS["p9"], len(lines))
    padded = np.array(lines).view(np.uint8).reshape(3, -1)
    for batch in (lines, [x.decode() for x in lines], np.array(lines, object), {"line": padded}):
        case.check([batch])
    with pytest.raises(ValueError, match="wrong values"):
        case.check([[b"one", b"", b"four"]])
    with pytest.raises(ValueError, match="elements must be 1: 2"):
        case.check([lines, lines])


def test_records_are_framed_as_the_reader_wants_them() -> None:
    """Checksums of columns are the checksums of rows."""
    framed = file_data._framed(np.frombuffer(b"123456789", np.uint8)[None])[0].tobytes()
    crc = 0xE3069283  # of these digits, as published
    masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    assert framed[:8] == (9).to_bytes(8, "little")
    assert framed[12:] == b"123456789" + masked.to_bytes(4, "little")
