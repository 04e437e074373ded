"""Differences that are meant, recognised where random programs meet them.

Each names the function, what TensorFlow says or gives, and what is given here: anything else about
the same function is a difference.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from .packing import unpack

Data = dict[str, Any]

# TensorFlow refuses a dtype of which we have the result.
_NO_KERNEL = (
    r"is not in the list of allowed values",
    r"Could not find device for node",
    r"not in list of allowed values",
    r"Cast .* to .* is not supported",
    r"was expected to be a \w+ tensor but is a",
    r"No WhereOp available for",
    r"TileOp : The input data type is not supported",
)


@dataclass(frozen=True)
class Meant:
    """Patterns of the function, of TensorFlow's side of a problem and of ours."""

    path: str
    theirs: str
    ours: str
    why: str


_VALUE = r"\w+\[[\d, ]*\] "
_MEANT: tuple[Meant, ...] = (
    Meant(
        r"truncate(div|mod)",
        r"INTERNAL: .*Unexpected error in binary operator",
        r"INVALID_ARGUMENT: .*Integer division by zero",
        "TensorFlow calls this division by zero internal",
    ),
    Meant(
        r".*",
        r"(NOT_FOUND|UNIMPLEMENTED): .*(Could not find device for node|is not supported)",
        r"INVALID_ARGUMENT: .*is not defined for",
        "a dtype neither has a kernel for: another class of error",
    ),
    Meant(
        r"where",
        r"UNIMPLEMENTED: No WhereOp available for",
        r"INVALID_ARGUMENT: .*Unhandled input dimensions: 0",
        "the places of a scalar of a dtype TensorFlow has no kernel for: another class of error",
    ),
    Meant(
        r"io\.parse_(single_)?example",
        r"UnicodeDecodeError: ",
        r"INVALID_ARGUMENT: .*Could not parse example input",
        "TensorFlow fails to decode its own message about bytes it cannot parse",
    ),
    Meant(
        r".*",
        r"TypeError: (Cannot convert \[?True\]? to EagerTensor of dtype|.*, got .* != tf\.bool)",
        _VALUE + r"|INVALID_ARGUMENT: \w+: Integer division by zero",
        "a Python bool goes with every dtype of numbers, not with some",
    ),
    Meant(
        r".*",
        r"(OverflowError|SystemError): (can't convert negative|.*returned a result with an exc)",
        _VALUE,
        "a negative number wraps in uint64: TensorFlow fails the first time and wraps after it",
    ),
    Meant(
        r"image\.convert_image_dtype",
        r"TensorFlow int64\[[\d, ]*\] .*-9223372036854775808",
        _VALUE,
        "a float beyond int64 saturates to the largest that fits: TensorFlow overflows",
    ),
    Meant(
        r"range",
        r"AssertionError: $",
        r"INVALID_ARGUMENT: range: \w+ is not a dtype of ranges",
        "TensorFlow asserts that a range has one of its dtypes",
    ),
    Meant(
        r"py_function",
        r"UNKNOWN: .*Error: ",
        r"[A-Z_]+: ",
        "what fails inside py_function keeps its class",
    ),
    Meant(
        r"repeat",
        r"INVALID_ARGUMENT: .*Input to reshape is a tensor with",
        _VALUE,
        "a negative count is zero on every axis, not on the first only",
    ),
    Meant(
        r"repeat",
        r"ValueError: Tensor's shape .* is not compatible with supplied shape",
        _VALUE,
        "an axis behind one of length zero may be repeated",
    ),
    Meant(
        r"split",
        r"If there is only one output, it must have the same size",
        _VALUE,
        "the one part of an axis of length zero may be written -1",
    ),
    Meant(
        r"gather_nd",
        r"INVALID_ARGUMENT: .*Requested more than 0 entries, but params is empty",
        _VALUE,
        "slices without items may be gathered",
    ),
    Meant(
        r"one_hot",
        r"Cannot convert 1 to EagerTensor of dtype bool",
        _VALUE,
        "one_hot of bools needs no values",
    ),
    Meant(
        r"constant",
        r"Scalar tensor has no `len|Expected int32, but got",
        _VALUE
        + r"|UNIMPLEMENTED: cast: |INVALID_ARGUMENT: (\w+: )*"
        + r"(a \w+ cannot become|cannot convert \w+ to) ",
        "constants may hold tensors",
    ),
    Meant(
        r"nn\.\w*conv\w*",
        _VALUE,
        r"INVALID_ARGUMENT: \w+: is not defined for \w+, only for float32 and float64",
        "convolutions of integers and of small floats are not here",
    ),
    Meant(
        r"nn\.(moments|silu|swish)",
        _VALUE,
        r"INVALID_ARGUMENT: \w+: is not defined for (u?int|complex)",
        "moments of integers and silu of complex numbers are not here",
    ),
    Meant(
        r"nn\.gelu",
        r"ValueError: `features.dtype` must be a floating point tensor",
        r"INVALID_ARGUMENT: \w+: is not defined for",
        "gelu of integers: another class of error",
    ),
)
# What TensorFlow refuses when a map is written and we take: by its words.
_REFUSED_MAPS = (
    (r"that does not match type|Value passed to parameter", "what it takes at once"),
    (r"Shape must be rank -1", "ensure_shape of nothing"),
    (r"Number of mask dimensions must be specified", "a mask of unknown rank"),
    (r"Length for attr 'output_\w+' of 0", "a map that gives nothing"),
    (r"to be a dense tensor with shape", "constants of ranges"),
    (r"Expected any non-tensor type, but got a tensor", "constants of tensors"),
    (r"may only be negative if rank\(data\) is statically known", "repeat of unknown rank"),
    (r"'NoneType' object is not subscriptable", "an axis of unknown rank"),
    (r"Cannot infer argument `num` from shape", "batch_dims of unknown rank"),
    (r"unsupported operand type\(s\) for -: 'NoneType' and 'int'", "an axis of unknown rank"),
    (r"'images' contains no shape", "resizing of unknown rank"),
    (r"None values not supported", "a dilated convolution of unknown size"),
    (r"Cannot take the length of shape with unknown rank", "a pool of unknown rank"),
    (r"Cannot convert a partially known TensorShape", "a dilated convolution of unknown size"),
)


