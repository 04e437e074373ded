"""Cases: arithmetic, item by item, and reductions."""

from __future__ import annotations

from .draw import ALL, COMPLEX, FLOATS, INTS, NUMBERS, REAL, Draw
from .table import case


def both(paths: str) -> str:
    """The names of functions that are in `tf` and in `tf.math`."""
    return " ".join(f"{path} math.{path}" for path in paths.split())


def pair(d: Draw, dtype: str, first: object = "any", second: object = "any") -> tuple[str, str]:
    """Two operands that mostly broadcast; sometimes one is a Python number."""
    shape = d.shape()
    other = d.beside(shape)
    if d.chance(0.5):
        shape, other = other, shape
    x = d.operand(dtype, shape, first)
    if d.chance(0.12):
        literal = d.choice(("2", "-1", "0.5", "True", "'a'", "[1, 2]", "3"))
        return (x, literal) if d.chance(0.5) else (literal, x)
    if d.chance(0.03):
        return x, d.operand(d.choice(ALL), other, second)
    return x, d.operand(dtype, other, second)


@case(both("add multiply subtract maximum minimum"))
def arithmetic(d: Draw, f: str) -> str:
    dtype = d.dtype((*NUMBERS, "string") if f.endswith("add") else NUMBERS)
    x, y = pair(d, dtype)
    return f"tf.{f}({x}, {y})"


@case("math.squared_difference", ulps=1)
def squared_difference(d: Draw, f: str) -> str:
    x, y = pair(d, d.dtype(NUMBERS), "small", "small")
    return f"tf.{f}({x}, {y})"


@case("divide truediv math.divide math.truediv math.divide_no_nan", ulps=2)
def divide(d: Draw, f: str) -> str:
    x, y = pair(d, d.dtype(NUMBERS))
    return f"tf.{f}({x}, {y})"


@case("math.floordiv math.floormod math.mod truncatediv truncatemod", ulps=1)
def floordiv(d: Draw, f: str) -> str:
    values = "any" if d.chance(0.2) else "positive"
    x, y = pair(d, d.dtype(REAL), "any", values)
    return f"tf.{f}({x}, {y})"


@case(both("pow"), ulps=4)
def power(d: Draw, f: str) -> str:
    dtype = d.dtype(NUMBERS)
    x, y = pair(d, dtype, "positive" if "float" in dtype else "small", (0, 4))
    return f"tf.{f}({x}, {y})"


@case("atan2 math.atan2", ulps=4)
def atan2(d: Draw, f: str) -> str:
    x, y = pair(d, d.dtype(FLOATS))
    return f"tf.{f}({x}, {y})"


@case(both("equal not_equal"))
def equality(d: Draw, f: str) -> str:
    x, y = pair(d, d.dtype(ALL), "small", "small")
    return f"tf.{f}({x}, {y})"


@case(both("less less_equal greater greater_equal"))
def order(d: Draw, f: str) -> str:
    x, y = pair(d, d.dtype(REAL), "any", "any")
    return f"tf.{f}({x}, {y})"


@case(both("logical_and logical_or") + " math.logical_xor")
def logical(d: Draw, f: str) -> str:
    x, y = pair(d, d.dtype(("bool",)))
    return f"tf.{f}({x}, {y})"


@case(both("logical_not"))
def logical_not(d: Draw, f: str) -> str:
    return f"tf.{f}({d.operand(d.dtype(('bool',)), d.shape())})"


@case("bitwise.bitwise_and bitwise.bitwise_or bitwise.bitwise_xor")
def bitwise(d: Draw, f: str) -> str:
    x, y = pair(d, d.dtype(INTS))
    return f"tf.{f}({x}, {y})"


@case("bitwise.invert")
def invert(d: Draw, f: str) -> str:
    return f"tf.{f}({d.operand(d.dtype(INTS), d.shape())})"


def unary(d: Draw, f: str, dtypes: tuple[str, ...], values: object = "any") -> str:
    return f"tf.{f}({d.operand(d.dtype(dtypes), d.shape(), values)})"


@case(both("negative square"))
def negative(d: Draw, f: str) -> str:
    return unary(d, f, NUMBERS)


@case(both("abs sign"), ulps=1)
def sign(d: Draw, f: str) -> str:
    return unary(d, f, NUMBERS)


@case(both("floor round") + " math.ceil math.rint")
def rounding(d: Draw, f: str) -> str:
    return unary(d, f, FLOATS)


@case("math.is_nan math.is_inf math.is_finite")
def classify(d: Draw, f: str) -> str:
    d.tame = False
    return unary(d, f, FLOATS)


@case("nn.relu nn.relu6")
def relu(d: Draw, f: str) -> str:
    return unary(d, f, REAL)


@case(
    both("exp sin cos tan sinh cosh tanh atan asinh sigmoid") + " math.expm1 nn.sigmoid nn.tanh",
    ulps=4,
)
def smooth(d: Draw, f: str) -> str:
    return unary(d, f, (*FLOATS, *FLOATS, *COMPLEX))


