"""The evaluated tensor against what TensorFlow 2.21 answers, eagerly and in tf.function."""

from __future__ import annotations

import doctest
import importlib
import math
import operator
import pickle
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest


def load(name: str) -> Any:
    return importlib.import_module(f"spillway.{name}")


errors = load("errors")
dtypes = load("dtypes")
tensor = load("tensor")
Tensor = tensor.Tensor
convert = tensor.convert_to_tensor

DTYPES = [
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bool",
    "complex64",
    "complex128",
    "string",
]
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "@": operator.matmul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
OPERANDS: dict[str, Any] = {
    "int": 2,
    "float": 1.5,
    "bool": True,
    "complex": 1j,
    "str": "a",
    "list": [1, 2],
    "float64 scalar": np.float64(2),
    "int32 array": np.array([1, 2], np.int32),
}
# One letter for each of DTYPES: the result has the same dtype (=), is float32 (f), float64 (d) or
# bool (b), or it is an error (x). Recorded; where the two modes differ, the one that answers.
RECORDED = """
+           | tensor                                  | ============x===
+           | str                                     | xxxxxxxxxxxxxxx=
+ -         | int, bool, list, float64 scalar, int32 array | ============x==x
-           | tensor                                  | ============x==x
+ - / **    | float                                   | ====xxxxxxxxx==x
+ - / **    | complex                                 | xxxxxxxxxxxxx==x
*           | tensor, bool, float64 scalar, int32 array | ===============x
/           | tensor, int, bool, list, float64 scalar, int32 array | ====ffddffddx==x
// %        | tensor, int, bool, list, float64 scalar, int32 array | ============xxxx
// %        | float                                   | ====xxxxxxxxxxxx
// % & | ^  | complex, str                            | xxxxxxxxxxxxxxxx
**          | tensor, int, bool, list, float64 scalar, int32 array | ========xxxxx==x
- * / **    | str                                     | xxxxxxxxxxxxxxxx
@           | matrix                                  | ====xx==xxxxx==x
& | ^       | tensor, bool, float64 scalar, int32 array | xxxx=========xxx
& | ^       | int, list                               | xxxx========xxxx
& | ^       | float                                   | xxxxxxxxxxxxxxxx
< <= > >=   | tensor, int, bool, list, float64 scalar, int32 array | bbbbbbbbbbbbxxxx
< <= > >=   | float                                   | bbbbxxxxxxxxxxxx
< <= > >=   | complex, str                            | xxxxxxxxxxxxxxxx
== !=       | tensor                                  | bbbbbbbbbbbbbbbb
== !=       | int, list                               | bbbbbbbbbbbbxbbx
== !=       | float                                   | bbbbxxxxxxxxxbbx
== !=       | bool, float64 scalar, int32 array       | bbbbbbbbbbbbbbbx
== !=       | complex                                 | xxxxxxxxxxxxxbbx
== !=       | str                                     | xxxxxxxxxxxxxxxb
"""


def rows() -> list[tuple[str, str, str]]:
    found = []
    for line in RECORDED.strip().split("\n"):
        symbols, operands, outcomes = line.rsplit(" | ", 2)
        found += [(s, o.strip(), outcomes) for s in symbols.split() for o in operands.split(",")]
    return found


def make(name: str, values: list[int]) -> Any:
    if name == "string":
        return Tensor(np.array([str(v).encode() for v in values], object))
    return Tensor(np.array(values).astype(getattr(dtypes, name).as_numpy_dtype))


def outcome(function: Callable[..., Any], *operands: Any) -> str:
    try:
        result = function(*operands)
    except errors.InvalidArgumentError as e:
        assert e.kind == "user"
        assert isinstance(e, TypeError)  # what tf.function raises; eagerly InvalidArgumentError
        return "x"
    assert isinstance(result, Tensor)
    name = next(operand.dtype.name for operand in operands if isinstance(operand, Tensor))
    letters: dict[str, str] = {"bool": "b", "float32": "f", "float64": "d"} | {name: "="}
    return letters[result.dtype.name]


