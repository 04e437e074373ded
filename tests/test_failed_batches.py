"""A batch that fails says which good elements it drops, and what keeps them."""

from __future__ import annotations

import numpy as np
import pytest

import spillway as sw


def test_a_batch_names_the_good_elements_it_drops() -> None:
    ds = sw.Dataset.range(10).map(lambda x: 12 // (x - 5)).batch(4)
    it = iter(ds)
    next(it)
    with pytest.raises(sw.errors.InvalidArgumentError) as caught:
        next(it)
    assert (
        "batch#2 drops 1 good element of that batch with it (number 4 of its input); "
        'on_error="skip" on the stage that failed, or ignore_errors() before the batch, keeps them'
    ) in str(caught.value)
    assert [np.asarray(b).tolist() for b in it] == [[12, 6, 4, 3]]
    kept = sw.Dataset.range(10).map(lambda x: 12 // (x - 5), on_error="skip").batch(4)
    assert sum(len(b) for b in kept) == 9

    ragged = sw.Dataset.range(1, 7).map(
        lambda n: np.ones(int(n) // 4 + 1), output_signature=sw.TensorSpec((None,), "float64")
    )
    with pytest.raises(sw.errors.InvalidArgumentError) as caught:
        list(ragged.batch(6))
    assert "batch#2 drops 5 good elements of that batch" in str(caught.value)


def test_a_padded_batch_names_them_too() -> None:
    ds = sw.Dataset.range(10).map(lambda x: 12 // (x - 2)).padded_batch(4)
    with pytest.raises(sw.errors.InvalidArgumentError) as caught:
        list(ds)
    assert "padded_batch#2 drops 2 good elements of that batch with it (between number 0 and 1" in (
        str(caught.value)
    )


def test_one_that_drops_none_says_nothing_of_it() -> None:
    ds = sw.Dataset.range(10).map(lambda x: 12 // x).batch(4)
    with pytest.raises(sw.errors.InvalidArgumentError) as caught:
        list(ds)
    assert "good element" not in str(caught.value)
