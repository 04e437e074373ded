"""The promise that matters most: the limit holds, whatever is asked for."""

from __future__ import annotations

import pytest

from tests.ceiling.cases import CASES
from tests.ceiling.harness import fence, run

pytestmark = [
    pytest.mark.cgroup,
    pytest.mark.skipif(not fence(), reason="no memory cgroup and no RLIMIT_DATA to be had here"),
]


@pytest.mark.parametrize("name", list(CASES))
def test_the_limit_holds_and_every_element_arrives_once(name: str) -> None:
    outcome = run(name, CASES[name].limit)
    assert outcome.verdict == "ok", outcome.output or outcome.facts
    assert outcome.kills == 0


def test_a_limit_beyond_the_container_still_keeps_the_process_alive() -> None:
    name = "prefetch_of_a_map"
    outcome = run(name, CASES[name].limit, told=100 << 30)
    assert outcome.verdict == "ok", outcome.output