@pytest.mark.parametrize(("symbol", "operand", "outcomes"), rows())
def test_operators_accept_what_tensorflow_accepts(symbol: str, operand: str, outcomes: str) -> None:
    function = OPERATORS[symbol]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name, expected in zip(DTYPES, outcomes, strict=True):
            x = make(name, [7, 3])
            other: Any = OPERANDS[operand] if operand in OPERANDS else make(name, [2, 5])
            if operand == "matrix":
                x, other = x[None], other[:, None]
            expected = "=" if expected == "b" and name == "bool" else expected
            assert outcome(function, x, other) == expected, name
            if operand != "matrix" and (symbol, operand) != ("%", "str"):  # "a" % x formats
                assert outcome(function, other, x) == expected, f"reflected {name}"


@pytest.mark.parametrize(
    ("function", "outcomes"),
    [
        (operator.neg, "========xxxxx==x"),
        (operator.abs, "========xxxxxfdx"),
        (operator.invert, "xxxx=========xxx"),
    ],
)
def test_unary_operators_accept_what_tensorflow_accepts(
    function: Callable[[Any], Any], outcomes: str
) -> None:
    assert "".join(outcome(function, make(name, [7, 3])) for name in DTYPES) == outcomes


INF, NAN = math.inf, math.nan
# dtype, left, operator, right, TensorFlow's answer
VALUES: list[tuple[str, list[Any], str, list[Any], list[Any]]] = [
    ("int8", [127, -128], "+", [127, 127], [-2, -1]),
    ("int8", [127, -128], "*", [127, 127], [1, -128]),
    ("uint8", [7, 3], "-", [2, 5], [5, 254]),
    ("int8", [127, -128], "/", [3, 3], [42.33333206176758, -42.66666793823242]),
    ("int32", [7], "/", [0], [INF]),
    ("int32", [-7, 7], "/", [2, -2], [-3.5, -3.5]),
    ("int8", [-7, 7, -128], "//", [2, -2, -1], [-4, -4, -128]),
    ("int64", [-7, 7, -128], "%", [2, -2, -1], [1, -1, 0]),
    ("int8", [3, 127, -128], "**", [100, 3, 3], [-47, 127, 0]),
    ("int16", [3, 7], "**", [100, 0], [5073, 1]),
    ("float32", [-7, 7, -7], "//", [2, -2, -2], [-4.0, -4.0, 3.0]),
    ("float32", [7, 0, -7], "//", [0, 0, 0], [INF, NAN, -INF]),
    ("float32", [-7, 7, -7], "%", [2, -2, -2], [1.0, -1.0, -1.0]),
    ("float32", [7, 0, -7], "%", [0, 0, 0], [NAN, NAN, NAN]),
    ("float32", [1.0, -1.0], "%", [INF, INF], [1.0, INF]),
    ("float32", [1.0], "//", [0.1], [10.0]),
    ("bfloat16", [7, 3], "/", [2, 5], [3.5, 0.6015625]),
    ("bfloat16", [-7, 7], "**", [2, -2], [49.0, 0.0203857421875]),
    ("float16", [7, 3], "/", [2, 5], [3.5, 0.60009765625]),
    ("bool", [True, False], "*", [True, True], [True, False]),
    ("bool", [True, False], "^", [True, True], [False, True]),
    ("string", [b"7", b"3"], "+", [b"2", b"5"], [b"72", b"35"]),
    ("string", [b"7", b"3"], "==", [b"7", b"5"], [True, False]),
]


@pytest.mark.parametrize(("name", "left", "symbol", "right", "expected"), VALUES)
def test_operators_give_tensorflows_values(
    name: str, left: list[Any], symbol: str, right: list[Any], expected: list[Any]
) -> None:
    as_numpy = getattr(dtypes, name).as_numpy_dtype
    x, y = Tensor(np.array(left, as_numpy)), Tensor(np.array(right, as_numpy))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = OPERATORS[symbol](x, y).numpy()
    np.testing.assert_array_equal(result, np.array(expected, result.dtype))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (lambda: convert(1, "uint8") + 300, 45),
        (lambda: convert(1, "int8") + 2**40, 1),
        (lambda: convert(3, "uint8") - 5, 254),
        (lambda: convert(3) + np.float64(1.7), 4),
        (lambda: 2 ** convert(3), 8),
        (lambda: "a" + convert("b"), b"ab"),
        (lambda: abs(convert(-128, "int8")), -128),
        (lambda: -convert(-128, "int8"), -128),
        (lambda: abs(convert(3 + 4j)), 5.0),
        (lambda: sum(convert([0, 1, 2])), 3),
        (lambda: max(convert([0, 2, 1])), 2),
        (lambda: np.int32(1) + convert([1, 2])[0], 2),
    ],
)
def test_python_and_numpy_operands_take_the_tensors_dtype(
    value: Callable[[], Any], expected: Any
) -> None:
    result = value()
    assert isinstance(result, Tensor)
    assert result.numpy() == expected


