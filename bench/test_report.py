"""The verdicts and the check of delivered values, on figures made up for the purpose."""

from __future__ import annotations

import pytest

from bench import engine, report
from bench.goals import GOALS
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


@pytest.mark.parametrize("system", ["limits", "spillway_", "tf", "torch_", "grain_", "mlx"])
def test_every_system_answers_every_task(system: str) -> None:
    """A missing function would silently drop a peer from a table."""
    _, names = engine.functions(system)
    assert {name.partition("__")[0] for name in names} == set(TASKS)
