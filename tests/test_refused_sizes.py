"""A refusal says the size that was asked for, and for a batch the size that would fit."""

from __future__ import annotations

import os
import random
import re
from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf

MIB = 1 << 20
SEED = int(os.environ.get("SPILLWAY_TEST_SEED", random.SystemRandom().randrange(1 << 30)))


def refusal(program: Any) -> str:
    """What it says when it is refused."""
    with pytest.raises(sw.errors.BudgetError) as error:
        program()
    return str(error.value)


def test_an_element_that_does_not_fit_has_the_size_that_was_asked_for() -> None:
    rows = sw.Dataset.range(3)
    # One number that stands for all: the array itself takes no memory of the machine.
    with sw.configure(memory_limit="256MiB"):
        said = refusal(lambda: list(rows.map(lambda i: np.broadcast_to(0.0, 1_048_576_000))))
    assert "needs 7.81 GiB" in said and "limit 256 MiB" in said, said
    assert "8.00 GiB" not in said, said  # what the slab would have


@pytest.mark.parametrize("number", range(4))
def test_the_batch_that_is_said_to_fit_does(number: int) -> None:
    rng = random.Random(SEED + number)
    limit = rng.choice([64, 96, 128])
    items = rng.randint(MIB // 32, MIB // 2)
    rows = rng.randint(2, 4) * limit * MIB // (items * 4)
    print(f"seed {SEED + number}: {rows} rows of {items} under {limit} MiB")
    ds = tf.data.Dataset.range(10 * rows).map(lambda i: tf.fill([items], tf.cast(i, tf.float32)))
    with sw.configure(memory_limit=f"{limit}MiB"):
        said = refusal(lambda: next(iter(ds.batch(rows))))
        found = re.search(r"a batch of ([\d]+) rows of \S+ \S+ each is .*: batch\((\d+)\)", said)
        assert found is not None and int(found[1]) == rows, said
        fits = int(found[2])
        assert 0 < fits < rows
        it = iter(ds.batch(fits))
        kept = next(it)
        assert next(it).shape[0] == fits
        assert kept.shape[0] == fits
