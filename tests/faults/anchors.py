"""The faults that other loaders were measured with, at the same sizes, each with the best of them.

1,000 elements in batches of 10 where nothing else is said, 2 workers, a patient consumer. The other
loaders' lines were measured on the same kind of machine: tensorflow-cpu 2.21.0 (tf.data), torch
2.13.0 (DataLoader), grain 0.2.18, spdl 0.8.0, mlx-data 0.1.0, webdataset 1.0.2, ray 2.60.0.
"""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

import spillway as sw
from tests.faults.cases import INT, MIB, forking, grown_since, held, leave, poisoned
from tests.faults.fault import consume, fault, named
from tests.faults.processes import is_spare, servers_of, workers_of

COUNT = 1000


def identity() -> Any:
    def work(x: Any) -> Any:
        import time

        time.sleep(0.0005)
        return np.int64(int(x))

    return work


def ints(values: Any) -> list[int]:
    return [int(x) for x in values]


def tree_bytes() -> int:
    """PSS of this process and all below it."""
    pids = [os.getpid(), *servers_of(os.getpid()), *workers_of(os.getpid())]
    total = 0
    for pid in pids:
        with suppress(FileNotFoundError, ProcessLookupError):
            for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1]) * 1024
    return total


def strings(count: int, epochs: int) -> str:
    names = [f"folder/of/images/{i:012d}.jpg" for i in range(count)]

    def lengths(batch: Any) -> Any:
        return np.array([len(name) for name in batch.numpy()])

    ds = sw.Dataset.from_tensor_slices(names).batch(100)
    ds = ds.map(lengths, isolate=True, num_parallel_calls=2)
    before = tree_bytes() / MIB
    peaks: list[float] = []
    for _ in range(epochs):
        peak, seen = 0, 0
        for n, batch in enumerate(ds):
            seen += len(batch)
            if n % 200 == 0:
                peak = max(peak, tree_bytes())
        assert seen == count
        peaks.append(peak / MIB)
    assert max(peaks) <= peaks[0] * 1.05 + 8, peaks  # level from the first epoch on
    levels = ", ".join(f"{p:.0f}" for p in peaks)
    return f"{before:.0f}→{levels} MiB, {epochs} epochs"


@fault(
    "R1",
    "list of 2M strings, 2 workers, 3 epochs: PSS",
    alone="process",
    best="DataLoader: 439→664, 691, 707 MiB",
    soak=True,
)
def list_of_strings() -> str:
    return strings(2_000_000, 3)


@fault(
    "R3",
    "SIGKILL a worker at 50 %",
    best="Ray Data: lost 0, dup 0, no message, next epoch ok",
)
def kill_at_half() -> str:
    ds = sw.Dataset.range(COUNT).map(identity(), isolate=True, num_parallel_calls=2)
    got: list[int] = []
    killed = 0
    for x in ds:
        got.append(int(x))
        if len(got) == COUNT // 2:
            for pid in [p for p in workers_of(os.getpid()) if not is_spare(p)]:
                os.kill(pid, signal.SIGKILL)
                killed += 1
    assert killed
    lost, doubled = len(set(range(COUNT)) - set(got)), len(got) - len(set(got))
    again = ints(ds) == list(range(COUNT)) and got == sorted(got)
    return f"lost {lost}, dup {doubled}, no message, next epoch {'ok' if again else 'NOT OK'}"


@fault(
    "R4",
    "segfault in the user's map function",
    best="DataLoader: RuntimeError 0.02 s, 980/999 others, names nothing",
)
def segfault() -> str:
    ds = sw.Dataset.range(COUNT).map(poisoned(500), isolate=True, num_parallel_calls=2)
    begun = time.monotonic()
    got, errors = consume(ds)
    (error,) = errors
    assert ints(got) == [2 * i for i in range(COUNT) if i != 500] and "in work" in str(error)
    took = time.monotonic() - begun
    facts = named(error, index=500)
    kind = type(error).__name__
    return f"{kind}, all in {took:.2f} s, {len(got)}/999 others, names {facts}+user_line"


