"""Differences that are meant or listed, recognised where random programs meet them."""

from __future__ import annotations

import re
from typing import Any

from ..ops.known import known as known_of_ops


def known(program: dict[str, Any], problem: str) -> str | None:
    """Why this difference is no failure, or None."""
    theirs, _, ours = problem.partition("\n         ")
    if "OperatorNotAllowedInGraphError" in theirs:
        return "a traced tensor of known length may be iterated over"
    given = re.match(r"event \d+: (TensorFlow|traced) (\w+\[|nothing)", theirs) is not None
    unused = given and re.match(r"(python|traced|as Python) [A-Z_]+: ", ours) is not None
    unused = unused or re.match(r"(TensorFlow|traced) gives \d+ events, ", problem) is not None
    if program["broken"] and unused:
        return "an op that fails and whose result is not used: it runs as Python, not in a graph"
    if theirs == "TensorFlow refuses: ValueError: as written" and not ours:
        return "what a function raises while a dimension is not known is left to the elements"
    twice = re.search(r"tf\.stack\(\[(.+), \1\]", program["source"])
    parts = twice is not None and "tf.split(" in twice[1]
    named = "tf.split(" in program["source"] and "tf.stack([" in program["source"]
    reshaped = re.match(r"event \d+: TensorFlow INVALID_ARGUMENT: Input to reshape is a ", theirs)
    if (parts and re.match(r"event \d+: TensorFlow ", theirs)) or (named and reshaped):
        return "TensorFlow's graph stacks the first part of a split when another is stacked twice"
    if "TensorFlow refuses: ValueError" in theirs and ours.startswith("traced INVALID_ARGUMENT"):
        return "traced shapes that do not fit: InvalidArgumentError, not ValueError as well"
    if "TensorFlow refuses: TypeError" in theirs and "INVALID_ARGUMENT" in ours:
        return "traced dtypes that do not fit: InvalidArgumentError, not TypeError as well"
    failed = ours.startswith("python INVALID_ARGUMENT: InvalidArgumentError: ")
    if program["broken"] and "TensorFlow refuses" in theirs and failed:
        return "a function that fails twice: TensorFlow looks at all shapes before it runs any op"
    return known_of_ops({"path": program["use"], **program}, problem)
