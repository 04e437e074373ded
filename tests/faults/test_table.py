"""Each fault of the table, staged: what becomes of it is what docs/faults.md says."""

from __future__ import annotations

import pytest

from tests.faults.fault import FAULTS, Fault, Unavailable, masked
from tests.faults.table import PAGE, line_of, lines_of, page_of, verdict

WRITTEN = lines_of(PAGE.read_text())


def stage(fault: Fault) -> None:
    try:
        text = verdict(fault)
    except Unavailable as reason:
        pytest.skip(str(reason))
    assert masked(text) == masked(WRITTEN[fault.key]), line_of(fault, text)


@pytest.mark.parametrize("key", [key for key, fault in FAULTS.items() if not fault.soak])
def test_a_fault_ends_as_the_page_says(key: str) -> None:
    stage(FAULTS[key])


@pytest.mark.soak
@pytest.mark.parametrize("key", [key for key, fault in FAULTS.items() if fault.soak])
def test_a_fault_that_takes_minutes_ends_as_the_page_says(key: str) -> None:
    stage(FAULTS[key])


def test_the_page_has_every_fault_and_nothing_else() -> None:
    assert set(WRITTEN) == set(FAULTS)
    assert page_of(WRITTEN) == PAGE.read_text()
