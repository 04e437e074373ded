"""Every op of the engine on large operands: how often it looks whether it is interrupted.

`python -m tests.interrupts.large_ops [NAME...]` prints, for each, the looks and the longest time
between two. Judged by tests/interrupts/test_large_ops.py are the looks, never the time. With
`--stop SEED` a signal comes at some of the looks: the op must end, and give the same when it is
run again.
"""

from __future__ import annotations

import argparse
import functools
import os
import signal
import struct
import sys
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

import spillway as sw
import spillway.tf as tf
from spillway import native_ops

SIDE = int(os.environ.get("SPILLWAY_LARGE_SIDE", "2048"))
RESIZED = SIDE // 4 + 88
N = SIDE * SIDE  # items of an operand
TEXTS = N // 8  # strings of an operand
native = native_ops.native

# Most items that an op may work on between two looks.
MOST_ITEMS = 1 << 20
MOST_TEXTS = 1 << 16

Operands = tuple[Any, ...]


@functools.cache
def floats() -> Any:
    return np.random.default_rng(1).random(N, np.float32) * 0.9 + 0.05


@functools.cache
def integers() -> Any:
    return np.random.default_rng(2).integers(1, 9, N, np.int32)


@functools.cache
def bools() -> Any:
    return np.random.default_rng(3).integers(0, 2, N).astype(bool)


@functools.cache
def order() -> Any:
    return np.random.default_rng(4).permutation(N).astype(np.int32)


@functools.cache
def texts(what: str = "%d bottles of Beer") -> Any:
    return np.array([(what % i).encode() for i in range(TEXTS)], dtype=object)


def square() -> Any:
    return floats().reshape(SIDE, SIDE)


