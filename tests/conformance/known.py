"""Differences that docs/differences.md lists, recognised where random programs meet them."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from typing import Any

from .program import operators

Program = dict[str, Any]


def sequential(program: Program) -> Program | None:
    """The same program with parallel interleaves and batches made sequential; None without any."""
    changed = copy.deepcopy(program)
    found = False
    stack: list[Any] = [changed]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            if node.get("op") in ("interleave", "batch") and node.get("parallel") is not None:
                node["parallel"] = None
                found = True
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)
    return changed if found else None


def reason(
    program: Program, problem: str, agrees_with_tensorflow: Callable[[Program], bool]
) -> str | None:
    """Why this difference is meant, or None. The callable compares our outcome of `program` with
    TensorFlow's outcome of its argument."""
    theirs, _, ours = problem.partition("ours")
    used = set(operators(program))
    if "MaybeMoveContiguousSlices" in theirs and '"value"' in ours:
        return "rebatch: an element without rows has no say in the shape of a batch"
    windows = "window" in used and used & {"enumerate", "zip"}
    if windows and "TensorFlow end" in theirs and '"error"' in ours:
        return "zip of a window: an error that comes with the end is followed by the others"
    if "TensorFlow refuses" in problem and "are not compatible" in problem:
        return "a function that makes datasets is called for elements, not when it is written"
    shapes = re.findall(r"shape \[([\d,]*)\]", ours)
    empty = bool(shapes) and all("0" in shape.split(",") for shape in shapes)
    if empty and "Cannot rebatch rows with different shapes" in ours and '"value"' in theirs:
        return "rebatch: rows without items must have the same shape too"
    if '"pad_to_boundary": true' in json.dumps(program) and used & {"flat_map", "interleave"}:
        return "a function that makes datasets sees the shapes of its element, not of the spec"
    if "from_generator" in used and "does not fit" in ours and '"value"' in theirs:
        return "a number that the declared dtype does not hold is that element's error"
    plain = sequential(program)
    if plain is not None and agrees_with_tensorflow(plain):
        return "parallel interleave and batch: errors stand where the sequential form has them"
    return None
