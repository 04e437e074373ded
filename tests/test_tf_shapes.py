"""Shapes, specs, dtypes and nests under TensorFlow's names."""

from __future__ import annotations

import collections
import copy
import pickle
from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf

Shape = tf.TensorShape


def test_a_shape_equals_the_tuple_and_the_list_of_its_dimensions() -> None:
    shape = tf.data.Dataset.range(6).batch(2).batch(3, drop_remainder=True).element_spec.shape
    assert isinstance(shape, tf.TensorShape)
    assert shape == (3, None)
    assert shape == [3, None]
    assert shape != (3, 2)
    assert shape != "x"
    assert hash(shape) == hash((3, None))


def test_a_shape_is_a_sequence_of_ints_and_none() -> None:
    shape = Shape([2, None, 5])
    assert (len(shape), shape[0], shape[-1], list(shape)) == (3, 2, 5, [2, None, 5])
    assert shape[1:] == [None, 5] and isinstance(shape[1:], tf.TensorShape)
    sizes: Any = Shape([2, 3])
    assert np.zeros(sizes).shape == (2, 3)
    assert str(shape) == "(2, None, 5)" and repr(shape) == "TensorShape([2, None, 5])"


def test_a_shape_of_unknown_rank_has_no_length_and_is_false() -> None:
    shape = Shape(None)
    assert not shape
    assert Shape([])
    assert shape.rank is None and shape.dims is None
    assert shape == Shape(None)
    assert shape[3] is None and shape[1:4] == [None, None, None] and shape[1:].rank is None
    for ask in (len, list, lambda s: s.as_list()):
        with pytest.raises(ValueError, match="unknown"):
            ask(shape)


@pytest.mark.parametrize(
    ("a", "b", "merged"),
    [
        ([2, None], [None, 3], [2, 3]),
        (None, [4], [4]),
        ([4], None, [4]),
        ([2], [3], ValueError),
        ([2], [2, 2], ValueError),
    ],
)
def test_merging_shapes_keeps_what_both_know(a: Any, b: Any, merged: Any) -> None:
    if merged is ValueError:
        assert not Shape(a).is_compatible_with(b)
        with pytest.raises(ValueError, match="not compatible"):
            Shape(a).merge_with(b)
    else:
        assert Shape(a).is_compatible_with(b)
        assert Shape(a).merge_with(b) == merged


def test_shapes_concatenate_with_what_can_be_a_shape() -> None:
    more: Any = [2]
    assert Shape([1]) + more == [1, 2]
    assert more + Shape([1]) == [2, 1]
    assert Shape([1]).concatenate(Shape(None)).rank is None


def test_ranks_are_asserted() -> None:
    assert Shape(None).with_rank(2) == [None, None]
    assert Shape([1]).with_rank_at_least(1).with_rank_at_most(1).with_rank(1) == [1]
    for call in (
        lambda: Shape([1]).with_rank(2),
        lambda: Shape([1]).with_rank_at_least(2),
        lambda: Shape([1, 2]).with_rank_at_most(1),
        lambda: Shape([1]).assert_has_rank(0),
        lambda: Shape([1]).assert_same_rank([1, 2]),
        lambda: Shape([1]).assert_is_compatible_with([2]),
        lambda: Shape([None]).assert_is_fully_defined(),
    ):
        with pytest.raises(ValueError, match=r"must have|incompatible|fully defined"):
            call()


def test_a_shape_counts_its_elements_when_all_is_known() -> None:
    assert Shape([2, 3]).num_elements() == 6
    assert Shape([]).num_elements() == 1
    assert Shape([2, None]).num_elements() is None
    assert Shape(None).num_elements() is None


def test_shapes_and_dimensions_survive_pickle_and_copy() -> None:
    for value in (Shape([1, None]), Shape(None), tf.compat.v1.Dimension(3)):
        assert repr(pickle.loads(pickle.dumps(value))) == repr(copy.deepcopy(value)) == repr(value)