def images() -> Any:
    return floats().reshape(4, SIDE // 4, SIDE // 4, 4)


def colors() -> Any:
    return floats()[: N // 4 * 3].reshape(SIDE // 2, SIDE // 2, 3)


def places(n: int = N) -> Any:
    return order()[:n].reshape(n, 1)


@functools.cache
def pixels() -> Any:
    noise = np.random.default_rng(5).integers(0, 256, (64, 64, 3), np.uint8)
    return np.tile(noise, (SIDE // 64, SIDE // 64, 1))


@functools.cache
def picture(kind: str) -> bytes:
    encode = {"JPEG": tf.io.encode_jpeg, "PNG": tf.io.encode_png}[kind]
    return bytes(encode(tf.constant(pixels())).numpy())


@functools.cache
def bitmap() -> bytes:
    pixels = bytes(SIDE * SIDE * 3)
    head = struct.pack("<IiiHHIIiiII", 40, SIDE, SIDE, 1, 24, 0, 0, 0, 0, 0, 0)
    return b"BM" + struct.pack("<IHHI", 54 + len(pixels), 0, 0, 54) + head + pixels


@functools.cache
def gif() -> bytes:
    """Of two colors, with codes that are written out: 3 bits, begun anew every two pixels."""
    codes = [4, 0, 1] * 8
    bits = sum(code << (3 * i) for i, code in enumerate(codes))
    data = bits.to_bytes(9, "little") * (SIDE * SIDE // 16) + b"\5"
    parts = [data[at : at + 255] for at in range(0, len(data), 255)]
    head = b"GIF89a" + struct.pack("<HHBBB", SIDE, SIDE, 0x80, 0, 0) + b"\0\0\0\xff\xff\xff"
    image = b"\x2c" + struct.pack("<HHHHB", 0, 0, SIDE, SIDE, 0) + b"\x02"
    return head + image + b"".join(bytes([len(part)]) + part for part in parts) + b"\0\x3b"


def parse_examples() -> Callable[[], Any]:
    """One int64 feature of many examples."""
    many = tf.constant(np.array([example()] * TEXTS, object))
    return lambda: tf.io.parse_example(many, {"a": tf.io.FixedLenFeature([], tf.int64)})


def example() -> bytes:
    """A tf.train.Example whose feature `a` is the integer 7."""
    value = b"\x1a\x03\x0a\x01\x07"  # Int64List, packed
    entry = b"\x0a\x01a\x12" + bytes([len(value)]) + value
    features = b"\x0a" + bytes([len(entry)]) + entry
    return b"\x0a" + bytes([len(features)]) + features


# Operands and parameters of each op; a callable because they are large. What is not here has one
# or two operands of floats, in the order of its definition.
CALLS: dict[str, Callable[[], Operands]] = {
    "acosh": lambda: (floats() + 1,),
    "add_n": lambda: ([floats(), floats()],),
    "adjust_contrast": lambda: (colors(), 0.5),
    "adjust_hue": lambda: (colors(), 0.5),
    "adjust_saturation": lambda: (colors(), 0.5),
    "argmax": lambda: (floats(), 0, "int64"),
    "argmin": lambda: (square(), 0, "int64"),
    "argsort": lambda: (floats(), -1, "ASCENDING", False),
    "as_string": lambda: (integers()[:TEXTS], -1, False, False, -1, ""),
    "assert_true": lambda: (np.ones(N, bool), [], "", 3),
    "avg_pool2d": lambda: (images(), (2, 2), (1, 1), "SAME", (0, 0, 0, 0)),
    "bias_add": lambda: (square(), floats()[:SIDE]),
    "bincount": lambda: (integers(), None, None, None, "int32", None, False),
    "boolean_mask": lambda: (floats(), bools(), None),
    "boolean_mask_strings": lambda: (texts(), bools()[:TEXTS], None),
    "broadcast_to": lambda: (floats()[:SIDE], (SIDE, SIDE)),
    "broadcast_to_strings": lambda: (texts()[:1], (TEXTS,)),
    "bytes_split": lambda: (b"ab" * TEXTS,),
    "cast": lambda: (floats(), "float64"),
    "check_numerics": lambda: (floats(), ""),
    "clip_by_value": lambda: (floats(), 0.2, 0.7),
    "complex_abs": lambda: (floats().astype(np.complex64),),
    "concat": lambda: ([floats(), floats()], 0),
    "concat_strings": lambda: ([texts(), texts()], 0),
    "conj": lambda: (floats().astype(np.complex64),),
    "conv2d": lambda: (
        images(), floats()[: 5 * 5 * 4 * 4].reshape(5, 5, 4, 4), (1, 1), "SAME", (0,) * 4, (1, 1),
    ),
    "crop_and_resize": lambda: (
        images(), np.array([[0, 0, 1, 1]] * 8, np.float32), np.zeros(8, np.int32),
        (SIDE // 4, SIDE // 4), "bilinear", 0.0,
    ),
    "cumprod": lambda: (floats(), 0, False, False),
    "cumsum": lambda: (square(), 0, False, False),
    "decode_and_crop_jpeg": lambda: (
        picture("JPEG"), (0, 0, SIDE, SIDE), 3, 1, True, False, 1.0, "",
    ),
    "decode_base64": lambda: (np.array([b"YWJj"] * TEXTS, object),),
    "decode_bmp": lambda: (bitmap(), 0),
    "decode_csv": lambda: (texts("%d,2"), [[0], [0]], ",", True, "", None),
    "decode_gif": lambda: (gif(),),
    "decode_image": lambda: (picture("PNG"), 0, "uint8", True),
    "decode_jpeg": lambda: (picture("JPEG"), 0, 1, True, False, 1.0, ""),
    "decode_png": lambda: (picture("PNG"), 0, "uint8"),
    "decode_raw": lambda: (np.array([b"12345678"] * TEXTS, object), "int32", True, None),
    "depthwise_conv2d": lambda: (
        images(), floats()[: 5 * 5 * 4 * 2].reshape(5, 5, 4, 2), (1, 1), "SAME", (0,) * 4, (1, 1),
    ),
    "diag": lambda: (floats()[:SIDE],),
    "diag_part": lambda: (floats().reshape(-1, 2, 2),),
    "encode_base64": lambda: (texts(), False),
    "encode_jpeg": lambda: (pixels(), "rgb", 95, False, False, True, "in", 300, 300, ""),
    "encode_png": lambda: (pixels(), -1),
    "expand_dims": lambda: (floats(), 0),
    "eye": lambda: (SIDE, None, None, "float32"),
    "fill": lambda: ((N,), 1.5),
    "fill_strings": lambda: ((TEXTS,), b"abc"),
    "gather": lambda: (floats(), order(), None, 0),
    "gather_nd": lambda: (floats(), places(), 0),
    "gather_nd_strings": lambda: (texts(), places(N)[:, :] % TEXTS, 0),
    "gather_strings": lambda: (texts(), order() % TEXTS, None, 0),
    "gelu": lambda: (floats(), False),
    "hsv_to_rgb": lambda: (colors(),),
    "imag": lambda: (floats().astype(np.complex64),),
    "invert_permutation": lambda: (order(),),
    "leaky_relu": lambda: (floats(), 0.2),
    "linspace": lambda: (0.0, 1.0, N, 0),
    "log_softmax": lambda: (square(), -1),
    "matmul": lambda: (square(), square()[:, :64], False, False, False, False),
    "matrix_band_part": lambda: (square(), 1, 1),
    "max_pool2d": lambda: (images(), (2, 2), (1, 1), "SAME", (0, 0, 0, 0)),
    "one_hot": lambda: (integers()[: N // 16], 16, 1.0, 0.0, -1),
    "one_hot_strings": lambda: (integers()[: TEXTS // 16], 16, b"a", b"b", -1),
    "ones_like": lambda: (floats(), None),
    "pad": lambda: (square(), ((1, 1), (1, 1)), "REFLECT", 0),
    "pad_strings": lambda: (texts(), ((1, 1),), "CONSTANT", b""),
    "random_normal": lambda: ((N,), "float32", 1, 2, 0, False),
    "random_shuffle": lambda: (floats(), 1, 2, 0, False),
    "random_truncated_normal": lambda: ((N,), "float32", 1, 2, 0, False),
    "random_uniform": lambda: ((N,), "float32", 1, 2, 0, False),
    "random_uniform_int": lambda: ((N,), 0, 9, "int32", 1, 2, 0, False),
    "range": lambda: (np.int32(0), np.int32(N), np.int32(1)),
    "real": lambda: (floats().astype(np.complex64),),
    **{
        f"reduce_{name}": lambda: (floats(), None, False)
        for name in ("max", "mean", "min", "prod", "std", "sum", "variance")
    },
    "reduce_all": lambda: (np.ones(N, bool), None, False),
    "reduce_any": lambda: (np.zeros(N, bool), None, False),
    "regex_full_match": lambda: (texts(), "[0-9]+ bottles.*"),
    "regex_replace": lambda: (texts(), "[0-9]", "x", True),
    "repeat": lambda: (floats()[: N // 4], 4, None),
    "repeat_strings": lambda: (texts()[: TEXTS // 4], 4, None),
    "resize_area": lambda: (images(), (RESIZED, RESIZED)),
    "resize_bicubic": lambda: (images(), (RESIZED, RESIZED)),
    "resize_bilinear": lambda: (images(), (RESIZED, RESIZED)),
    "resize_filtered": lambda: (images(), (RESIZED, RESIZED), "lanczos3", True),
    "resize_nearest": lambda: (images(), (RESIZED, RESIZED)),
    "reverse": lambda: (floats(), (0,)),
    "reverse_if": lambda: (floats(), True, (0,)),
    "reverse_sequence": lambda: (square(), np.full(SIDE, SIDE, np.int32), 1, 0),
    "reverse_sequence_strings": lambda: (
        texts().reshape(128, -1), np.full(128, 100, np.int32), 1, 0,
    ),
    "reverse_strings": lambda: (texts(), (0,)),
    "rgb_to_grayscale": lambda: (colors(),),
    "rgb_to_hsv": lambda: (colors(),),
    "roll": lambda: (floats(), 5, (0,)),
    "roll_strings": lambda: (texts(), 5, (0,)),
    "scatter_nd": lambda: (places(), floats(), (N,)),
    "scatter_nd_strings": lambda: (places(TEXTS) % TEXTS, texts(), (TEXTS,)),
    "searchsorted": lambda: (np.sort(floats()[:1000]), floats(), "left", "int32"),
    "select": lambda: (bools(), floats(), floats()),
    "select_strings": lambda: (bools()[:TEXTS], texts(), texts()),
    "sequence_mask": lambda: (integers()[: N // 16], 16, "bool"),
    "slice": lambda: (square(), (0, 1), (SIDE, SIDE - 1)),
    "slice_strings": lambda: (texts(), (1,), (TEXTS - 1,)),
    "softmax": lambda: (square(), -1),
    "sort": lambda: (floats(), -1, "ASCENDING"),
    "split": lambda: (square(), (SIDE // 2, SIDE // 2), 1, None),
    "split_strings": lambda: (texts(), (TEXTS // 2, TEXTS // 2), 0, None),
    "spread": lambda: (floats()[:SIDE], (SIDE, SIDE)),
    "spread_strings": lambda: (texts()[:1], (TEXTS,)),
    "stack": lambda: ([floats(), floats()], 0),
    "stack_strings": lambda: ([texts(), texts()], 0),
    "stateless_random_normal": lambda: ((N,), (1, 2), "float32"),
    "stateless_random_uniform": lambda: ((N,), (1, 2), "float32"),
    "stateless_random_uniform_int": lambda: ((N,), (1, 2), 0, 9),
    "stateless_shuffle": lambda: (floats(), (1, 2)),
    "stateless_truncated_normal": lambda: ((N,), (1, 2), "float32"),
    "stateless_uniform_full_int": lambda: ((N,), (1, 2), "uint64"),
    "strided_slice": lambda: (floats(), (0,), (N,), (2,), 0, 0, 0, 0, 0),
    "strided_slice_strings": lambda: (texts(), (0,), (TEXTS,), (1,), 0, 0, 0, 0, 0),
    "string_add": lambda: (texts(), texts()),
    "string_equal": lambda: (texts(), texts()),
    "string_not_equal": lambda: (texts(), texts()),
    "string_join": lambda: ([texts(), texts()], "-"),
    "string_length": lambda: (texts(), "UTF8_CHAR"),
    "string_lower": lambda: (texts(), "utf-8"),
    "string_upper": lambda: (texts(), ""),
    "string_split": lambda: (b"ab " * TEXTS, None, -1),
    "string_to_hash_bucket_fast": lambda: (texts(), 1000),
    "string_to_number": lambda: (texts("%d"), "float32"),
    "strings_reduce_join": lambda: (texts(), None, False, "-"),
    "substr": lambda: (texts(), 0, 3, "UTF8_CHAR"),
    "tensor_scatter_nd_update": lambda: (floats(), places(), floats()),
    "tensor_scatter_nd_update_strings": lambda: (texts(), places(TEXTS) % TEXTS, texts()),
    "tile": lambda: (floats()[:SIDE], (SIDE,)),
    "tile_strings": lambda: (texts()[:SIDE], (TEXTS // SIDE,)),
    "top_k": lambda: (floats(), 1000, True, "int32"),
    "transpose": lambda: (square(), (1, 0), False),
    "transpose_strings": lambda: (texts().reshape(128, -1), (1, 0), False),
    "unicode_transcode": lambda: (texts(), "UTF-8", "UTF-16-BE", "replace", 65533, False),
    "unique": lambda: (order(), "int32"),
    "unstack": lambda: (floats().reshape(4, -1), None, 0),
    "unstack_strings": lambda: (texts().reshape(4, -1), None, 0),
    "where_indices": lambda: (bools(),),
    "zeros_like": lambda: (floats(), None),
}  # fmt: skip
_INTEGERS = ("bitwise_", "truncate")
_BOOLS = ("logical_",)
# What does nothing item by item, or reads files (their reads look by themselves), or is libwebp's.
NO_ITEMS = {
    *("rank", "size", "shape", "identity", "reshape", "squeeze", "stop_gradient", "expand_dims"),
    *("check_file", "matching_files", "read_file", "string_format", "is_jpeg", "decode_webp"),
    *("extract_jpeg_shape", "parse_single_example", "stateless_sample_distorted_bounding_box"),
}


def operands(name: str) -> Operands:
    """What the op is called with."""
    if name in CALLS:
        return CALLS[name]()
    params = native_ops.definitions[name]["params"]
    if any(param["kind"] != "tensor" for param in params):
        raise ValueError(f"{name} needs operands of its own in {__file__}: {params}")
    one = integers() if name.startswith(_INTEGERS) else floats()
    if name.startswith(_BOOLS):
        one = bools()
    if params[0]["type"] == "s":
        one = texts()
    return (one,) * len(params)


def least_looks(name: str) -> int:
    """How often an op has to look on its operands."""
    of_strings = name.endswith("_strings") or name.startswith(("string", "regex"))
    of_strings |= native_ops.definitions[name]["params"][0]["type"] == "s" and not name.startswith(
        "decode_"
    )
    return TEXTS // MOST_TEXTS - 1 if of_strings else N // MOST_ITEMS - 1


def looks(name: str) -> tuple[int, int]:
    """How often the op looked, and the longest time between two looks in nanoseconds."""
    call = ready(name)
    native.interrupt_looks()
    evaluated(call)
    count, longest = native.interrupt_looks()
    return count, longest


def ready(name: str) -> Callable[[], Any]:
    """The call of an op, whose operands are made."""
    if name == "parse_example":
        parse = parse_examples()
        return lambda: list(parse().values())
    given = tuple(_tensors(each) for each in operands(name))
    return lambda: native_ops.functions[name](*given)


def evaluated(call: Callable[[], Any]) -> list[Any]:
    """What a call gives, computed."""
    made = call()
    tensors = list(made) if isinstance(made, (tuple, list)) else [made]
    for each in tensors:
        native.compute(each)
    return tensors


def _tensors(given: Any) -> Any:
    """Arrays and strings as tensors, which are not part of the work."""
    if isinstance(given, list) and given and isinstance(given[0], np.ndarray):
        return [tf.constant(each) for each in given]
    return tf.constant(given) if isinstance(given, (np.ndarray, bytes)) else given


class StoppedError(Exception):
    """What the handler of the signal raises."""


def _stop(number: int, frame: Any) -> None:
    raise StoppedError


def stopped_at(call: Callable[[], Any], look: int) -> bool:
    """Whether the call ends with the handler's exception, signalled at one of its looks."""
    left = [look]

    def here() -> None:
        left[0] -= 1
        if left[0] > 0:
            native.at_test_point("interrupt_look", here)
            return
        native.interrupt_looks()  # no waiting for the next question
        signal.raise_signal(signal.SIGALRM)

    native.at_test_point("interrupt_look", here)
    try:
        evaluated(call)
    except StoppedError:
        return True
    finally:
        native.at_test_point("interrupt_look", None)
    return False


def fault_of_stopping(name: str, random: Random) -> str:
    """What is wrong when an op is stopped at some of its looks, and then run again."""
    call = ready(name)
    native.interrupt_looks()
    want = [np.asarray(each.numpy()) for each in evaluated(call)]
    count, _ = native.interrupt_looks()
    if count == 0:
        return "never looks"
    for look in sorted({1, count, random.randrange(count) + 1}):
        if not stopped_at(call, look):
            return f"did not end when it was stopped at look {look} of {count}"
        got = [np.asarray(each.numpy()) for each in evaluated(call)]
        if "random" in name and "stateless" not in name and "shuffle" not in name:
            continue  # draws anew
        if not all(
            np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
            for a, b in zip(want, got, strict=True)
        ):
            return f"gives something else after it was stopped at look {look} of {count}"
    return ""


def stop_all(names: list[str], seed: int) -> int:
    """How many ops are wrong when they are stopped."""
    signal.signal(signal.SIGALRM, _stop)
    random = Random(seed)
    faults = 0
    for name in names:
        fault = fault_of_stopping(name, random)
        faults += bool(fault)
        print(f"{name:32} {fault}", flush=True)
    return faults


def main() -> int:
    """Does what the module says; how many ops are wrong."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--stop", type=int, metavar="SEED", help="stops them at random looks")
    asked = parser.parse_args()
    sw.configure(threads=1)
    names = asked.names or [name for name in native_ops.definitions if name not in NO_ITEMS]
    if asked.stop is not None:
        return stop_all(names, asked.stop)
    seldom = 0
    for name in names:
        count, longest = looks(name)
        few = count < least_looks(name)
        seldom += few
        least = f"fewer than {least_looks(name)}" if few else ""
        print(f"{name:32} {count:8} looks {longest / 1e6:8.1f} ms  {least}", flush=True)
    return seldom


if __name__ == "__main__":
    sys.exit(main())
