"""A pass that is restored knows nothing of where it stood before."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import spillway as sw

Chain = Callable[[sw.Dataset], sw.Dataset]


@pytest.mark.parametrize(
    "chain",
    [
        lambda ds: ds,
        lambda ds: ds.map(lambda x: x),
        lambda ds: ds.map(lambda x: x, num_parallel_calls=3),
        lambda ds: ds.filter(lambda x: x % 3 != 0),
        lambda ds: ds.batch(2),
        lambda ds: ds.window(2).flat_map(lambda window: window),
        lambda ds: ds.shuffle(3, seed=5),
        lambda ds: ds.unique().prefetch(2),
        lambda ds: ds.interleave(sw.Dataset.from_tensors, cycle_length=2),
        lambda ds: sw.Dataset.zip((ds, ds.map(lambda x: x))).take_while(lambda x, y: x >= 0),
    ],
)
def test_what_a_pass_was_before_a_restore_is_forgotten(chain: Chain) -> None:
    """Also what it told of itself: it was saved before, and again without a pull between."""

    def build() -> sw.Dataset:
        # Each pass draws other numbers: a new pipeline begins with those of the first.
        return chain(sw.Dataset.random(seed=1, rerandomize_each_iteration=True).take(6))

    def shown(ds: sw.Dataset) -> list[str]:
        return [repr(element) for element in ds]

    whole = build()
    passes = [shown(whole) for _ in range(3)]
    assert passes[0] != passes[1] != passes[2]
    for events in range(len(passes[1])):
        first = build()
        shown(first)
        it = iter(first)
        seen = [repr(next(it)) for _ in range(events)]
        for _ in range(2):
            state = it.save()
            ds = build()
            it = iter(ds)
            it.save()
            it.restore(state)
        assert seen + [repr(element) for element in it] == passes[1]
        assert shown(ds) == passes[2]
