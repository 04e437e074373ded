"""Every function, operator and source with hostile arguments: a value, or an error that says why.

The programs are generated from the signatures of what is registered; see tests/hostile. A printed
seed makes a failure again: `python -m tests.hostile ops --seed N --count M`.
"""

from __future__ import annotations

import os
import random
from typing import Any

import pytest

import spillway.tf as tf
from tests.hostile import operators, ops, pool
from tests.hostile.judge import fault
from tests.hostile.values import VALUES

SHORT = {"ops": 2000, "datasets": 1000}
TABLES: dict[str, Any] = {"ops": ops, "datasets": operators}


def drawn(what: str, seed: int, count: int) -> list[dict[str, Any]]:
    """Programs with each function once at least, and each value."""
    rng = random.Random(seed)
    every = list(TABLES[what].every(list(VALUES)))
    rng.shuffle(every)
    first: dict[str, Any] = {}
    for path, parameter, value in every:
        first.setdefault(path, (path, parameter, value))
        first.setdefault(f"value {value}", (path, parameter, value))
    wanted = list(dict.fromkeys([*first.values(), *every[:count]]))
    return [TABLES[what].program(*one) for one in wanted]


def faults(programs: list[dict[str, Any]]) -> list[str]:
    """What is wrong, with the program that shows it."""
    found = []
    for program, outcome in pool.outcomes(programs):
        wrong = fault(program, outcome)
        if wrong is not None:
            given = f"{program['path']}, {program['parameter']}={program['value']}"
            found.append(f"{given}: {wrong}\n    {program['source']}\n    {outcome}"[:1500])
    return found


def test_every_op_operator_and_source_occurs() -> None:
    assert ops.missing() == []
    assert operators.missing() == []


@pytest.mark.parametrize("what", SHORT)
def test_hostile_arguments_end_in_a_value_or_an_error_that_names_them(what: str) -> None:
    seed = int(os.environ.get("SPILLWAY_SEED", random.SystemRandom().randrange(10**6)))
    print(f"seed {seed}")
    found = faults(drawn(what, seed, SHORT[what]))
    assert not found, f"seed {seed}: {len(found)} faults\n" + "\n".join(found[:20])


@pytest.mark.soak
@pytest.mark.parametrize("what", SHORT)
def test_every_hostile_argument_of_everything(what: str) -> None:
    programs = [TABLES[what].program(*one) for one in TABLES[what].every(list(VALUES))]
    found = faults(programs)
    assert not found, f"{len(found)} faults\n" + "\n".join(found[:50])


COUNTING: Any = tf.data.Dataset.range(3)
SILENT: dict[str, Any] = {
    "one_hot depth": lambda: tf.one_hot([1, 2], depth="3"),
    "one_hot depth 2.5": lambda: tf.one_hot([1, 2], depth=2.5),
    "concat axis": lambda: tf.concat([[1], [2]], "0"),
    "stack axis": lambda: tf.stack([1, 2], 0.5),
    "zeros": lambda: tf.zeros([2.5]),
    "tile": lambda: tf.tile([1, 2], [2.5]),
    "pad": lambda: tf.pad([1], [[0.5, 1.5]]),
    "pad mode": lambda: tf.pad([1], [[1, 1]], mode=3),
    "slice": lambda: tf.slice([1, 2, 3], [0.5], [1.5]),
    "top_k": lambda: tf.math.top_k([1.0, 2.0], k="1"),
    "transpose_a": lambda: tf.matmul([[1.0]], [[1.0]], transpose_a="False"),
    "normal": lambda: tf.random.normal([2.7]),
    "eye": lambda: tf.eye("3"),
    "linspace": lambda: tf.linspace(0.0, 1.0, float("nan")),
    "drop_remainder": lambda: COUNTING.batch(2, drop_remainder="False"),
    "retries": lambda: tf.data.Dataset.range(3).map(lambda x: x, on_error="retry", retries="3"),
    "isolate": lambda: tf.data.Dataset.range(3).map(lambda x: x, isolate="False"),
    "padded_shapes": lambda: tf.data.Dataset.from_tensors([1]).padded_batch(2, [-5]),
}


@pytest.mark.parametrize("name", SILENT)
def test_no_argument_is_taken_for_something_else(name: str) -> None:
    with pytest.raises((TypeError, ValueError)) as found:
        SILENT[name]()
    assert isinstance(found.value, tf.errors.InvalidArgumentError)
    assert "test_hostile_arguments.py" in str(found.value)


def test_a_number_of_parts_that_nothing_can_hold_is_refused() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="split: num must be at most"):
        tf.split(tf.zeros([0]), 2**62)
