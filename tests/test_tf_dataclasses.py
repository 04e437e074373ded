"""Objects that describe themselves with `__tf_flatten__` and `__tf_unflatten__`, as elements.

What TensorFlow 2.21 gave is written as such.
"""

from __future__ import annotations

import dataclasses
import pickle
import random
import subprocess
import sys
from typing import Any, NamedTuple

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf
from spillway import nest

Dataset = tf.data.Dataset


@dataclasses.dataclass
class Masked:
    """TensorFlow's example: one component, and metadata that is no tensor."""

    mask: bool
    value: Any

    def __tf_flatten__(self) -> tuple[Any, Any]:
        return (self.mask,), (self.value,)

    @classmethod
    def __tf_unflatten__(cls, metadata: Any, components: Any) -> Masked:
        return cls(metadata[0], components[0])


@dataclasses.dataclass
class Pair:
    """Two components in another order than that of the fields."""

    label: str
    first: Any
    second: Any

    def __tf_flatten__(self) -> tuple[Any, Any]:
        return self.label, [self.second, self.first]

    @classmethod
    def __tf_unflatten__(cls, metadata: Any, components: Any) -> Pair:
        return cls(metadata, components[1], components[0])


class Point(NamedTuple):
    """A namedtuple."""

    x: Any
    y: Any


@dataclasses.dataclass
class Plain:
    """A dataclass without the methods: a nest of its fields."""

    a: Any
    b: Any


def listed(ds: Any) -> list[Any]:
    return list(ds.as_numpy_iterator())


def test_a_dataclass_keeps_its_metadata_in_the_spec_and_in_elements() -> None:
    ds = Dataset.from_tensor_slices(Masked(True, [1, 2]))
    assert ds.element_spec == Masked(True, tf.TensorSpec([], tf.int32))
    assert listed(ds) == [Masked(True, 1), Masked(True, 2)]
    (batch,) = listed(ds.batch(2))
    assert batch.mask is True
    assert batch.value.tolist() == [1, 2]
    assert listed(ds.batch(2).unbatch()) == [Masked(True, 1), Masked(True, 2)]
    assert listed(Dataset.from_tensors(Masked(True, Masked(False, 7)))) == [
        Masked(True, Masked(False, 7))
    ]


def test_functions_take_and_return_them() -> None:
    ds = Dataset.range(3).map(lambda x: Masked(True, x))
    assert listed(ds) == [Masked(True, i) for i in range(3)]
    assert listed(ds.map(lambda m: m.value * 2 if m.mask else m.value)) == [0, 2, 4]
    assert listed(ds.map(lambda m: Masked(False, m))) == [
        Masked(False, Masked(True, i)) for i in range(3)
    ]
    assert listed(ds.filter(lambda m: m.value > 1)) == [Masked(True, 2)]
    assert listed(ds.flat_map(Dataset.from_tensors)) == listed(ds)
    assert listed(ds.map(lambda m: [m, Masked(False, m.value)]).take(1)) == [
        (Masked(True, 0), Masked(False, 0))
    ]
    start = Masked(False, tf.constant(0, tf.int64))
    total = Dataset.range(4).reduce(start, lambda s, x: Masked(False, s.value + x))
    assert total.mask is False
    assert int(total.value) == 6


def test_datasets_in_one_are_zipped_to_one() -> None:
    ds = Dataset.zip(Masked(True, Dataset.range(2)))
    assert listed(ds) == [Masked(True, 0), Masked(True, 1)]


def test_a_generator_yields_the_declared_class_and_keeps_the_declared_metadata() -> None:
    spec = Masked(True, tf.TensorSpec([], tf.int32))
    ds = Dataset.from_generator(
        lambda: iter([Masked(True, 1), Masked(False, 2)]), output_signature=spec
    )
    assert listed(ds) == [Masked(True, 1), Masked(True, 2)]
    other = Dataset.from_generator(lambda: iter([Plain(1, 2)]), output_signature=spec)
    with pytest.raises(TypeError, match="expected structure"):
        listed(other)


def test_padded_batch_takes_shapes_and_values_in_one() -> None:
    ds = Dataset.from_tensors(Pair("p", [1, 2], [3.0]))
    (batch,) = listed(
        ds.padded_batch(1, padded_shapes=Pair("p", [3], [2]), padding_values=Pair("p", 9, 0.5))
    )
    assert batch.first.tolist() == [[1, 2, 9]]
    assert batch.second.tolist() == [[3.0, 0.5]]


def test_nests_have_their_components_as_leaves() -> None:
    pair = Pair("p", 1, 2)
    assert tf.nest.flatten(pair) == [2, 1]
    assert tf.nest.map_structure(lambda a: a + 1, pair) == Pair("p", 2, 3)
    assert tf.nest.pack_sequence_as(pair, [5, 6]) == Pair("p", 6, 5)
    tf.nest.assert_same_structure(Masked(True, 1), Masked(False, 1))
    with pytest.raises((TypeError, ValueError), match="Masked"):
        tf.nest.assert_same_structure(Masked(True, 1), (1,))
    assert tf.nest.is_nested(pair)
    assert not tf.nest.is_nested(Pair)


def test_unflatten_may_be_a_plain_method() -> None:
    """As in some of TensorFlow's own tests."""

    @dataclasses.dataclass
    class Boxed:
        value: Any

        def __tf_flatten__(self) -> tuple[Any, Any]:
            return (), (self.value,)

        def __tf_unflatten__(self, metadata: Any, components: Any) -> Any:
            return Boxed(*components)

    ds = Dataset.from_tensors(Boxed(1))
    assert ds.element_spec == Boxed(tf.TensorSpec([], tf.int32))
    assert listed(ds) == [Boxed(1)]
    assert tf.nest.map_structure(lambda a: a + 1, Boxed(1)) == Boxed(2)


