from __future__ import annotations

import collections
import dataclasses
import doctest
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.pure_modules import load

dtypes = load("dtypes")
nest = load("nest")
specs = load("specs")
Spec = specs.TensorSpec


def test_one_dtype_of_each_name_with_tensorflows_number_and_size() -> None:
    # name: number, size, integer, floating, numeric; recorded from TensorFlow 2.21.
    recorded = """
    float16 19 2 0 1 1;float32 1 4 0 1 1;float64 2 8 0 1 1;int32 3 4 1 0 1;uint8 4 1 1 0 1
    uint16 17 2 1 0 1;uint32 22 4 1 0 1;uint64 23 8 1 0 1;int16 5 2 1 0 1;int8 6 1 1 0 1
    string 7 0 0 0 0;complex64 8 8 0 0 1;complex128 18 16 0 0 1;int64 9 8 1 0 1;bool 10 1 0 0 0
    bfloat16 14 2 0 1 1;float8_e5m2 24 1 0 1 0;float8_e4m3fn 25 1 0 1 0
    float8_e4m3fnuz 26 1 0 1 0;float8_e4m3b11fnuz 27 1 0 1 0;float8_e5m2fnuz 28 1 0 1 0
    int4 29 1 1 0 0;uint4 30 1 1 0 0;int2 31 1 1 0 0;uint2 32 1 1 0 0;variant 21 0 0 0 0
    """
    rows = [row.split() for line in recorded.strip().split("\n") for row in line.split(";")]
    assert {row[0] for row in rows} == {d.name for d in dtypes.ALL}
    for name, *numbers in rows:
        d = getattr(dtypes, name)
        facts = (d.as_datatype_enum, d.size, d.is_integer, d.is_floating, d.is_numeric)
        assert facts == tuple(int(n) for n in numbers), name
        assert (repr(d), str(d), d == name, dtypes.as_dtype(name) is d) == (
            f"tf.{name}",
            name,
            True,
            True,
        )
        assert pickle.loads(pickle.dumps(d)) is d
        if d.is_numpy_compatible:
            assert dtypes.as_dtype(d.as_numpy_dtype) is d
            assert d == np.dtype(d.as_numpy_dtype)
            assert np.dtype(d.as_numpy_dtype).itemsize == (d.size or 8)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (np.int64, "int64"),
        (np.dtype("int64"), "int64"),
        (np.longlong, "int64"),
        (np.dtype(">i4"), "int32"),
        (float, "float32"),
        (bool, "bool"),
        (object, "string"),
        ("float", "float32"),
        ("double", "float64"),
        ("half", "float16"),
        (np.str_, "string"),
        (np.dtype("S3"), "string"),
        (np.array(1), "int64"),
        (3, "int32"),
    ],
)
def test_dtypes_are_found_as_in_tensorflow(value: Any, name: str) -> None:
    assert dtypes.as_dtype(value).name == name
    assert getattr(dtypes, name) == value


@pytest.mark.parametrize(
    "value", [int, str, bytes, complex, "str", "int", "U", None, list, np.dtype("M8[s]"), "foo"]
)
def test_what_tensorflow_does_not_take_for_a_dtype_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="Cannot convert the argument `type_value`"):
        dtypes.as_dtype(value)
    assert all(d != value for d in dtypes.ALL)


def test_limits() -> None:
    assert (dtypes.int8.min, dtypes.uint64.max, dtypes.uint4.max) == (-128, 2**64 - 1, 15)
    assert dtypes.float16.max == np.float16(65504)
    assert float(dtypes.bfloat16.max) == pytest.approx(3.39e38, rel=1e-2)
    with pytest.raises(TypeError, match="maximum"):
        dtypes.string.max  # noqa: B018


def test_importing_leaves_ml_dtypes_alone() -> None:
    code = (
        "import sys; from tests.pure_modules import load; [load(n) for n in "
        "('errors', 'dtypes', 'specs', 'tensor')]; assert 'ml_dtypes' not in sys.modules"
    )
    root = Path(__file__).parent.parent
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root)


class TensorShape:
    """TensorFlow's, as far as it is read."""

    def __init__(self, dims: list[int | None] | None) -> None:
        self.rank = None if dims is None else len(dims)
        self.dims = dims

    def as_list(self) -> list[int | None]:
        if self.dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return self.dims


