"""Functions on their way to workers: what they captured is counted, reserved, and there once."""

from __future__ import annotations

import pickle
import random
from typing import Any

import cloudpickle
import numpy as np
import pytest

import spillway as sw
from spillway.guard import cargo, travel
from tests.test_worker_memory import in_group

MIB = 1 << 20
INT = sw.TensorSpec((), "int64")


def test_large_variables_arrive_as_they_were() -> None:
    table = np.arange(500_000)
    words = [f"word {i}" for i in range(50_000)]
    gaps = np.arange(400_000)[::2]
    text = "é" * 200_000

    def work(x: Any) -> Any:
        i = int(x)
        return np.int64(table[i] + gaps[i] + len(words[i]) + len(text))

    expected = [i + 2 * i + len(f"word {i}") + 200_000 for i in range(20)]
    assert [int(v) for v in sw.Dataset.range(20).map(work, isolate=True)] == expected
    with sw.guarded(work) as call:
        assert [int(call(i)) for i in range(20)] == expected

    def gen(base: Any) -> Any:
        for i in range(20):
            yield np.int64(int(work(i)) + int(base[0]))

    ds = sw.Dataset.from_generator(gen, args=(table,), output_signature=INT, isolate=True)
    assert [int(v) for v in ds] == expected


def test_what_was_captured_is_that_of_the_line_and_stays_so() -> None:
    table = np.zeros(100_000, np.int64)

    def work(x: Any) -> Any:
        table[0] += 1  # a worker's own
        return np.int64(table[int(x)])

    ds = sw.Dataset.range(50).map(lambda x: work(x + 1), isolate=True, num_parallel_calls=2)
    table[:] = 7
    for _ in range(2):
        assert [int(v) for v in ds] == [0] * 50
    assert table[0] == 7


def test_a_dataset_with_large_variables_travels() -> None:
    table = np.arange(300_000)
    ds = sw.Dataset.range(5).map(lambda x: np.int64(table[int(x) + 9]), isolate=True)
    again = pickle.loads(pickle.dumps(ds))
    assert [int(v) for v in again] == [9, 10, 11, 12, 13]
    assert [int(v) for v in cloudpickle.loads(cloudpickle.dumps(again))] == [9, 10, 11, 12, 13]


def test_random_values_are_packed_and_opened() -> None:
    seed = random.SystemRandom().randrange(10**9)
    print(f"seed {seed}")
    rng = random.Random(seed)

    def value(depth: int) -> Any:
        size = rng.choice([0, 1, 100, 10_000, 40_000, 300_000])
        kind = rng.randrange(9 if depth else 7)
        if kind == 0:
            return np.arange(size, dtype=rng.choice(["u1", "i8", "f4"]))
        if kind == 1:
            return np.asfortranarray(np.ones((size // 100, 7)))
        if kind == 2:
            return np.arange(size)[:: rng.choice([2, -1])]
        if kind == 3:
            return "s" * size
        if kind == 4:
            return bytes(size)
        if kind == 5:
            return bytearray(size)
        if kind == 6:
            return list(range(size // 100))
        if kind == 7:
            return {str(i): value(depth - 1) for i in range(3)}
        shared = value(depth - 1)
        return [shared, shared]

    for _ in range(40):
        given = value(3)
        packed = travel.pack(given, "test")
        assert _same(travel.loads(*packed.open()), given)
        again = pickle.loads(pickle.dumps(packed))
        assert _same(travel.loads(*again.open()), given)
        assert packed.bytes < cargo.size_of(given, travel.dump) + 64 * 4096


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        return list(a) == list(b) and all(_same(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    return type(a) is type(b) and bool(a == b)


def test_what_it_takes_is_in_the_ledger_while_somebody_has_it() -> None:
    def held() -> int:
        rows = sw.memory().rows
        return sum(row["held"] for row in rows if row["name"] == "functions of workers")

    before = held()
    table = np.ones(8 * MIB // 8)
    ds = sw.Dataset.range(2).map(lambda x: table[int(x)], isolate=True)
    assert 8 * MIB <= held() - before <= 9 * MIB
    del ds
    assert held() == before


REFUSED = """
import json
import numpy as np
import spillway as sw

KIND = {kind!r}
if KIND == "array":
    table = np.ones({size} // 8)
elif KIND == "gaps":
    table = np.ones({size} // 8)[::2]
else:
    table = ["%040d" % i for i in range({size} // 100)]
small = np.ones(1000)

def work(x):
    return table[int(x)] if small[0] else None

def gen():
    yield table[0]

said = []
for make in (
    lambda: sw.Dataset.range(3).map(work, isolate=True),
    lambda: sw.Dataset.from_generator(gen, isolate=True),
    lambda: sw.Dataset.range(1).interleave(
        lambda x: sw.Dataset.from_generator(gen, isolate=True), cycle_length=1
    ),
    lambda: sw.guarded(work),
):
    try:
        made = make()
        said.append(len(list(made)) if hasattr(made, "map") else len(str(made(1))))
        del made
    except MemoryError as error:
        said.append([type(error).__name__, str(error)])
print(json.dumps(said))
"""


@pytest.mark.cgroup
@pytest.mark.parametrize("kind", ["array", "gaps", "list"])
def test_what_cannot_fit_is_refused_at_its_line_and_the_process_lives(kind: str) -> None:
    said = in_group(REFUSED.format(kind=kind, size=400 * MIB), 768 * MIB)
    assert len(said) == 4
    for outcome in said:
        assert isinstance(outcome, list), said
        assert outcome[0].startswith(("BudgetError", "UserFunctionError", "MemoryError"))
    told = [text for name, text in said if name == "BudgetError"]
    assert told
    assert all("because of `table`" in text for text in told)
    assert all("MiB" in text for text in told)


@pytest.mark.cgroup
def test_a_closure_of_250_mib_is_there_once_in_a_container_of_768() -> None:
    said = in_group(REFUSED.format(kind="array", size=250 * MIB), 768 * MIB)
    assert [x if isinstance(x, int) else x[0] for x in said][:2] == [3, 1], said
