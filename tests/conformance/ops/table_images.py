"""Cases: images."""

from __future__ import annotations

from .draw import FLOATS, REAL, Draw
from .table import case

METHODS = (
    *("bilinear", "nearest", "bicubic", "area"),
    *("lanczos3", "lanczos5", "gaussian", "mitchellcubic"),
)
# What the resizing kernels of TensorFlow take.
PIXELS = (
    *("uint8", "int8", "int16", "uint16", "int32", "int64"),
    *("float16", "bfloat16", "float32", "float64"),
)
COMMON = ("uint8", "uint8", "float32", "float32", *PIXELS)
# Adjustments are made in float32: of these, images come in and go out.
COLORS = ("uint8", "float32", "float32", "uint16", "int32", "float64")


def shape(d: Draw, channels: tuple[int, ...] = (1, 3, 3, 4, 2)) -> list[int]:
    """Of an image or a batch of them; seldom of neither."""
    if d.chance(0.02):
        return d.shape()
    dims = [d.choice((1, 2, 3, 4, 5, 7)) for _ in range(2)]
    if d.chance(0.02):
        dims[0] = 0
    lead = [d.choice((1, 2, 2, 3, 0))] if d.chance(0.3) else []
    return [*lead, *dims, d.choice(channels)]


def image(d: Draw, dims: list[int], kinds: tuple[str, ...] = COMMON, wild: float = 0.3) -> str:
    dtype = d.dtype(kinds)
    if dtype.startswith(("float", "bfloat")):
        return d.operand(dtype, dims, (0.0, 1.0) if d.chance(1 - wild) else "small")
    return d.operand(dtype, dims, (0, 120) if d.chance(1 - wild) else "any")


def colors(d: Draw, kinds: tuple[str, ...] = COLORS) -> str:
    return image(d, shape(d, (3,) if d.chance(0.95) else (1, 4)), kinds)


def seed(d: Draw) -> str:
    return d.operand(d.choice(("int32", "int64")), [2], (0, 1000))


def number(d: Draw, low: float, high: float, wrong: float = 0.04) -> str:
    value = round(d.rng.uniform(low, high), 3)
    return repr(-1.5 if d.chance(wrong) else value)


@case("image.resize", weight=12)
def resize(d: Draw, f: str) -> str:
    x = image(d, shape(d))
    size = [d.choice((1, 2, 3, 4, 6, 9)) for _ in range(2)]
    if d.chance(0.03):
        size = d.choice(([0, 2], [2], [-1, 3], [1, 2, 3], 4))
    roll = d.rng.random()
    text = repr(size) if roll < 0.7 else f"tf.constant({size})"
    if roll > 0.9 and isinstance(size, list) and len(size) == 2:
        text = d.operand("int32", [2], (1, 5))
    more = f", {d.in_turn(METHODS)!r}" if d.chance(0.9) else ""
    more += d.choice(("", ", antialias=True", ", antialias=True"))
    more += ", preserve_aspect_ratio=True" if d.chance(0.2) else ""
    more = ", 'magic'" if d.chance(0.01) else more
    return f"tf.{f}({x}, {text}{more})"


@case("image.resize_with_pad", weight=4)
def resize_with_pad(d: Draw, f: str) -> str:
    x = image(d, shape(d))
    size = [d.choice((1, 2, 3, 4, 6, 9)) if d.chance(0.98) else 0 for _ in range(2)]
    more = d.choice(("", "", f", {d.choice(METHODS)!r}", ", antialias=True"))
    return f"tf.{f}({x}, {size[0]}, {size[1]}{more})"


@case("image.resize_with_crop_or_pad", weight=4)
def resize_with_crop_or_pad(d: Draw, f: str) -> str:
    x = image(d, shape(d))
    size = [d.choice((1, 2, 3, 4, 6, 9)) if d.chance(0.98) else 0 for _ in range(2)]
    return f"tf.{f}({x}, {size[0]}, {size[1]})"


@case("image.crop_to_bounding_box image.pad_to_bounding_box", weight=3)
def bounding_box(d: Draw, f: str) -> str:
    dims = shape(d)
    x = image(d, dims)
    sides = dims[-3:-1] if len(dims) > 2 else [2, 2]
    at, size = [], []
    for side in sides:
        if "crop" in f:
            at.append(d.rng.randint(0, max(side - 1, 0)))
            size.append(d.rng.randint(1, max(side - at[-1], 1)))
        else:
            at.append(d.choice((0, 0, 1, 2)))
            size.append(side + at[-1] + d.choice((0, 0, 1, 3)))
    if d.chance(0.06):
        at[d.choice((0, 1))] = d.choice((-1, 6))
    if d.chance(0.06):
        size[d.choice((0, 1))] = d.choice((-1, 0, 9))
    given = [str(value) for value in (*at, *size)]
    if d.chance(0.15):
        given[0] = d.operand("int32", [], (at[0], at[0]))
    return f"tf.{f}({x}, {', '.join(given)})"


@case("image.central_crop", weight=2)
def central_crop(d: Draw, f: str) -> str:
    x = image(d, shape(d))
    return f"tf.{f}({x}, {d.choice((0.5, 0.25, 0.9, 1.0, 0.1, 0.66, 0.0, 1.5))})"


@case("image.flip_left_right image.flip_up_down image.transpose")
def turn(d: Draw, f: str) -> str:
    return f"tf.{f}({image(d, shape(d), REAL)})"


@case("image.rot90", weight=2)
def rot90(d: Draw, f: str) -> str:
    x = image(d, shape(d), REAL)
    k = d.operand("int32", [], (-5, 5)) if d.chance(0.2) else d.rng.randint(-5, 5)
    return f"tf.{f}({x}{d.choice(('', f', {k}', f', k={k}'))})"


