"""Random numbers of functions in workers depend on the element's address, not on the worker."""

from __future__ import annotations

import contextlib
import functools
import os
import random
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw
from spillway import _native, tf
from spillway.guard import draws
from tests.test_isolated_functions import worker_pids


def noise(x: Any) -> Any:
    import time

    time.sleep(0.0005)
    return np.float64(np.random.rand()), np.float64(random.random()), np.float64(np.random.randn())


def numbers(ds: sw.Dataset) -> list[tuple[float, ...]]:
    return [tuple(float(v) for v in row) for row in ds]


@pytest.fixture
def seeded() -> Any:
    sw.set_seed(7)
    yield
    sw.set_seed(None)


def killed(ds: sw.Dataset, every: int) -> list[tuple[float, ...]]:
    """Its rows, while all workers are killed again and again."""
    rows = []
    for row in ds:
        rows.append(tuple(float(v) for v in row))
        if len(rows) % every == 0:
            for pid in worker_pids():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
    return rows


def test_they_are_the_same_for_any_number_of_workers_and_whatever_dies(seeded: Any) -> None:
    def pipeline(calls: int | None) -> sw.Dataset:
        return sw.Dataset.range(1500).map(noise, num_parallel_calls=calls, isolate=True)

    fault_free = numbers(pipeline(None))
    assert len({row[0] for row in fault_free}) == 1500
    assert len({row[1] for row in fault_free}) == 1500
    assert len({row[2] for row in fault_free}) == 1500
    assert numbers(pipeline(3)) == fault_free
    for calls in (1, 3):
        started = _native.workers()["started"]
        assert killed(pipeline(calls), 300) == fault_free
        assert _native.workers()["started"] >= started + 4


def test_rows_that_travel_together_draw_their_own_whatever_room_they_need(seeded: Any) -> None:
    def work(x: Any) -> Any:
        i = int(x)
        return np.random.rand(20_000 if i % 97 == 0 else i % 7), np.int64(os.getpid())

    def rows(calls: int | None) -> list[bytes]:
        ds = sw.Dataset.range(2000).map(work, num_parallel_calls=calls, isolate=True)
        return [np.asarray(row[0]).tobytes() for row in ds]

    alone = rows(None)
    assert len({row for row in alone if row}) == sum(1 for row in alone if row) > 1700
    assert rows(2) == alone


def test_without_a_seed_every_pass_draws_its_own() -> None:
    ds = sw.Dataset.range(20).map(noise, isolate=True)
    first, second = numbers(ds), numbers(ds)
    assert not {row[0] for row in first} & {row[0] for row in second}


def test_epochs_and_stages_differ(seeded: Any) -> None:
    def add(x: Any) -> Any:
        return np.random.rand(), np.float64(x[1] if isinstance(x, tuple) else 0)

    def again(a: Any, _: Any) -> Any:
        return np.random.rand(), np.float64(a)

    ds = sw.Dataset.range(10).map(add, isolate=True).map(again, isolate=True)
    rows = numbers(ds.repeat(2))
    assert len({row[0] for row in rows}) == 20
    assert not {row[0] for row in rows} & {row[1] for row in rows}
    assert numbers(ds.repeat(2)) == rows


def test_an_element_alone_is_the_one_of_the_pass(seeded: Any) -> None:
    ds = sw.Dataset.range(30).map(noise, isolate=True)
    rows = numbers(ds)
    assert tuple(float(v) for v in ds[17]) == rows[17]


def test_workers_do_not_begin_with_one_state() -> None:
    def draw() -> float:
        return float(np.random.rand())

    with sw.guarded(draw) as first, sw.guarded(draw) as second:
        assert first() != second()


def test_a_function_taken_out_of_its_module_is_seeded_too(seeded: Any) -> None:
    from random import random as draw

    from numpy.random import rand

    def work(x: Any) -> Any:
        return draw(), rand()

    ds = sw.Dataset.range(50).map(work, isolate=True)
    rows = numbers(ds)
    assert len(set(rows)) == 50
    assert numbers(sw.Dataset.range(50).map(work, num_parallel_calls=3, isolate=True)) == rows
    assert numbers(ds) == rows


