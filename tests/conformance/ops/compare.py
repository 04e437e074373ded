"""The first difference between TensorFlow's outcome of a program and ours."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ..values import Array
from .packing import leaves, skeleton, unpack

Data = dict[str, Any]
EPSILON = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
EPSILON |= {"complex64": 2.0**-23, "complex128": 2.0**-52}
SMALLEST = {"float16": 6.1e-5, "bfloat16": 1.2e-38, "float32": 1.2e-38, "float64": 2.3e-308}
SMALLEST |= {"complex64": 1.2e-38, "complex128": 2.3e-308}


def show(data: Any) -> str:
    """A packed nest for people."""
    if isinstance(data, dict) and "error" in data:
        return f"{data['error'][0]}: {data['message'][:120]}"
    if isinstance(data, dict) and "value" in data:
        parts = []
        for leaf in leaves(data["value"]):
            parts.append(f"{leaf[0]}{leaf[1]} {unpack(leaf).reshape(-1)[:12].tolist()}")
        return " | ".join(parts) or "nothing"
    return json.dumps(data)[:300]


def _parts(array: Array) -> Array:
    if array.dtype.kind == "c":
        return np.stack([array.real, array.imag]).astype(np.float64)
    return array.astype(np.float64)


def same_tensor(theirs: list[Any], ours: list[Any], ulps: float, scale: float) -> bool:
    """Equal to the last bit, or within the bound; `scale`: what rounding is relative to."""
    if theirs[:2] != ours[:2]:
        return False
    if theirs[2] == ours[2]:
        return True
    if theirs[0] not in EPSILON:
        return False
    x, y = _parts(unpack(theirs)), _parts(unpack(ours))
    finite = np.isfinite(x)
    if not (np.isnan(x) == np.isnan(y)).all():
        return False
    odd = ~finite & ~np.isnan(x)
    if not (x[odd] == y[odd]).all() or not (finite == np.isfinite(y)).all():
        return False
    x, y = np.where(finite, x, 0), np.where(finite, y, 0)
    if ulps == 0:
        return bool((x == y).all())
    size = np.maximum(np.abs(x), np.abs(y))
    if theirs[0].startswith("complex"):
        size = np.broadcast_to(size.max(axis=0), size.shape)
    bound = ulps * EPSILON[theirs[0]] * np.maximum(size, scale) + SMALLEST[theirs[0]]
    return bool((np.abs(x - y) <= bound).all())


def same_value(
    theirs: Any, ours: Any, ulps: float = 0, scale: float = 0, loose: bool = False
) -> bool:
    if skeleton(theirs) != skeleton(ours):
        return False
    pairs = list(zip(leaves(theirs), leaves(ours), strict=True))
    if loose:
        return all(a[:2] == b[:2] for a, b in pairs)
    return all(same_tensor(a, b, ulps, scale) for a, b in pairs)


def accepted(theirs: list[str], ours: list[str]) -> bool:
    """Whether our error can be caught as TensorFlow's."""
    return theirs[0] in ours


def same_event(
    theirs: Data, ours: Data, ulps: float = 0, scale: float = 0, loose: bool = False
) -> bool:
    if "error" in theirs or "error" in ours:
        both = "error" in theirs and "error" in ours
        return both and accepted(theirs["error"], ours["error"])
    return same_value(theirs["value"], ours["value"], ulps, scale, loose)


def fits(spec: Any, value: Any) -> bool:
    """Whether a value is one of its spec."""
    if skeleton(spec) != skeleton(value):
        return False
    for (dtype, shape), leaf in zip(leaves(spec), leaves(value), strict=True):
        if dtype != leaf[0] or (shape is not None and len(shape) != len(leaf[1])):
            return False
        pairs = zip(shape or [], leaf[1], strict=False)
        if any(want is not None and want != have for want, have in pairs):
            return False
    return True


def _scale(program: Data) -> float:
    """The largest finite operand times the number of items: for the rounding of sums."""
    top = 0.0
    for data in program["operands"]:
        if data[0] in EPSILON:
            array = np.abs(_parts(unpack(data)))
            array = array[np.isfinite(array)]
            if array.size:
                top = max(top, float(array.max()) * max(1, array.size / program["rows"]))
    return top


def problem(program: Data, theirs: Data, ours: Data) -> str | None:
    """What differs first, or None."""
    ulps, loose = program.get("ulps", 0), program.get("loose", False)
    scale = _scale(program) if program.get("scaled") else 0.0
    for i, (a, b) in enumerate(zip(theirs["rows"], ours["rows"], strict=True)):
        if not same_event(a, b, ulps, scale, loose):
            return f"row {i}: TensorFlow {show(a)}\n         ours {show(b)}"
    for way in ("traced", "python"):
        found = _map_problem(program, theirs, ours, way)
        if found:
            return f"{way} map: {found}"
    return None


def _refusal_problem(theirs: Data, error: Data) -> str | None:
    if "refused" in theirs and accepted(theirs["refused"]["error"], error["error"]):
        return None
    # What fails for every element may be refused when it is written.
    rows = theirs["rows"]
    if all("error" in row and accepted(row["error"], error["error"]) for row in rows):
        return None
    return (
        f"refused: {show(error)}\n  TensorFlow {show(theirs.get('refused') or theirs['rows'][0])}"
    )


def _same_in_map(row: Data, event: Data, loose: bool) -> bool:
    if "error" in row and "error" in event:
        first, second = row["error"][0], event["error"][0]
        if first == "OUT_OF_RANGE":  # would be the end of the data: a map says another code
            return bool(second == "INVALID_ARGUMENT")
        return first in event["error"] or second in row["error"]
    if "error" in row or "error" in event:
        return False
    return same_value(row["value"], event["value"], loose=loose)


def _map_problem(program: Data, theirs: Data, ours: Data, way: str) -> str | None:
    made = ours[way]
    if "refused" in made:
        return _refusal_problem(theirs, made["refused"])
    if way == "traced" and "refused" in theirs:
        if any("value" in event for event in made["events"]):
            return f"TensorFlow refuses the map: {show(theirs['refused'])}"
        return None
    if len(made["events"]) != len(ours["rows"]):
        return f"{len(made['events'])} events for {len(ours['rows'])} rows"
    for i, (row, event) in enumerate(zip(ours["rows"], made["events"], strict=True)):
        if not _same_in_map(row, event, program.get("loose", False)):
            return f"row {i}: at once {show(row)}\n         in the map {show(event)}"
        spec = made["spec"] if way == "traced" else None
        if spec is not None and "value" in event and not fits(spec, event["value"]):
            return f"row {i}: {show(event)} is not of the spec {json.dumps(spec)}"
    if way == "traced" and made["native"]:
        return spec_problem(theirs["spec"], made["spec"])
    return None


def spec_problem(theirs: Any, ours: Any) -> str | None:
    """How the element specs differ."""
    if theirs == ours:
        return None
    word = "element_spec"
    if skeleton(theirs) == skeleton(ours) and all(
        _narrower(a, b) for a, b in zip(leaves(theirs), leaves(ours), strict=True)
    ):
        word = "more precise element_spec"
    return (
        f"{word}: TensorFlow {json.dumps(leaves(theirs))}\n         ours {json.dumps(leaves(ours))}"
    )


def _narrower(theirs: Any, ours: Any) -> bool:
    if theirs[0] != ours[0] or theirs[1] is None:
        return bool(theirs[0] == ours[0])
    if ours[1] is None or len(theirs[1]) != len(ours[1]):
        return False
    return all(bool(a is None or a == b) for a, b in zip(theirs[1], ours[1], strict=True))
