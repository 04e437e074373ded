"""A snapshot is found again whatever seeds its shuffles drew, as in TensorFlow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import spillway.tf as tf


def program(path: Path, set_seed: int | None, shuffle: dict[str, Any], size: int = 20) -> list[int]:
    """Builds and runs it as a new run of the same program would."""
    tf.random.set_seed(set_seed) if set_seed is not None else None
    ds = tf.data.Dataset.range(size).shuffle(size, **shuffle).snapshot(str(path))
    return [int(x) for x in ds]


def runs(path: Path) -> int:
    return len([run for folder in path.iterdir() for run in folder.iterdir() if run.is_dir()])


def test_a_program_that_is_run_again_finds_its_snapshot(tmp_path: Path) -> None:
    try:
        first = program(tmp_path, 7, {})
        # Built again in the same process, the shuffle draws another seed; with the same global
        # seed set anew, the same; with none, an unseeded order.
        tf.data.Dataset.range(3).shuffle(3)
        assert program(tmp_path, None, {}) == first
        assert program(tmp_path, 7, {}) == first
        assert program(tmp_path, 8, {}) == first
        assert runs(tmp_path) == 1
    finally:
        tf.random.set_seed(None)
    assert program(tmp_path, None, {}) == first
    assert program(tmp_path, None, {"seed": 3}) == first
    assert runs(tmp_path) == 1


def test_another_pipeline_has_another_snapshot(tmp_path: Path) -> None:
    first = program(tmp_path, None, {"seed": 1})
    other = program(tmp_path, None, {"seed": 1}, size=21)
    assert len(other) == 21 and sorted(first) == list(range(20))
    kept = tf.data.Dataset.range(20).shuffle(20, seed=1, reshuffle_each_iteration=False)
    assert sorted(int(x) for x in kept.snapshot(str(tmp_path))) == list(range(20))
    assert runs(tmp_path) == 3