@fault(
    "R6",
    "one sample sleeps for ever, stall limit 3 s",
    best="DataLoader: RuntimeError 3.0 s, 610/999 others, names nothing",
)
def sleeps_for_ever() -> str:
    def work(x: Any) -> Any:
        import time

        if int(x) == 500:
            time.sleep(1 << 20)
        return np.int64(int(x))

    ds = sw.Dataset.range(COUNT).map(
        work, isolate=True, num_parallel_calls=2, timeout=3, restarts=0
    )
    begun = time.monotonic()
    got, errors = consume(ds)
    took = time.monotonic() - begun
    (error,) = errors
    assert ints(got) == [i for i in range(COUNT) if i != 500] and "in work" in str(error)
    facts = named(error, index=500)
    return f"{type(error).__name__} {took:.1f} s, {len(got)}/999 others, names {facts}+user_line"


class TwoArgumentError(Exception):
    def __init__(self, first: str, second: int) -> None:
        super().__init__(f"{first} {second}")


@fault(
    "R8",
    "exception with two required arguments; unpicklable return",
    best="[twoargs] mlx-data: TwoArgumentError, type: yes, 990/999 others "
    "[unpicklable] Ray Data: delivered as is, 999/999 others",
)
def odd_exceptions() -> str:
    def two(x: Any) -> Any:
        if int(x) == 500:
            raise TwoArgumentError("no label", 42)
        return np.int64(int(x))

    def lock(x: Any) -> Any:
        import threading

        return threading.Lock() if int(x) == 500 else np.int64(int(x))

    lines = []
    for name, function in (("twoargs", two), ("unpicklable", lock)):
        got, errors = consume(
            sw.Dataset.range(COUNT).map(function, isolate=True, num_parallel_calls=2)
        )
        (error,) = errors
        assert ints(got) == [i for i in range(COUNT) if i != 500]
        kind = "yes" if isinstance(error, TwoArgumentError) else "ours"
        lines.append(
            f"[{name}] {type(error).__name__.split('.')[-1]}, type: {kind}, {len(got)}/999 others, "
            f"names {named(error, index=500)}"
        )
    return " ".join(lines)


@fault(
    "R9",
    "Ctrl-C in the middle",
    alone="process",
    best="DataLoader: [streaming, blocked] 0.0 s, next ok",
)
def ctrl_c() -> str:
    def slow(x: Any) -> Any:
        import time

        time.sleep(8 if int(x) == 500 else 0.0005)
        return np.int64(int(x))

    lines = []
    # Rows made just before the one that blocks may wait with it: 450 has gone by then.
    for name, at in (("streaming", 100), ("blocked", 450)):
        ds = sw.Dataset.range(COUNT).map(slow, isolate=True, num_parallel_calls=2)
        sent: list[float] = []

        def interrupt(sent: list[float] = sent) -> None:
            time.sleep(0.3)
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=interrupt)
        seen = 0
        try:
            for _ in ds:
                seen += 1
                if seen == at:
                    thread.start()
                if name == "streaming" and seen > at:
                    time.sleep(0.01)
        except KeyboardInterrupt:
            took = time.monotonic() - sent[0]
        thread.join()
        fine = sw.Dataset.range(COUNT).map(identity(), isolate=True, num_parallel_calls=2)
        assert ints(fine) == list(range(COUNT))
        lines.append(f"[{name}] {took:.2f} s, next ok")
    return " ".join(lines)


@fault(
    "R10",
    "1,000 x next(iter(ds)): threads, fds, RSS",
    alone="process",
    best="mlx-data: 1000 rounds, thr +0, fds +0, RSS +0 MiB",
)
def next_of_iter() -> str:
    def work(x: Any) -> Any:
        import os

        return np.int64(int(x)) if os.getpid() else 0

    ds = sw.Dataset.range(COUNT).map(work, isolate=True, num_parallel_calls=2).batch(10)
    for _ in range(20):
        next(iter(ds))
    before, bytes_before = held(), tree_bytes()
    rounds = 0
    for _ in range(1000):
        assert ints(next(iter(ds))) == list(range(10))
        rounds += 1
    gc.collect()
    grown = max(0, tree_bytes() - bytes_before)
    threads, fds, _ = grown_since(before)
    assert threads == 0 and fds == 0 and grown < 16 * MIB, (threads, fds, grown)
    return f"{rounds} rounds, thr +{threads}, fds +{fds}, RSS +{grown / MIB:.0f} MiB"


