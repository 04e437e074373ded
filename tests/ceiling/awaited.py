"""Cases: large elements of async generators and async functions, many of them in flight."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import spillway as sw
from tests.ceiling.case import MIB, WORDS, Facts, case, number_of, numbered, spilled


@case(limit=96 * MIB)
def an_async_generator(limit: int) -> Facts:
    """1,000 arrays of 1 MiB of an async generator, read ahead without a bound."""
    count = 1000

    async def make() -> AsyncIterator[Any]:
        for number in range(count):
            await asyncio.sleep(0)
            yield numbered(number)

    spec = sw.TensorSpec((WORDS,), "int64")
    ds = sw.Dataset.from_generator(make, output_signature=spec)
    return Facts([number_of(x) for x in ds.prefetch(500)], range(count))


@case(limit=128 * MIB)
def shuffle_of_an_async_map(limit: int) -> Facts:
    """600 arrays of 1 MiB, 256 awaits in flight, through a shuffle buffer of all of them."""
    count = 600

    async def make(number: Any) -> Any:
        await asyncio.sleep(0.001)
        return numbered(int(number))

    ds = sw.Dataset.range(count).map(make, num_parallel_calls=256).shuffle(count, seed=3)
    return Facts([number_of(x) for x in ds], range(count), spilled(ds, "shuffle"))


@case(limit=128 * MIB)
def generators_side_by_side(limit: int) -> Facts:
    """1,000 arrays of 1 MiB of sixteen generators in turn, read ahead without a bound."""
    count = 1000

    def make(numbers: Any) -> Iterator[Any]:
        for number in numbers:
            yield numbered(number)

    ds = sw.Dataset.from_generator(make, args=[range(count)], parallel=16)
    return Facts([number_of(x) for x in ds.prefetch(500)], range(count))
