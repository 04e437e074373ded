"""Cases: items by their places, counts, diagonals."""

from __future__ import annotations

import numpy as np

from .draw import ALL, FLOATS, INTS, NUMBERS, REAL, Draw
from .table import case


def places(d: Draw, kind: str, lead: list[int], shape: list[int], wrong: float = 0.06) -> str:
    """Coordinates within the first axes of a shape, as an operand; sometimes one is outside."""
    array = np.zeros([d.rows, *lead, len(shape)], kind)
    flat = array.reshape(-1, len(shape)) if shape else array
    for row in flat if shape else ():
        for axis, dim in enumerate(shape):
            row[axis] = d.rng.randint(0, max(dim - 1, 0))
    if shape and array.size and d.chance(wrong):
        flat[0][0] = shape[0] if d.chance(0.7) else -1
    d.operands.append(array)
    return "abcdefgh"[len(d.operands) - 1]


@case("gather_nd", weight=3)
def gather_nd(d: Draw, f: str) -> str:
    shape = [dim or 1 for dim in d.shape(1)] if d.chance(0.9) else d.shape(1)
    x = d.operand(d.dtype(ALL), shape)
    batch = d.rng.randint(1, len(shape) - 1) if len(shape) > 1 and d.chance(0.25) else 0
    depth = d.rng.randint(0 if d.chance(0.1) else 1, len(shape) - batch)
    lead = [*shape[:batch], *d.choice(([], [2], [3], [2, 2], [0]))]
    at = places(d, d.choice(("int32", "int64")), lead, shape[batch : batch + depth])
    return f"tf.{f}({x}, {at}{f', batch_dims={batch}' if batch else ''})"


@case("scatter_nd", ulps=2, scaled=True, weight=3)
def scatter_nd(d: Draw, f: str) -> str:
    shape = [dim or 2 for dim in d.shape(1)]
    depth = d.rng.randint(1, len(shape))
    lead = d.choice(([1], [2], [3], [2, 2], [0]))
    kind = d.choice(("int32", "int64"))
    at = places(d, kind, lead, shape[:depth])
    dims = [*lead, *shape[depth:]] if d.chance(0.96) else d.shape()
    updates = d.operand(d.dtype((*NUMBERS, "string")), dims, "small")
    text = f"tf.constant({shape}, tf.{kind})" if d.chance(0.8) else repr(shape)
    return f"tf.{f}({at}, {updates}, {text})"


@case("tensor_scatter_nd_update", weight=3)
def tensor_scatter_nd_update(d: Draw, f: str) -> str:
    shape = [dim or 2 for dim in d.shape(1)]
    dtype = d.dtype(ALL)
    x = d.operand(dtype, shape)
    depth = d.rng.randint(1, len(shape))
    lead = d.choice(([1], [2], [3], [2, 2], [0]))
    at = places(d, d.choice(("int32", "int64")), lead, shape[:depth])
    dims = [*lead, *shape[depth:]] if d.chance(0.96) else d.shape()
    return f"tf.{f}({x}, {at}, {d.operand(dtype, dims)})"


@case("searchsorted", weight=2)
def searchsorted(d: Draw, f: str) -> str:
    dtype = d.dtype(REAL)
    lead = d.choice(([], [], [2], [2, 1]))
    inner = d.array(dtype, [d.rows, *lead, d.choice((0, 1, 3, 6))], "small")
    d.operands.append(np.sort(inner, axis=-1) if dtype not in ("string",) else inner)
    values = [*lead, d.choice((0, 1, 2, 4))] if d.chance(0.95) else d.shape(1)
    y = d.operand(dtype, values, "small")
    more = d.choice(("", ", side='right'", ", side='left'", ", out_type=tf.int64", ", side='up'"))
    return f"tf.{f}(a, {y}{more})"


