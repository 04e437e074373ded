"""Cases: what can never fit, and state that may not be given up."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np

import spillway as sw
from tests.ceiling.case import MIB, WORDS, Facts, case, mapped, number_of, numbered, spilled

# ---- What can never fit


def refusal(dataset: sw.Dataset, kind: type[Exception], *words: str) -> tuple[list[int], str]:
    """The elements before the refusal, and its text."""
    seen: list[int] = []
    try:
        for x in dataset:
            seen.append(number_of(x))
            del x
    except kind as e:
        text = str(e)
        for word in words:
            assert word in text, f"{word!r} is not in: {text}"
        return seen, text
    raise AssertionError(f"{len(seen)} elements came, and no {kind.__name__}")


@case(limit=64 * MIB)
def element_larger_than_the_limit(limit: int) -> Facts:
    """An element that cannot fit is refused by name, after those that could."""

    def make(number: Any) -> np.ndarray[Any, Any]:
        # More than the limit, less than NumPy is refused by the container's.
        return numbered(int(number), 3 * limit // 2 if int(number) == 3 else MIB)

    seen, text = refusal(sw.Dataset.range(5).map(make), sw.errors.ElementTooLarge, "limit", "map")
    return Facts(seen, range(3), "ElementTooLarge", {"text": text})


@case(limit=64 * MIB)
def file_larger_than_the_limit(limit: int) -> Facts:
    """A file that a traced function would read whole is refused by name before it is read."""
    import spillway.tf as tf

    with tempfile.NamedTemporaryFile() as file:
        file.truncate(16 * limit)  # holes: no disk is used
        whole = sw.Dataset.from_tensors(file.name).map(lambda path: tf.io.read_file(path))
        words = ("limit", "map", file.name)
        seen, text = refusal(whole, sw.errors.ElementTooLarge, *words)
    return Facts(seen, [], "ElementTooLarge", {"text": text})


@case(limit=64 * MIB)
def batch_larger_than_the_limit(limit: int) -> Facts:
    """A batch of unknown size that cannot fit is refused at the batch."""
    seen, text = refusal(mapped(500).batch(256), sw.errors.BudgetError, "limit", "batch")
    return Facts(seen, [], "BudgetError", {"text": text})


@case(limit=64 * MIB)
def floor_above_the_limit(limit: int) -> Facts:
    """Static sizes that do not fit together are refused at once, with a table."""
    called = []

    def elements() -> Iterator[np.ndarray[Any, Any]]:
        called.append(1)
        yield numbered(0)

    spec = sw.TensorSpec((WORDS,), "int64")
    dataset = sw.Dataset.from_generator(elements, output_signature=spec).batch(
        128, drop_remainder=True
    )
    seen, text = refusal(dataset, sw.errors.FloorTooHigh, "batch", "needs", "128 MiB", "refused.py")
    assert not called, "the generator ran although the limit can never hold a batch"
    return Facts(seen, [], "FloorTooHigh", {"text": text})


# ---- State that may not be given up


@case(limit=48 * MIB)
def window_larger_than_the_limit(limit: int) -> Facts:
    """A window of four times the limit spills and is read back in order."""
    count = 4 * limit // MIB
    seen = []
    windows = mapped(2 * count).window(count)
    for window in windows:
        for x in window:
            seen.append(number_of(x))
            del x
    return Facts(seen, range(2 * count), spilled(windows, "window"))


@case(limit=48 * MIB)
def groups_larger_than_the_limit(limit: int) -> Facts:
    """Groups that together hold four times the limit spill."""
    count = 4 * limit // MIB

    def key(x: Any) -> Any:
        return np.int64(int(x[0]) % 4)

    groups = mapped(count).group_by_window(key, lambda key, rows: rows, window_size=count)
    seen = []
    for x in groups:
        seen.append(number_of(x))
        del x
    assert seen == sorted(range(count), key=lambda n: (n % 4, n))
    return Facts(seen, range(count), spilled(groups, "group_by_window"))


@case(limit=2 * MIB)
def unique_values_beyond_the_limit(limit: int) -> Facts:
    """More different values than fit are remembered on disk."""
    count = limit // 16  # of 16 bytes each, were they all kept
    again = sw.Dataset.range(0, count, 64)
    values = sw.Dataset.range(count).concatenate(again).unique().batch(4096)
    seen = np.concatenate(list(values)).tolist()
    return Facts(seen, range(count), spilled(values, "unique"))


@case(limit=48 * MIB)
def padded_batch_larger_than_the_limit(limit: int) -> Facts:
    """A padded batch that cannot fit is refused; one that can arrives."""

    def make(number: Any) -> np.ndarray[Any, Any]:
        return np.full((1 + int(number) % 3) * WORDS // 4, int(number), "int64")

    small = []
    spec = sw.TensorSpec((None,), "int64")
    made = sw.Dataset.range(60).map(make, output_signature=spec)
    for batch in made.padded_batch(6, padding_values=np.int64(-1)):
        small += [int(row[0]) for row in batch]
        del batch
    seen, text = refusal(
        sw.Dataset.range(400)
        .map(make, output_signature=spec)
        .padded_batch(200, padding_values=np.int64(-1)),
        sw.errors.BudgetError,
        "padded_batch",
    )
    return Facts(small + seen, range(60), "BudgetError", {"text": text})
