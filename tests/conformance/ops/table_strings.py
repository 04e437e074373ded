"""Cases: strings and encodings."""

from __future__ import annotations

import base64

import numpy as np

from .draw import ALL, Draw
from .table import case


def texts(d: Draw, low: int = 0, high: int = 3) -> str:
    return d.operand("string" if d.chance(0.95) else d.choice(ALL), d.shape(low, high))


@case("strings.lower strings.upper strings.length")
def letters(d: Draw, f: str) -> str:
    options: tuple[str, ...] = ("", ", encoding='utf-8'")
    if f.endswith("length"):
        options = ("", ", unit='UTF8_CHAR'", ", unit='BYTE'")
    return f"tf.{f}({texts(d)}{d.choice(options)})"


@case("strings.strip strings.bytes_split")
def strip(d: Draw, f: str) -> str:
    return f"tf.{f}({texts(d, 0, 0 if 'split' in f else 3)})"


@case("strings.as_string", weight=3)
def as_string(d: Draw, f: str) -> str:
    x = d.operand(d.dtype(ALL), d.shape())
    more = d.choice(("", "", "", ", precision=2", ", width=8", ", scientific=True", ", fill='0'",
                     ", width=6, fill='0'", ", shortest=True", ", precision=3, width=10",
                     ", width=6, fill='-'"))  # fmt: skip
    return f"tf.{f}({x}{more})"


@case("strings.join")
def join(d: Draw, f: str) -> str:
    shape = d.shape(0, 2)
    parts = [d.operand("string", d.choice((shape, [])) if d.chance(0.97) else d.shape(0, 2))
             for _ in range(d.choice((1, 2, 3)))]  # fmt: skip
    separator = d.choice(("", ", separator='-'", ", ', '"))
    return f"tf.{f}([{', '.join(parts)}]{separator})"


@case("strings.reduce_join")
def reduce_join(d: Draw, f: str) -> str:
    shape = d.shape()
    more = d.choice(("", ", keepdims=True", ", separator='+'"))
    return f"tf.{f}({d.operand('string', shape)}{d.axes(len(shape))}{more})"


PATTERNS = (
    "a",
    "[a-z]+",
    r"\\s",
    "(b)(c)?",
    "^a.*",
    "",
    "X|b",
    r"\\d+",
    "(",
    r"(\\w)(\\w)",
    "[^a]",
)


@case("strings.regex_full_match strings.regex_replace")
def regex(d: Draw, f: str) -> str:
    pattern = d.choice(PATTERNS)
    x = texts(d)
    if f.endswith("match"):
        return f"tf.{f}({x}, '{pattern}')"
    rewrite = d.choice(("", "<>", r"\\0\\0", r"\\1", "z", r"[\\0]"))
    more = d.choice(("", ", replace_global=False"))
    return f"tf.{f}({x}, '{pattern}', '{rewrite}'{more})"


@case("strings.substr")
def substr(d: Draw, f: str) -> str:
    shape = d.shape(0, 3)
    x = d.operand("string", shape)
    unit = d.choice(("", "", ", unit='UTF8_CHAR'"))
    if d.chance(0.5):
        return f"tf.{f}({x}, {d.choice((0, 0, -1, 1, 2))}, {d.choice((0, 1, 2, 5))}{unit})"
    kind = d.choice(("int32", "int64"))
    begin = d.operand(kind, d.choice((shape, [])), (-1, 1))
    return f"tf.{f}({x}, {begin}, {d.operand(kind, [], (0, 3))}{unit})"


@case("strings.split")
def split(d: Draw, f: str) -> str:
    x = d.operand("string", [])
    more = d.choice(
        ("", ", ','", ", sep='X'", ", ' '", ", sep=',', maxsplit=1", ", maxsplit=1", ", ''")
    )
    return f"tf.{f}({x}{more})"


@case("strings.format", weight=4)
def format_(d: Draw, f: str) -> str:
    values = d.choice(((0, 9), "any"))
    x = d.operand(d.dtype(ALL), d.choice(([], [9], [2, 0], [8, 8], d.shape(0, 3))), values)
    more = d.choice(("", "", "", ", summarize=-1", ", summarize=1", ", summarize=0"))
    if d.chance(0.3):
        y = d.operand(d.dtype(ALL), d.shape(0, 2), values)
        pattern = "{} and {}" if d.chance(0.95) else "{}"
        return f"tf.{f}({pattern!r}, ({x}, {y}){more})"
    return f"tf.{f}({d.choice(('x {}', '{}', '<{}>'))!r}, {x}{more})"


@case("strings.to_hash_bucket_fast")
def to_hash_bucket_fast(d: Draw, f: str) -> str:
    return f"tf.{f}({texts(d)}, {d.choice((1, 2, 10, 1000, 2**40, 0))})"


@case("strings.to_number", weight=3)
def to_number(d: Draw, f: str) -> str:
    pool = [b"12", b"-3", b"2.5", b"1e3", b" 7 ", b"nan", b"-inf", b"0", b"00012", b"1_0", b"0x1F",
            b"", b"x", b"2147483648", b"9223372036854775808", b"1e40", b"+5", b".5", b"5.",
            b"16777217", b"0.1", b"1e-45", b"3.4028236e38"]  # fmt: skip
    sure = [*pool[:2], b"0", b"00012", b" 7 "]
    shape = d.shape(0, 2)
    count = int(np.prod([d.rows, *shape], dtype=int))
    array = np.empty(count, object)
    some = pool if d.chance(0.3) else sure
    array[:] = [d.choice(some) for _ in range(count)]
    d.operand("string", shape)
    d.operands[-1] = array.reshape([d.rows, *shape])
    kind = d.choice(
        ("", "", ", tf.int32", ", tf.int64", ", tf.float64", ", tf.float32", ", tf.int16")
    )
    return f"tf.{f}(a{kind})"


@case("io.decode_raw")
def decode_raw(d: Draw, f: str) -> str:
    size = d.choice((0, 4, 8, 16))
    shape = d.shape(0, 2)
    count = int(np.prod([d.rows, *shape], dtype=int))
    array = np.empty(count, object)
    array[:] = [bytes(d.rng.randrange(256) for _ in range(size + (d.chance(0.02) and 1)))
                for _ in range(count)]  # fmt: skip
    d.operand("string", shape)
    d.operands[-1] = array.reshape([d.rows, *shape])
    dtype = d.dtype(("uint8", "int8", "int16", "int32", "int64", "uint16", "bool"))
    if dtype in ("bool", "string"):
        dtype = "uint8"
    return f"tf.{f}(a, tf.{dtype}{d.choice(('', '', ', little_endian=False', ', fixed_length=8'))})"


@case("io.encode_base64")
def encode_base64(d: Draw, f: str) -> str:
    return f"tf.{f}({texts(d)}{d.choice(('', ', pad=True'))})"


@case("io.decode_base64")
def decode_base64(d: Draw, f: str) -> str:
    shape = d.shape(0, 2)
    count = int(np.prod([d.rows, *shape], dtype=int))
    array = np.empty(count, object)
    for i in range(count):
        text = base64.urlsafe_b64encode(
            bytes(d.rng.randrange(256) for _ in range(d.choice((0, 1, 2, 3, 7))))
        )
        array[i] = text if d.chance(0.5) else text.rstrip(b"=")
        if d.chance(0.03):
            array[i] = b"*&"
    d.operand("string", shape)
    d.operands[-1] = array.reshape([d.rows, *shape])
    return f"tf.{f}(a)"
