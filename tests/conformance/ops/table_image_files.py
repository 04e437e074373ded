"""Cases: images, made by our own encoders and by hand."""

from __future__ import annotations

import base64
import struct

import numpy as np

import spillway.tf as tf

from ..values import Array
from .draw import Draw
from .table import case
from .table_parsing import texts

# TensorFlow's heap does not survive some animated WebPs: a still one.
WEBP = base64.b64decode("UklGRiwAAABXRUJQVlA4TCAAAAAvAQAAAA+gEEAAFDQKAQRAQaMQQAAUNPMf+R8qENH/AA==")
# One pixel; "D\1" says: clear, color 0, end.
GIF = b"GIF89a\1\0\1\0\x80\0\0" + bytes(range(6))
FRAME = b",\0\0\0\0\1\0\1\0\0\2\2D\1\0"
SIZES = ((1, 1), (2, 3), (9, 17), (16, 8))


def pixels(d: Draw, channels: int, dtype: type = np.uint8) -> Array:
    """Something smooth, so that JPEGs stay small and their errors too."""
    height, width = d.choice(SIZES)
    y, x, c = np.mgrid[0:height, 0:width, 0:channels]
    top = np.iinfo(dtype).max
    return np.asarray((x * d.choice((3, 11)) + y * 5 + c * 40) * (top // 255) % top, dtype)


def jpeg(d: Draw) -> bytes:
    image = pixels(d, d.choice((1, 3, 3)))
    made = tf.io.encode_jpeg(
        image,
        quality=d.choice((30, 95)),
        progressive=d.chance(0.3),
        chroma_downsampling=d.chance(0.6),
    )
    return bytes(made.numpy())


def png(d: Draw) -> bytes:
    dtype = np.uint16 if d.chance(0.3) else np.uint8
    return bytes(tf.io.encode_png(pixels(d, d.choice((1, 2, 3, 4)), dtype)).numpy())


def gif(d: Draw) -> bytes:
    frames: int = d.choice((1, 1, 3))
    return GIF + FRAME * frames + b";"


def bmp(d: Draw, turned: bool = True) -> bytes:
    bits = d.choice((8, 24, 32))
    height, width = d.choice(SIZES)
    rows = (bits // 8 * width + 3) // 4 * 4 * height
    up = -height if turned and d.chance(0.3) else height
    head = struct.pack("<2sIIIIiiHH24x", b"BM", 54 + rows, 0, 54, 40, width, up, 1, bits)
    return head + bytes(i * 7 % 256 for i in range(rows + (1 if d.chance(0.1) else 0)))


def upright(d: Draw) -> bytes:
    """TensorFlow crashes on others that it converts to floats."""
    return bmp(d, turned=False)


def contents(d: Draw, *makers: object) -> str:
    """One file a row; sometimes nothing of the kind."""
    files = []
    for _ in range(d.rows):
        make = d.choice(makers)
        file = make(d) if callable(make) else make
        files.append(d.choice((b"", b"abc", b"\xff\xd8\xff\xe0")) if d.chance(0.05) else file)
    return texts(d, files, [])


def channels(d: Draw) -> str:
    return str(d.choice((0, 0, 1, 3, 3, 4, 2)))


@case("io.decode_jpeg image.decode_jpeg", weight=2)
def decode_jpeg(d: Draw, f: str) -> str:
    more = d.choice(("", ", ratio=2", ", ratio=8", ", fancy_upscaling=False", ", ratio=3"))
    more += d.choice(("", ", dct_method='INTEGER_ACCURATE'", ", dct_method='INTEGER_FAST'"))
    return f"tf.{f}({contents(d, jpeg, jpeg, png, gif, bmp)}, {channels(d)}{more})"


@case("io.decode_and_crop_jpeg image.decode_and_crop_jpeg")
def decode_and_crop_jpeg(d: Draw, f: str) -> str:
    window = [d.choice((0, 0, 1, 4)), d.choice((0, 0, 1, 5)), d.choice((1, 2)), d.choice((1, 3))]
    return f"tf.{f}({contents(d, jpeg)}, {window}, {channels(d)})"


@case("io.decode_png image.decode_png", weight=2)
def decode_png(d: Draw, f: str) -> str:
    dtype = d.choice(("", ", tf.uint16", ", tf.uint8", ", tf.float32"))
    return f"tf.{f}({contents(d, png, png, jpeg, gif)}, {channels(d)}{dtype})"


@case("io.decode_gif image.decode_gif")
def decode_gif(d: Draw, f: str) -> str:
    return f"tf.{f}({contents(d, gif, gif, jpeg)})"


@case("io.decode_bmp image.decode_bmp")
def decode_bmp(d: Draw, f: str) -> str:
    return f"tf.{f}({contents(d, bmp, bmp, bmp, png)}, {channels(d)})"


@case("io.decode_webp image.decode_webp")
def decode_webp(d: Draw, f: str) -> str:
    return f"tf.{f}({contents(d, WEBP)}, {channels(d)})"


@case("io.decode_image image.decode_image", weight=2)
def decode_image(d: Draw, f: str) -> str:
    more = d.choice(("", ", dtype=tf.uint16", ", dtype=tf.float32", ", dtype=tf.int32"))
    more += d.choice(("", ", expand_animations=False"))
    return f"tf.{f}({contents(d, jpeg, png, gif, upright, WEBP)}, {channels(d)}{more})"


@case("io.extract_jpeg_shape image.extract_jpeg_shape")
def extract_jpeg_shape(d: Draw, f: str) -> str:
    dtype = d.choice(("", ", tf.int64", ", tf.int32"))
    return f"tf.{f}({contents(d, jpeg)}{dtype})"


@case("io.is_jpeg image.is_jpeg")
def is_jpeg(d: Draw, f: str) -> str:
    return f"tf.{f}({contents(d, jpeg, png)})"


def image(d: Draw, most: int, dtype: type) -> str:
    count = d.choice(range(1, most + 1))
    shape = [*d.choice(SIZES), count] if d.chance(0.95) else [0, 3, count]
    items = int(np.prod([d.rows, *shape]))
    d.operands.append((np.arange(items) * 13 % 251).astype(dtype).reshape([d.rows, *shape]))
    return "a"


@case("io.encode_jpeg image.encode_jpeg")
def encode_jpeg(d: Draw, f: str) -> str:
    more = d.choice(("", ", quality=30", ", quality=101", ", format='rgb'", ", format='grayscale'"))
    more += d.choice(("", ", progressive=True", ", optimize_size=True"))
    more += d.choice(("", ", chroma_downsampling=False", ", density_unit='cm', x_density=7"))
    more += d.choice(("", ", xmp_metadata='<x/>'"))
    return f"tf.{f}({image(d, 3, np.uint8)}{more})"


@case("io.encode_png image.encode_png")
def encode_png(d: Draw, f: str) -> str:
    more = d.choice(("", ", 9", ", 0", ", compression=10"))
    return f"tf.{f}({image(d, 5, d.choice((np.uint8, np.uint16)))}{more})"
