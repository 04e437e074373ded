"""The first difference of a program of functions: with TensorFlow, or of the two ways here."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ..ops.compare import EPSILON, accepted, fits, same_tensor, same_value, show, spec_problem
from ..ops.packing import leaves, skeleton, unpack

Data = dict[str, Any]
ULPS = 256  # of the largest number of a tensor: sums of products may cancel


def _near(theirs: Any, ours: Any, single: bool) -> bool:
    if skeleton(theirs) != skeleton(ours):
        return False
    top = 1.0
    for leaf in leaves(theirs):
        if leaf[0] in EPSILON:
            array = np.abs(unpack(leaf).astype(np.float64))
            array = array[np.isfinite(array)]
            top = max(top, float(array.max())) if array.size else top
    for a, b in zip(leaves(theirs), leaves(ours), strict=True):
        # A float64 that may come of a float32 has its last place.
        ulps = 16 * 2.0**29 if single and a[0] == "float64" else ULPS
        if not same_tensor(a, b, ulps, top):
            return False
    return True


def _single(program: Data) -> bool:
    return "float32" in program["source"] or any(d[0] == "float32" for d in program["data"])


def _same(theirs: Data, ours: Data, near: bool, single: bool = False) -> bool:
    if "error" in theirs or "error" in ours:
        both = "error" in theirs and "error" in ours
        if not near:
            return both and theirs["error"][0] == ours["error"][0]
        return both and accepted(theirs["error"], ours["error"])
    if near:
        return _near(theirs["value"], ours["value"], single)
    return same_value(theirs["value"], ours["value"])


def _events(
    theirs: list[Data],
    ours: list[Data],
    names: tuple[str, str],
    near: bool,
    single: bool = False,
) -> str | None:
    for i, (a, b) in enumerate(zip(theirs, ours, strict=False)):
        if not _same(a, b, near, single):
            return f"event {i}: {names[0]} {show(a)}\n         {names[1]} {show(b)}"
    if len(theirs) != len(ours):
        return f"{names[0]} gives {len(theirs)} events, {names[1]} {len(ours)}"
    return None


def _caught(theirs: Data, ours: Data) -> bool:
    """Whether our error is theirs; one of Python's classes has a code in a function that ran."""
    return accepted(theirs["error"], ours["error"]) or theirs["error"][0] in ours["message"]


def _of_tensorflow(theirs: Data, ours: Data, way: str, single: bool) -> str | None:
    if "refused" in theirs:
        first = ours.get("refused") or next(iter(ours["events"]), None)
        if first is None:
            return None if way == "python" else f"TensorFlow refuses: {show(theirs['refused'])}"
        if "error" not in first:
            return f"TensorFlow refuses: {show(theirs['refused'])}\n         {way}: {show(first)}"
        if _caught(theirs["refused"], first):
            return None
        return f"TensorFlow refuses: {show(theirs['refused'])}\n         {way} {show(first)}"
    if "refused" in ours:
        events = theirs["events"]
        if events and all(
            "error" in e and accepted(e["error"], ours["refused"]["error"]) for e in events
        ):
            return None
        return f"refused {way}: {show(ours['refused'])}"
    found = _events(theirs["events"], ours["events"], ("TensorFlow", way), True, single)
    if found:
        return found
    if way == "traced" and ours["spec"] is not None:
        found = spec_problem(theirs["spec"], ours["spec"])
        if found:
            return found
        if theirs["cardinality"] != ours["cardinality"]:
            return f"cardinality: TensorFlow {theirs['cardinality']}, ours {ours['cardinality']}"
    return None


def problem(program: Data, theirs: Data, ours: Data) -> str | None:
    """What differs first, or None."""
    traced, python = ours["traced"], ours["python"]
    if "skipped" not in theirs:
        for way in ("traced", "python"):
            found = _of_tensorflow(theirs, ours[way], way, _single(program))
            if found:
                return found
    if "refused" in traced:
        # A function that always fails fails here for the first element.
        failed = python.get("refused") or next(iter(python["events"]), None)
        if failed is None or ("error" in failed and _caught(traced["refused"], failed)):
            return None
        return f"refused traced: {show(traced['refused'])}\n         as Python {show(failed)}"
    if "refused" in python:
        return f"refused as Python: {show(python['refused'])}"
    found = _events(traced["events"], python["events"], ("traced", "as Python"), False)
    if found is None and traced["spec"] is not None:
        for event in traced["events"]:
            if "value" in event and not fits(traced["spec"], event["value"]):
                return f"{show(event)} is not of the spec {json.dumps(traced['spec'])}"
    return found
