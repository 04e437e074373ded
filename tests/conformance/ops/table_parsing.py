"""Cases: records to tensors."""

from __future__ import annotations

import numpy as np

from spillway.tf import train

from ..values import Array
from .draw import TEXTS, Draw
from .table import case

# Names of features, their dtypes and shapes; an Example holds some of them.
FEATURES: tuple[tuple[str, str, list[int]], ...] = (
    ("n", "int64", []),
    ("v", "float32", [2]),
    ("s", "string", []),
    ("m", "int64", [2, 2]),
    ("w", "string", [1]),
)


def feature(d: Draw, dtype: str, count: int) -> train.Feature:
    if dtype == "int64":
        values = [d.rng.randint(-(2**40), 2**40) for _ in range(count)]
        return train.Feature(int64_list=train.Int64List(value=values))
    if dtype == "float32":
        numbers = [d.rng.gauss(0, 9) for _ in range(count)]
        return train.Feature(float_list=train.FloatList(value=numbers))
    texts = [d.choice(TEXTS) for _ in range(count)]
    return train.Feature(bytes_list=train.BytesList(value=texts))


def example(d: Draw, wrong: float, missing: float) -> bytes:
    """A serialized Example; sometimes features are missing, of another type or another length."""
    found = {}
    for name, dtype, shape in FEATURES:
        if d.chance(missing):
            continue
        count = int(np.prod(shape, dtype=int)) + (1 if d.chance(wrong) else 0)
        found[name] = feature(d, "float32" if d.chance(wrong / 2) else dtype, count)
    text = train.Example(features=train.Features(feature=found)).SerializeToString()
    return b"\xff" + text if d.chance(wrong / 2) else text


def described(d: Draw) -> str:
    """The features of a call, as it is written."""
    parts = []
    for name, dtype, shape in d.rng.sample(FEATURES, d.rng.randint(1, len(FEATURES))):
        kind = f"tf.{dtype}"
        if d.chance(0.2):
            inner = shape[1:]
            parts.append(f"'{name}': tf.io.FixedLenSequenceFeature({inner}, {kind}, True)")
            continue
        default = ""
        if d.chance(0.5):
            zero = "'-'" if dtype == "string" else "3"
            full = zero if not shape or d.chance(0.2) else repr(np.full(shape, 3).tolist())
            if dtype == "string" and full != zero:
                full = "['-']"
            default = f", {full}"
        parts.append(f"'{name}': tf.io.FixedLenFeature({shape}, {kind}{default})")
    return "{" + ", ".join(parts) + "}"


def texts(d: Draw, items: list[bytes], shape: list[int]) -> str:
    array: Array = np.empty(len(items), object)
    array[:] = items
    d.operands.append(array.reshape([d.rows, *shape]))
    return "a"


@case("io.parse_single_example", weight=3)
def parse_single_example(d: Draw, f: str) -> str:
    wrong, missing = (0.0, 0.0) if d.chance(0.5) else (0.05, 0.15)
    serialized = texts(d, [example(d, wrong, missing) for _ in range(d.rows)], [])
    return f"tf.{f}({serialized}, {described(d)})"


@case("io.parse_example", weight=3)
def parse_example(d: Draw, f: str) -> str:
    count = d.choice((0, 1, 2, 3))
    wrong, missing = (0.0, 0.0) if d.chance(0.5) else (0.04, 0.1)
    items = [example(d, wrong, missing) for _ in range(d.rows * count)]
    return f"tf.{f}({texts(d, items, [count])}, {described(d)})"


FIELDS = {
    "0": (b"12", b"-3", b"0", b"", b"2147483648", b"x", b" 4"),
    "0.5": (b"1.5", b"-2", b"1e3", b"", b"nan", b"x", b" 7 "),
    "''": (b"a", b"", b'"b,c"', b'"d""e"', b"x y", b'f"g', b'"'),
    "tf.constant([], tf.int64)": (b"9223372036854775807", b"-1", b"5", b"", b"9223372036854775808"),
    "tf.constant([], tf.string)": (b"q", b'"r"', b"z", b""),
    "tf.constant([2.0], tf.float64)": (b"0.1", b"", b"-inf", b"1e400"),
}


@case("io.decode_csv", weight=5)
def decode_csv(d: Draw, f: str) -> str:
    columns = [d.choice(list(FIELDS)) for _ in range(d.choice((1, 2, 3)))]
    shape = d.choice(([], [], [2], [3], [0], [2, 2]))
    delimiter = d.choice((",", ",", ";", "\t"))
    careful = d.chance(0.7)
    records = []
    for _ in range(int(np.prod([d.rows, *shape], dtype=int))):
        fields = [d.choice(FIELDS[column][: 3 if careful else None]) for column in columns]
        if d.chance(0.02):
            fields.append(b"more")
        records.append(delimiter.encode().join(fields))
    text = texts(d, records, shape)
    more = "" if delimiter == "," else f", field_delim={delimiter!r}"
    more += d.choice(("", "", "", ", use_quote_delim=False", ", na_value='x'"))
    wanted = columns
    if len(columns) > 1 and d.chance(0.2):
        chosen = sorted(d.rng.sample(range(len(columns)), len(columns) - 1))
        more += f", select_cols={chosen}"
        wanted = [columns[i] for i in chosen]
    return f"tuple(tf.{f}({text}, [{', '.join(wanted)}]{more}))"
