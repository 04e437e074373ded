"""`deterministic=False`: a parallel map hands on what is ready first."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

import spillway as sw
import spillway.tf as tf

INT = sw.TensorSpec((), "int64")


def seeded() -> tuple[random.Random, str]:
    seed = random.SystemRandom().randrange(2**32)
    return random.Random(seed), f"seed {seed}"


class Gates:
    """A function whose calls wait until they are let through, one by one."""

    def __init__(self, open_from: int = 2**62) -> None:
        """Elements from `open_from` on do not wait."""
        self.open_from = open_from
        self.gates: dict[int, threading.Event] = {}
        self.begun: set[int] = set()
        self.changed = threading.Condition()

    def __call__(self, x: Any) -> Any:
        with self.changed:
            gate = self.gates.setdefault(int(x), threading.Event())
            self.begun.add(int(x))
            self.changed.notify_all()
        if int(x) < self.open_from:
            assert gate.wait(300)
        return x

    def open(self, x: int) -> None:
        with self.changed:
            self.gates.setdefault(x, threading.Event()).set()

    def wait_until_begun(self, several: set[int]) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: several <= self.begun, 60)


def gated(n: int, calls: int, gates: Callable[[Any], Any], **more: Any) -> sw.Dataset:
    how = {"deterministic": False, **more}
    made: sw.Dataset = sw.Dataset.range(n).map(
        gates, num_parallel_calls=calls, output_signature=INT, **how
    )
    return made


def test_results_come_in_the_order_in_which_they_are_ready() -> None:
    draw, seed = seeded()
    n, calls = 24, 5
    gates = Gates()
    it = iter(gated(n, calls, gates))
    begun, left = set(range(calls)), set(range(n))
    found = threading.Event()
    got: list[int] = []

    def take() -> None:
        got.append(int(next(it)))
        found.set()

    for _ in range(n):
        taker = threading.Thread(target=take)
        taker.start()
        gates.wait_until_begun(begun & left)
        chosen = draw.choice(sorted(begun & left))
        gates.open(chosen)
        taker.join(300)
        assert got[-1] == chosen, seed
        left.discard(chosen)
        begun = set(sorted(left)[:calls]) | begun
    with pytest.raises(StopIteration):
        next(it)
    assert sorted(got) == list(range(n)), seed


def test_a_straggler_costs_nothing() -> None:
    gates = Gates(open_from=1)
    it = iter(gated(60, 4, gates))
    others = [int(next(it)) for _ in range(59)]
    assert sorted(others) == list(range(1, 60))
    gates.open(0)
    assert int(next(it)) == 0


@pytest.mark.parametrize("chosen", [None, True])
def test_nothing_is_reordered_unless_it_was_asked_for(chosen: bool | None) -> None:
    last = threading.Event()

    def backwards(x: Any) -> Any:
        if int(x) == 3:
            last.set()
        assert last.wait(300)
        return x

    ds = gated(4, 4, backwards, deterministic=chosen)
    if chosen:
        options = sw.Options()
        options.deterministic = False
        ds = ds.with_options(options)
    assert [int(x) for x in ds] == [0, 1, 2, 3]


def test_the_options_choose_for_stages_that_do_not() -> None:
    gates = Gates(open_from=1)
    options = tf.data.Options()
    options.deterministic = False
    ds = tf.data.Dataset.range(8).map(
        gates, num_parallel_calls=2, output_signature=tf.TensorSpec([], tf.int64)
    )
    it = iter(ds.with_options(options))
    assert sorted(int(next(it)) for _ in range(7)) == list(range(1, 8))
    gates.open(0)
    assert int(next(it)) == 0


def test_sequential_and_traced_maps_stay_in_order() -> None:
    assert [int(x) for x in gated(9, 1, lambda x: x)] == list(range(9))
    ds = sw.Dataset.range(1000).map(lambda x: x + 1, num_parallel_calls=8, deterministic=False)
    assert [int(x) for x in ds] == list(range(1, 1001))


def test_an_error_comes_when_it_is_ready_and_names_its_own_element() -> None:
    gates = Gates(open_from=1)

    def fails(x: Any) -> Any:
        gates(x)
        if int(x) in (0, 5):
            raise ValueError(f"no {int(x)}")
        return x

    it = iter(gated(10, 3, fails))
    seen: list[int] = []
    failed: list[str] = []
    for _ in range(9):
        try:
            seen.append(int(next(it)))
        except sw.errors.UserFunctionError as error:
            failed.append(str(error))
    assert sorted(seen) == [1, 2, 3, 4, 6, 7, 8, 9]
    assert len(failed) == 1
    assert "no 5" in failed[0]
    assert "element 5 (" in failed[0]
    gates.open(0)
    with pytest.raises(sw.errors.UserFunctionError, match=r"no 0[\s\S]*element 0 \("):
        next(it)
    with pytest.raises(StopIteration):
        next(it)
    audit = it.audit()
    assert audit.balanced
    assert (audit.delivered, audit.failed) == (8, 2)


def test_what_is_skipped_leaves_the_others_where_they_are() -> None:
    gates = Gates(open_from=2)

    def fails(x: Any) -> Any:
        gates(x)
        if int(x) % 3 == 1:
            raise ValueError("no")
        return x

    it = iter(gated(12, 3, fails, on_error="skip"))
    first = [int(next(it)) for _ in range(7)]
    assert sorted(first) == [2, 3, 5, 6, 8, 9, 11]
    gates.open(0)
    gates.open(1)
    assert [int(x) for x in it] == [0]
    assert it.audit().balanced


# ---- Checkpoints


class Permuted:
    """Calls of each block of 4 end in an order drawn once, whichever pass makes them."""

    def __init__(self, n: int, draw: random.Random) -> None:
        self.ended = [threading.Event() for _ in range(n)]
        self.before: dict[int, int] = {}
        for start in range(0, n, 4):
            block = list(range(start, min(start + 4, n)))
            draw.shuffle(block)
            self.before.update(zip(block[1:], block, strict=False))

    def __call__(self, x: Any) -> Any:
        if int(x) in self.before:
            assert self.ended[self.before[int(x)]].wait(300)
        self.ended[int(x)].set()
        return x


ABOVE: dict[str, Callable[[sw.Dataset], sw.Dataset]] = {
    "nothing": lambda ds: ds,
    "batch": lambda ds: ds.batch(7),
    "shuffle": lambda ds: ds.shuffle(13, seed=3),
    "prefetch": lambda ds: ds.prefetch(5),
    "filter, batch, shuffle": lambda ds: (
        ds.filter(lambda x: x % 3 != 1).batch(3).shuffle(4, seed=1)
    ),
    "repeat, shuffle": lambda ds: ds.repeat(2).shuffle(30, seed=5),
    "batch, unbatch": lambda ds: ds.batch(6).unbatch(),
    "another one": lambda ds: ds.map(
        lambda x: (print(end=""), x)[1], num_parallel_calls=4, deterministic=False
    ),
    "window": lambda ds: ds.window(5, shift=5).flat_map(lambda w: w.batch(5)),
    "cache": lambda ds: ds.cache(),
    "itself, behind": lambda ds: ds.concatenate(ds).shuffle(20, seed=2),
    "itself, beside": lambda ds: sw.Dataset.zip(ds.batch(2), ds.batch(2).skip(1).repeat(2)).map(
        lambda a, b: a
    ),
    "in a flat_map": lambda ds: (
        sw.Dataset.range(2).flat_map(lambda _: ds, output_signature=INT).shuffle(40, seed=3)
    ),
    "in an interleave": lambda ds: sw.Dataset.range(3).interleave(
        lambda _: ds, cycle_length=2, block_length=3, output_signature=INT
    ),
}


def flat(elements: list[Any]) -> list[int]:
    return sorted(int(x) for e in elements for x in (e.tolist() if e.ndim else [e]))


def once_each(ds: sw.Dataset, draw: random.Random, like: list[Any], where: str) -> None:
    """A pass that is saved and restored now and then hands out every element once."""
    it: Any = iter(ds)
    found: list[Any] = []
    for i in range(len(like) + 1):
        if draw.random() < 0.3:
            state = it.save()
            it.close()
            it = iter(ds)
            it.restore(state)
        if i < len(like):
            found.append(next(it))
    with pytest.raises(StopIteration):
        next(it)
    assert flat(found) == flat(like), where


@pytest.mark.parametrize("above", ABOVE)
def test_saved_and_restored_every_element_comes_once(above: str) -> None:
    draw, seed = seeded()
    n = 61
    ds = ABOVE[above](gated(n, 6, Permuted(n, draw)))
    once_each(ds, draw, list(ABOVE[above](sw.Dataset.range(n))), f"{above}, {seed}")


def test_a_straggler_is_outstanding_in_the_state() -> None:
    gates = Gates(open_from=1)
    ds = gated(40, 4, gates)
    it = iter(ds)
    first = [int(next(it)) for _ in range(20)]
    assert 0 not in first
    state = it.save()
    it.close()
    gates.open(0)
    again = iter(ds)
    again.restore(state)
    assert sorted(first + [int(x) for x in again]) == list(range(40))
    assert again.audit().balanced


def test_a_pass_in_order_goes_on_where_one_in_any_order_was_saved() -> None:
    draw, seed = seeded()
    n = 40
    function = Permuted(n, draw)
    it = iter(gated(n, 8, function).batch(3))
    first = [next(it) for _ in range(5)]
    state = it.save()
    it.close()
    ordered = iter(gated(n, 6, function, deterministic=True).batch(3))
    ordered.restore(state)
    assert flat([*first, *ordered]) == list(range(n)), seed
    sequential = iter(gated(n, 1, function).batch(3))
    with pytest.raises(sw.errors.SpillwayError, match="num_parallel_calls of 2 or more"):
        sequential.restore(state)


def uneven(x: Any) -> Any:
    """Every fifth element takes much longer."""
    print(end="")
    return x + sum(range(20_000 if int(x) % 5 == 0 else 2)) * 0


def test_another_process_restores_it(tmp_path: Any) -> None:
    """What it needs of the order is in the bytes."""
    n = 50
    ds = gated(n, 6, uneven).shuffle(9, seed=1)
    it = iter(ds)
    first = [int(next(it)) for _ in range(17)]
    (tmp_path / "state").write_bytes(it.save())
    program = (
        "import sys, spillway as sw\n"
        "from tests.test_reordering import gated, uneven\n"
        f"it = iter(gated({n}, 4, uneven).shuffle(9, seed=1))\n"
        "it.restore(open(sys.argv[1], 'rb').read())\n"
        "print(*[int(x) for x in it])\n"
    )
    there = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "state")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert there.returncode == 0, there.stderr
    assert sorted(first + [int(x) for x in there.stdout.split()]) == list(range(n))


@pytest.mark.soak
def test_random_pipelines_hand_out_every_element_once() -> None:
    draw, seed = seeded()
    for _ in range(100):
        above = draw.choice(list(ABOVE))
        n = draw.randint(1, 120)
        ds = ABOVE[above](gated(n, draw.randint(4, 12), Permuted(n, draw)))
        once_each(ds, draw, list(ABOVE[above](sw.Dataset.range(n))), f"{above}, {n}, {seed}")


# ---- experimental_warm_start


def warm(ds: Any, options: Any) -> Any:
    options.experimental_warm_start = True
    return ds.with_options(options)


def test_a_warm_start_makes_elements_before_the_first_is_asked_for() -> None:
    called = threading.Event()

    def tell(x: Any) -> Any:
        called.set()
        return x

    ds = sw.Dataset.range(10).map(tell, output_signature=INT)
    cold = iter(ds.prefetch(10))
    assert not called.is_set()
    cold.close()
    it = iter(warm(ds.prefetch(10), sw.Options()))
    assert called.wait(300)
    assert [int(x) for x in it] == list(range(10))
    assert it.audit().balanced
    called.clear()
    first = iter(warm(tf.data.Dataset.range(3).map(tell), tf.data.Options()))
    assert called.wait(300)
    assert [int(x) for x in first] == [0, 1, 2]


def test_a_warm_iterator_can_be_restored_closed_and_saved() -> None:
    called = threading.Event()

    def tell(x: Any) -> Any:
        called.set()
        return x

    ds = warm(sw.Dataset.range(10).map(tell, output_signature=INT).prefetch(3), sw.Options())
    it = iter(ds)
    beginning = it.save()
    assert [int(next(it)) for _ in range(4)] == [0, 1, 2, 3]
    state = it.save()
    it.close()
    called.clear()
    again = iter(ds)
    assert called.wait(300)
    again.restore(state)
    assert [int(x) for x in again] == [4, 5, 6, 7, 8, 9]
    assert again.audit().balanced
    other = iter(ds)
    other.restore(beginning)
    assert [int(x) for x in other] == list(range(10))
    iter(ds).close()


def test_the_choice_is_in_the_options() -> None:
    options = sw.Options()
    options.deterministic = False
    options.experimental_warm_start = True
    assert json.loads(options.to_json())["experimental_warm_start"] is True
