"""Cases: what networks are made of."""

from __future__ import annotations

from .draw import FLOATS, REAL, Draw
from .table import case

_KERNELS = ("float32", "float32", "float32", "float64")


def images(d: Draw, least: int = 1) -> list[int]:
    """A shape of images; `least`: rows and columns."""
    sides = [max(least, d.choice((1, 2, 3, 4, 5, 7, 9))) for _ in range(2)]
    return [d.choice((0, 1, 1, 2, 3)), *sides, d.choice((1, 2, 3, 4, 8, 9))]


def around(d: Draw, lists: bool = True) -> str:
    """padding=, with a list now and then."""
    if lists and d.chance(0.2):
        top, bottom, left, right = (d.rng.randint(0, 2) for _ in range(4))
        return repr([[0, 0], [top, bottom], [left, right], [0, 0]])
    return str(d.choice(("'SAME'", "'SAME'", "'VALID'")))


def steps(d: Draw, most: int, long: bool = False) -> str:
    """strides or dilations: a number, two of them, or one for each axis."""
    down, across = d.rng.randint(1, most), d.rng.randint(1, most)
    if long:
        return f"[1, {down}, {down}, 1]"  # TensorFlow takes no others
    return str(d.choice((f"{down}", f"[{down}, {across}]", f"[1, {down}, {across}, 1]")))


