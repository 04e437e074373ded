"""Cases: stages that hold elements, in a row and inside one another."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import spillway as sw
from tests.ceiling.case import (
    MIB,
    WORDS,
    Facts,
    case,
    generated,
    mapped,
    number_of,
    numbered,
    spilled,
    stage,
)

# ---- Shuffle


def shuffled(dataset: sw.Dataset, buffer: int, count: int) -> Facts:
    mixed = dataset.shuffle(buffer, seed=7)
    seen = [number_of(x) for x in mixed]
    effective = f"buffer {stage(mixed, 'shuffle').effective}, {spilled(mixed, 'shuffle')}"
    return Facts(seen, range(count), effective)


@case(limit=64 * MIB)
def shuffle_of_a_generator(limit: int) -> Facts:
    """A seeded shuffle asked for ten times the limit keeps its order and spills."""
    count = 10 * limit // MIB + 100
    return shuffled(generated(count), 10 * limit // MIB, count)


@case(limit=64 * MIB)
def shuffle_of_undeclared_elements(limit: int) -> Facts:
    """The same when only the elements themselves tell their size."""
    count = 10 * limit // MIB + 100
    return shuffled(generated(count, declared=False), 10 * limit // MIB, count)


@case(limit=48 * MIB)
def shuffle_of_a_parallel_map(limit: int) -> Facts:
    """The same over a parallel map and small elements, which are packed in pages."""
    size = MIB // 32
    count = 10 * limit // size
    return shuffled(mapped(count, size, sw.AUTOTUNE), count - 100, count)


# ---- Prefetch


def prefetched(dataset: sw.Dataset, count: int) -> Facts:
    ahead = dataset.prefetch(1000)
    seen, most = [], 0
    for x in ahead:
        seen.append(number_of(x))
        del x
        time.sleep(0.02)  # the consumer: long enough for the driver to get ahead of it
        most = max(most, stage(ahead, "prefetch").held)
    return Facts(seen, range(count), f"held at most {most} of 1000")


@case(limit=96 * MIB)
def prefetch_of_a_map(limit: int) -> Facts:
    """prefetch(1000) of 8 MiB elements holds as many as fit while the consumer is slow."""
    return prefetched(mapped(50, 8 * MIB), 50)


@case(limit=96 * MIB)
def prefetch_of_a_generator(limit: int) -> Facts:
    """The same over a generator with a declared spec."""
    return prefetched(generated(50, 8 * MIB), 50)


# ---- Cache


def cached(dataset: sw.Dataset, count: int) -> Facts:
    kept = dataset.cache()
    seen = [number_of(x) for x in kept]
    effective = spilled(kept, "cache")
    seen += [number_of(x) for x in kept]
    return Facts(seen, [*range(count), *range(count)], effective)


@case(limit=64 * MIB)
def cache_of_a_generator(limit: int) -> Facts:
    """cache() of five times the limit: the second epoch reads what the first one spilled."""
    made = []

    def elements() -> Iterator[np.ndarray[Any, Any]]:
        made.append(1)
        for number in range(5 * limit // MIB):
            yield numbered(number)

    spec = sw.TensorSpec((WORDS,), "int64")
    facts = cached(sw.Dataset.from_generator(elements, output_signature=spec), 5 * limit // MIB)
    assert len(made) == 1, "the generator ran again: its rows were dropped instead of spilled"
    return facts


@case(limit=48 * MIB)
def cache_of_small_rows(limit: int) -> Facts:
    """cache() of five times the limit in rows of 4 KiB."""
    count = 5 * limit // 4096
    return cached(mapped(count, 4096), count)


# ---- Batch


def batched(dataset: sw.Dataset, batches: int) -> Facts:
    seen = []
    for batch in dataset:
        assert batch.shape == (64, WORDS)
        seen += [number_of(row) for row in batch]
        del batch
    return Facts(seen, range(64 * batches), f"{stage(dataset, 'map').parallelism} calls at a time")


@case(limit=256 * MIB)
def batch_of_four_calls(limit: int) -> Facts:
    """Batches of 64 x 1 MiB out of a parallel map of four calls."""
    return batched(mapped(64 * 6, MIB, 4).batch(64), 6)


@case(limit=256 * MIB)
def batch_of_tuned_calls(limit: int) -> Facts:
    """Batches of 64 x 1 MiB out of a tuned parallel map, prefetched."""
    return batched(mapped(64 * 6, MIB, sw.AUTOTUNE).batch(64).prefetch(sw.AUTOTUNE), 6)


# ---- Interleave


def interleaved(inner: Callable[[int], sw.Dataset], calls: int | None) -> Facts:
    def open_file(number: Any) -> sw.Dataset:
        return inner(int(number))

    together = sw.Dataset.range(96).interleave(open_file, cycle_length=64, num_parallel_calls=calls)
    seen = []
    for x in together:
        seen += [number_of(row) for row in x.reshape(-1, WORDS)]
        del x
    return Facts(seen, range(96 * 4), "cycle 64")


@case(limit=64 * MIB)
def interleave_of_generators(limit: int) -> Facts:
    """64 generators of 1 MiB elements are walked in turn, each looking ahead."""

    def inner(file: int) -> sw.Dataset:
        def elements() -> Iterator[np.ndarray[Any, Any]]:
            for row in range(4):
                yield numbered(4 * file + row)

        return sw.Dataset.from_generator(
            elements, output_signature=sw.TensorSpec((WORDS,), "int64")
        )

    return interleaved(inner, None)


@case(limit=64 * MIB)
def interleave_in_parallel(limit: int) -> Facts:
    """64 mapped and batched datasets are read ahead in parallel."""

    def inner(file: int) -> sw.Dataset:
        def row(number: Any) -> np.ndarray[Any, Any]:
            return numbered(4 * file + int(number))

        return sw.Dataset.range(4).map(row).batch(2)

    return interleaved(inner, sw.AUTOTUNE)


# ---- Pipelines inside generators


@case(limit=16 * MIB)
def generators_three_levels_deep(limit: int) -> Facts:
    """A generator iterates a dataset whose generator iterates a dataset, and so once more."""

    def level(depth: int, base: int) -> sw.Dataset:
        def elements() -> Iterator[np.ndarray[Any, Any]]:
            for part in range(3):
                number = 3 * base + part
                if depth == 0:
                    yield numbered(number)
                else:
                    for batch in level(depth - 1, number):
                        yield from batch

        rows = sw.Dataset.from_generator(
            elements, output_signature=sw.TensorSpec((WORDS,), "int64")
        )
        return rows.batch(2)

    seen = []
    for batch in level(2, 0):
        seen += [number_of(row) for row in batch]
        del batch
    return Facts(seen, range(27), "3 levels, batch 2")
