"""Compares two outcomes of a program and says where they first differ."""

from __future__ import annotations

import json
import re
from typing import Any

from .program import pretty

# What an error must say, beside its code: where TensorFlow's text holds the first, ours must hold
# all of the second, in any case of letters.
SUBSTANCE: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Batch size must be greater than zero", ("batch", "greater than zero")),
    ("Cannot batch tensors with different shapes in component", ("different shapes", "component")),
    ("Attempted to pad to a smaller size than the input element", ("pad", "smaller")),
    ("buffer_size must be greater than zero or UNKNOWN", ("buffer_size", "greater than zero")),
    ("Window size must be greater than zero", ("window size", "greater than zero")),
    ("Window shift must be greater than zero", ("window shift", "greater than zero")),
    ("Window stride must be greater than zero", ("window stride", "greater than zero")),
    ("cycle_length must be greater than zero", ("cycle_length", "greater than zero")),
    ("block_length must be greater than zero", ("block_length", "greater than zero")),
    ("step must be a non-zero integer", ("step", "non-zero")),
    ("No files matched pattern", ("no files matched", ".x")),
    ("Selector index out of range", ("selector index out of range",)),
    ("Number of shards must be greater than zero", ("shards", "greater than zero")),
    ("Index must be between 0 and", ("index must be between 0 and",)),
    ("yielded an element of shape", ("yielded", "shape")),
    ("did not match the expected structure", ("structure",)),
    ("could not be converted to the expected type", ("converted", "type")),
)

_BOOM = re.compile(r"boom(?: in the generator| -?\d+)")


def message_problem(theirs: str, ours: str) -> str | None:
    """What our message lacks of the substance of theirs."""
    found = _BOOM.search(theirs)
    needed = [found.group()] if found else []
    for text, parts in SUBSTANCE:
        if text in theirs:
            needed += parts
    missing = [part for part in needed if part.lower() not in ours.lower()]
    return f"the message lacks {missing}: {ours!r}" if missing else None


def _show(data: Any) -> str:
    text = data if isinstance(data, str) else json.dumps(data)
    return text if len(text) < 300 else text[:300] + "..."


def _same_events(theirs: list[Any], ours: list[Any]) -> str | None:
    for i, event in enumerate(theirs):
        if i >= len(ours):
            return f"event {i}: TensorFlow {_show(event)}\n         ours: nothing"
        problem = _event_problem(event, ours[i])
        if problem is not None:
            return f"event {i}: {problem}"
    if len(ours) > len(theirs):
        return f"event {len(theirs)}: TensorFlow: nothing\n         ours {_show(ours[len(theirs)])}"
    return None


def _event_problem(theirs: Any, ours: Any) -> str | None:
    both = f"TensorFlow {_show(theirs)}\n         ours       {_show(ours)}"
    if isinstance(theirs, dict) and "error" in theirs:
        if not isinstance(ours, dict) or "error" not in ours:
            return both
        if theirs["error"] not in ours.get("classes", [ours["error"]]):
            return both
        return message_problem(theirs["message"], ours["message"])
    if isinstance(ours, dict) and "error" in ours:
        return both
    return None if _same_value(theirs, ours) else both


def _same_value(theirs: Any, ours: Any) -> bool:
    """Equality, where the events of a nested dataset are compared as events."""
    if isinstance(theirs, dict) and isinstance(ours, dict) and theirs.keys() == ours.keys():
        if "events" in theirs:
            return _same_events(theirs["events"], ours["events"]) is None
        return all(_same_value(theirs[key], ours[key]) for key in theirs)
    if (
        isinstance(theirs, list)
        and isinstance(ours, list)
        and any(isinstance(part, dict) for part in theirs)
    ):
        pairs = zip(theirs, ours, strict=False)
        return len(theirs) == len(ours) and all(_same_value(a, b) for a, b in pairs)
    return bool(theirs == ours)


def _construction(theirs: dict[str, Any], ours: dict[str, Any]) -> str | None:
    want, got = theirs["construction"], ours.get("construction")
    if got is None:
        return f"TensorFlow refuses: {want}\nours builds: {_show(ours)}"
    if want["where"] != got["where"]:
        return f"TensorFlow refuses at {want}\nours at {got}"
    if want["classes"][0] not in got["classes"]:
        return f"TensorFlow raises {want}\nours {got}"
    return message_problem(want["message"], got["message"])


def difference(theirs: dict[str, Any], ours: dict[str, Any]) -> str | None:
    """The first difference between TensorFlow's outcome and ours, or None."""
    if "construction" in theirs:
        return _construction(theirs, ours)
    if "epochs" not in ours:
        return f"ours fails: {_show(ours)}"
    for part in ("spec", "cardinality"):
        if theirs[part] != ours[part]:
            return f"{part}: TensorFlow {_show(theirs[part])}\n      ours {_show(ours[part])}"
    for number, (want, got) in enumerate(zip(theirs["epochs"], ours["epochs"], strict=True)):
        problem = _same_events(want, got)
        if problem is not None:
            return f"epoch {number}, {problem}"
    return None


def explain(program: dict[str, Any], problem: str) -> str:
    return f"{pretty(program)}\n  -> {problem}\n"