@fault(
    "R13",
    "/dev/shm of 64 MB, 32 MB batches from 2 process workers",
    alone="small shm",
    best="tf.data, SPDL, mlx-data: 40/40",
)
def small_shm() -> str:
    def work(x: Any) -> Any:
        return np.full(32 << 20, int(x), np.uint8)

    ds = sw.Dataset.range(40).map(work, isolate=True, num_parallel_calls=2)
    got = [int(x[0]) for x in ds if (x == x[0]).all()]
    assert got == list(range(40))
    return f"{len(got)}/40, shm left {len(os.listdir('/dev/shm'))}"


@fault(
    "R17",
    "generator leaks 10 MB an element (1 GB in all), base + 512 MiB",
    alone="cgroup",
    best="SPDL: 50/100, RuntimeError; says nothing of memory",
)
def leaking_generator() -> str:
    def leaks() -> Iterator[Any]:
        held = []
        for i in range(100):
            held.append(np.ones(10 << 20, np.uint8))
            yield np.int64(i)

    ds = sw.Dataset.from_generator(leaks, output_signature=INT, isolate=True, read_ahead=0)
    got, errors = consume(ds)
    assert ints(got) == list(range(len(got)))
    if not errors:
        return f"{len(got)}/100"
    (error,) = errors
    assert isinstance(error, MemoryError) and "kept the process alive" in str(error)
    facts = named(error, index=len(got))
    return f"about {round(len(got), -1)}/100, a MemoryError with the {facts}; nothing died"


@fault(
    "R18",
    "generator raises at element k",
    best="DataLoader, Grain, mlx-data: all before it, type: yes, names user_line",
)
def generator_raises() -> str:
    def raises(at: int) -> Iterator[Any]:
        for i in range(COUNT):
            if i == at:
                raise KeyError(f"label of {i}")
            yield np.int64(i)

    for at in (0, 1, 500, 999):
        ds = sw.Dataset.from_generator(raises, args=(at,), output_signature=INT, isolate=True)
        got, errors = consume(ds)
        (error,) = errors
        assert ints(got) == list(range(at)) and isinstance(error, KeyError)
        assert named(error, index=at) == "element+stage+line"
        assert "raise KeyError" in "".join(getattr(error.__cause__, "__notes__", []))
    return "all before it, KeyError, type: yes, names element+stage+line+user_line"


@fault(
    "R20",
    "user forks mid-epoch",
    alone="process",
    best="DataLoader, Grain: [unrelated] child ok, parent 1000/1000 [uses_it] child got a batch",
)
def forks() -> str:
    return forking(COUNT)


@fault(
    "R22",
    "interpreter exit mid-epoch",
    best="mlx-data: exit in 0.51 s",
)
def exit_in_the_middle() -> str:
    took, clean = leave("sys.exit(0)", stuck=False)
    assert clean
    return f"exit in {took:.2f} s, nothing left"


@fault(
    "R23",
    "exception in the loop body, 10 times, then a whole epoch",
    alone="process",
    best="all: 1000/1000, thr +0, fds +0",
)
def exceptions_in_the_body() -> str:
    ds = sw.Dataset.range(COUNT).map(identity(), isolate=True, num_parallel_calls=2)

    def body(n: int) -> None:
        for x in ds:
            if int(x) == 10 + n:
                raise ValueError("in the body")

    for n in range(3):
        with suppress(ValueError):
            body(n)
    assert len(list(ds)) == COUNT
    before = held()
    for n in range(10):
        with suppress(ValueError):
            body(n)
    got = ints(ds)
    assert got == list(range(COUNT))
    threads, fds, _ = grown_since(before)
    assert threads == fds == 0, (threads, fds)
    return f"{len(got)}/1000, thr +{threads}, fds +{fds}"


@fault(
    "R24",
    "interpreter exit while a worker is stuck",
    best="DataLoader: exit in 1.86 s",
)
def exit_with_a_stuck_worker() -> str:
    took, clean = leave("sys.exit(0)", stuck=True)
    assert clean
    return f"exit in {took:.2f} s, nothing left"