def test_no_promotion_between_tensors_and_the_error_names_both() -> None:
    with pytest.raises(errors.InvalidArgumentError) as caught:
        make("int32", [1, 2]) + make("int64", [1])
    for part in ("int32", "int64", "(2,)", "(1,)", "+"):
        assert part in str(caught.value)
    with pytest.raises(TypeError):
        assert make("int32", [1]) == make("int64", [1])


def test_shapes_broadcast_as_numpys_and_an_error_names_both() -> None:
    x = Tensor(np.ones((2, 3), np.int32))
    assert (x + Tensor(np.ones((1, 3), np.int32))).shape == (2, 3)
    y = Tensor(np.ones(4, np.int32))
    for symbol in set(OPERATORS) - {"@", "==", "!="}:
        with pytest.raises(
            errors.ShapeError, match=r"(?s)\[2,3\] vs. \[4\].*made at .*test_tensor.py"
        ):
            OPERATORS[symbol](x, y)
    with pytest.raises(ValueError):
        x + y
    assert (x == y).numpy() == np.False_
    assert (x != y).numpy() == np.True_
    assert (x == [1, 2]).numpy() == np.False_
    assert (x == None) is False  # noqa: E711
    assert (x != None) is True  # noqa: E711


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8", "complex128"])
def test_a_scalar_meets_every_item_however_many_blocks_they_fill(dtype: str) -> None:
    select = load("native_ops").functions["select"]
    for count in (0, 1, 2, 1023, 1024, 1025, 5000):
        items = (np.arange(count) % 100).astype(dtype)
        seven = np.array(7).astype(dtype)
        x, y = Tensor(items), Tensor(seven)
        assert (x + y).numpy().tolist() == (items + seven).tolist()
        assert (y - x).numpy().tolist() == (seven - items).tolist()
        assert (x * y[None, None]).shape == (1, count)
        chosen = select(Tensor(items == 7), x, y).numpy()
        assert chosen.tolist() == np.where(items == 7, items, seven).tolist()


@pytest.mark.parametrize("symbol", ["//", "%"])
def test_integer_division_by_zero_is_an_error(symbol: str) -> None:
    with pytest.raises(errors.InvalidArgumentError, match="Integer division by zero"):
        OPERATORS[symbol](make("int8", [7, 1]), 0)
    with pytest.raises(errors.InvalidArgumentError, match="negative integer powers"):
        convert(2) ** -1


def test_matmul_needs_matrices_that_fit() -> None:
    x = Tensor(np.arange(6, dtype=np.int32).reshape(2, 3))
    assert (x @ Tensor(x.numpy().T)).numpy().tolist() == [[5, 14], [14, 50]]
    assert (Tensor(np.ones((2, 2, 3))) @ Tensor(np.ones((3, 4)))).shape == (2, 2, 4)
    for bad in (x, Tensor(np.ones(3, np.int32))):
        with pytest.raises(errors.ShapeError):
            x @ bad


def test_what_tensorflow_does_silently_with_bools_is_refused() -> None:
    # TensorFlow casts the other side of bool * x to bool, whatever it is.
    with pytest.raises(TypeError, match="bool"):
        convert(True) * 2
    assert (convert(True) * True).dtype == "bool"


def test_other_classes_may_bring_their_own_operator() -> None:
    class Mine:
        def __radd__(self, other: Any) -> str:
            return "mine"

    assert convert(1) + Mine() == "mine"
    with pytest.raises(TypeError):
        convert(1) + object()
    with pytest.raises(ValueError, match="None"):
        convert(1) + None
    assert (convert(1) == object()) is False