def _holds(program: Data, dtype: str, test: Any) -> bool:
    arrays = [unpack(data) for data in program.get("operands", ()) if data[0] == dtype]
    return any(bool(np.any(test(array))) for array in arrays)


def _of_operands(program: Data, theirs: str, ours: str) -> str | None:
    """Differences that certain operands make."""
    path = program["path"]
    cased = path in ("strings.lower", "strings.upper") and "utf-8" in program["source"]
    texts = [item for data in program["operands"] for item in unpack(data).ravel()] if cased else []
    if any(b"\0" in text for text in texts):
        return "case of UTF-8: TensorFlow ends a text at its first zero byte"
    if path == "math.erf" and "nan" in theirs and _holds(program, "float64", np.isinf):
        return "erf of an infinite float64 is NaN in TensorFlow"
    beside = path == "linalg.diag" and "k=" in program["source"] and program["known"] != "all"
    if beside and "map: element_spec: TensorFlow" in theirs:
        return "TensorFlow counts an unknown length as -1 beside the main diagonal"
    single = path == "math.bincount" and len(program["operands"][0][1]) == 1
    if single and "map: element_spec: TensorFlow" in theirs and ", []]" in theirs:
        return "TensorFlow takes the bins of one number for a number"
    kind = program["operands"][0][0] if program.get("operands") else ""
    least = r"-9\.?223372036854775?[68]|TensorFlow uint64\[[\d, ]*\] \[[0, ]+\]"
    if path == "saturate_cast" and kind == "int64" and re.search(least, theirs):
        return "TensorFlow saturates int64 to the least of it"
    if path == "linspace" and kind[:1] == "u" and re.match(_VALUE, ours):
        return "linspace of unsigned integers may fall: TensorFlow wraps the distance"
    divided = path in ("divide", "truediv", "math.divide", "math.truediv") and "nan" in theirs
    if divided and _holds({"operands": program["operands"][1:]}, kind, lambda x: x == 0):
        return "a complex number by zero: TensorFlow's infinities depend on the number of items"
    sigmoid = path.endswith("sigmoid") and kind.startswith("complex")
    if sigmoid and _holds(program, kind, lambda x: np.abs(1 + np.exp(-x)) < 0.5):
        return "the sigmoid of a complex number near one of its poles: few digits in either"
    near = kind.startswith("complex") and _holds(program, kind, lambda x: np.abs(x) < 0.1)
    if path == "math.log1p" and near and re.match(_VALUE, ours):
        return "log1p of a complex number near zero: TensorFlow adds the one first"
    return None


def known(program: Data, problem: str) -> str | None:
    """Why this difference is no failure, or None."""
    theirs, _, ours = problem.partition("\n         ours ")
    error = re.match(r"\w+: ", ours) is not None
    refused = any(re.search(text, theirs, re.S) for text in _NO_KERNEL)
    if problem.startswith("row ") and not error and refused:
        return "dtypes that TensorFlow has no kernel for are taken"
    if "TensorFlow refuses the map" in problem:
        for text, what in _REFUSED_MAPS:
            if re.search(text, problem):
                return f"TensorFlow refuses in a graph: {what}"
    if "more precise element_spec" in problem:
        return f"a static shape TensorFlow does not have: tf.{program['path']}"
    if program["path"] == "strings.split" and "[null, null]" in theirs:
        return "strings.split takes one string: an unknown rank must be 0"
    unknown = program["path"].startswith("image.") and program["known"] == "none"
    if unknown and re.match(r"traced map: row .*in the map INVALID_ARGUMENT", problem, re.S):
        return "an image of unknown rank is one image, no batch: as in TensorFlow's graphs"
    for meant in _MEANT if problem.startswith("row ") else ():
        both = re.search(meant.theirs, theirs, re.S) and re.match(meant.ours, ours, re.S)
        if both and re.fullmatch(meant.path, program["path"]):
            return meant.why
    return _of_operands(program, theirs, ours)
