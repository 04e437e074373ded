"""Workers killed at random: nothing is lost, nothing comes twice, order and values are the same."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from spillway import _native
from tests.faults.processes import gone
from tests.faults.soak import Soak, Totals, left_behind

pytestmark = pytest.mark.skipif(
    not _native.test_points, reason="the module was built without test points"
)


def run(deaths: int, elements: int, *, mean_ms: float, odds: int, scale: float) -> Totals:
    state = os.environ.get("SPILLWAY_SOAK_STATE")
    soak = Soak(Totals(), mean_ms, odds, scale)
    totals = soak.run(deaths, elements, Path(state) if state else None)
    print(totals.report())
    assert totals.faultless, totals.line()
    assert totals.deaths >= deaths and totals.elements >= elements
    assert gone(left_behind(), 120)
    return totals


def test_some_kills_lose_nothing() -> None:
    totals = run(60, 2_000, mean_ms=15, odds=200, scale=0.05)
    assert totals.calls > totals.wanted_calls  # what a dead worker had was made again


@pytest.mark.soak
def test_a_hundred_thousand_kills_lose_nothing() -> None:
    run(
        int(os.environ.get("SPILLWAY_SOAK_DEATHS", "100000")),
        int(os.environ.get("SPILLWAY_SOAK_ELEMENTS", "5000000")),
        mean_ms=12,
        odds=200,
        scale=1,
    )
