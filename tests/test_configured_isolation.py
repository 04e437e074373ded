"""`sw.configure(isolate=)` and `num_workers=`: which functions run in workers, and who says so."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw
from spillway.guard import captures


def pid(x: Any) -> Any:
    import os

    return np.int64(os.getpid() + 0 * int(x))


def pids(ds: Any) -> set[int]:
    return {int(x) for x in ds}


HERE = {os.getpid()}


# ---- True


def test_true_isolates_functions_and_generators_and_a_stage_can_say_no() -> None:
    def generator() -> Any:
        yield pid(0)

    with sw.configure(isolate=True):
        mapped = sw.Dataset.range(3).map(pid)
        kept = sw.Dataset.range(3).map(pid, isolate=False)
        generated = sw.Dataset.from_generator(generator)
        kept_generator = sw.Dataset.from_generator(generator, isolate=False)
        scanned = sw.Dataset.range(3).scan(np.int64(0), lambda s, x: (s, pid(x)))
    after = sw.Dataset.range(3).map(pid)
    for isolated in (mapped, generated, scanned):
        assert not pids(isolated) & HERE
    for here in (kept, kept_generator, after):
        assert pids(here) == HERE
    assert "runs in worker processes" in str(mapped.explain())
    assert "runs in a worker process" in str(generated.explain())


def test_true_leaves_traced_functions_and_makers_of_datasets_and_says_so() -> None:
    with sw.configure(isolate=True):
        ds = sw.Dataset.range(3).map(lambda x: x + 1).flat_map(_three_times)
        woven = sw.Dataset.range(2).interleave(_three_times, cycle_length=2)
    assert [int(x) for x in ds] == [1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert "stays in this process: makes datasets" in str(ds.explain())
    assert "stays in this process: makes datasets" in str(woven.explain())


def _three_times(x: Any) -> Any:
    print(end="")
    return sw.Dataset.from_tensors(x).repeat(3)


def test_by_hand_a_maker_of_datasets_is_refused() -> None:
    for method in ("flat_map", "interleave"):
        with pytest.raises(ValueError, match=f"{method}: a function that makes datasets cannot"):
            getattr(sw.Dataset.range(3), method)(_three_times, isolate=True)


def test_true_refuses_what_cannot_travel_as_by_hand() -> None:
    lock = threading.Lock()

    def work(x: Any) -> Any:
        with lock:
            return x

    with sw.configure(isolate=True):
        with pytest.raises(TypeError, match="`lock`"):
            sw.Dataset.range(3).map(work)
        assert [int(x) for x in sw.Dataset.range(2).map(work, isolate=False)] == [0, 1]


def test_only_three_values_are_known() -> None:
    with pytest.raises(ValueError, match='isolate must be False, True or "auto"'):
        sw.configure(isolate="always")


@pytest.mark.parametrize(("text", "inside"), [("1", True), ("auto", True), ("0", False)])
def test_the_environment_says_it_too(text: str, inside: bool, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import os, spillway as sw\n"
        "def pid(x):\n"
        "    return os.getpid()\n"
        "here = [int(x) for x in sw.Dataset.range(1).map(pid)] == [os.getpid()]\n"
        "sw.configure(memory_limit='1GiB')\n"  # leaves it as it is
        "again = [int(x) for x in sw.Dataset.range(1).map(pid)] == [os.getpid()]\n"
        "print(here, again)\n"
    )
    done = _script(script, text)
    assert done.stdout.split() == [str(not inside)] * 2, done.stderr


def test_a_wrong_word_in_the_environment_is_an_error(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import spillway\n")
    done = _script(script, "perhaps")
    assert done.returncode != 0
    assert "SPILLWAY_ISOLATE must be 0, 1 or auto: 'perhaps'" in done.stderr


def _script(path: Path, isolate: str) -> Any:
    return subprocess.run(
        [sys.executable, str(path)],
        env={**os.environ, "SPILLWAY_ISOLATE": isolate},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )


def test_functions_that_build_datasets_in_a_worker_start_no_workers_there() -> None:
    def nested(x: Any) -> Any:
        import os

        inner = sw.Dataset.range(1).map(pid)
        return np.bool_([int(p) for p in inner] == [os.getpid()])

    with sw.configure(isolate=True):
        assert [bool(x) for x in sw.Dataset.range(2).map(nested)] == [True, True]


# ---- auto

table = np.arange(10.0)
names: dict[str, Any] = {"a": 1, "b": [2, 3]}
counted = 0


class Scale:
    """A user's class."""

    def __init__(self, by: float) -> None:
        self.by = by
        self.calls = 0

    def pure(self, x: Any) -> Any:
        print(end="")
        return float(x) * self.by

    def counting(self, x: Any) -> Any:
        self.calls += 1
        return float(x) * self.by


