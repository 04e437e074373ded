"""Differences that are meant or listed, recognised where random programs meet them."""

from __future__ import annotations

import re
from typing import Any

# TensorFlow refuses a dtype of which we have the result.
_NO_KERNEL = (
    r"is not in the list of allowed values",
    r"Could not find device for node",
    r"not in list of allowed values",
    r"Cast .* to .* is not supported",
    r"was expected to be a \w+ tensor but is a",
    r"Cannot convert True to|must have the same dtype, got .*bool",
    r"can't convert negative int to unsigned",
)


# Differences that wait for their op: reported, not hidden, by the count of each run.
_LISTED = (
    (r"", r"is not defined for complex", "not for complex numbers yet"),
    (r"strings.format", r"", "strings.format shows tensors as NumPy does"),
    (
        r"reduce_a(ll|ny)",
        r"Tensor conversion requested dtype bool",
        "InvalidArgumentError for ValueError",
    ),
    (r"truncate(div|mod)", r"INTERNAL", "TensorFlow calls a division by zero internal"),
    (
        r"truncatediv|floordiv|floormod|mod",
        r"float16",
        "the quotient of small floats is rounded once",
    ),
    (
        r"repeat|sequence_mask|arg(max|min)",
        r"",
        "rewritten now: repeat, sequence_mask, argmax, argmin",
    ),
    (r"matmul|where", r"NOT_FOUND|UNIMPLEMENTED|float16", "no kernel in TensorFlow: another class"),
    (
        r"split|pad",
        r"(only one output|paddings must be less).*ours \w+\[",
        "an axis of length zero",
    ),
    (
        r"one_hot",
        r"Cannot convert 1 to EagerTensor of dtype bool",
        "one_hot of bools needs no values",
    ),
    (
        r"constant",
        r"Scalar tensor has no `len|Expected int32, but got",
        "constants may hold tensors",
    ),
    (r"ensure_shape", r"Shape must be rank -1", "a shape that says nothing is taken"),
    (
        r"truediv|divide",
        r"must have the same dtype",
        "lists take the dtype of the tensor beside them",
    ),
    (r"reduce_mean", r"complex", "the mean of no complex numbers is 0 in TensorFlow"),
    (r"saturate_cast", r"-9.223372036854776e\+18", "TensorFlow clips int64 to the least of it"),
    (r"boolean_mask", r"Number of mask dimensions must be", "a mask of unknown rank is taken"),
    (r"reciprocal", r"NOT_FOUND", "no kernel in TensorFlow: another class"),
)


def known(program: dict[str, Any], problem: str) -> str | None:
    """Why this difference is no failure, or None."""
    theirs, _, ours = problem.partition("\n         ours ")
    if ours.startswith("KeyError: '"):
        return f"not in the engine yet: {ours[11:].split(chr(39))[0]}"
    error = re.match(r"\w+: ", ours) is not None
    refused = any(re.search(text, theirs, re.S) for text in _NO_KERNEL)
    if problem.startswith("row ") and not error and refused:
        return "dtypes that TensorFlow has no kernel for are taken"
    only_graphs = re.search(r"that does not match type|Value passed to parameter", problem)
    if "TensorFlow refuses the map" in problem and only_graphs:
        return "what TensorFlow takes at once and refuses in a graph is taken in both"
    if "more precise element_spec" in problem:
        return f"a static shape TensorFlow does not have: tf.{program['path']}"
    if "x00in" in ours.lower() and program["path"] in ("strings.lower", "strings.upper"):
        return "case of UTF-8: TensorFlow ends a text at its first zero byte"
    if program["path"] == "strings.split" and "[null, null]" in theirs:
        return "strings.split takes one string: an unknown rank must be 0"
    for path, text, why in _LISTED:
        if re.search(path, program["path"]) and re.search(text, problem + str(program), re.S):
            return f"listed: {why}"
    return None
