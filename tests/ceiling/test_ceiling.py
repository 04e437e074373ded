"""The promise that matters most: the limit holds, whatever is asked for."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.ceiling.cases import CASES
from tests.ceiling.harness import MIB, ROOT, Group, entrance, fence, run

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


UNNAMED = """
import numpy as np
import spillway as sw

WORDS, BATCH, COUNT = 14 << 17, 16, 53  # rows of 14 MiB, batches of 224
ds = sw.Dataset.range(COUNT).map(lambda i: np.full(WORDS, float(i)), num_parallel_calls=sw.AUTOTUNE)
seen = []
for batch in ds.batch(BATCH).prefetch(sw.AUTOTUNE):
    seen += [int(row[0]) for row in batch]
assert seen == list(range(COUNT)), seen
"""


@pytest.mark.skipif(not fence().startswith("cgroup"), reason="no memory cgroup to be had here")
def test_two_batches_and_a_row_may_fill_a_container_where_no_limit_is_named() -> None:
    allowed = 640 * MIB
    group = Group.make(allowed)
    assert group is not None
    environment = {k: v for k, v in os.environ.items() if k != "SPILLWAY_MEMORY_LIMIT"}
    folders = [str(ROOT), str(ROOT / "python")]
    environment |= {"PYTHONPATH": os.pathsep.join(folders), "OPENBLAS_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            [sys.executable, "-c", UNNAMED],
            env=environment,
            preexec_fn=entrance(group, allowed),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-4000:]
        assert group.kills() == 0
    finally:
        group.close()
