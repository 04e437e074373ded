"""Cases: moving items, making tensors, control flow."""

from __future__ import annotations

import numpy as np

from .draw import ALL, FLOATS, INTS, NUMBERS, REAL, Draw
from .table import case

DTYPE_NAMES = [name for name in ALL if name != "string"]


@case("cast saturate_cast", weight=3)
def cast(d: Draw, f: str) -> str:
    target = d.choice(ALL if d.chance(0.05) else DTYPE_NAMES)
    # Beyond the range of an integer a float's cast is undefined.
    low = 0 if target[0] == "u" else -100
    x = d.operand(d.dtype(DTYPE_NAMES), d.shape(), "any" if f != "cast" else (low, 100))
    return f"tf.{f}({x}, {d.choice((f'tf.{target}', repr(target)))})"


@case("concat")
def concat(d: Draw, f: str) -> str:
    dtype, shape = d.dtype(ALL), d.shape(1)
    axis = d.axis(len(shape))
    parts = []
    for _ in range(d.choice((1, 2, 2, 3))):
        dims = list(shape)
        if -len(dims) <= axis < len(dims):
            dims[axis] = d.choice((0, 1, 2, 3))
        parts.append(d.operand(dtype, dims if d.chance(0.97) else d.shape()))
    return f"tf.{f}([{', '.join(parts)}], {axis})"


@case("stack", weight=2)
def stack(d: Draw, f: str) -> str:
    dtype, shape = d.dtype(ALL), d.shape(0, 3)
    parts = [d.operand(dtype, shape) for _ in range(d.choice((1, 2, 2, 3)))]
    if d.chance(0.04):
        parts.append(d.operand(dtype, d.shape(0, 3)))
    axis = "" if d.chance(0.5) else f", axis={d.rng.randint(-len(shape) - 1, len(shape))}"
    return f"tf.{f}([{', '.join(parts)}]{axis})"


@case("unstack", weight=2)
def unstack(d: Draw, f: str) -> str:
    shape = d.shape(1)
    axis = d.axis(len(shape))
    x = d.operand(d.dtype(ALL), shape)
    number = ""
    if -len(shape) <= axis < len(shape) and d.chance(0.3):
        number = f", num={shape[axis] if d.chance(0.8) else shape[axis] + 1}"
    return f"tf.{f}({x}, axis={axis}{number})" if d.chance(0.7) else f"tf.{f}({x})"


@case("split")
def split(d: Draw, f: str) -> str:
    shape = d.shape(1)
    axis = d.axis(len(shape), 0)
    sizes = [d.choice((0, 1, 2)) for _ in range(d.choice((1, 2, 3)))]
    if d.chance(0.5):
        shape[axis] = sum(sizes)
        wanted = list(sizes)
        if d.chance(0.3):
            wanted[d.rng.randrange(len(sizes))] = -1
        if d.chance(0.05):
            wanted[0] += 1
        text = repr(wanted)
    else:
        number = d.choice((1, 2, 3))
        shape[axis] = number * d.choice((0, 1, 2)) + (1 if d.chance(0.05) else 0)
        text = str(number)
    return f"tf.{f}({d.operand(d.dtype(ALL), shape)}, {text}, axis={axis})"


@case("transpose")
def transpose(d: Draw, f: str) -> str:
    shape = d.shape()
    x = d.operand(d.dtype(ALL), shape)
    if d.chance(0.3):
        return f"tf.{f}({x})"
    perm = d.rng.sample(range(len(shape)), len(shape))
    if d.chance(0.05):
        perm = [*perm, 0]
    return f"tf.{f}({x}, {d.ints(perm)})"


@case("expand_dims")
def expand_dims(d: Draw, f: str) -> str:
    shape = d.shape(0, 3)
    return f"tf.{f}({d.operand(d.dtype(ALL), shape)}, {d.axis(len(shape) + 1)})"


