"""The memory rules have no reachable deadlock, and the checker would find one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from .catalogue import Case, cases
from .model import Refusal, check

ALL = cases()
RULES = ["R1", "R2", "R3", "R4", "R5", "R6", "R7", "R9", "R10", "R11", "R12"]


def _with(verdict: str) -> list[object]:
    return [pytest.param(case, id=case.name) for case in ALL if case.verdict == verdict]


@pytest.mark.parametrize("case", _with("sound"))
def test_recommended_rules_never_get_stuck_or_exceed_the_budget(case: Case) -> None:
    report = check(case.model())
    assert report.deadlocks == 0, report.example
    assert report.doomed == 0
    assert report.over_budget == 0
    assert report.unjustified == 0
    assert set(report.errors) <= case.errors
    assert report.finished or report.errors


@pytest.mark.parametrize("case", _with("deadlocks"))
def test_leaving_out_a_rule_is_found_to_deadlock_within_the_budget(case: Case) -> None:
    report = check(case.model())
    assert report.deadlocks > 0
    assert report.example is not None
    assert report.over_budget == 0


@pytest.mark.parametrize("case", _with("needless errors"))
def test_an_error_that_giving_way_would_have_avoided_is_found(case: Case) -> None:
    report = check(case.model())
    assert report.unjustified > 0
    assert report.deadlocks == 0
    assert report.over_budget == 0


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_but_the_grant_order_has_a_variant_without_it_that_deadlocks(rule: str) -> None:
    assert any(case.rule == rule and case.verdict == "deadlocks" for case in ALL)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule != "R1"])
def test_every_rule_has_a_configuration_in_which_it_is_sound(rule: str) -> None:
    assert any(case.rule == rule and case.verdict == "sound" for case in ALL)


def test_no_two_cases_have_the_same_name() -> None:
    names = [case.name for case in ALL]
    assert len(set(names)) == len(names)


@dataclass
class Graph:
    """A model given by its edges; a state's number is also the bytes it holds."""

    edges: dict[int, tuple[int, ...]]
    final: frozenset[int] = frozenset()
    refused: frozenset[int] = frozenset()
    budget: int = 9

    def initial(self) -> int:
        return 0

    def steps(self, state: int) -> Iterator[int]:
        yield from self.edges.get(state, ())

    def held(self, state: int) -> int:
        return state

    def finished(self, state: int) -> bool:
        return state in self.final

    def refusal(self, state: int) -> Refusal | None:
        return Refusal("Refused", False) if state in self.refused else None


def test_the_checker_counts_each_reachable_state_once() -> None:
    report = check(Graph({0: (1, 2), 1: (3,), 2: (3,), 7: (8,)}, frozenset({3})))
    assert (report.states, report.finished, report.sound) == (4, 1, True)


def test_the_checker_reports_a_state_that_cannot_move_and_those_that_lead_only_there() -> None:
    report = check(Graph({0: (1, 2), 1: (3,), 2: (4,)}, frozenset({4})))
    assert (report.deadlocks, report.doomed, report.example) == (1, 1, 3)


def test_the_checker_reports_a_cycle_without_an_exit() -> None:
    report = check(Graph({0: (1, 3), 1: (2,), 2: (1,)}, frozenset({3})))
    assert (report.deadlocks, report.doomed, report.sound) == (0, 2, False)


def test_the_checker_reports_a_state_over_the_budget() -> None:
    report = check(Graph({0: (5,), 5: (1,)}, frozenset({1}), budget=4))
    assert (report.over_budget, report.peak, report.sound) == (1, 5, False)


def test_the_checker_tells_a_needless_error_from_a_deadlock() -> None:
    report = check(Graph({0: (1,)}, refused=frozenset({1})))
    assert (report.deadlocks, report.unjustified, report.sound) == (0, 1, False)


def test_the_checker_refuses_a_model_larger_than_its_limit() -> None:
    with pytest.raises(RuntimeError, match="at most 2 states: 3"):
        check(Graph({0: (1, 2)}), limit=2)
