"""Tensors of a framework that are all kept, under a limit of the kernel's that kills."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ceiling.harness import Group, fence
from tests.handover.frameworks import ROOT, missing

MIB = 1 << 20
PACKAGES = {"to_torch": "torch", "to_jax": "jax", "to_tf": "tensorflow"}
pytestmark = [
    pytest.mark.cgroup,
    pytest.mark.skipif("cgroup" not in fence(), reason="no memory cgroup to be had here"),
]


@pytest.mark.parametrize("told", ["128MiB", None], ids=["limit", "container"])
@pytest.mark.parametrize("method", PACKAGES)
def test_keeping_every_tensor_ends_in_our_text_and_not_in_a_kill(
    method: str, told: str | None, tmp_path: Path
) -> None:
    if missing(PACKAGES[method]):
        pytest.skip(f"{PACKAGES[method]} is not installed here: ./run kernels has it")
    group = Group.make(1024 * MIB)
    assert group is not None
    report = tmp_path / "report.json"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "python")])}
    environment |= {"OPENBLAS_NUM_THREADS": "1"} | ({"SPILLWAY_MEMORY_LIMIT": told} if told else {})
    try:
        done = subprocess.run(
            [sys.executable, "-m", "tests.handover.keeper", str(group.path), method, str(report)],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=500,
            check=False,
        )
        kills, peak = group.kills(), group.peak()
    finally:
        group.close()
    assert (done.returncode, kills) == (0, 0), done.stderr[-3000:]
    facts = json.loads(report.read_text())
    print(f"{method}, {told or 'container'}: {facts['kept']} kept, peak {peak / MIB:.0f} MiB")
    assert "BudgetError" in facts["text"] and "kept by you" in facts["text"], facts
    assert facts["kept"] >= 10 and facts["after"] == 10