def test_any_other_dataclass_is_a_nest_of_its_fields() -> None:
    ds = Dataset.from_tensors(Plain(1, 2.0))
    assert ds.element_spec == Plain(tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.float32))
    assert tf.nest.flatten(Plain(1, 2.0)) == [1, 2.0]


def test_what_flatten_gives_is_checked() -> None:
    class Wrong:
        def __tf_flatten__(self) -> Any:
            return 5

        @classmethod
        def __tf_unflatten__(cls, metadata: Any, components: Any) -> Any:
            return cls()

    with pytest.raises(TypeError, match=r"Wrong\.__tf_flatten__ must return \(metadata, comp"):
        Dataset.from_tensors(Wrong())


def test_an_error_of_flatten_arrives_as_it_is() -> None:
    class Broken:
        def __tf_flatten__(self) -> Any:
            raise KeyError("no parts")

        @classmethod
        def __tf_unflatten__(cls, metadata: Any, components: Any) -> Any:
            return cls()

    with pytest.raises(KeyError, match="no parts"):
        Dataset.from_tensors(Broken())


def test_the_hash_is_the_same_in_another_process() -> None:
    program = (
        "import spillway.tf as tf\n"
        "from tests.test_tf_dataclasses import Masked\n"
        "print(*[tf.data.Dataset.from_tensors(Masked(m, 1)).spec_hash() for m in (True, False)])\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    here = [str(Dataset.from_tensors(Masked(m, 1)).spec_hash()) for m in (True, False)]
    assert found == here


def test_a_namedtuple_that_is_learnt_first_arrives_in_a_worker_as_one() -> None:
    def learnt(x: Any) -> Any:
        print(end="")
        return Point(x, x)

    ds = Dataset.range(2).map(learnt)
    assert ds.element_spec is None
    there = ds.map(lambda point: Point(point.x, point.y + 1), isolate=True)
    assert listed(there) == [Point(0, 1), Point(1, 2)]


def test_what_remakes_an_object_can_be_pickled() -> None:
    remade, parts = nest.take_apart(Masked(True, 3))
    again = pickle.loads(pickle.dumps(remade))
    assert again(*parts) == Masked(True, 3)
    assert again.__qualname__ == remade.__qualname__


def _random_nest(draw: random.Random, depth: int) -> tuple[Any, Any]:
    """A nest with objects in it, and the same one with tuples in their places."""
    kind = draw.choice(["leaf", "tuple", "dict", "masked", "pair"]) if depth else "leaf"
    if kind == "leaf":
        value = np.arange(draw.randint(1, 3)) + draw.randint(0, 9)
        return value, value
    parts = [_random_nest(draw, depth - 1) for _ in range(2)]
    (a, plain_a), (b, plain_b) = parts
    if kind == "tuple":
        return (a, b), (plain_a, plain_b)
    if kind == "dict":
        return {"x": a, "y": b}, {"x": plain_a, "y": plain_b}
    if kind == "masked":
        return Masked(draw.random() < 0.5, a), (plain_a,)
    return Pair(draw.choice("pq"), a, b), (plain_b, plain_a)


def test_random_nests_of_them_pass_through_as_tuples_do() -> None:
    seed = random.SystemRandom().randrange(2**32)
    draw = random.Random(seed)
    for _ in range(60):
        value, plain = _random_nest(draw, 3)
        ds = Dataset.from_tensors(value).repeat(2).map(lambda *x: x if len(x) > 1 else x[0])
        like = Dataset.from_tensors(plain).repeat(2)
        where = f"seed {seed}: {value}"
        for mine, theirs in zip(listed(ds), listed(like), strict=True):
            leaves = zip(tf.nest.flatten(mine), tf.nest.flatten(theirs), strict=True)
            assert all(np.array_equal(a, b) for a, b in leaves), where
        tf.nest.assert_same_structure(Dataset.from_tensors(value).element_spec, value)


@pytest.mark.parametrize("kind", ["U", "S"])
def test_char_arrays_are_strings(kind: str) -> None:
    """As TensorFlow 2.21 has it, wherever an array may stand."""
    array = np.char.array(np.array(["ab", "c"], dtype=kind))
    assert tf.constant(array).numpy().tolist() == [b"ab", b"c"]
    assert listed(Dataset.from_tensor_slices(array)) == [b"ab", b"c"]
    assert listed(Dataset.from_tensors((array, 1)))[0][0].tolist() == [b"ab", b"c"]
    spec = tf.TensorSpec([2], tf.string)
    made = Dataset.from_generator(lambda: iter([array]), output_signature=spec)
    assert listed(made)[0].tolist() == [b"ab", b"c"]
    mapped = sw.Dataset.range(1).map(lambda x: array)
    assert next(mapped.as_numpy_iterator()).tolist() == [b"ab", b"c"]


def test_other_kinds_of_arrays_are_taken_as_what_they_hold() -> None:
    matrix = np.asmatrix(np.array([[1, 2], [3, 4]]))
    assert listed(Dataset.from_tensors(matrix))[0].tolist() == [[1, 2], [3, 4]]
    recorded = np.rec.array(np.array([1.5, 2.5]))
    assert listed(Dataset.from_tensor_slices(recorded)) == [1.5, 2.5]
