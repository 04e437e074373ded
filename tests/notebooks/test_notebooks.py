"""Random notebooks under a hard limit: no kernel is lost, and what does not fit is refused."""

from __future__ import annotations

import importlib.util
import os
import random

import pytest

from tests.ceiling.harness import Group
from tests.notebooks.generate import notebook
from tests.notebooks.pieces import MIB, PIECES
from tests.notebooks.running import run

LIBRARIES = {name for name in ("pandas", "torch", "pyarrow") if importlib.util.find_spec(name)}
SOAK = int(os.environ.get("SPILLWAY_SOAK_NOTEBOOKS", "500"))


def _needs_a_fence() -> None:
    group = Group.make(1 << 30)
    if group is None:
        pytest.skip("no memory cgroup to be had here")
    group.close()


@pytest.mark.cgroup
@pytest.mark.parametrize("number", range(6))
def test_a_random_notebook_keeps_its_kernel(number: int) -> None:
    _needs_a_fence()
    seed = int(os.environ.get("SPILLWAY_TEST_SEED", random.SystemRandom().randrange(1 << 30)))
    verdict = run(notebook(seed + number, LIBRARIES))
    print(verdict.notebook, verdict.ends)
    assert not verdict.complaints, "\n".join([str(verdict.notebook), *verdict.complaints])


def test_every_piece_occurs_and_is_python() -> None:
    everything = {"pandas", "torch", "pyarrow"}
    seen: set[str] = set()
    for seed in range(300):
        one = notebook(seed, everything)
        seen.update(one.pieces)
        for cell in one.cells:
            compile(cell, "<cell>", "exec")
            assert "KEPT" not in cell
    assert seen == set(PIECES)


@pytest.mark.soak
@pytest.mark.cgroup
def test_hundreds_of_notebooks_lose_no_kernel() -> None:
    _needs_a_fence()
    seed = int(os.environ.get("SPILLWAY_TEST_SEED", random.SystemRandom().randrange(1 << 30)))
    print(f"seed {seed}, {SOAK} notebooks, with {sorted(LIBRARIES)}")
    found: list[str] = []
    seen: set[str] = set()
    for number in range(SOAK):
        one = notebook(seed + number, LIBRARIES)
        verdict = run(one)
        seen.update(one.pieces)
        if verdict.complaints:
            found.append("\n".join([str(one), *verdict.complaints]))
        print(f"{one.seed}: {one.limit // MIB} MiB, {verdict.ends}", flush=True)
    assert not found, f"{len(found)} of {SOAK}:\n" + "\n\n".join(found[:10])
    expected = {name for name, piece in PIECES.items() if set(piece.needs) <= LIBRARIES}
    assert seen == expected or SOAK < 200, f"never made: {sorted(expected - seen)}"