@case("squeeze")
def squeeze(d: Draw, f: str) -> str:
    shape = d.shape()
    x = d.operand(d.dtype(ALL), shape)
    ones = [i for i, dim in enumerate(shape) if dim == 1]
    if d.chance(0.4):
        return f"tf.{f}({x})"
    some = d.rng.sample(ones, d.rng.randint(0, len(ones)))
    if d.chance(0.08):
        some.append(d.axis(len(shape)))
    return f"tf.{f}({x}, axis={some[0] if len(some) == 1 and d.chance(0.5) else some})"


@case("reshape")
def reshape(d: Draw, f: str) -> str:
    shape = d.shape()
    x = d.operand(d.dtype(ALL), shape)
    size = int(np.prod(shape, dtype=int))
    options = [[size], [-1], [1, size], [size, 1, 1], list(reversed(shape)), [-1, 1]]
    if size == 1:
        options.append([])
    if size % 2 == 0:
        options += [[2, -1], [size // 2, 2]]
    new = d.choice(options)
    if d.chance(0.05):
        new = [*new, 7]
    return f"tf.{f}({x}, {d.ints(new)})"


@case("gather", weight=2)
def gather(d: Draw, f: str) -> str:
    shape = d.shape(1)
    axis = d.axis(len(shape), 0)
    x = d.operand(d.dtype(ALL), shape)
    top = shape[axis] - 1 + (1 if d.chance(0.06) else 0)
    dims = d.shape(0, 2) if top >= 0 else [0]
    if d.chance(0.2):  # batch dimensions
        many = d.rng.randint(0, len(shape) - 1)
        top = shape[many] - 1
        dims = [*shape[:many], d.choice((1, 2, 3)) if top >= 0 else 0]
        index = d.operand(d.choice(("int32", "int64")), dims, (0, max(top, 0)))
        return f"tf.{f}({x}, {index}, batch_dims={many})"
    index = d.operand(d.choice(("int32", "int64")), dims, (0, max(top, 0)))
    return f"tf.{f}({x}, {index}, axis={axis})"


@case("slice")
def slice_(d: Draw, f: str) -> str:
    shape = d.shape()
    x = d.operand(d.dtype(ALL), shape)
    begin = [d.rng.randint(0, dim) for dim in shape]
    size = [d.choice((-1, d.rng.randint(0, dim - b))) for dim, b in zip(shape, begin, strict=True)]
    if shape and d.chance(0.05):
        size[0] = 9
    return f"tf.{f}({x}, {d.ints(begin)}, {d.ints(size)})"


@case("pad", weight=3)
def pad(d: Draw, f: str) -> str:
    shape = d.shape(1)
    dtype = d.dtype(ALL)
    x = d.operand(dtype, shape)
    mode = d.choice(("", "", "", ", 'REFLECT'", ", 'SYMMETRIC'", ", constant_values=3"))
    if dtype in ("string", "bool") and "3" in mode:
        mode = ""
    most = max(0, min(shape)) if "CT'" in mode or "RIC'" in mode else 2
    widths = [[d.rng.randint(0, most), d.rng.randint(0, most)] for _ in shape]
    return f"tf.{f}({x}, {d.ints(widths)}{mode})"


@case("tile")
def tile(d: Draw, f: str) -> str:
    shape = d.shape()
    x = d.operand(d.dtype(ALL), shape)
    times = [d.choice((0, 1, 1, 2, 3)) for _ in shape]
    if d.chance(0.04):
        times.append(2)
    return f"tf.{f}({x}, {d.ints(times)})"


@case("reverse")
def reverse(d: Draw, f: str) -> str:
    shape = d.shape()
    some = d.rng.sample(range(len(shape)), d.rng.randint(0, len(shape)))
    return f"tf.{f}({d.operand(d.dtype(ALL), shape)}, {d.ints(some)})"


@case("broadcast_to", weight=2)
def broadcast_to(d: Draw, f: str) -> str:
    shape = d.shape()
    x = d.operand(d.dtype(ALL), d.beside(shape))
    return f"tf.{f}({x}, {d.ints(shape)})"


@case("where", weight=3)
def where(d: Draw, f: str) -> str:
    shape = d.shape()
    if d.turn % 3 == 0:
        return f"tf.{f}({d.operand(d.dtype(ALL), shape, (0, 1))})"
    dtype = d.dtype(ALL)
    condition = d.operand("bool", d.beside(shape))
    x = d.operand(dtype, d.beside(shape))
    if d.chance(0.2):
        return f"tf.{f}({condition}, {x}, {d.choice(('0', '1.5', chr(39) + 'q' + chr(39)))})"
    return f"tf.{f}({condition}, {x}, {d.operand(dtype, d.beside(shape))})"


@case("boolean_mask", weight=2)
def boolean_mask(d: Draw, f: str) -> str:
    shape = d.shape(1)
    x = d.operand(d.dtype(ALL), shape)
    axis = d.rng.randint(0, len(shape) - 1) if d.chance(0.4) else 0
    many = d.rng.randint(1, len(shape) - axis)
    mask = d.operand("bool", shape[axis : axis + many] if d.chance(0.96) else d.shape())
    return f"tf.{f}({x}, {mask}{f', axis={axis}' if axis else ''})"


@case("one_hot", weight=4)
def one_hot(d: Draw, f: str) -> str:
    shape = d.shape(0, 3)
    x = d.operand(d.choice(("int32", "int64", "uint8", "int8", "float32")), shape, (-1, 5))
    more = d.in_turn(("", ", on_value='y', off_value='n'", ", dtype=tf.int32", ", dtype=tf.bool",
                      ", on_value=5, off_value=2", ", on_value=True, off_value=False",
                      ", dtype=tf.float16", ", on_value=2.0"))  # fmt: skip
    axis = "" if d.chance(0.6) else f", axis={d.rng.randint(-1, len(shape))}"
    return f"tf.{f}({x}, {d.choice((0, 1, 3, 5))}{more}{axis})"


@case("sequence_mask", weight=3)
def sequence_mask(d: Draw, f: str) -> str:
    x = d.operand(d.dtype((*INTS, *FLOATS)), d.shape(0, 2), (-1, 5))
    more = d.choice(("", ", 4", ", maxlen=3", ", 6, tf.float32", ", dtype=tf.int32", ", -1",
                     ", tf.constant(2, tf.int64)", ", [2]", ", 0"))  # fmt: skip
    return f"tf.{f}({x}{more})"


@case("repeat", weight=3)
def repeat(d: Draw, f: str) -> str:
    shape = d.shape(1)
    axis = d.axis(len(shape), 0)
    x = d.operand(d.dtype(ALL), shape)
    if d.chance(0.5):
        many = d.choice(("2", "0", "3", "[2]", "1", "-1", "2.0", "tf.constant(2, tf.int8)"))
        return f"tf.{f}({x}, {many}{f', axis={axis}' if d.chance(0.6) else ''})"
    counts = [d.choice((0, 1, 2, 3)) for _ in range(shape[axis])]
    if counts and d.chance(0.1):
        counts[0] = -1
    if d.chance(0.05):
        counts.append(1)
    if d.chance(0.3):
        given = np.abs(counts).astype(d.choice(("int32", "int64", "uint8")))
        return f"tf.{f}({x}, {d.given(given)}, axis={axis})"
    return f"tf.{f}({x}, {counts}, axis={axis})"


@case("unique math.unique")
def unique(d: Draw, f: str) -> str:
    x = d.operand(d.dtype(ALL), [d.choice((0, 1, 3, 6))] if d.chance(0.95) else d.shape(), (0, 3))
    return f"tuple(tf.unique({x}{d.choice(('', ', tf.int64'))}))"


@case("ensure_shape")
def ensure_shape(d: Draw, f: str) -> str:
    shape = d.shape()
    x = d.operand(d.dtype(ALL), shape)
    wanted: list[int | None] = [None if d.chance(0.3) else dim for dim in shape]
    if wanted and d.chance(0.1):
        wanted[0] = 9
    return f"tf.{f}({x}, {wanted if d.chance(0.9) else None})"


@case("identity rank size zeros_like ones_like stop_gradient")
def plain(d: Draw, f: str) -> str:
    x = d.operand(d.dtype(ALL), d.shape())
    more = ""
    if f == "size":
        more = d.choice(("", ", tf.int64"))
    if f.endswith("_like") and d.chance(0.3):
        more = f", dtype=tf.{d.choice(ALL)}"
    return f"tf.{f}({x}{more})"


@case("shape")
def shape_(d: Draw, f: str) -> str:
    return f"tf.{f}({d.operand(d.dtype(ALL), d.shape())}{d.choice(('', ', tf.int64'))})"


@case("constant convert_to_tensor")
def constant(d: Draw, f: str) -> str:
    d.operand("int32", [])
    value = d.choice(("3", "2.5", "True", "'text'", "[1, 2]", "[[1.5], [2.0]]", "[]", "b'x'",
                      "np.arange(3)", "np.float64(2)", "[True]", "2**40", "1 + 2j", "['a', 'bc']",
                      "-1", "np.int8([1, 2])", "[1, 2.5]", "300", "(1, 2)", "[[1], [2, 3]]",
                      "None", "range(3)", "a", "[a, a]", "[a, 2]"))  # fmt: skip
    more = f", tf.{d.dtype(ALL)}" if d.chance(0.5) else ""
    if f == "constant" and d.chance(0.2):
        more += f", shape={d.choice(([2], [1, 2], [], [2, 2]))}"
    return f"tf.{f}({value}{more})"


@case("fill", weight=4)
def fill(d: Draw, f: str) -> str:
    x = d.operand(d.dtype(ALL), [])
    if d.chance(0.4):  # a shape that a map may not know before it runs
        return f"tf.{f}(tf.shape({d.operand('int32', d.shape(0, 3))}), {x})"
    return f"tf.{f}({d.ints(d.shape(0, 3))}, {x})"


@case("zeros ones")
def zeros(d: Draw, f: str) -> str:
    d.operand("int32", [])
    dtype = f", tf.{d.dtype(ALL)}" if d.chance(0.7) else ""
    shape = d.choice((d.shape(0, 3), d.shape(0, 3), 3))
    return f"tf.{f}({d.ints(shape)}{dtype})"


@case("eye linalg.eye")
def eye(d: Draw, f: str) -> str:
    d.operand("int32", [])
    more = d.choice(("", ", 2", ", num_columns=4", ", batch_shape=[2]", ", dtype=tf.int32",
                     ", dtype=tf.bool", ", batch_shape=[1, 2]"))  # fmt: skip
    return f"tf.{f}({d.choice((0, 1, 2, 3))}{more})"


@case("range")
def range_(d: Draw, f: str) -> str:
    dtype = d.dtype(("int32", "int64", "float32", "float64"))
    if d.chance(0.3):
        d.operand("int32", [])
        given = d.choice(("4", "0", "1, 5", "5, 1, -1", "0, 1, 0.25", "2.5", "3, 1", "0, 3, 0",
                          "-2", "1, 3, dtype=tf.float32", "5, dtype=tf.int64"))  # fmt: skip
        return f"tf.{f}({given})"
    start, limit = d.operand(dtype, [], (-3, 3)), d.operand(dtype, [], (-3, 6))
    # Rows of a map must agree in length for their stack, not for the map.
    return f"tf.{f}({start}, {limit}{d.choice(('', ', 2', ', -1'))})"


@case("cond")
def cond(d: Draw, f: str) -> str:
    p = d.operand("bool", [])
    x = d.operand(d.dtype(REAL), shape := d.shape(0, 2), "small")
    del shape
    return f"tf.cond({p}, lambda: {x} + {x}, lambda: {x} * {x})"


@case("case")
def case_(d: Draw, f: str) -> str:
    p, q = d.operand("bool", []), d.operand("bool", [])
    x = d.operand(d.dtype(REAL), d.shape(0, 2), "small")
    return f"tf.case([({p}, lambda: {x}), ({q}, lambda: {x} + {x})], default=lambda: {x} * {x})"


@case("switch_case")
def switch_case(d: Draw, f: str) -> str:
    i = d.operand("int32", [], (-1, 3))
    x = d.operand(d.dtype(REAL), d.shape(0, 2), "small")
    return f"tf.switch_case({i}, [lambda: {x}, lambda: {x} + {x}, lambda: {x} * {x}])"


@case("while_loop")
def while_loop(d: Draw, f: str) -> str:
    i = d.operand("int32", [], (0, 5))
    x = d.operand(d.dtype(REAL), d.shape(0, 2), "small")
    return f"tf.while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, y + y), ({i}, {x}))"


@case("map_fn")
def map_fn(d: Draw, f: str) -> str:
    x = d.operand(d.dtype(REAL), [d.choice((1, 2, 3)), *d.shape(0, 2)], "small")
    return f"tf.map_fn(lambda x: x * x + x, {x})"


@case("numpy_function py_function")
def numpy_function(d: Draw, f: str) -> str:
    dtype = d.dtype(("float32", "int32", "int64"))
    x = d.operand(dtype, d.shape(), "small")
    return f"tf.{f}(lambda x: x + x, [{x}], tf.{dtype})"


RANDOM_SHAPES: tuple[list[int], ...] = ([], [1], [3], [2, 3], [0], [5, 2], [17])


@case("random.stateless_uniform", weight=3)
def stateless_uniform(d: Draw, f: str) -> str:
    seed = d.operand(d.choice(("int32", "int64")), [2], (0, 1000))
    shape = d.ints(d.choice(RANDOM_SHAPES))
    dtype = d.dtype((*FLOATS, "int32", "int64", "uint32", "uint64"))
    more = f", minval={d.choice((0, 1, -3))}, maxval={d.choice((5, 10, 1000))}"
    if dtype in FLOATS and d.chance(0.5):
        more = ""
    elif dtype not in FLOATS and d.chance(0.5):
        more = ", minval=None, maxval=None"
    return f"tf.{f}({shape}, {seed}{more}, dtype=tf.{dtype})"


@case("random.stateless_normal random.stateless_truncated_normal", ulps=4)
def stateless_normal(d: Draw, f: str) -> str:
    seed = d.operand(d.choice(("int32", "int64")), [2], (0, 1000))
    more = d.choice(("", ", mean=1.0", ", mean=-1.0, stddev=2.0"))
    dtype = d.dtype(FLOATS)
    return f"tf.{f}({d.ints(d.choice(RANDOM_SHAPES))}, {seed}{more}, dtype=tf.{dtype})"


@case("random.normal random.truncated_normal", loose=True)
def random_(d: Draw, f: str) -> str:
    d.operand("int32", [])
    return f"tf.{f}({d.ints(d.choice(RANDOM_SHAPES))}, dtype=tf.{d.dtype(FLOATS)}, seed=3)"


@case("random.uniform", loose=True, weight=3)
def random_uniform(d: Draw, f: str) -> str:
    d.operand("int32", [])
    shape, dtype = d.ints(d.choice(RANDOM_SHAPES)), d.dtype((*FLOATS, "int32", "int64"))
    bounds = d.choice(("", ", 2, 9", ", maxval=5", ", minval=-3, maxval=4"))
    return f"tf.{f}({shape}{bounds}, dtype=tf.{dtype}, seed=3)"


@case("random.shuffle", loose=True)
def random_shuffle(d: Draw, f: str) -> str:
    return f"tf.{f}({d.operand(d.dtype(NUMBERS), d.shape(1))}, seed=3)"


@case("math.invert_permutation")
def invert_permutation(d: Draw, f: str) -> str:
    order = d.rng.sample(range(4), 4)
    if d.chance(0.1):
        order[0] = d.choice((order[1], 4, -1))
    return f"tf.{f}({d.given(np.array(order, d.choice(('int32', 'int64'))))})"
