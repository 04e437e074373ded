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


def known(program: dict[str, Any], problem: str) -> str | None:
    """Why this difference is no failure, or None."""
    theirs, _, ours = problem.partition("\n         ours ")
    if ours.startswith("KeyError: '"):
        return f"not in the engine yet: {ours[11:].split(chr(39))[0]}"
    error = re.match(r"\w+: ", ours) is not None
    if problem.startswith("row ") and not error:
        if any(re.search(text, theirs, re.S) for text in _NO_KERNEL):
            return "dtypes that TensorFlow has no kernel for are taken"
    if "TensorFlow refuses the map" in problem:
        if re.search(r"that does not match type|Value passed to parameter", problem):
            return "what TensorFlow takes at once and refuses in a graph is taken in both"
    if "more precise element_spec" in problem:
        return f"a static shape TensorFlow does not have: tf.{program['path']}"
    if "x00in" in ours.lower() and program["path"] in ("strings.lower", "strings.upper"):
        return "case of UTF-8: TensorFlow ends a text at its first zero byte"
    if program["path"] == "strings.split" and "[null, null]" in theirs:
        return "strings.split takes one string: an unknown rank must be 0"
    return None
