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

D = tf.data.Dataset


def how(ds: Any) -> list[bool]:
    """Whether each function of the last stage runs natively."""
    return [function["native"] for function in ds.explain().stages[-1]["functions"]]


def why(ds: Any) -> str:
    text: str = ds.explain().stages[-1]["functions"][0]["why"]
    return text


def values(ds: Any) -> list[Any]:
    return [np.asarray(x).tolist() for x in ds.as_numpy_iterator()]


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
        return np.sin(x) * 2 + np.exp(np.abs(x)) / (mean + 1.5)

    ds = sw.Dataset.from_tensor_slices(data).map(f)
    assert how(ds) == [True]
    np.testing.assert_array_equal(np.stack(list(ds)), f(data))


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


# ---- What is known before anything runs


def test_element_specs_are_known_when_the_line_is_written() -> None:
    ds = D.from_tensor_slices(np.zeros((4, 3, 2), np.float32)).batch(2)
    assert ds.map(lambda x: tf.reduce_sum(x, axis=1)).element_spec.shape.as_list() == [None, 2]
    assert ds.map(lambda x: tf.transpose(x, [2, 0, 1])).element_spec.shape.as_list() == [2, None, 3]
    assert ds.map(lambda x: tf.reshape(x, [-1])).element_spec.shape.as_list() == [None]
    flat = D.range(3).flat_map(lambda x: D.from_tensor_slices([[x, x], [x, x + 1]]))
    assert flat.element_spec == tf.TensorSpec([2], tf.int64)
    windows = D.range(7).window(3).flat_map(lambda w: w.batch(3))
    assert windows.element_spec == tf.TensorSpec([None], tf.int64)


def test_a_shape_error_is_raised_where_it_is_written_with_both_operands() -> None:
    ds = D.from_tensor_slices(np.zeros((4, 3), np.float32))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)\[3\] vs\. \[2\].*operand 1"):
        ds.map(lambda x: x + tf.zeros([2]))


def test_an_undefined_key_is_found_when_the_line_is_written() -> None:
    ds = D.from_tensor_slices({"a": [1, 2]})
    with pytest.raises(KeyError) as found:
        ds.map(lambda element: element["b"])
    (note,) = found.value.__notes__
    assert "test_functions.py" in note
    assert "'a': TensorSpec" in note or '"a"' in note or "a" in note.split("elements:")[1]


# The mistakes of docs/mistakes.md: what is raised, and words a user needs.
def _raise(x: Any) -> Any:
    raise ValueError("bad record")