@case("math.erf math.erfc math.softplus nn.softplus", ulps=8)
def smooth_real(d: Draw, f: str) -> str:
    return unary(d, f, FLOATS)


@case("math.lgamma", ulps=16, scaled=True)
def lgamma(d: Draw, f: str) -> str:
    return unary(d, f, FLOATS, "positive" if d.chance(0.7) else "any")


@case(both("sqrt") + " math.log math.log1p math.rsqrt math.reciprocal", ulps=4)
def of_positive(d: Draw, f: str) -> str:
    return unary(d, f, (*FLOATS, *FLOATS, *COMPLEX), "positive" if d.chance(0.7) else "any")


@case(both("asin acos atanh"), ulps=4)
def of_unit(d: Draw, f: str) -> str:
    return unary(d, f, FLOATS, "unit" if d.chance(0.8) else "any")


@case(both("acosh"), ulps=4)
def acosh(d: Draw, f: str) -> str:
    return unary(d, f, FLOATS, (1.0, 50.0) if d.chance(0.8) else "any")


@case("clip_by_value")
def clip_by_value(d: Draw, f: str) -> str:
    dtype = d.dtype(REAL)
    x = d.operand(dtype, shape := d.shape())
    if d.chance(0.5):
        return f"tf.{f}({x}, {d.choice((1, -2, 0.5, 0))}, {d.choice((4, 3, 2.5))})"
    low, high = d.operand(dtype, d.beside(shape)), d.operand(dtype, d.beside(shape))
    return f"tf.{f}({x}, {low}, {high})"


@case("add_n math.add_n", ulps=1, scaled=True)
def add_n(d: Draw, f: str) -> str:
    dtype, shape = d.dtype(NUMBERS), d.shape()
    parts = [d.operand(dtype, shape, "small") for _ in range(d.choice((1, 2, 2, 3)))]
    if d.chance(0.05):
        parts.append(d.operand(dtype, d.shape()))
    return f"tf.{f}([{', '.join(parts)}])"


def reduction(d: Draw, f: str, dtypes: tuple[str, ...], values: object = "any") -> str:
    shape = d.shape()
    x = d.operand(d.dtype(dtypes), shape, values)
    keep = d.choice(("", "", ", keepdims=True", ", keepdims=False"))
    return f"tf.{f}({x}{d.axes(len(shape))}{keep})"


@case(both("reduce_sum reduce_mean") + " math.reduce_logsumexp", ulps=2, scaled=True, weight=2)
def reduce_sum(d: Draw, f: str) -> str:
    return reduction(d, f, FLOATS if "log" in f else NUMBERS)


@case(both("reduce_prod"), ulps=8)
def reduce_prod(d: Draw, f: str) -> str:
    return reduction(d, f, NUMBERS, (-2, 2))


@case(both("reduce_max reduce_min"))
def reduce_max(d: Draw, f: str) -> str:
    return reduction(d, f, REAL)


@case(both("reduce_all reduce_any"))
def reduce_all(d: Draw, f: str) -> str:
    return reduction(d, f, ("bool",))


@case("math.reduce_std math.reduce_variance", ulps=16, scaled=True)
def reduce_std(d: Draw, f: str) -> str:
    return reduction(d, f, (*FLOATS, *COMPLEX), "small")


@case("math.count_nonzero")
def count_nonzero(d: Draw, f: str) -> str:
    shape = d.shape()
    x = d.operand(d.dtype(ALL), shape, (0, 2))
    more = d.choice(("", ", dtype=tf.int32", ", keepdims=True", ", dtype=tf.float32"))
    return f"tf.{f}({x}{d.axes(len(shape))}{more})"


@case(both("argmax argmin"), weight=2)
def argmax(d: Draw, f: str) -> str:
    shape = d.shape()
    values = d.choice(((0, 5), "small", "any"))
    x = d.operand(d.dtype((*REAL, "bool")), shape, values)
    axis = "" if d.chance(0.3) else f", axis={d.axis(len(shape))}"
    kind = d.choice(("", "", ", output_type=tf.int32", ", output_type=tf.int64",
                     ", output_type=tf.uint16"))  # fmt: skip
    return f"tf.{f}({x}{axis}{kind})"


@case(both("cumsum") + " math.cumprod", ulps=8, scaled=True)
def cumulate(d: Draw, f: str) -> str:
    shape = d.shape(1)
    x = d.operand(d.dtype(NUMBERS), shape, (-2, 2))
    axis = "" if d.chance(0.4) else f", axis={d.axis(len(shape))}"
    flags = d.choice(("", ", exclusive=True", ", reverse=True", ", exclusive=True, reverse=True"))
    return f"tf.{f}({x}{axis}{flags})"


