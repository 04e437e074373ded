"""The verdicts and the check of delivered values, on figures made up for the purpose."""

from __future__ import annotations

import numpy as np
import pytest

from bench import report
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