MISTAKES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "wrong shape": (
        lambda: D.from_tensor_slices(np.zeros((2, 3), np.float32)).map(lambda x: x + tf.zeros([2])),
        ValueError,
        r"(?s)\[3\] vs\. \[2\].*operand 1.*made at",
    ),
    "wrong dtype": (lambda: D.range(3).map(lambda x: x + 1.5), TypeError, "float.*int64"),
    "undefined key": (
        lambda: D.from_tensor_slices({"a": [1]}).map(lambda e: e["b"]),
        KeyError,
        "b",
    ),
    "wrong arity": (
        lambda: D.from_tensor_slices(([1], [2])).map(lambda x: x),
        TypeError,
        "takes 1 positional argument but 2 were given",
    ),
    "strings and numbers": (
        lambda: D.from_tensor_slices(["a"]).map(lambda s: s + 1),
        TypeError,
        "int cannot become string",
    ),
    "a filter that is not a question": (
        lambda: D.range(3).filter(lambda x: x + 1),
        ValueError,
        "must return a `tf.bool` scalar",
    ),
    "a batch of different shapes": (
        lambda: list(D.range(1, 4).map(lambda x: tf.fill([x], 1)).batch(3)),
        tf.errors.InvalidArgumentError,
        r"(?s)\[1\].*\[2\].*batch#2, written at.*element 1",
    ),
    "an index out of range": (
        lambda: list(D.range(3).map(lambda x: tf.gather([1, 2], x))),
        tf.errors.InvalidArgumentError,
        r"(?s)= 2 is not in \[0, 2\).*map#1, written at.*element 2",
    ),
    "integers divided by zero": (
        lambda: list(D.range(3).map(lambda x: 6 // x)),
        tf.errors.InvalidArgumentError,
        r"(?s)Integer division by zero.*written at.*element 0",
    ),
    "not a number": (
        lambda: list(
            D.from_tensor_slices([1.0, float("nan")]).map(
                lambda x: tf.debugging.check_numerics(x, "loss")
            )
        ),
        tf.errors.InvalidArgumentError,
        r"(?s)loss : Tensor had NaN values.*written at.*element 1",
    ),
    "an exception of one's own": (
        lambda: list(D.range(3).map(lambda x: tf.py_function(_raise, [x], tf.int64))),
        ValueError,
        r"(?s)bad record.*map#1, written at.*element 0",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_with_what_a_user_needs(name: str) -> None:
    make, kind, words = MISTAKES[name]
    with pytest.raises(kind, match=words):
        make()


def test_a_policy_for_errors_leaves_them_to_the_elements() -> None:
    ds = sw.Dataset.from_tensor_slices([1, 0, 2]).map(lambda x: 6 // x, on_error="skip")
    assert how(ds) == [True]
    assert values(ds) == [6, 3]
    assert ds.audit().skipped == 1


def test_an_error_in_a_traced_function_comes_in_its_place_and_the_rest_goes_on() -> None:
    ds = sw.Dataset.from_tensor_slices([1, 2, 0, 3, 0, 4]).map(lambda x: 12 // x)
    it = iter(ds)
    got: list[Any] = []
    for _ in range(6):
        try:
            got.append(int(next(it)))
        except sw.errors.InvalidArgumentError as error:
            got.append(error.index)
    assert got == [12, 6, 2, 4, 4, 3]
    assert next(it, None) is None


# ---- Lazy tensors


def test_large_expressions_wait_until_their_value_is_asked_for() -> None:
    x = tf.zeros([300, 1000]) + 1.5
    total = tf.reduce_sum(x * 2)
    assert not x._known
    assert float(total) == 900_000.0
    assert not x._known


def test_what_cannot_fit_is_refused_at_once_with_the_numbers() -> None:
    huge = tf.random.normal([10000, 10000, 10000])
    with pytest.raises(MemoryError) as refused:
        huge.numpy()
    text = str(refused.value)
    assert "3.64 TiB" in text
    assert "operations" in text
    assert "test_functions.py" in text
    assert isinstance(refused.value, tf.errors.ResourceExhaustedError)


def test_a_sum_of_more_than_memory_runs_in_pieces_and_the_same_everywhere() -> None:
    with sw.configure(memory_limit="64MiB"):
        total = float(tf.reduce_sum(tf.random.normal([2000, 1000, 20], seed=3)))
        with sw.configure(threads=1):
            assert float(tf.reduce_sum(tf.random.normal([2000, 1000, 20], seed=3))) == total
    assert abs(total) < 5 * (40_000_000**0.5)


def test_long_chains_of_tensors_neither_recurse_nor_grow_without_end() -> None:
    x = tf.zeros([100, 1000])
    for _ in range(5000):
        x = x + 1.0
    assert float(x[0, 0]) == 5000.0


def test_a_constant_is_the_array_as_it_was_at_the_line() -> None:
    array = np.zeros(200_000)
    x = tf.constant(array)
    y = x + 1.0
    array[:] = 7
    assert float(y[0]) == 1.0


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


# ---- Steps that run together ---------------------------------------------------------------------

ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / y,
}


@pytest.mark.parametrize("second", ARITHMETIC)
@pytest.mark.parametrize("first", ARITHMETIC)
def test_two_steps_in_one_loop_give_what_two_loops_give(first: str, second: str) -> None:
    rng = np.random.default_rng(7)
    rows = (rng.standard_normal((3, 701, 7)) * 1e3).astype(np.float32)
    one, two = ARITHMETIC[first], ARITHMETIC[second]
    for shape in ((), (7,), (701, 1), (701, 7)):
        y, z = rng.standard_normal((2, *shape)).astype(np.float32)

        def both(x: Any, y: Any = y, z: Any = z) -> Any:
            return two(one(x, tf.constant(y)), tf.constant(z))

        def squared(x: Any, y: Any = y, z: Any = z) -> Any:  # the item between is read twice
            between = one(x, tf.constant(y))
            return two(between, between) + two(between, tf.constant(z))

        got = np.stack(list(D.from_tensor_slices(rows).map(both).as_numpy_iterator()))
        between = one(rows, y)
        np.testing.assert_array_equal(got, two(between, z))
        again = np.stack(list(D.from_tensor_slices(rows).map(squared).as_numpy_iterator()))
        np.testing.assert_array_equal(again, two(between, between) + two(between, z))


def test_maps_in_a_row_all_happen() -> None:
    ds = D.range(3).map(lambda x: x + 1).map(lambda x: x * 2)
    assert how(ds) == [True]
    assert values(ds) == [2, 4, 6]


def test_maps_in_a_row_count_and_resume_like_stages_of_their_own(tmp_path: Path) -> None:
    def build() -> Any:
        ds = D.range(10).map(lambda x: x + 1).map(lambda x: (x, x * 2))
        return ds.map(lambda a, b: a + b).batch(3)

    it = iter(build())
    assert next(it).numpy().tolist() == [3, 6, 9]
    saved = tf.train.Checkpoint(iterator=it).save(str(tmp_path / "at"))
    rest = [x.numpy().tolist() for x in it]
    again = iter(build())
    tf.train.Checkpoint(iterator=again).restore(saved)
    assert [x.numpy().tolist() for x in again] == rest == [[12, 15, 18], [21, 24, 27], [30]]


# ---- Functions that make datasets ----------------------------------------------------------------

FORMS: dict[str, tuple[Callable[[], Any], list[Any]]] = {
    "a size": (lambda: D.range(4).flat_map(lambda x: D.range(x)), [0, 0, 1, 0, 1, 2]),
    "a computed size": (
        lambda: D.range(3).flat_map(lambda x: D.from_tensors(x).repeat(x * x)),
        [1, 2, 2, 2, 2],
    ),
    "rows of the element": (
        lambda: D.from_tensor_slices([[1, 2], [3, 4]]).flat_map(D.from_tensor_slices),
        [1, 2, 3, 4],
    ),
    "a value used inside": (
        lambda: D.range(2).flat_map(lambda x: D.range(2).map(lambda y: x * 10 + y)),
        [0, 1, 10, 11],
    ),
    "a value that is the result": (
        lambda: D.range(1, 3).flat_map(lambda x: D.range(x).map(lambda y: x)),
        [1, 2, 2],
    ),
    "a predicate": (
        lambda: D.range(3).flat_map(lambda x: D.range(4).filter(lambda y: y > x)),
        [1, 2, 3, 2, 3, 3],
    ),
    "a window": (
        lambda: D.range(5).window(2).flat_map(lambda w: w.map(lambda y: y * 2).batch(2)),
        [[0, 2], [4, 6], [8]],
    ),
    "several sources": (
        lambda: D.range(1, 3).flat_map(lambda x: D.zip(D.range(x), D.range(x, x * 2))),
        [[0, 1], [0, 2], [1, 3]],
    ),
    "one inside another": (
        lambda: D.range(2).flat_map(
            lambda x: D.range(2).flat_map(lambda y: D.from_tensors(y).repeat(2))
        ),
        [0, 0, 1, 1, 0, 0, 1, 1],
    ),
    "strings": (
        lambda: D.from_tensor_slices(["a b", "c"]).flat_map(
            lambda s: D.from_tensors(s).map(lambda t: tf.strings.join([t, s]))
        ),
        [b"a ba b", b"cc"],
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_a_function_that_makes_datasets_runs_without_python(name: str) -> None:
    build, expected = FORMS[name]
    assert how(build()) == [True]
    assert values(build()) == expected


NOT_FORMS: dict[str, tuple[Callable[[], Any], list[Any]]] = {
    "types that differ with the size": (
        lambda: D.range(1, 3).flat_map(
            lambda x: D.range(4).batch(x, drop_remainder=True).map(lambda y: y + x)
        ),
        [[1], [2], [3], [4], [2, 3], [4, 5]],
    ),
    "a seed": (
        lambda: D.range(2).flat_map(lambda x: D.range(1).shuffle(1, seed=3)),
        [0, 0],
    ),
    "a generator": (
        lambda: D.range(2).flat_map(
            lambda x: D.from_generator(
                lambda: iter([5]), output_signature=tf.TensorSpec((), "int64")
            )
        ),
        [5, 5],
    ),
    "an effect inside": (
        lambda: D.range(2).flat_map(lambda x: D.range(1).map(lambda y: int(y) + 7)),
        [7, 7],
    ),
    "a dataset inside an element": (
        lambda: (
            D.range(3).window(2).flat_map(lambda w: D.from_tensors(w)).map(lambda w: w.batch(2))
        ).flat_map(lambda w: D.from_tensors(w).flat_map(lambda v: v)),
        [[0, 1], [2]],
    ),
    "a value of the outermost one": (
        lambda: D.range(2).flat_map(
            lambda x: D.range(1).flat_map(lambda y: D.from_tensors(x).repeat(2))
        ),
        [0, 0, 1, 1],
    ),
}


@pytest.mark.parametrize("name", NOT_FORMS)
def test_what_a_form_cannot_hold_is_left_to_python(name: str) -> None:
    build, expected = NOT_FORMS[name]
    assert how(build()) == [False]
    assert values(build()) == expected


def test_an_element_whose_dataset_cannot_be_made_fails_in_its_place() -> None:
    ds = D.range(3).flat_map(lambda x: D.range(2).batch(x))
    it = iter(ds)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Batch size must be greater") as e:
        next(it)
    assert "test_functions.py" in str(e.value) and "range#0 element 0" in str(e.value)
    assert [x.numpy().tolist() for x in it] == [[0], [1], [0, 1]]


# ---- What fails on constants fails where it is used ----------------------------------------------


def test_an_op_on_constants_that_fails_and_is_not_used_is_dropped() -> None:
    def shrug(x: Any) -> Any:
        tf.constant(1) // tf.constant(0)
        tf.gather(tf.constant([1, 2]), 7)
        return x

    ds = D.range(3).map(shrug)
    assert how(ds) == [True]
    assert values(ds) == [0, 1, 2]


def test_an_op_on_constants_that_fails_and_is_used_fails_for_each_element() -> None:
    ds = D.range(2).map(lambda x: x + tf.cast(tf.constant(1) // tf.constant(0), tf.int64))
    assert how(ds) == [True]
    elements = iter(ds)
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
            next(elements)


def test_an_op_on_constants_that_fails_in_a_branch_not_taken_does_not_fail() -> None:
    def choose(x: Any) -> Any:
        return tf.cond(x < 9, lambda: x, lambda: x // tf.constant(0, tf.int64))

    assert values(D.range(2).map(choose)) == [0, 1]


def test_checks_are_made_though_nothing_uses_them() -> None:
    def check(x: Any) -> Any:
        tf.debugging.check_numerics(tf.math.log(tf.cast(x, tf.float32)), "bad")
        return x

    elements = iter(D.range(2).map(check))
    with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
        next(elements)
    assert int(next(elements)) == 1


def test_calls_that_wait_for_each_other_meet_though_nobody_knows_their_results() -> None:
    both = threading.Barrier(2, timeout=20)

    def meet(x: Any) -> Any:
        both.wait()
        return x

    ds = D.range(4).map(meet, num_parallel_calls=2)
    assert values(ds) == [0, 1, 2, 3]