X = Tensor(np.arange(6, dtype=np.int32).reshape(2, 3))


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (0, [0, 1, 2]),
        ((0, 1), 1),
        ([0, 1], 1),
        ((slice(None), 1), [1, 4]),
        ((..., 0), [0, 3]),
        (None, [[[0, 1, 2], [3, 4, 5]]]),
        (slice(None, None, -1), [[3, 4, 5], [0, 1, 2]]),
        (slice(5, None), []),
        (convert(1), [3, 4, 5]),
        (slice(convert(1, "int64"), None), [[3, 4, 5]]),
        (np.int64(1), [3, 4, 5]),
        (X > 2, [3, 4, 5]),
        (np.array([True, False]), [[0, 1, 2]]),
    ],
)
def test_subscripts(key: Any, expected: Any) -> None:
    result = X[key]
    assert isinstance(result, Tensor)
    assert result.dtype == "int32"
    assert result.numpy().tolist() == expected


@pytest.mark.parametrize(
    ("key", "error"),
    [
        (5, errors.InvalidArgumentError),
        (-3, errors.InvalidArgumentError),
        ((0, 1, 2), errors.InvalidArgumentError),
        ((..., ...), errors.InvalidArgumentError),
        (True, ValueError),
        (1.0, TypeError),
        ("a", TypeError),
        (convert([0, 1]), TypeError),
        (np.array([0, 1]), TypeError),
        (convert(1, "uint8"), TypeError),
        (np.array([True, False, True]), errors.ShapeError),
    ],
)
def test_subscripts_that_tensorflow_refuses(key: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        X[key]


def test_python_protocols() -> None:
    three, text = convert(3), convert("ab")
    assert (int(convert(3.7)), float(three), complex(three)) == (3, 3.0, 3 + 0j)
    assert ([1, 2, 3, 4][three], range(10)[three], math.sqrt(convert(4))) == (4, 3, 2.0)
    assert bool(three) and not convert(0)
    assert bool(text) and not convert("")
    assert (len(X), [row.shape for row in X]) == (2, [(3,), (3,)])
    assert [item.numpy() for item in convert(["a", "b"])] == [b"a", b"b"]
    assert (f"{convert(3.7):.1f}", f"{three}", f"{text}", f"{three:>3}") == (
        "3.7",
        "3",
        "b'ab'",
        "  3",
    )
    assert 1 in convert([0, 1])
    for broken in (len, list, hash):
        with pytest.raises(TypeError):
            broken(three)
    with pytest.raises(TypeError):
        range(3)[convert(1.0)]
    with pytest.raises(ValueError, match="truth value"):
        bool(X)
    assert pickle.loads(pickle.dumps(X)).numpy().tolist() == X.numpy().tolist()


@pytest.mark.parametrize("dtype", DTYPES[:-3])
def test_scalars_become_the_numbers_numpy_makes_of_them(dtype: str) -> None:
    as_numpy = dtypes.as_dtype(dtype).as_numpy_dtype
    for value in (0, 1, 2.5, 100):
        array = np.array(value).astype(as_numpy)
        for function in (float, int, bool, complex):
            assert function(Tensor(array)) == function(array[()])
            assert type(function(Tensor(array))) is function
        if array.dtype.kind in "iu":
            assert operator.index(Tensor(array)) == operator.index(array[()])
        else:
            with pytest.raises(TypeError, match="index"):
                operator.index(Tensor(array))
    assert float(Tensor(np.array(2**63 - 1))) == float(2**63 - 1)
    assert math.isnan(float(convert(math.nan)))
    assert bool(convert(math.nan))


def test_a_number_that_is_met_again_takes_the_dtype_of_the_tensor_beside_it() -> None:
    kinds = [Tensor(np.array(5).astype(dtype)) for dtype in ("int32", "float32", "int64")]
    for _ in range(4):
        for x in kinds:
            y = x + 3
            assert (y.numpy(), y.dtype) == (8, x.dtype)
        for number in (1, 2, 1.5, True):
            assert convert(number).numpy() == number
    numbers = [convert(0.25) for _ in range(5)]
    assert len({id(number) for number in numbers}) == 5
    assert [number.numpy() for number in numbers] == [0.25] * 5


def test_an_error_names_the_line_of_every_number_however_often_it_is_met() -> None:
    x = Tensor(np.ones((2, 3), np.float32))
    for _ in range(4):
        with pytest.raises(errors.InvalidArgumentError) as first:
            x @ 2.0
        with pytest.raises(errors.InvalidArgumentError) as second:
            x @ 2.0
        lines = [
            re.findall(r"operand 1: float32 \(\), made at .*test_tensor.py:(\d+)", str(error.value))
            for error in (first, second)
        ]
        assert int(lines[1][0]) == int(lines[0][0]) + 2


def test_it_prints_value_shape_and_dtype() -> None:
    assert repr(Tensor(np.array(3))) == "Tensor(3, shape=(), dtype=int64)"
    assert str(convert("ab")) == "Tensor(b'ab', shape=(), dtype=string)"
    assert repr(X) == "Tensor(\n[[0 1 2]\n [3 4 5]], shape=(2, 3), dtype=int32)"


def test_numpy_gives_a_value_of_its_own() -> None:
    array = np.array([1, 2, 3])
    x = Tensor(array)
    copy = x.numpy()
    copy[0] = 9
    assert array[0] == 1
    assert isinstance(convert(1).numpy(), np.int32)
    assert convert("a").numpy() == b"a"
    assert (x.dtype, x.shape, x.ndim) == (dtypes.int64, (3,), 1)


def test_numpy_functions_follow_numpy_and_give_arrays() -> None:
    results: list[Any] = [
        np.add(X, 1.5),
        np.sum(X, axis=0),
        np.concatenate([X, X]),
        np.where(X > 1, X, 0),
        np.reshape(X, (3, 2)),
        np.asarray(X),
        np.mean(X, axis=1),
    ]
    assert all(type(result) is np.ndarray for result in results)
    assert results[0].dtype == np.float64
    assert not results[5].flags.writeable
    large = Tensor(np.zeros(100_000))
    assert np.shares_memory(np.asarray(large), np.asarray(large))
    assert np.array(X).flags.writeable
    assert np.asarray(X, np.float32).dtype == np.float32
    total = np.zeros((2, 3), np.int32)
    total += X
    assert np.asarray(total).tolist() == X.numpy().tolist()


@pytest.mark.parametrize("function", [np.sin, np.cos])
def test_numpys_sine_is_the_engines_and_looks_like_numpys(function: Any) -> None:
    x = np.linspace(-1e6, 1e6, 1001)
    own = function(Tensor(x))
    assert type(own) is np.ndarray
    assert own.flags.writeable
    assert own.tobytes() == load("native_ops").call(function.__name__, Tensor(x)).numpy().tobytes()
    np.testing.assert_array_max_ulp(own, function(x), 1)
    assert type(function(Tensor(np.array(2.0)))) is np.float64
    assert type(function(Tensor(np.array(2)))) is np.float64
    assert function(Tensor(np.array([2], np.float32))).dtype == np.float32
    into = np.zeros(1001)
    assert function(Tensor(x), out=into) is into


def test_other_kinds_of_arrays_beside_a_tensor_stay_what_they_are() -> None:
    class Own(np.ndarray):
        pass

    array = np.ones(3).view(Own)
    assert type(np.add(array, Tensor(np.ones(3)))) is Own
    assert type(np.add(Tensor(np.ones(3)), array)) is Own
    assert type(np.add(np.ones(3), Tensor(np.ones(3)))) is np.ndarray
    assert type(np.add(np.float64(1), Tensor(np.array(1.0)))) is np.float64


def arr(*values: Any, dtype: Any = None) -> Any:
    return np.array(values, dtype)


# value, dtype asked for, TensorFlow's dtype and value
CONVERSIONS: list[tuple[Any, str | None, str, Any]] = [
    (1, None, "int32", 1),
    (-(2**31), None, "int32", -(2**31)),
    (2**31, None, "int64", 2**31),
    (1.5, None, "float32", 1.5),
    (True, None, "bool", True),
    (1j, None, "complex128", 1j),
    ("é", None, "string", b"\xc3\xa9"),
    (b"\xff\0", None, "string", b"\xff\0"),
    ([], None, "float32", []),
    ([[]], None, "float32", [[]]),
    ([1, 2.0], None, "float32", [1.0, 2.0]),
    ([1, True], None, "int32", [1, 1]),
    (["a", b"b\0"], None, "string", [b"a", b"b\0"]),
    ([1, 2**40], None, "int64", [1, 2**40]),
    ([np.float64(1), 2.0], None, "float64", [1.0, 2.0]),
    ([2.0, np.float64(1)], None, "float32", [2.0, 1.0]),
    ([np.int64(1), 2], None, "int32", [1, 2]),
    ([np.int8(1)], None, "int32", [1]),
    ([np.float32(1)], None, "float32", [1.0]),
    ([1j, 2], None, "complex128", [1j, 2 + 0j]),
    ([(1, 2), [3, 4]], None, "int32", [[1, 2], [3, 4]]),
    (range(3), None, "int32", [0, 1, 2]),
    (arr("a", "é"), None, "string", [b"a", b"\xc3\xa9"]),
    (arr(b"a", "é", dtype=object), None, "string", [b"a", b"\xc3\xa9"]),
    (np.str_("a"), None, "string", b"a"),
    (np.float64(1), None, "float64", 1.0),
    (np.array(3), None, "int64", 3),
    (arr(1, 2, dtype=">i4"), None, "int32", [1, 2]),
    ([convert(1), convert(2)], None, "int32", [1, 2]),
    ([1, convert(2, "int64")], None, "int64", [1, 2]),
    ([convert(1), convert(2)], "complex128", "complex128", [1 + 0j, 2 + 0j]),
    ([convert(1), 2.5], "float64", "float64", [1.0, 2.5]),
    ([convert(1), convert(2.9)], "int64", "int64", [1, 2]),
    ([[convert([1, 2])], [[3, 4]]], "float32", "float32", [[[1.0, 2.0]], [[3.0, 4.0]]]),
    ([1, True], None, "int32", [1, 1]),
    (1, "float32", "float32", 1.0),
    (300, "uint8", "uint8", 44),
    (-1, "uint8", "uint8", 255),
    (2**40, "int32", "int32", 0),
    (2**63, "uint64", "uint64", 2**63),
    (True, "int32", "int32", 1),
    (1, "complex64", "complex64", 1 + 0j),
    (1, "bfloat16", "bfloat16", 1),
    ([], "int32", "int32", []),
    ([300], "uint8", "uint8", [44]),
    (1e300, "float32", "float32", INF),
    (arr(1.5), "int32", "int32", [1]),
    (arr(2.0), "bool", "bool", [True]),
    (arr(1j), "float32", "float32", [0.0]),
    (arr("1"), "int32", "int32", [1]),
    (np.float64(1.5), "int32", "int32", 1),
]


@pytest.mark.parametrize(("value", "dtype", "name", "expected"), CONVERSIONS)
def test_values_convert_as_in_tensorflow(
    value: Any, dtype: str | None, name: str, expected: Any
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = convert(value, dtype)
    assert result.dtype.name == name
    assert result.numpy().tolist() == expected if name != "string" else True
    if name == "string":
        found = result.numpy()
        assert (found if isinstance(found, bytes) else found.tolist()) == expected


@pytest.mark.parametrize(
    ("value", "dtype", "error"),
    [
        (1.5, "int32", TypeError),
        (1.0, "int32", TypeError),
        (1, "bool", TypeError),
        ("a", "int32", TypeError),
        (1, "string", TypeError),
        (1j, "float32", TypeError),
        ([1, 2.5], "int64", TypeError),
        (["a"], "int64", TypeError),
        ([np.float64(1.5)], "int32", TypeError),
        (arr(1), "string", ValueError),
        (arr(1, dtype=object), None, ValueError),
        (arr("2020", dtype="M8[D]"), None, TypeError),
        ([1, "a"], None, ValueError),
        ([b"a", 1], None, ValueError),
        ([True, 1], None, ValueError),
        ([1.5, 1j], None, ValueError),
        ([1, None], None, ValueError),
        (None, None, ValueError),
        ([None], None, ValueError),
        ([[1], [2, 3]], None, ValueError),
        ([[1], 2], None, ValueError),
        ([["a"], ["b", "c"]], None, ValueError),
        (2**64, None, ValueError),
        ([1, 2**64], None, ValueError),
        ([convert(1), [convert(1)]], None, ValueError),
        ([convert(1), convert(2.0)], None, TypeError),
        ([convert(1), convert(2.0)], "int32", TypeError),
        ({"a": 1}, None, ValueError),
        (object(), None, ValueError),
        (convert(1), "int64", ValueError),
    ],
)
def test_values_that_tensorflow_refuses(
    value: Any, dtype: str | None, error: type[Exception]
) -> None:
    with pytest.raises(error):
        convert(value, dtype)


@pytest.mark.parametrize("name", ["tensor", "tensor_convert", "tensor_ops"])
def test_examples_in_the_docs(name: str) -> None:
    assert doctest.testmod(load(name), optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0