def test_a_generator_that_draws_goes_on_after_a_death(tmp_path: Path) -> None:
    path = tmp_path / "deaths"

    def gen() -> Any:
        import ctypes

        for i in range(400):
            if i == 250:
                with open(path, "a+") as file:
                    file.seek(0)
                    first = not file.read()
                    file.write("x")
                if first:
                    ctypes.string_at(0)
            yield np.float64(np.random.rand()), np.float64(random.random())

    spec = (sw.TensorSpec((), "float64"), sw.TensorSpec((), "float64"))
    ds = sw.Dataset.from_generator(gen, output_signature=spec, isolate=True)
    rows = numbers(ds)
    assert path.read_text().startswith("xx")  # it died, and came there again
    assert len(set(rows)) == 400


def test_our_own_ops_draw_by_the_element_too() -> None:
    def work(x: Any) -> Any:
        import os

        os.getpid()
        return tf.random.uniform([2], dtype="float64")

    ds = sw.Dataset.range(40).map(work, num_parallel_calls=3, isolate=True)
    sw.set_seed(7)
    try:
        again = sw.Dataset.range(40).map(work, isolate=True)
        same = sw.Dataset.range(40).map(work, num_parallel_calls=3, isolate=True)
    finally:
        sw.set_seed(None)
    assert numbers(again) == numbers(same)
    assert len(set(numbers(again))) == 40
    assert not set(numbers(ds)) & set(numbers(ds))


def test_generators_with_other_arguments_draw_other_numbers(seeded: Any) -> None:
    def gen(shard: int) -> Any:
        for _ in range(5):
            yield np.float64(np.random.rand())

    def rows() -> list[float]:
        spec = sw.TensorSpec((), "float64")
        return [
            float(x)
            for shard in range(3)
            for x in sw.Dataset.from_generator(
                gen, args=(shard,), output_signature=spec, isolate=True
            )
        ]

    first = rows()
    assert len(set(first)) == 15
    assert rows() == first


def test_explain_says_that_they_differ() -> None:
    text = str(sw.Dataset.range(4).map(noise, isolate=True).explain())
    assert "seeded for each element" in text
    assert "not those of a run in this process" in text

    def quiet(x: Any) -> Any:
        import os

        os.getpid()
        return x

    ds = sw.Dataset.range(4).map(quiet, isolate=True)
    assert "not those of a run in" not in str(ds.explain())


class Augment:
    def __init__(self, strength: float) -> None:
        self.strength = strength

    def __call__(self, x: Any) -> Any:
        return self.noise() * x

    def noise(self) -> float:
        return self.strength * random.random()


class Scale:
    def __init__(self, by: float) -> None:
        self.by = by

    def __call__(self, x: Any) -> Any:
        return self.by * x


def test_who_may_draw_is_known_before_any_call() -> None:
    def helper() -> float:
        return float(np.random.rand())

    def indirect(x: Any) -> Any:
        return x + helper()

    def imports(x: Any) -> Any:
        import random

        return x + random.random()

    def hidden(x: Any) -> Any:
        return x + getattr(np, "random").rand()  # noqa: B009

    def evaluates(x: Any) -> Any:
        return eval("x")

    def quiet(x: Any) -> Any:
        import ctypes
        import os

        with open(os.devnull, "rb") as file:
            return np.frombuffer(file.read(), "uint8").sum() + ctypes.sizeof(ctypes.c_int) + x

    def of_others(x: Any) -> Any:
        return pytest.approx(x)

    generator = random.Random(3)
    assert draws.draws(indirect) == draws.NUMPY | draws.OPS
    assert draws.draws(imports) & draws.RANDOM
    assert draws.draws(random.random) == draws.RANDOM
    assert draws.draws(np.random.rand) & draws.NUMPY
    assert draws.draws(hidden) == draws.ALL
    assert draws.draws(evaluates) == draws.ALL
    assert draws.draws(of_others) == draws.ALL
    assert draws.draws(Augment(2)) & draws.RANDOM
    assert draws.draws(functools.partial(Augment.__call__, Augment(1))) & draws.RANDOM
    assert draws.draws(functools.lru_cache(indirect)) & draws.NUMPY
    assert draws.draws(lambda x: x + generator.random()) != 0
    assert draws.draws({"a": [collections_of(indirect)]}) & draws.NUMPY
    assert draws.draws(quiet) == 0
    assert draws.draws(Scale(2.0)) == 0
    assert draws.draws(lambda x: tf.cast(x, "float32")) == 0


def collections_of(function: Any) -> Any:
    import collections

    return collections.defaultdict(list, {1: function})