@pytest.mark.parametrize(
    ("given", "shape"),
    [
        ([None, 3], (None, 3)),
        (3, (3,)),
        (None, None),
        ((), ()),
        (np.array([2, 3]), (2, 3)),
        ([np.int64(2)], (2,)),
        (np.int64(4), (4,)),
        (TensorShape([None, 2]), (None, 2)),
        (TensorShape(None), None),
    ],
)
def test_shapes_come_in_many_forms(given: Any, shape: Any) -> None:
    assert Spec(given, "int32").shape == shape


@pytest.mark.parametrize(
    ("given", "error"),
    [("ab", TypeError), ([1, "a"], TypeError), ([2.0], TypeError), ([-1], ValueError)],
)
def test_what_is_no_shape_is_refused(given: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        Spec(given, "int32")


def test_specs_print_compare_and_hash() -> None:
    assert (
        repr(Spec([None, 3], "int64")) == "TensorSpec(shape=(None, 3), dtype=tf.int64, name=None)"
    )
    assert repr(Spec(None, "string", "q")) == (
        "TensorSpec(shape=<unknown>, dtype=tf.string, name='q')"
    )
    assert Spec([2]).dtype is dtypes.float32
    assert Spec([2], "int32") == Spec((2,), np.int32)
    assert Spec([2], "int32") != Spec([2], "int64")
    assert Spec([2], "int32", "a") != Spec([2], "int32", "b")
    assert len({Spec([2], "int32"), Spec([2], "int32")}) == 1
    for spec in (
        Spec([None], "int8", "n"),
        specs.DatasetSpec({"a": Spec([], "int8")}, [3]),
        specs.OptionalSpec((Spec([], "int8"), specs.NoneSpec())),
        specs.NoneSpec(),
    ):
        again = pickle.loads(pickle.dumps(spec))
        assert again == spec
        assert hash(again) == hash(spec)
        with pytest.raises(AttributeError, match="immutable"):
            spec.element_spec = 1


I32 = "int32"


# a, b, compatible, common supertype, subtype; recorded from TensorFlow 2.21.
@pytest.mark.parametrize(
    ("a", "b", "compatible", "common", "subtype"),
    [
        (Spec([None, 3], I32), Spec([2, 3], I32), True, Spec([None, 3], I32), False),
        (Spec([2, 3], I32), Spec([None, 3], I32), True, Spec([None, 3], I32), True),
        (Spec([2], I32), Spec([3], I32), False, Spec([None], I32), False),
        (Spec(None, I32), Spec([3], I32), True, Spec(None, I32), False),
        (Spec([2], I32), Spec([2], "int64"), False, None, False),
        (Spec([2, 3], I32), Spec([2], I32), False, Spec(None, I32), False),
        (Spec([2], I32, "a"), Spec([2], I32, "b"), True, None, False),
    ],
)
def test_specs_relate_as_tensorflows(
    a: Any, b: Any, compatible: bool, common: Any, subtype: bool
) -> None:
    assert a.is_compatible_with(b) is compatible
    assert a.most_specific_common_supertype([b]) == common
    assert a.is_subtype_of(b) is subtype
    for wrap in (specs.DatasetSpec, specs.OptionalSpec):
        outer_a, outer_b = wrap((a,)), wrap((b,))
        assert outer_a.is_compatible_with(outer_b) is compatible
        assert outer_a.is_subtype_of(outer_b) is subtype
        expected = None if common is None else wrap((common,))
        assert outer_a.most_specific_common_supertype([outer_b]) == expected


def test_specs_of_other_kinds_do_not_relate() -> None:
    a = Spec([], I32)
    assert not a.is_compatible_with(specs.NoneSpec())
    assert not a.is_compatible_with(specs.DatasetSpec(a))
    assert not specs.DatasetSpec(a).is_compatible_with(specs.OptionalSpec(a))
    assert not specs.DatasetSpec(a).is_compatible_with(a)
    assert not specs.DatasetSpec((a,)).is_compatible_with(specs.DatasetSpec({"a": a}))
    assert a.most_specific_common_supertype([specs.NoneSpec()]) is None
    assert specs.NoneSpec().is_compatible_with(None)


def test_a_spec_accepts_arrays_that_fit() -> None:
    assert Spec([None], "int64").is_compatible_with(np.array([1, 2]))
    assert not Spec([3], "int64").is_compatible_with(np.array([1, 2]))
    assert not Spec([2], "int32").is_compatible_with(np.array([1, 2]))
    assert Spec([1], "string").is_compatible_with(np.array(["a"]))
    assert not Spec([], "int32").is_compatible_with(5)
    assert not Spec([1], "int32").is_compatible_with(np.array(["2020-01-01"], "M8[D]"))


Point = collections.namedtuple("Point", "y x")


@dataclasses.dataclass(frozen=True)
class Data:
    second: Any
    first: Any


@pytest.mark.parametrize(
    ("tree", "flat"),
    [
        (5, [5]),
        (None, [None]),
        ((), []),
        ({"b": 1, "a": (2, [3, None])}, [2, [3, None], 1]),
        (Point(1, 2), [1, 2]),
        (Data(1, (2, 3)), [1, 2, 3]),
        ([1, 2], [[1, 2]]),
        (collections.OrderedDict([("b", 1), ("a", 2)]), [2, 1]),
        (collections.defaultdict(int, b=1, a=2), [2, 1]),
    ],
)
def test_trees_flatten_and_pack_back(tree: Any, flat: list[Any]) -> None:
    assert nest.flatten(tree) == flat
    packed = nest.pack_like(tree, flat)
    assert packed == tree
    assert type(packed) is type(tree)
    assert nest.map_structure(lambda leaf: leaf, tree) == tree
    assert list(packed) == list(tree) if isinstance(tree, dict) else True


def test_lists_are_branches_when_asked() -> None:
    assert nest.flatten([1, (2, [3])], lists=True) == [1, 2, 3]
    assert nest.map_structure(lambda x: -x, [1, (2,)], lists=True) == [-1, (-2,)]


def test_attrs_classes_are_branches() -> None:
    class Field:
        def __init__(self, name: str) -> None:
            self.name = name

    class Attrs:
        __attrs_attrs__ = (Field("b"), Field("a"))

        def __init__(self, b: int, a: int) -> None:
            self.b, self.a = b, a

    assert nest.flatten(Attrs(1, 2)) == [1, 2]
    assert vars(nest.pack_like(Attrs(1, 2), [3, 4])) == {"b": 3, "a": 4}


@pytest.mark.parametrize(
    ("a", "b", "error", "text"),
    [
        ((1, 2), (3,), ValueError, "number of elements"),
        ((1, 2), 3, ValueError, "is a sequence, while"),
        ({"a": 1}, {"b": 1}, ValueError, "set of keys"),
        (Point(1, 2), (3, 4), TypeError, "sequence type"),
        (Point(1, 2), {"y": 3, "x": 4}, TypeError, "sequence type"),
    ],
)
def test_trees_of_other_form_are_refused_with_the_difference(
    a: Any, b: Any, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        nest.map_structure(lambda x, y: (x, y), a, b)


def test_packing_the_wrong_number_is_refused() -> None:
    with pytest.raises(ValueError, match="had 2 elements, but argument"):
        nest.pack_like((1, 2), [1])


@pytest.mark.parametrize("module", [dtypes, nest, specs], ids=lambda m: m.__name__)
def test_examples_in_the_docs(module: Any) -> None:
    assert doctest.testmod(module).failed == 0


def test_specs_read_as_tensorflow_writes_them() -> None:
    """The texts on the right were printed by TensorFlow 2.21."""
    number = "TensorSpec(shape=(), dtype=tf.float32, name=None)"
    recorded = {
        dtypes.int32: "tf.int32",
        Spec([2, None], "string", "x"): "TensorSpec(shape=(2, None), dtype=tf.string, name='x')",
        specs.DatasetSpec(Spec([])): f"DatasetSpec({number}, TensorShape([]))",
        specs.DatasetSpec(
            (Spec([]), None), [2]
        ): f"DatasetSpec(({number}, None), TensorShape([2]))",
        specs.OptionalSpec(Spec([])): f"OptionalSpec({number},)",
    }
    assert [repr(spec) for spec in recorded] == list(recorded.values())


def test_a_none_inside_a_dataset_spec_is_a_leaf_like_others() -> None:
    none, number = specs.DatasetSpec({"a": None}), specs.DatasetSpec({"a": Spec([])})
    assert none.is_subtype_of(none)
    assert none.is_compatible_with(none)
    assert none.most_specific_common_supertype([none]) == none
    assert not none.is_subtype_of(number)
    assert not number.is_subtype_of(none)
    assert not number.is_compatible_with(none)
    assert number.most_specific_common_supertype([none]) is None
    mixed = [specs.DatasetSpec((None, Spec([n]))) for n in (2, 3)]
    joined = mixed[0].most_specific_common_supertype(mixed[1:])
    assert joined == specs.DatasetSpec((None, Spec([None])))
    assert specs.OptionalSpec(None).is_subtype_of(specs.OptionalSpec(None))