@case("image.convert_image_dtype", weight=4)
def convert_image_dtype(d: Draw, f: str) -> str:
    x = image(d, d.shape(), REAL)
    to = d.choice(REAL) if d.chance(0.97) else "bool"
    if d.dtype_drawn == "float16":  # which holds no larger scale
        to = d.choice(("uint8", "int8", "int16", "float32", "bfloat16"))
    return f"tf.{f}({x}, tf.{to}{d.choice(('', ', saturate=True', ', True'))})"


@case("image.per_image_standardization", ulps=32, scaled=True)
def per_image_standardization(d: Draw, f: str) -> str:
    return f"tf.{f}({image(d, shape(d), wild=0)})"


@case("image.rgb_to_grayscale")
def rgb_to_grayscale(d: Draw, f: str) -> str:
    return f"tf.{f}({colors(d)})"


@case("image.grayscale_to_rgb")
def grayscale_to_rgb(d: Draw, f: str) -> str:
    return f"tf.{f}({image(d, shape(d, (1,) if d.chance(0.93) else (2,)), REAL)})"


@case("image.rgb_to_hsv image.hsv_to_rgb", ulps=8, scaled=True)
def hsv(d: Draw, f: str) -> str:
    return f"tf.{f}({colors(d, FLOATS)})"


@case("image.adjust_brightness")
def adjust_brightness(d: Draw, f: str) -> str:
    return f"tf.{f}({image(d, shape(d))}, {number(d, -0.5, 0.5)})"


@case("image.adjust_contrast")
def adjust_contrast(d: Draw, f: str) -> str:
    return f"tf.{f}({image(d, shape(d), COLORS)}, {number(d, 0, 2.5)})"


@case("image.adjust_gamma", ulps=4, scaled=True)
def adjust_gamma(d: Draw, f: str) -> str:
    more = d.choice(("", ", 2.0", ", 0.5, 2.0", f", {number(d, 0, 2)}", ", gain=0.5"))
    kinds = ("float32", "float32", "uint8", "uint16")  # powers are taken in float32
    return f"tf.{f}({image(d, shape(d), kinds)}{more})"


@case("image.adjust_hue", ulps=2, scaled=True)
def adjust_hue(d: Draw, f: str) -> str:
    return f"tf.{f}({colors(d)}, {number(d, -1, 1, 0)})"


@case("image.adjust_saturation", ulps=2, scaled=True)
def adjust_saturation(d: Draw, f: str) -> str:
    return f"tf.{f}({colors(d)}, {number(d, 0, 2.5)})"


@case("image.random_brightness image.random_hue", loose=True)
def within(d: Draw, f: str) -> str:
    return f"tf.{f}({colors(d)}, {number(d, 0, 0.5)})"


@case("image.stateless_random_brightness image.stateless_random_hue", ulps=2, scaled=True)
def within_stateless(d: Draw, f: str) -> str:
    x = colors(d)
    return f"tf.{f}({x}, {number(d, 0, 0.5)}, {seed(d)})"


@case("image.random_contrast image.random_saturation", loose=True)
def between(d: Draw, f: str) -> str:
    return f"tf.{f}({colors(d)}, {number(d, 0, 0.5)}, {number(d, 0.6, 2)})"


@case("image.stateless_random_contrast image.stateless_random_saturation", ulps=2, scaled=True)
def between_stateless(d: Draw, f: str) -> str:
    x = colors(d)
    return f"tf.{f}({x}, {number(d, 0, 0.5)}, {number(d, 0.6, 2)}, {seed(d)})"


@case("image.random_flip_left_right image.random_flip_up_down", loose=True)
def random_flip(d: Draw, f: str) -> str:
    return f"tf.{f}({image(d, shape(d))})"


@case("image.stateless_random_flip_left_right image.stateless_random_flip_up_down")
def stateless_random_flip(d: Draw, f: str) -> str:
    x = image(d, shape(d))
    return f"tf.{f}({x}, {seed(d)})"


def part(d: Draw) -> tuple[str, list[int]]:
    dims = d.shape(1)
    size = [d.rng.randint(1, dim) if dim else 0 for dim in dims]
    if d.chance(0.04):
        size[0] = dims[0] + 1
    return image(d, dims, REAL), size


@case("image.random_crop", loose=True)
def random_crop(d: Draw, f: str) -> str:
    x, size = part(d)
    return f"tf.{f}({x}, {size})"


@case("image.stateless_random_crop")
def stateless_random_crop(d: Draw, f: str) -> str:
    x, size = part(d)
    return f"tf.{f}({x}, {size}, {seed(d)})"


@case("image.crop_and_resize", weight=3)
def crop_and_resize(d: Draw, f: str) -> str:
    dims = [d.choice((1, 2, 3)), *(d.choice((1, 2, 4, 7)) for _ in range(2)), d.choice((1, 3))]
    x = image(d, dims)
    count = d.choice((0, 1, 2, 3))
    boxes = d.operand("float32", [count, 4], (-0.3, 1.3) if d.chance(0.4) else (0.0, 1.0))
    which = d.operand("int32", [count], (0, dims[0] - (0 if d.chance(0.1) else 1)))
    size = [d.choice((1, 2, 3, 5)) for _ in range(2)]
    more = d.choice(("", "", ", 'nearest'", ", extrapolation_value=-1.5", ", 'bicubic'"))
    return f"tf.{f}({x}, {boxes}, {which}, {size}{more})"