@case("matmul linalg.matmul", ulps=4, scaled=True, weight=2)
def matmul(d: Draw, f: str) -> str:
    dtype = d.dtype((*FLOATS, "int32", "int64", *COMPLEX))
    m, k, n = (d.choice((0, 1, 2, 3, 5)) for _ in range(3))
    lead = d.choice(([], [], [], [2], [1], [3, 2], [0]))
    left, right = [m, k], [k if d.chance(0.95) else k + 1, n]
    flags = ""
    for name, dims in (("a", left), ("b", right)):
        roll = d.choice(("", "", "", "transpose", "adjoint"))
        if roll:
            dims.reverse()
            flags += f", {roll}_{name}=True"
    x = d.operand(dtype, [*lead, *left], "small")
    y = d.operand(dtype, [*(d.beside(lead) if d.chance(0.3) else lead), *right], "small")
    return f"tf.{f}({x}, {y}{flags})"


@case("norm linalg.norm", ulps=4, scaled=True)
def norm(d: Draw, f: str) -> str:
    shape = d.shape()
    x = d.operand(d.dtype((*FLOATS, *COMPLEX)), shape, "small")
    order = d.choice(("", "", ", ord=1", ", ord=2", ", ord=np.inf", ", ord='euclidean'", ", ord=3"))
    axis = "" if d.chance(0.5) or not shape else f", axis={d.axis(len(shape))}"
    return f"tf.{f}({x}{order}{axis}{d.choice(('', ', keepdims=True'))})"


@case("math.l2_normalize nn.l2_normalize linalg.l2_normalize", ulps=8)
def l2_normalize(d: Draw, f: str) -> str:
    shape = d.shape()
    x = d.operand(d.dtype((*FLOATS, *COMPLEX)), shape, "small")
    return f"tf.{f}({x}{d.axes(len(shape))})"


@case("math.top_k nn.top_k")
def top_k(d: Draw, f: str) -> str:
    shape = d.shape(1)
    x = d.operand(d.dtype(REAL), shape, (0, 6) if d.chance(0.5) else "small")
    k = d.rng.randint(0, shape[-1] + (1 if d.chance(0.1) else 0))
    return f"tf.{f}({x}, {k}{d.choice(('', '', ', sorted=True', ', index_type=tf.int64'))})"


@case("sort argsort")
def sort(d: Draw, f: str) -> str:
    shape = d.shape(1)
    x = d.operand(d.dtype(REAL), shape, (0, 6) if d.chance(0.5) else "small")
    axis = "" if d.chance(0.5) else f", axis={d.axis(len(shape))}"
    # Only a stable order of equals is one both have.
    way = d.choice(("", ", direction='DESCENDING'", ", direction='ASCENDING'"))
    return f"tf.{f}({x}{axis}{way}{', stable=True' if f == 'argsort' else ''})"


@case("debugging.check_numerics debugging.assert_all_finite")
def check_numerics(d: Draw, f: str) -> str:
    return f"tf.{f}({d.operand(d.dtype(FLOATS), d.shape())}, 'bad')"


@case(
    "debugging.assert_equal debugging.assert_none_equal debugging.assert_less "
    "debugging.assert_less_equal debugging.assert_greater debugging.assert_greater_equal"
)
def assert_order(d: Draw, f: str) -> str:
    dtype, shape = d.dtype(REAL), d.in_turn(([], [0], [1], [2], [2, 1]))
    x, y = d.operand(dtype, shape, (0, 2)), d.operand(dtype, d.beside(shape), (0, 2))
    return f"(tf.{f}({x}, {y}), {x})[1]"


@case("debugging.assert_positive debugging.assert_non_negative")
def assert_positive(d: Draw, f: str) -> str:
    x = d.operand(d.dtype(REAL), d.choice(([], [], [1], [2], [0])), (-1, 3))
    return f"(tf.{f}({x}), {x})[1]"


@case("debugging.assert_rank")
def assert_rank(d: Draw, f: str) -> str:
    shape = d.shape()
    x = d.operand(d.dtype(ALL), shape)
    return f"(tf.{f}({x}, {len(shape) if d.chance(0.7) else d.choice((0, 1, 2))}), {x})[1]"


@case("debugging.assert_type")
def assert_type(d: Draw, f: str) -> str:
    dtype = d.dtype(ALL)
    x = d.operand(dtype, d.shape())
    return f"(tf.{f}({x}, tf.{dtype if d.chance(0.7) else d.choice(ALL)}), {x})[1]"


@case("Assert debugging.Assert")
def assert_(d: Draw, f: str) -> str:
    x = d.operand("bool", [])
    return f"(tf.{f}({x}, [{x}]), {x})[1]"


@case("nn.softmax nn.log_softmax", ulps=8, scaled=True)
def softmax(d: Draw, f: str) -> str:
    shape = d.shape(1)
    axis = "" if d.chance(0.5) else f", axis={d.axis(len(shape))}"
    return f"tf.{f}({d.operand(d.dtype(FLOATS), shape, 'small')}{axis})"


@case("math.real math.imag math.conj")
def parts(d: Draw, f: str) -> str:
    return unary(d, f, (*COMPLEX, *COMPLEX, "float32", "float64"), "small")