@case("nn.conv2d nn.convolution", ulps=4, scaled=True, weight=3)
def conv2d(d: Draw, f: str) -> str:
    dtype = d.dtype(_KERNELS)
    height, width = (d.choice((1, 2, 3, 3)) for _ in range(2))
    dilated = d.chance(0.3)
    shape = images(d, 5 if dilated else 3)
    groups = d.choice([g for g in (1, 1, 1, 2, 3) if shape[3] % g == 0])
    outputs = groups * d.choice((1, 2, 4, 8, 17))
    x = d.operand(dtype, shape, "small")
    w = d.operand(dtype, [height, width, shape[3] // groups, outputs], "small")
    if f.endswith("convolution"):
        stride = "" if dilated else f", strides={d.choice((1, 2, [1, 2]))}"
        more = f", dilations={d.choice((2, [1, 2]))}" if dilated else ""
        return f"tf.{f}({x}, {w}{stride}, padding={around(d, False)}{more})"
    stride = "1" if dilated else steps(d, 3)
    more = f", dilations={steps(d, 2)}" if dilated else ""
    return f"tf.{f}({x}, {w}, {stride}, {around(d)}{more})"


@case("nn.conv1d", ulps=4, scaled=True)
def conv1d(d: Draw, f: str) -> str:
    dtype, channels = d.dtype(_KERNELS), d.choice((1, 2, 5))
    x = d.operand(dtype, [d.choice((1, 2)), d.choice((3, 4, 7)), channels], "small")
    w = d.operand(dtype, [d.choice((1, 2, 3)), channels, d.choice((1, 3, 8))], "small")
    return f"tf.{f}({x}, {w}, {d.choice((1, 2, [1]))}, {around(d, False)})"


@case("nn.depthwise_conv2d", ulps=4, scaled=True, weight=3)
def depthwise_conv2d(d: Draw, f: str) -> str:
    dtype = d.dtype(_KERNELS)
    dilated = d.chance(0.3)
    shape = images(d, 5 if dilated else 3)
    shape[0] = max(1, shape[0])
    size = [d.choice((1, 2, 3, 3)) for _ in range(2)]
    x = d.operand(dtype, shape, "small")
    w = d.operand(dtype, [*size, shape[3], d.choice((1, 1, 2, 3))], "small")
    stride = "[1, 1, 1, 1]" if dilated else steps(d, 3, True)
    more = f", dilations={d.choice(([2, 2], [1, 2], [2, 1]))}" if dilated else ""
    return f"tf.{f}({x}, {w}, {stride}, {around(d, not dilated)}{more})"


@case("nn.separable_conv2d", ulps=8, scaled=True)
def separable_conv2d(d: Draw, f: str) -> str:
    dtype, shape = d.dtype(_KERNELS), images(d, 3)
    shape[0] = max(1, shape[0])
    many = d.choice((1, 2))
    x = d.operand(dtype, shape, "unit")
    w = d.operand(dtype, [2, 3, shape[3], many], "unit")
    v = d.operand(dtype, [1, 1, shape[3] * many, d.choice((1, 4, 9))], "unit")
    return f"tf.{f}({x}, {w}, {v}, {steps(d, 2, True)}, {around(d, False)})"


@case("nn.max_pool2d nn.max_pool", weight=2)
def max_pool(d: Draw, f: str) -> str:
    x = d.operand(d.dtype(("float32", "float32", "float64", "int32", "float16")), images(d, 3),
                  "small")  # fmt: skip
    return f"tf.{f}({x}, {steps(d, 3)}, {steps(d, 3)}, {around(d, False)})"


@case("nn.avg_pool2d nn.avg_pool", ulps=4, scaled=True, weight=2)
def avg_pool(d: Draw, f: str) -> str:
    x = d.operand(d.dtype(FLOATS), images(d, 3), "small")
    return f"tf.{f}({x}, {steps(d, 3)}, {steps(d, 3)}, {around(d, False)})"


@case("nn.bias_add")
def bias_add(d: Draw, f: str) -> str:
    dtype, shape = d.dtype(REAL), d.shape(2)
    bias = [shape[-1] + (1 if d.chance(0.06) else 0)]
    return f"tf.{f}({d.operand(dtype, shape)}, {d.operand(dtype, bias)})"


@case("nn.elu nn.selu nn.gelu nn.silu nn.swish nn.leaky_relu", ulps=8, scaled=True)
def activation(d: Draw, f: str) -> str:
    more = ""
    if f.endswith("gelu"):
        more = d.choice(("", ", approximate=True", ", approximate=False"))
    elif f.endswith("leaky_relu"):
        more = d.choice(("", ", alpha=0.5", ", 0.01"))
    elif f.endswith(("silu", "swish")):
        more = d.choice(("", "", ", beta=2.0"))
    return f"tf.{f}({d.operand(d.dtype(FLOATS), d.shape(), 'small')}{more})"


@case("nn.moments", ulps=16, scaled=True)
def moments(d: Draw, f: str) -> str:
    shape = [dim or 1 for dim in d.shape(1)]
    axes = d.rng.sample(range(len(shape)), d.rng.randint(1, len(shape)))
    x = d.operand(d.dtype(FLOATS), shape, "unit")
    return f"tf.{f}({x}, {axes}{d.choice(('', ', keepdims=True'))})"


@case("nn.batch_normalization", ulps=16, scaled=True)
def batch_normalization(d: Draw, f: str) -> str:
    dtype, shape = d.dtype(("float32", "float64")), d.shape(1)
    x = d.operand(dtype, shape, "small")
    mean = d.operand(dtype, shape[-1:], "unit")
    variance = d.operand(dtype, shape[-1:], (0.5, 2.0))
    offset = d.operand(dtype, shape[-1:], "unit") if d.chance(0.7) else "None"
    scale = d.operand(dtype, shape[-1:], "unit") if d.chance(0.7) else "None"
    return f"tf.{f}({x}, {mean}, {variance}, {offset}, {scale}, 0.001)"


@case("nn.sparse_softmax_cross_entropy_with_logits", ulps=16, scaled=True)
def sparse_softmax_cross_entropy(d: Draw, f: str) -> str:
    dtype, lead, classes = d.dtype(("float32", "float64")), d.choice(([2], [3], [1, 2])), 4
    labels = d.operand(d.choice(("int32", "int64")), lead, (0, classes - 1))
    logits = d.operand(dtype, [*lead, classes], "small")
    return f"tf.{f}(labels={labels}, logits={logits})"


@case("nn.softmax_cross_entropy_with_logits", ulps=16, scaled=True)
def softmax_cross_entropy(d: Draw, f: str) -> str:
    dtype, shape = d.dtype(("float32", "float64")), d.choice(([2, 3], [1, 4], [2, 2, 3]))
    labels = d.operand(dtype, shape, (0.0, 1.0))
    return f"tf.{f}(labels={labels}, logits={d.operand(dtype, shape, 'small')})"


@case("nn.sigmoid_cross_entropy_with_logits", ulps=16, scaled=True)
def sigmoid_cross_entropy(d: Draw, f: str) -> str:
    dtype, shape = d.dtype(FLOATS), d.shape()
    labels = d.operand(dtype, shape, (0.0, 1.0))
    return f"tf.{f}(labels={labels}, logits={d.operand(dtype, shape, 'small')})"


@case("nn.embedding_lookup", ulps=8, scaled=True)
def embedding_lookup(d: Draw, f: str) -> str:
    rows = d.choice((1, 3, 5))
    table = d.operand(d.dtype(("float32", "float64")), [rows, d.choice((1, 2, 4))], "small")
    ids = d.operand(d.choice(("int32", "int64")), d.choice(([], [2], [2, 3])), (0, rows - 1))
    return f"tf.{f}({table}, {ids})"


@case("nn.dropout", loose=True)
def dropout(d: Draw, f: str) -> str:
    x = d.operand(d.dtype(("float32", "float64")), d.shape(), "small")
    return f"tf.{f}({x}, {d.choice((0, 0.3, 0.5, 1.5))}{d.choice(('', ', seed=7'))})"
