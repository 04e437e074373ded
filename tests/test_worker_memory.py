"""Workers that take too much memory: refused at their limit, replaced before it."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import spillway as sw
from spillway import _native

MIB = 1 << 20


def test_beyond_its_limit_a_function_gets_a_memory_error_at_its_element() -> None:
    def work(x: Any) -> Any:
        if int(x) == 3:
            big = bytearray(1 << 30)
            return np.int64(len(big))
        return np.int64(int(x))

    it = iter(sw.Dataset.range(6).map(work, isolate=True, memory_limit="256MiB"))
    assert [int(next(it)) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(MemoryError, match=r"memory_limit is 256") as caught:
        next(it)
    error: Any = caught.value
    assert error.index == 3
    assert isinstance(error, sw.errors.UserFunctionError)
    assert "bytearray(1 << 30)" in "".join(getattr(error.__cause__, "__notes__", []))
    assert [int(x) for x in it] == [4, 5]


def test_an_array_beyond_it_says_how_large_it_was() -> None:
    def work(x: Any) -> Any:
        return np.ones(1 << 28)[: int(x) + 1]

    with pytest.raises(MemoryError, match="Unable to allocate"):
        list(sw.Dataset.range(1).map(work, isolate=True, memory_limit=256 * MIB))


def test_a_generator_has_a_limit_too() -> None:
    def gen() -> Any:
        yield np.int64(0)
        held = np.ones(1 << 28)
        yield np.int64(len(held))

    ds = sw.Dataset.from_generator(
        gen, output_signature=sw.TensorSpec((), "int64"), isolate=True, memory_limit="256MiB"
    )
    got = []
    with pytest.raises(MemoryError) as caught:
        for x in ds:
            got.append(int(x))
    assert got == [0]
    error: Any = caught.value
    assert error.index == 1


def test_a_limit_needs_a_worker_and_some_bytes() -> None:
    with pytest.raises(ValueError, match="needs isolate=True"):
        sw.Dataset.range(3).map(lambda x: x, memory_limit="1GiB")
    with pytest.raises(ValueError, match="more than 0"):
        sw.Dataset.range(3).map(lambda x: x, isolate=True, memory_limit=0)


def test_workers_with_a_limit_are_not_those_without() -> None:
    def limit(x: Any) -> Any:
        import os
        import resource

        return np.int64(os.getpid()), np.int64(resource.getrlimit(resource.RLIMIT_DATA)[0])

    def look(**how: Any) -> tuple[set[int], set[int]]:
        rows = list(sw.Dataset.range(3).map(limit, isolate=True, **how))
        return {int(a) for a, _ in rows}, {int(b) for _, b in rows}

    free, small = look(), look(memory_limit=256 * MIB)
    again, larger = look(), look(memory_limit=512 * MIB)
    assert not free[0] & small[0]
    assert not small[0] & larger[0]
    assert free[1] == again[1]
    assert all(0 < b < 1024 * MIB for b in small[1])
    assert small[1] != larger[1]
    assert look(memory_limit=256 * MIB)[0] == small[0]  # and is kept for the next


def leaks(x: Any) -> Any:
    import builtins
    import os

    held: list[Any] = builtins.__dict__.setdefault("_spillway_leak", [])
    held.append(np.full(10 * MIB // 8, 1.0))
    return np.int64(int(x)), np.int64(os.getpid())


def test_a_worker_that_leaks_is_replaced_and_nothing_is_lost() -> None:
    started = _native.workers()["started"]
    rows = list(sw.Dataset.range(60).map(leaks, isolate=True, memory_limit=200 * MIB))
    assert [int(a) for a, _ in rows] == list(range(60))
    assert len({int(b) for _, b in rows}) >= 3
    assert _native.workers()["started"] - started >= 3
    assert os.getpid() not in {int(b) for _, b in rows}


# ---- Generators that leak


class Counting:
    """Numbers that can be continued anywhere; each takes 10 MB for good."""

    def __init__(self, count: int, leak: int = 10 * MIB) -> None:
        self.count, self.leak, self.at = count, leak, 0
        self.held: list[Any] = []

    def __iter__(self) -> Counting:
        return self

    def __next__(self) -> Any:
        if self.at == self.count:
            raise StopIteration
        self.held.append(np.full(self.leak // 8, 1.0))
        self.at += 1
        return np.int64(self.at - 1), np.int64(os.getpid())

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at = state["at"]


class Loader:
    """The same with its state on what is iterated over, as a data loader has it."""

    def __init__(self, count: int) -> None:
        self.inner = Counting(count)

    def __iter__(self) -> Any:
        yield from self.inner

    def state_dict(self) -> dict[str, int]:
        return self.inner.state_dict()

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.inner.load_state_dict(state)


SPEC = (sw.TensorSpec((), "int64"), sw.TensorSpec((), "int64"))


@pytest.mark.parametrize("make", [Counting, Loader])
@pytest.mark.parametrize("as_object", [False, True])
def test_a_generator_with_states_moves_on_before_it_is_too_large(make: Any, as_object: Any) -> None:
    given = {"generator": make(80)} if as_object else {"generator": make, "args": (80,)}
    ds = sw.Dataset.from_generator(
        **given, output_signature=SPEC, isolate=True, memory_limit=300 * MIB
    )
    rows = [(int(a), int(b)) for a, b in ds]
    assert [a for a, _ in rows] == list(range(80))
    assert len({b for _, b in rows}) >= 4


def test_one_that_dies_goes_on_from_its_state_without_running_again(tmp_path: Any) -> None:
    log = tmp_path / "made"

    class Logged(Counting):
        def __next__(self) -> Any:
            with open(log, "a") as file:
                file.write(f"{self.at}\n")
            if self.at == 700 and log.read_text().split().count("700") < 2:
                os.abort()
            return super().__next__()

    ds = sw.Dataset.from_generator(Logged, args=(1000, 0), output_signature=SPEC, isolate=True)
    assert [int(a) for a, _ in ds] == list(range(1000))
    made = [int(line) for line in log.read_text().split()]
    assert made.count(700) == 2
    assert made.count(0) == 1  # what was delivered was not made again
    assert len(made) < 1100


def test_a_state_that_raises_is_told_after_the_rows_before_it() -> None:
    class Broken(Counting):
        def state_dict(self) -> dict[str, int]:
            if self.at > 3:
                raise KeyError("no state")
            return super().state_dict()

    got = []
    with pytest.raises(KeyError, match="no state"):
        for a, _ in sw.Dataset.from_generator(
            Broken, args=(10, 0), output_signature=SPEC, isolate=True, read_ahead=0
        ):
            got.append(int(a))
    assert got == list(range(len(got)))


LEAKS = """
import json, os, sys
import numpy as np
import spillway as sw