def test_an_unknown_dimension_makes_results_unknown() -> None:
    dimension: Any = tf.compat.v1.Dimension
    assert repr(dimension(7) // 2) == "Dimension(3)" and repr(9 - dimension(2)) == "Dimension(7)"
    assert repr(dimension(None) + 1) == "Dimension(None)"
    assert (dimension(None) == 3) is None and (dimension(3) < 4) is True
    assert int(dimension(3)) == 3 and tf.compat.dimension_value(dimension(4)) == 4
    with pytest.raises(TypeError):
        dimension(3) / 2
    with pytest.raises(ValueError, match="not compatible"):
        dimension(3).merge_with(4)


def test_specs_join_to_the_narrowest_that_both_fit() -> None:
    a, b = tf.TensorSpec([2, 3], tf.int32), tf.TensorSpec([5, 3], tf.int32)
    joined = a.most_specific_compatible_type(b)
    assert isinstance(joined, tf.TensorSpec)
    assert joined.shape == [None, 3]
    with pytest.raises(ValueError, match="No TypeSpec is compatible"):
        a.most_specific_compatible_type(tf.TensorSpec([2, 3], tf.int64))


def test_a_spec_without_a_name_is_a_subtype_of_one_with() -> None:
    plain, named = tf.TensorSpec([2]), tf.TensorSpec([2], name="x")
    assert plain.is_subtype_of(named)
    assert not named.is_subtype_of(plain)


def test_a_spec_is_made_of_a_tensor_or_another_spec() -> None:
    tensor = tf.data.Dataset.range(3).batch(3).get_single_element()
    assert tf.TensorSpec.from_tensor(tensor) == tf.TensorSpec([3], tf.int64)
    named = tf.TensorSpec([3], name="x")
    assert tf.TensorSpec.from_spec(named).name == "x"
    assert tf.TensorSpec.from_spec(named, name="y").name == "y"
    assert tf.data.DatasetSpec.from_value(tf.data.Dataset.range(2)) == tf.data.DatasetSpec(
        tf.TensorSpec([], tf.int64)
    )


def test_an_iterator_spec_compares_elements() -> None:
    narrow, wide = (tf.data.IteratorSpec(tf.TensorSpec([n])) for n in (2, None))
    assert narrow.is_subtype_of(wide) and not wide.is_subtype_of(narrow)
    assert narrow.most_specific_common_supertype([tf.data.IteratorSpec(tf.TensorSpec([3]))]) == wide
    floats = tf.data.Dataset.from_tensors([1.0, 2.0])
    assert wide.is_compatible_with(iter(floats)) and not wide.is_compatible_with(floats)


def test_dtypes_know_limits_and_relatives() -> None:
    assert (tf.uint8.limits, tf.int64.limits, tf.float32.limits) == (
        (0, 255), (0, 2**63 - 1), (0, 1),
    )  # fmt: skip
    with pytest.raises(ValueError, match="no limits"):
        tf.string.limits  # noqa: B018
    assert tf.int8.is_subtype_of(tf.int8) and not tf.int8.is_subtype_of(tf.int16)
    assert tf.int8.most_specific_common_supertype([tf.int16]) is None
    assert tf.as_dtype("double") is tf.double is tf.float64
    assert tf.bool is sw.as_dtype(bool)


Point = collections.namedtuple("Point", "x y")


def test_a_list_is_a_branch_in_tf_nest() -> None:
    assert tf.nest.flatten([1, {"b": [2, 3], "a": Point(4, None)}]) == [1, 4, None, 2, 3]
    assert tf.nest.is_nested([]) and not tf.nest.is_nested("ab")
    packed = tf.nest.pack_sequence_as([0, {"a": (0,)}], [1, 2])
    assert packed == [1, {"a": (2,)}]
    with pytest.raises(ValueError, match="Could not pack sequence"):
        tf.nest.pack_sequence_as([0], [1, 2])
    with pytest.raises(TypeError, match="Attempted to pack value"):
        tf.nest.pack_sequence_as([0], 5)


@pytest.mark.parametrize(
    ("a", "b", "strict", "loose"),
    [
        ([1], (1,), TypeError, None),
        ((1, [2, 3]), [1, 2], TypeError, ValueError),
        ({"a": 1}, [1], TypeError, None),
        ({"a": 1}, {"b": 1}, ValueError, None),
        ([1], [1, 2], ValueError, ValueError),
        ([1], 1, ValueError, ValueError),
        (Point(1, 2), (1, 2), TypeError, None),
        ({"a": 1}, collections.OrderedDict(a=1), None, None),
    ],
)
def test_nests_are_compared_with_and_without_classes(
    a: Any, b: Any, strict: Any, loose: Any
) -> None:
    for check_types, error in ((True, strict), (False, loose)):
        if error is None:
            tf.nest.assert_same_structure(a, b, check_types=check_types)
            tf.nest.map_structure(lambda x, y: x, a, b, check_types=check_types)
        else:
            with pytest.raises(error):
                tf.nest.assert_same_structure(a, b, check_types=check_types)
            with pytest.raises(error):
                tf.nest.map_structure(lambda x, y: x, a, b, check_types=check_types)


def test_a_value_has_a_spec() -> None:
    ds = tf.data.Dataset.range(3)
    assert tf.type_spec_from_value(ds) == tf.data.DatasetSpec(tf.TensorSpec([], tf.int64))
    assert tf.type_spec_from_value([1.5, 2]) == tf.TensorSpec([2], tf.float32)
    some = tf.experimental.Optional.from_value("a")
    assert tf.type_spec_from_value(some) == tf.OptionalSpec(tf.TensorSpec([], tf.string))
    spec: Any = tf.type_spec_from_value(iter(ds))
    assert spec.element_spec == tf.TensorSpec([], tf.int64)
    with pytest.raises(TypeError, match=r"Could not build a TypeSpec for .* unsupported type"):
        tf.type_spec_from_value({"a": 1})


def test_datasets_of_other_shapes_are_of_another_type() -> None:
    element = tf.TensorSpec([], tf.int64)
    one, three = tf.data.DatasetSpec(element), tf.data.DatasetSpec(element, [3])
    some = tf.data.DatasetSpec(element, [None])
    assert three.is_subtype_of(some) and not some.is_subtype_of(three)
    assert three.is_compatible_with(some) and not three.is_compatible_with(one)
    assert one.is_compatible_with(tf.data.Dataset.range(3))


def test_tensorflow_1_asks_for_types_shapes_and_classes_apart() -> None:
    data = tf.compat.v1.data
    ds: Any = tf.data.Dataset.range(6).window(2).map(lambda w: (w, {"n": w.cardinality()}))
    assert data.get_output_types(ds)[1] == {"n": tf.int64}
    assert data.get_output_shapes(iter(ds.map(lambda w, n: n))) == {"n": tf.TensorShape([])}
    assert data.get_output_classes(ds) == (tf.data.Dataset, {"n": tf.Tensor})