@case("reverse_sequence", weight=3)
def reverse_sequence(d: Draw, f: str) -> str:
    shape = d.shape(2)
    batch, axis = d.rng.sample(range(len(shape)), 2)
    x = d.operand(d.dtype(ALL), shape)
    top = shape[axis] + (1 if d.chance(0.05) else 0)
    size = shape[batch] if d.chance(0.96) else shape[batch] + 1
    lengths = d.operand(d.choice(("int32", "int64")), [size], (0, top))
    if d.chance(0.03):
        batch = axis
    more = f", batch_axis={batch}" if batch or d.chance(0.5) else ""
    return f"tf.{f}({x}, {lengths}, seq_axis={axis}{more})"


@case("roll", weight=2)
def roll(d: Draw, f: str) -> str:
    shape = d.shape(1)
    x = d.operand(d.dtype(ALL), shape)
    if d.chance(0.6):
        return f"tf.{f}({x}, {d.choice((0, 1, -2, 7))}, {d.axis(len(shape))})"
    axes = [d.axis(len(shape), 0) for _ in range(d.choice((1, 2, 3)))]
    shifts = [d.choice((0, 1, -2, 7)) for _ in axes]
    if d.chance(0.05):
        shifts.append(1)
    return f"tf.{f}({x}, {d.ints(shifts)}, {axes})"


@case("math.bincount", weight=3)
def bincount(d: Draw, f: str) -> str:
    shape = d.choice(([], [0], [3], [6], [2, 3], [3, 0], [2, 2, 2]))
    low = -1 if d.chance(0.05) else 0
    x = d.operand(d.choice(("int32", "int64", d.dtype(INTS))), shape, (low, 6))
    more = d.choice(("", "", ", minlength=4", ", maxlength=3", ", minlength=2, maxlength=9"))
    more += d.choice(("", "", "", ", axis=-1", ", axis=0", ", axis=1"))
    more += d.choice(("", "", ", dtype=tf.int64", ", dtype=tf.float32", ", dtype=tf.float64"))
    if d.chance(0.3):
        dims = shape if d.chance(0.95) else [7]
        more += f", weights={d.operand(d.choice(('int32', 'float32', 'float64')), dims, 'small')}"
    elif d.chance(0.2):
        more += ", binary_output=True"
    return f"tf.{f}({x}{more})"


@case("linalg.diag linalg.diag_part")
def diag(d: Draw, f: str) -> str:
    low = 2 if f.endswith("part") else 1
    shape = d.shape(low if d.chance(0.97) else 0, 3)
    more = d.choice(("", "", "", ", k=1", ", k=-1", ", k=2"))
    return f"tf.{f}({d.operand(d.dtype([t for t in ALL if t != 'string']), shape)}{more})"


@case("linalg.band_part")
def band_part(d: Draw, f: str) -> str:
    shape = d.shape(2 if d.chance(0.97) else 1)
    x = d.operand(d.dtype([t for t in ALL if t != "string"]), shape)
    return f"tf.{f}({x}, {d.choice((-1, 0, 1, 2))}, {d.choice((-1, 0, 1, 5))})"


@case("linspace", ulps=4, scaled=True, weight=2)
def linspace(d: Draw, f: str) -> str:
    dtype = d.dtype((*FLOATS, "int32", "int64"))
    shape = d.choice(([], [], [2], [2, 3]))
    ends = [d.operand(dtype, shape, "small") for _ in range(2)]
    axis = f", axis={d.axis(len(shape) + 1)}" if shape and d.chance(0.6) else ""
    return f"tf.{f}({ends[0]}, {ends[1]}, {d.choice((0, 1, 2, 3, 7, -1))}{axis})"


@case("random.experimental.stateless_shuffle")
def stateless_shuffle(d: Draw, f: str) -> str:
    x = d.operand(d.dtype(ALL), d.shape())
    return f"tf.{f}({x}, {d.operand(d.choice(('int32', 'int64')), [2], (0, 1000))})"