def gen():
    held = []
    for i in range(100):
        held.append(np.full(10_000_000 // 8, float(i)))
        yield np.int64(i)

got, said = [], None
try:
    for x in sw.Dataset.from_generator(
        gen, output_signature=sw.TensorSpec((), "int64"), isolate=True
    ):
        got.append(int(x))
except (sw.errors.WorkerDied, MemoryError) as error:
    notes = getattr(error.__cause__, "__notes__", [])
    said = ["\\n".join([str(error), *notes]), error.index, error.line]
print(json.dumps([got, said]))
"""


def in_group(code: str, limit: int, **environment: str) -> Any:
    """What a program prints that may hold so many bytes with all its children."""
    from tests.ceiling.harness import Group

    group = Group.make(limit)
    if group is None:
        pytest.skip("no memory cgroup to be had here")
    try:
        done = subprocess.run(
            [sys.executable, "-c", code],
            preexec_fn=group.enter,
            env=os.environ | environment,
            capture_output=True,
            text=True,
            timeout=500,
            check=False,
        )
    finally:
        group.close()
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.cgroup
def test_one_without_states_ends_with_what_it_delivered_and_the_reason() -> None:
    got, said = in_group(LEAKS, (130 + 512) * MIB, SPILLWAY_GUARD="0")
    assert got == list(range(len(got)))
    assert len(got) >= 30
    text, index, line = said
    assert index == len(got)
    assert "for want of memory" in text
    assert "state_dict()" in text
    assert "Spillway held" in text
    assert line


@pytest.mark.cgroup
def test_one_that_leaks_arrays_gets_a_memory_error_before_its_worker_is_killed() -> None:
    got, said = in_group(LEAKS, (130 + 512) * MIB)
    assert got == list(range(len(got)))
    assert len(got) >= 30
    text, index, line = said
    assert index == len(got)
    assert "an array of 9.54 MiB does not fit" in text
    assert "line 9, in gen" in text
    assert "largest: held in gen() (list of" in text
    assert line


# ---- Workers under the limit of the process

CROWDED = """
import numpy as np, spillway as sw

def work(x):
    return np.full(1 << 20, int(x) % 250, np.uint8)

def rows(count):
    return sw.Dataset.range(count).map(work, isolate=True, num_parallel_calls=2)

others = [iter(rows(300).prefetch(50)) for _ in range(2)]
for it in others:
    next(it)
kept = []
try:
    for row in rows(120):
        kept.append(row)
except sw.errors.BudgetError as error:
    print(len(kept), sw.memory().peak, "kept by you" in str(error))
"""


def test_what_your_code_keeps_is_refused_and_starts_no_worker_beyond_the_limit() -> None:
    limit = 96 * MIB
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CROWDED],
        env=os.environ | {"SPILLWAY_MEMORY_LIMIT": str(limit)},
        capture_output=True,
        text=True,
        timeout=500,
        check=True,
    )
    kept, peak, told = done.stdout.split()
    assert int(kept) > 0
    assert int(peak) <= limit
    assert told == "True"


RANDOM_CROWD = """
import random, sys
import numpy as np, spillway as sw

rng = random.Random(int(sys.argv[1]))

def pipeline():
    most = int(10 ** rng.uniform(1, 6.3))
    steady = rng.random() < 0.5
    def work(x):
        size = most if steady else most * (1 + int(x) * 7919 % 97) // 97
        return np.full(max(size, 1), int(x) % 250, np.uint8), np.int64(int(x))
    def gen(start):
        for i in range(start, start + 400):
            yield work(i)
    if rng.random() < 0.3:
        spec = (sw.TensorSpec((None,), "uint8"), sw.TensorSpec((), "int64"))
        ds = sw.Dataset.from_generator(
            gen, args=(0,), output_signature=spec, isolate=True
        )
    else:
        calls = rng.choice([None, 1, 2, 4])
        ds = sw.Dataset.range(400).map(work, isolate=True, num_parallel_calls=calls)
    return ds.prefetch(rng.choice([1, 10, 50])) if rng.random() < 0.5 else ds

its = [iter(pipeline()) for _ in range(rng.choice([1, 2, 3]))]
kept, at = [], [0] * len(its)
keeps = rng.random() < 0.5
try:
    for _ in range(300):
        k = rng.randrange(len(its))
        value, number = next(its[k])
        assert int(number) == at[k] and (value == at[k] % 250).all(), (k, at[k], number)
        at[k] += 1
        if keeps:
            kept.append(value)
except sw.errors.BudgetError as error:
    pass
print(sw.memory().peak, sum(at))
"""


def test_random_crowds_stay_within_the_limit() -> None:
    crowds(4)


@pytest.mark.soak
def test_many_random_crowds_stay_within_the_limit() -> None:
    crowds(200)


def crowds(count: int) -> None:
    first = random.SystemRandom().randrange(10**9)
    for seed in range(first, first + count):
        limit = random.Random(seed).choice([64, 96, 200]) * MIB
        print(f"seed {seed}, limit {limit}")
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", RANDOM_CROWD, str(seed)],
            env=os.environ | {"SPILLWAY_MEMORY_LIMIT": str(limit)},
            capture_output=True,
            text=True,
            timeout=500,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-4000:]
        peak, made = done.stdout.split()
        assert int(peak) <= limit, f"{int(peak) - limit} bytes beyond the limit"
        assert int(made) > 0
