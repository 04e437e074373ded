"""Functions of elements: traced where nobody can notice, Python where somebody could."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf
from tests.explained import how, values, why

D = tf.data.Dataset


# ---- What has effects happens exactly once an element, and never before -------------------------

COUNTED = {"calls": 0}
_total = 0


def test_a_counter_in_a_function_counts_every_element_once() -> None:
    def count(x: Any) -> Any:
        COUNTED["calls"] += 1
        return x + 1

    COUNTED["calls"] = 0
    ds = sw.Dataset.range(50).map(count)
    assert COUNTED["calls"] == 0
    assert values(ds) == list(range(1, 51))
    assert COUNTED["calls"] == 50
    assert how(ds) == [False]
    assert "stores an item into something that was made outside" in why(ds)
    assert "test_functions.py" in why(ds)


def test_a_list_appended_to_gets_every_element_once_and_in_order() -> None:
    seen: list[int] = []

    def note(x: Any) -> Any:
        seen.append(int(x))
        return x

    ds = sw.Dataset.range(20).map(note)
    assert seen == []
    assert values(ds) == list(range(20))
    assert seen == list(range(20))
    assert "append" in why(ds)


def test_a_global_a_cell_and_an_attribute_are_assigned_once_an_element() -> None:
    class Box:
        value = 0

    box, cell = Box(), 0

    def all_three(x: Any) -> Any:
        global _total
        nonlocal cell
        _total += 1
        cell += 1
        box.value += 1
        return x

    before = _total
    ds = sw.Dataset.range(7).map(all_three)
    assert (_total - before, cell, box.value) == (0, 0, 0)
    list(ds)
    assert (_total - before, cell, box.value) == (7, 7, 7)


def test_a_file_is_written_once_an_element(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_text("")

    def write(x: Any) -> Any:
        with path.open("a") as file:
            file.write("x\n")
        return x

    ds = sw.Dataset.range(9).map(write)
    assert path.read_text() == ""
    list(ds)
    assert path.read_text().count("x") == 9
    assert how(ds) == [False]


def test_a_sleep_happens_for_every_element(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(x: Any) -> Any:
        time.sleep(0.01)
        return x

    assert "time.sleep" in why(sw.Dataset.range(10).map(slow))
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    ds = sw.Dataset.range(10).map(slow)
    assert slept == []
    assert values(ds) == list(range(10))
    assert slept == [0.01] * 10


def test_a_print_does_not_change_the_result(capsys: pytest.CaptureFixture[str]) -> None:
    def quiet(x: Any) -> Any:
        return tf.cast(x, tf.float32) / 3 + 0.1

    def loud(x: Any) -> Any:
        print("seen")
        return tf.cast(x, tf.float32) / 3 + 0.1

    ds = D.range(5)
    assert values(ds.map(quiet)) == values(ds.map(loud))
    assert how(ds.map(quiet)) == [True]
    assert how(ds.map(loud)) == [False]
    assert capsys.readouterr().out.count("seen") == 5


@pytest.mark.parametrize(
    "draw",
    [
        lambda x: x + random.randrange(1000),
        lambda x: x + np.random.randint(1000),
        lambda x: x + int(time.time()),
    ],
)
def test_randomness_and_the_clock_are_asked_for_every_element(draw: Callable[..., Any]) -> None:
    assert how(sw.Dataset.range(3).map(draw)) == [False]


def test_calls_that_wait_for_each_other_meet_though_nobody_knows_their_results() -> None:
    both = threading.Barrier(2, timeout=300)

    def meet(x: Any) -> Any:
        both.wait()
        return x

    ds = D.range(4).map(meet, num_parallel_calls=2)
    assert values(ds) == [0, 1, 2, 3]


# ---- What needs values runs as Python, and says so


def test_python_branches_on_values_work() -> None:
    def sign(x: Any) -> Any:
        if x > 1:
            return x
        return -x

    ds = sw.Dataset.range(4).map(sign)
    assert values(ds) == [0, -1, 2, 3]
    assert "truth of a traced tensor" in why(ds)


def test_int_of_a_value_runs_as_python() -> None:
    ds = sw.Dataset.range(4).map(lambda x: x * [1, 2, 3, 4][int(x)])
    assert values(ds) == [0, 2, 6, 12]
    assert how(ds) == [False]


def test_branches_on_python_constants_and_loops_over_ranges_are_traced() -> None:
    training = True
    scales = [1, 2, 3]

    def f(x: Any) -> Any:
        total = x
        for scale in scales:
            total = total + x * scale
        parts = [total * i for i in range(3)]
        return sum(parts) if training else x

    ds = sw.Dataset.range(3).map(f)
    assert how(ds) == [True]
    assert values(ds) == [0, 21, 42]


def test_helpers_methods_and_partials_are_looked_into() -> None:
    class Scaler:
        def __init__(self, by: int) -> None:
            self.by = by
            self.used = 0

        def pure(self, x: Any) -> Any:
            return helper(x) * self.by

        def counting(self, x: Any) -> Any:
            self.used += 1
            return x * self.by

    def helper(x: Any) -> Any:
        return x + 1

    scaler = Scaler(3)
    pure = sw.Dataset.range(3).map(scaler.pure)
    assert how(pure) == [True]
    assert values(pure) == [3, 6, 9]
    counting = sw.Dataset.range(3).map(scaler.counting)
    assert how(counting) == [False]
    assert scaler.used == 0
    assert values(counting) == [0, 3, 6]
    assert scaler.used == 3


def test_items_may_be_stored_into_what_was_made_inside() -> None:
    def f(element: dict[str, Any]) -> Any:
        element["b"] = element["a"] * 2
        out = dict(element)
        out["c"] = out["b"] + 1
        parts = []
        parts.append(out["c"])
        return out["b"], parts[0]

    ds = D.from_tensor_slices({"a": [1, 2]}).map(f)
    assert how(ds) == [True]
    assert [(int(b), int(c)) for b, c in ds] == [(2, 3), (4, 5)]


# ---- NumPy


def test_numpy_functions_are_native_and_numpys_to_the_last_bit() -> None:
    data = np.random.default_rng(1).normal(size=(50, 33))
    mean = np.linspace(0, 1, 33)

    def f(x: Any) -> Any:
        return np.sqrt(np.abs(x)) * 2 + np.exp(np.sin(np.abs(x))) / (mean + 1.5)

    ds = sw.Dataset.from_tensor_slices(data).map(f)
    assert how(ds) == [True]
    np.testing.assert_array_equal(np.stack(list(ds)), f(data))


@pytest.mark.parametrize("function", [np.sin, np.cos])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_numpys_sine_is_the_same_traced_and_as_python(function: Any, dtype: str) -> None:
    data = (np.random.default_rng(2).normal(size=(50, 33)) * 1000).astype(dtype)

    def f(x: Any) -> Any:
        return function(x) * 2 + function(function(x)) + function(x * 3)

    def g(x: Any) -> Any:
        int(x[0])
        return f(x)

    def bits(ds: Any) -> Any:
        return np.stack(list(ds)).tobytes()

    traced = sw.Dataset.from_tensor_slices(data).map(f)
    python = sw.Dataset.from_tensor_slices(data).map(g)
    assert how(traced) + how(python) == [True, False]
    assert bits(traced) == bits(python)
    assert bits(traced) == np.stack([f(tf.constant(row)) for row in data]).tobytes()


def test_numpys_promotion_holds_for_numpys_functions() -> None:
    ds = sw.Dataset.range(3).map(lambda x: np.sqrt(x) + np.float32(1))
    assert how(ds) == [True]
    assert ds.element_spec.dtype == "float64"
    assert list(ds) == [np.sqrt(i) + np.float32(1) for i in range(3)]


def test_an_array_beside_a_tensor_takes_the_tensors_dtype_traced_or_not() -> None:
    array = np.array([1.7, 2.7])

    def f(x: Any) -> Any:
        return array + x

    ds = sw.Dataset.range(2).map(f)
    assert how(ds) == [True]
    assert values(ds) == [[1, 2], [2, 3]]
    assert values(ds) == [np.asarray(f(tf.constant(i, tf.int64))).tolist() for i in range(2)]


def test_numpy_functions_that_need_values_run_as_python() -> None:
    ds = sw.Dataset.from_tensor_slices([[3.0, 1.0]]).map(lambda x: np.median(x))
    assert how(ds) == [False]
    assert values(ds) == [2.0]


# ---- Control flow on traced values


def test_only_the_branch_that_is_taken_runs() -> None:
    ds = D.range(3).map(lambda x: tf.cond(x > 0, lambda: 6 // x, lambda: tf.constant(0, tf.int64)))
    assert how(ds) == [True]
    assert values(ds) == [0, 6, 3]


def test_loops_cases_and_switches_on_traced_values() -> None:
    def powers(x: Any) -> Any:
        return tf.while_loop(
            lambda i, total: i < x,
            lambda i, total: (i + 1, total * 2),
            [tf.constant(0, tf.int64), tf.constant(1)],
        )[1]

    assert values(D.range(5).map(powers)) == [1, 2, 4, 8, 16]
    switched = D.range(4).map(
        lambda x: tf.switch_case(tf.cast(x, tf.int32), [lambda: x, lambda: x * 5])
    )
    assert values(switched) == [0, 5, 10, 15]
    cased = D.range(4).map(
        lambda x: tf.case([(x > 2, lambda: x), (x > 1, lambda: -x)], default=lambda: x + 100)
    )
    assert values(cased) == [100, 101, -2, 3]
    assert [how(ds) for ds in (switched, cased)] == [[True], [True]]


# ---- Random ops inside functions


def test_random_ops_in_a_function_draw_anew_for_every_element() -> None:
    ds = D.range(4).map(lambda x: tf.random.uniform([2]))
    assert how(ds) == [True]
    rows = values(ds)
    assert len({tuple(row) for row in rows}) == 4


def test_a_random_op_is_traced_though_it_is_the_first_of_the_process() -> None:
    program = (
        "import spillway.tf as tf\n"
        "ds = tf.data.Dataset.range(4).map(lambda x: tf.random.uniform([2]))\n"
        "print(ds.explain().stages[-1]['native'])\n"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert told.stdout.strip() == "True", told.stderr


def test_python_functions_of_ones_own_have_known_types() -> None:
    ds = D.range(3).map(lambda x: tf.numpy_function(lambda a: a + 1, [x], tf.int64))
    assert ds.element_spec == tf.TensorSpec(None, tf.int64)
    assert values(ds) == [1, 2, 3]
    assert how(ds) == [False]
