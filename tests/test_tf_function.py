# mypy: disable-error-code="untyped-decorator, misc"
"""`tf.function`: traces, what they share, and what runs as Python."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import spillway.tf

tf: Any = spillway.tf


def test_calls_of_one_kind_share_a_graph() -> None:
    @tf.function
    def square(x: Any) -> Any:
        return x * x

    for i in range(5):
        assert int(square(tf.constant(i))) == i * i
    assert square.explain() == ["a graph"]
    square(tf.constant([1.0]))
    square(tf.constant([1.0, 2.0]))
    assert square.experimental_get_tracing_count() == 3


def test_traces_are_bounded() -> None:
    double = tf.function(lambda x: x * 2)
    for n in range(100):
        double(tf.zeros([n]))
    assert len(double.explain()) == 64


def test_python_values_are_part_of_the_kind() -> None:
    @tf.function
    def power(x: Any, n: int) -> Any:
        for _ in range(n - 1):
            x = x * x
        return x

    assert [float(power(tf.constant(2.0), n)) for n in (1, 2, 3)] == [2.0, 4.0, 16.0]
    assert power.explain() == ["a graph"] * 3


def test_variables_are_read_when_it_is_called() -> None:
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def scaled(x: Any) -> Any:
        return x * v + v[0]

    assert scaled(tf.constant(2.0)).numpy().tolist() == [3.0, 5.0]
    v.assign([10.0, 20.0])
    assert scaled(tf.constant(2.0)).numpy().tolist() == [30.0, 50.0]
    assert scaled.explain() == ["a graph"]


def test_random_numbers_are_drawn_at_each_call() -> None:
    draw = tf.function(lambda: tf.random.normal([4]))
    a, b = draw().numpy(), draw().numpy()
    assert draw.explain() == ["a graph"] and (a != b).any()


def test_effects_run_as_python_every_time() -> None:
    seen: list[int] = []
    v = tf.Variable(0)

    @tf.function
    def counting(x: Any) -> Any:
        seen.append(1)
        v.assign_add(1)
        return x

    for _ in range(3):
        counting(tf.constant(1))
    assert len(seen) == 3 and int(v) == 3
    assert "append" in counting.explain()[0]


def test_branches_on_values_run_as_python() -> None:
    @tf.function
    def sign(x: Any) -> Any:
        if x > 0:
            return tf.constant("positive")
        return tf.constant("not")

    assert sign(tf.constant(1)).numpy() == b"positive" and sign(tf.constant(-1)).numpy() == b"not"
    assert "truth" in sign.explain()[0]


def test_nests_go_in_and_come_out() -> None:
    @tf.function
    def swap(pair: Any, *, more: Any) -> Any:
        return {"a": pair[1], "b": [pair[0] + more["x"], None, 3]}

    out = swap((tf.constant(1), tf.constant(2)), more={"x": tf.constant(10)})
    assert int(out["a"]) == 2 and int(out["b"][0]) == 11 and out["b"][1] is None
    assert int(out["b"][2]) == 3


def test_methods_read_what_their_object_holds() -> None:
    class Layer(tf.Module):
        def __init__(self, k: float) -> None:
            super().__init__()
            self.w = tf.Variable(k)

        @tf.function
        def __call__(self, x: Any) -> Any:
            return x * self.w

    one, two = Layer(1.0), Layer(2.0)
    assert [float(one(tf.constant(3.0))), float(two(tf.constant(3.0)))] == [3.0, 6.0]
    two.w.assign(5.0)
    assert float(two(tf.constant(3.0))) == 15.0
    gone = weakref.ref(two)
    del two
    gc.collect()
    assert gone() is None


def test_an_error_is_the_users_own() -> None:
    @tf.function
    def broken(x: Any) -> Any:
        return {"a": x}["b"]

    with pytest.raises(KeyError):
        broken(tf.constant(1))


def test_a_signature_traces_once_for_all_shapes() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
    def total(x: Any) -> Any:
        return tf.reduce_sum(x, axis=1)

    assert total(tf.ones([3, 2])).numpy().tolist() == [2.0, 2.0, 2.0]
    assert total(np.ones([1, 2], np.float32)).numpy().tolist() == [2.0]
    assert total.experimental_get_tracing_count() == 1 and total.explain() == ["a graph"]
    with pytest.raises(TypeError, match="Can not cast"):
        total(tf.ones([3, 3]))


def test_large_lazy_arguments_stay_lazy() -> None:
    total = tf.function(lambda x: tf.reduce_sum(x))
    # 1.6 GB of numbers that are never held
    assert abs(float(total(tf.random.uniform([2000, 2000, 100]))) / 4e8 - 0.5) < 0.01


def test_functions_can_be_run_eagerly() -> None:
    calls = tf.function(lambda x: x + 1)
    tf.config.run_functions_eagerly(True)
    try:
        assert int(calls(tf.constant(1))) == 2 and calls.experimental_get_tracing_count() == 0
    finally:
        tf.config.run_functions_eagerly(False)


def test_a_function_is_part_of_the_dataset_or_function_that_calls_it() -> None:
    inner = tf.function(lambda x: x + 1)
    outer = tf.function(lambda x: inner(x) * 2)
    assert int(outer(tf.constant(1))) == 4 and inner.experimental_get_tracing_count() == 0
    assert [int(x) for x in tf.data.Dataset.range(3).map(outer)] == [2, 4, 6]


def test_a_concrete_function_refuses_other_shapes() -> None:
    add = tf.function(lambda x: x + 1.0)
    concrete = add.get_concrete_function(tf.TensorSpec([2], tf.float32))
    assert concrete(tf.constant([1.0, 2.0])).numpy().tolist() == [2.0, 3.0]
    with pytest.raises(TypeError):
        concrete(tf.constant([1.0]))


def test_assertions_inside_are_kept() -> None:
    @tf.function
    def positive(x: Any) -> Any:
        tf.debugging.assert_positive(x)
        return x * 2

    assert int(positive(tf.constant(2))) == 4
    with pytest.raises(tf.errors.InvalidArgumentError):
        positive(tf.constant(-2))