def reads_captured(x: Any) -> Any:
    print(end="")
    return table[int(x)] + names["a"] + len(names["b"])


def calls_others(x: Any) -> Any:
    import os

    with open(os.devnull) as file:
        text = file.read()
    made = [str(part) for part in range(3)]
    made.append(text)
    return reads_captured(x) + len(made)


def makes_and_changes(x: Any) -> Any:
    print(end="")
    own = np.zeros(3)
    own[0] = float(x)
    own += table[:3]
    return own


def recovers(x: Any) -> Any:
    try:
        return int(x) // int(x)
    except ZeroDivisionError as error:
        print(error, end="")
        return 0


def appends(x: Any) -> Any:
    names["b"].append(int(x))
    return x


def stores(x: Any) -> Any:
    table[0] = float(x)
    return x


def counts(x: Any) -> Any:
    global counted
    counted += 1
    return x


def hands_on(x: Any) -> Any:
    random.Random(3).shuffle(names["b"])
    return x


def gives_to_a_library(x: Any) -> Any:
    import bisect

    bisect.insort(names["b"], int(x))
    return x


def draws(x: Any) -> Any:
    return np.float64(float(x) + random.random())


def draws_numpy(x: Any) -> Any:
    return float(x) + np.random.rand()


def draws_by_a_generator(x: Any) -> Any:
    return float(x) + generator_of_numbers.normal()


generator_of_numbers = np.random.default_rng(0)
advanced = iter(range(100))


def advances(x: Any) -> Any:
    return int(x) + next(advanced)


def goes_through(x: Any) -> Any:
    for value in advanced:
        return int(x) + value
    return x


def yields(n: int) -> Any:
    yield from range(n)
    yield from (i * 2 for i in range(n))


def yields_and_counts() -> Any:
    for i in range(3):
        names["b"].append(i)
        yield i


def by_nonlocal() -> Any:
    calls = 0

    def work(x: Any) -> Any:
        nonlocal calls
        calls += 1
        return x

    return work


def by_default(x: Any, seen: list[int] = []) -> Any:  # noqa: B006
    seen.append(int(x))
    return x


@pytest.mark.parametrize(
    "function",
    [reads_captured, calls_others, makes_and_changes, recovers, Scale(2).pure, pid, yields],
    ids=lambda f: f.__qualname__,
)
def test_what_changes_nothing_captured_may_go(function: Any) -> None:
    assert captures.changes(function) is None


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (appends, "append of a list"),
        (stores, "stores an item"),
        (counts, "assigns to a global"),
        (by_nonlocal(), "assigns to calls"),
        (by_default, "append"),
        (Scale(2).counting, "sets the attribute calls"),
        (hands_on, "random"),
        (gives_to_a_library, "hands .*insort.* a list that was made outside"),
        (draws, "draws random numbers"),
        (draws_numpy, "draws random numbers"),
        (draws_by_a_generator, "draws random numbers"),
        (advances, "made outside"),
        (goes_through, "advances a range_iterator"),
        (yields_and_counts, "append of a list"),
    ],
    ids=lambda f: getattr(f, "__qualname__", ""),
)
def test_what_may_change_something_captured_or_draws_stays(function: Any, why: str) -> None:
    effect = captures.changes(function)
    assert effect is not None
    assert re.search(why, effect.why), effect.why


