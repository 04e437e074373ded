"""Cases: user code in worker processes, which share the container with the rest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import spillway as sw
from tests.ceiling.case import MIB, Facts, case, number_of, spilled


@case(limit=160 * MIB)
def shuffle_of_an_isolated_map(limit: int) -> Facts:
    """600 arrays of 1 MiB, made in workers, through a shuffle buffer of all of them."""
    count = 600

    def make(number: Any) -> Any:
        import os

        return np.full(MIB // 8, int(number) if os.getpid() else 0, "int64")

    spec = sw.TensorSpec((MIB // 8,), "int64")
    ds = sw.Dataset.range(count).map(
        make, num_parallel_calls=sw.AUTOTUNE, output_signature=spec, isolate=True
    )
    ds = ds.shuffle(count, seed=3)
    return Facts([number_of(x) for x in ds], range(count), spilled(ds, "shuffle"))


@case(limit=128 * MIB)
def an_isolated_generator(limit: int) -> Facts:
    """1,000 arrays of 1 MiB of a generator in a worker, read ahead without a bound."""
    count = 1000

    def make() -> Iterator[Any]:
        for number in range(count):
            yield np.full(MIB // 8, number, "int64")

    spec = sw.TensorSpec((MIB // 8,), "int64")
    ds = sw.Dataset.from_generator(make, output_signature=spec, isolate=True)
    return Facts([number_of(x) for x in ds.prefetch(500)], range(count))


@case(limit=256 * MIB)
def an_isolated_map_that_leaks(limit: int) -> Facts:
    """100 calls that leak 10 MB each: workers are replaced, this process stays as it was."""
    count = 100

    def work(number: Any) -> Any:
        import builtins

        held: list[Any] = builtins.__dict__.setdefault("_leak", [])
        held.append(np.full(10 * MIB // 8, 1.0))
        return np.int64(int(number) + len(held) * 0)

    ds = sw.Dataset.range(count).map(work, num_parallel_calls=2, isolate=True)
    it = iter(ds)
    seen = [int(next(it))]
    before = resident()
    seen += [int(x) for x in it]
    grown = resident() - before
    if grown > 16 * MIB:
        raise AssertionError(f"this process grew by {grown / MIB:.0f} MiB")
    return Facts(seen, range(count), f"{grown / MIB:.1f} MiB grown here")


class Numbers:
    """A generator that leaks, and can say where it is."""

    def __init__(self, count: int) -> None:
        self.count, self.at = count, 0
        self.held: list[Any] = []

    def __iter__(self) -> Numbers:
        return self

    def __next__(self) -> Any:
        if self.at == self.count:
            raise StopIteration
        self.held.append(np.full(10 * MIB // 8, 1.0))
        self.at += 1
        return np.full(MIB // 8, self.at - 1, "int64")

    def state_dict(self) -> dict[str, Any]:
        return {"at": self.at, "bulk": bytes(1 << 20)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.at = state["at"]


@case(limit=256 * MIB)
def a_generator_that_leaks_and_tells_its_state(limit: int) -> Facts:
    """100 elements of a generator that leaks 10 MB each, and whose state is a MiB."""
    spec = sw.TensorSpec((MIB // 8,), "int64")
    ds = sw.Dataset.from_generator(Numbers, args=(100,), output_signature=spec, isolate=True)
    return Facts([number_of(x) for x in ds], range(100))


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


@case(limit=256 * MIB)
def a_guarded_call_that_wants_everything(limit: int) -> Facts:
    """A callable that allocates without end, then one that answers, in turn."""

    def work(forever: bool) -> int:
        held = []
        while forever:
            held.append(np.ones(MIB))
        return 1

    seen = []
    with sw.guarded(work, memory_limit=64 * MIB) as call:
        for number in range(5):
            try:
                call(True)
            except (MemoryError, sw.errors.WorkerDied):
                seen.append(number * call(False))
    return Facts(seen, range(5))
