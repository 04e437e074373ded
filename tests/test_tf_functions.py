"""What functions may return, be given and ask, under TensorFlow's names."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import spillway.tf as tf

Dataset: Any = tf.data.Dataset
Optional: Any = tf.experimental.Optional


def ints(ds: Any) -> list[Any]:
    return [element.numpy().tolist() for element in ds]


def test_a_none_beside_what_comes_with_the_element_takes_no_component() -> None:
    ds = Dataset.range(3).flat_map(lambda x: Dataset.from_tensors((None, x, None, x + 1)))
    assert [(a, int(b), c, int(d)) for a, b, c, d in ds] == [
        (None, 0, None, 1),
        (None, 1, None, 2),
        (None, 2, None, 3),
    ]


def test_a_function_that_makes_optionals_has_a_spec() -> None:
    made = Dataset.range(2).map(Optional.from_value)
    assert made.element_spec == tf.OptionalSpec(tf.TensorSpec([], tf.int64))
    assert [int(o.get_value()) for o in made] == [0, 1]
    none = Dataset.range(1).map(lambda _: Optional.empty(tf.TensorSpec([], tf.int64)))
    assert none.element_spec == tf.OptionalSpec(tf.TensorSpec([], tf.int64))
    assert not next(iter(none)).has_value()


def test_a_function_that_is_given_optionals_has_a_spec() -> None:
    ds = Dataset.range(2).map(lambda x: (Optional.from_value({"a": x}), x))
    ds = ds.map(lambda o, x: (o.has_value(), o.get_value()["a"] + x))
    assert ds.element_spec == (tf.TensorSpec([], tf.bool), tf.TensorSpec([], tf.int64))
    assert [(bool(has), int(x)) for has, x in ds] == [(True, 0), (True, 2)]


def test_an_optional_without_a_value_fails_in_the_place_of_its_element() -> None:
    ds = Dataset.range(1).map(lambda _: Optional.empty(tf.TensorSpec([], tf.int64)))
    it = iter(ds.map(lambda o: o.get_value()))
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not have a value"):
        next(it)
    with pytest.raises(StopIteration):
        next(it)


def test_python_numbers_are_keys_and_window_sizes() -> None:
    ds = Dataset.range(6).group_by_window(
        lambda x: 1, lambda key, group: group.batch(6), window_size_func=lambda key: 4
    )
    assert ints(ds) == [[0, 1, 2, 3], [4, 5]]
    ds = Dataset.range(6).group_by_window(
        lambda x: int(x) % 2,
        lambda key, group: group.batch(6),
        window_size_func=lambda key: int(key) + 2,
    )
    assert ints(ds) == [[0, 2], [1, 3, 5], [4]]


def test_a_tensor_of_another_type_is_no_key() -> None:
    with pytest.raises(ValueError, match=r"must return a single `tf.int64` scalar tensor"):
        Dataset.range(3).group_by_window(lambda x: tf.cast(x, tf.int32), lambda k, g: g, 2)


@pytest.mark.parametrize("method", ["map", "filter", "flat_map", "interleave", "take_while"])
def test_what_no_tensor_can_be_made_of_is_refused_where_the_function_is_written(
    method: str,
) -> None:
    class Anything:
        pass

    text = rf"Unsupported return value from function passed to Dataset\.{method}\(\): .*Anything"
    with pytest.raises(TypeError, match=text):
        getattr(Dataset.range(3), method)(lambda x: Anything)


def test_a_known_shape_is_a_tensor() -> None:
    assert tf.convert_to_tensor(tf.TensorShape([2, 3])).numpy().tolist() == [2, 3]
    assert tf.convert_to_tensor(tf.TensorShape([2]), tf.int64).dtype == tf.int64
    ds = Dataset.from_tensors([[1, 2]]).map(lambda x: x.shape)
    assert ds.element_spec == tf.TensorSpec([2], tf.int32)
    with pytest.raises(ValueError, match="TensorShape"):
        tf.convert_to_tensor(tf.TensorShape([None]))


def test_a_case_without_a_default_fails_where_nothing_holds() -> None:
    it = iter(Dataset.range(3).map(lambda x: tf.case([(x > 0, lambda: x), (x > 1, lambda: -x)])))
    with pytest.raises(tf.errors.InvalidArgumentError, match="no predicate holds"):
        next(it)
    assert [int(x) for x in it] == [1, 2]


def test_a_function_being_traced_does_not_execute_eagerly() -> None:
    assert tf.executing_eagerly()
    assert ints(Dataset.range(1).map(lambda x: tf.executing_eagerly())) == [False]


def test_the_name_comes_where_tensorflow_has_it() -> None:
    ds = Dataset.range(4).filter(lambda x: x > 0, "positive")
    ds = ds.shuffle(4, 1, False, "mixed").flat_map(Dataset.range, "flat")
    ds = ds.interleave(Dataset.range, 2, 1, None, None, "woven")
    assert ds.element_spec == tf.TensorSpec([], tf.int64)


def test_two_random_numbers_of_one_function_are_two_steps() -> None:
    ds = Dataset.range(4).map(lambda _: (tf.random.uniform([], seed=1), tf.random.uniform([])))
    pairs = [(float(a), float(b)) for a, b in ds]
    assert len({a for a, _ in pairs}) == len({b for _, b in pairs}) == 4


def test_an_iterator_that_ends_inside_a_tf_function_is_out_of_range() -> None:
    it = iter(Dataset.range(1))
    step = tf.function(lambda i: next(i))
    assert int(step(it)) == 0
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        step(it)


def test_an_input_signature_is_kept() -> None:
    class Model:
        @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])  # type: ignore[untyped-decorator]
        def double(self, x: Any) -> Any:
            return x * 2

    assert Model().double([1, 2]).numpy().tolist() == [2, 4]
    with pytest.raises(TypeError, match=r"Binding inputs to tf.function failed"):
        Model().double(tf.constant([1.5]))


def test_a_name_is_an_identifier() -> None:
    for method in (Dataset.range(3).map, Dataset.range(3).filter):
        with pytest.raises(ValueError, match=r"needs to be a valid identifier: .*'not one'"):
            method(lambda x: x > 1, name="not one")
    with pytest.raises(ValueError, match="valid identifier"):
        Dataset.range(3, name="3rd")


def test_a_stage_with_a_name_says_whose_function_failed() -> None:
    def fails(x: Any) -> Any:
        raise ValueError("no")

    python = Dataset.range(1).map(lambda x: tf.py_function(fails, [x], tf.int64), name="mine")
    traced = Dataset.range(1).filter(lambda x: 6 // x > 1, name="mine")
    for ds in (python, traced):
        text = "user-defined function passed to mine transformation with iterator: Iterator::Root"
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            next(iter(ds))


def test_many_threads_share_an_iterator() -> None:
    it = iter(Dataset.range(2000).map(lambda x: x + 1).prefetch(2))
    seen: list[int] = []

    def take() -> None:
        seen.extend(int(x) for x in it)

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == list(range(1, 2001))


def test_a_python_function_becomes_an_op_by_a_decorator() -> None:
    given: list[type] = []

    @tf.numpy_function(Tout=tf.int64)  # type: ignore[untyped-decorator]
    def more(a: Any) -> Any:
        """One more."""
        given.append(type(a))
        return a + 1

    @tf.py_function(Tout=[tf.int64, tf.string])  # type: ignore[untyped-decorator]
    def both(a: Any) -> Any:
        return a * 2, tf.strings.as_string(a)

    assert (more.__name__, more.__doc__) == ("more", "One more.")
    assert more(tf.constant(1, tf.int64)).numpy() == 2
    assert issubclass(given[0], np.ndarray | np.generic)
    assert [x.numpy() for x in both(tf.constant(3, tf.int64))] == [6, b"3"]
    made = Dataset.range(3).map(lambda x: both(more(x)))
    assert made.element_spec == (tf.TensorSpec(None, tf.int64), tf.TensorSpec(None, tf.string))
    assert [(int(a), b.numpy()) for a, b in made] == [(2, b"1"), (4, b"2"), (6, b"3")]


@pytest.mark.parametrize("op", [tf.numpy_function, tf.py_function])
def test_a_python_op_says_which_argument_is_missing(op: Any) -> None:
    with pytest.raises(TypeError, match="Missing required argument: 'Tout'"):
        op(lambda a: a, [1])
    with pytest.raises(TypeError, match="Missing argument `inp`"):
        op(lambda a: a, Tout=tf.int32)
    with pytest.raises(TypeError, match="Don't set the `inp` argument"):
        op(inp=[1], Tout=tf.int32)