def test_auto_isolates_what_can_go_and_says_what_stayed_and_why() -> None:
    seen: list[int] = []

    def remembers(x: Any) -> Any:
        seen.append(int(x))
        return x

    lock = threading.RLock()

    def locks(x: Any) -> Any:
        print(end="")
        return x if lock else None

    with sw.configure(isolate="auto"):
        ds = sw.Dataset.range(3).map(remembers).map(locks).map(pid)
        generated = sw.Dataset.from_generator(yields_and_counts)
        isolated = sw.Dataset.from_generator(yields, args=(2,))
        forced = sw.Dataset.range(3).map(remembers, isolate=True)
    assert not pids(ds) & HERE
    assert seen == [0, 1, 2]
    text = str(ds.explain())
    assert "remembers runs as Python:" in text
    assert f"stays in this process: {__file__}:" in text
    assert "append of a list that was made outside" in text
    assert "because of `lock`, a _thread.RLock" in text
    assert "pid runs as Python: runs in worker processes" in text
    assert "stays in this process" in str(generated.explain())
    assert "runs in a worker process" in str(isolated.explain())
    assert [int(x) for x in isolated] == [0, 1, 0, 2]
    assert [int(x) for x in forced] == [0, 1, 2]
    assert seen == [0, 1, 2]  # of this process


def test_auto_keeps_functions_that_draw_and_says_so() -> None:
    with sw.configure(isolate="auto"):
        ds = sw.Dataset.range(3).map(draws)
    random.seed(5)
    here = [float(x) for x in ds]
    random.seed(5)
    assert here == [i + random.random() for i in range(3)]
    assert "draws random numbers, which a worker seeds anew for each element" in str(ds.explain())


# ---- num_workers


def test_num_workers_isolates_with_so_many_calls_at_a_time(tmp_path: Path) -> None:
    def meet(x: Any) -> Any:
        import os
        import time

        (tmp_path / str(os.getpid())).touch()
        while len(os.listdir(tmp_path)) < 2:  # until the other worker is here, too
            time.sleep(0.001)
        return int(x), os.getpid()

    ds = sw.Dataset.range(40).map(meet, num_workers=2)
    rows = [(int(x), int(p)) for x, p in ds]
    assert [x for x, _ in rows] == list(range(40))
    assert len({p for _, p in rows}) == 2
    assert "runs in up to 2 worker processes" in str(ds.explain())
    assert [stage.parallelism for stage in ds.report().stages if "map" in stage.name] == [2]


def test_num_workers_of_a_filter_is_a_process_of_its_own() -> None:
    ds = sw.Dataset.range(6).filter(lambda x: (print(end=""), int(x) % 2)[1] == 1, num_workers=1)
    assert [int(x) for x in ds] == [1, 3, 5]
    assert "runs in a worker process" in str(ds.explain())


@pytest.mark.parametrize("number", [0, -1])
def test_no_workers_are_refused(number: int) -> None:
    with pytest.raises(ValueError, match=f"num_workers must be at least 1: {number}"):
        sw.Dataset.range(3).map(pid, num_workers=number)


def test_workers_and_this_process_are_refused_together() -> None:
    with pytest.raises(ValueError, match=r"num_workers=2 .* isolate=False"):
        sw.Dataset.range(3).map(pid, num_workers=2, isolate=False)
    with pytest.raises(TypeError, match="num_workers must be a number"):
        sw.Dataset.range(3).map(pid, num_workers="two")


def test_a_generator_has_one_worker() -> None:
    with pytest.raises(ValueError, match="parallel=k runs k generators"):
        sw.Dataset.from_generator(yields, args=(3,), num_workers=2)
