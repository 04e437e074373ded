"""Whether a hostile call ended well: with a value, or an error that says whose argument it is."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from spillway import _native

Data = dict[str, Any]

_NEVER: tuple[str, ...] = (
    "SystemError",
    "RecursionError",
    "AttributeError",
    "AssertionError",
    "UnboundLocalError",
)
_NEVER += ("IndexError", "KeyError", "NotImplementedError", "ZeroDivisionError", "OverflowError")
_MEANT = ("TypeError", "ValueError", "SpillwayError")
_BINDING = re.compile(r"bad[_ ]cast|incompatible function arguments|nanobind|std::|basic_string")
# Types and scopes, which no op is behind: Python's own TypeError and ValueError will do.
_NO_OPS: tuple[str, ...] = (
    "tf.nest.",
    "tf.TensorS",
    "tf.Variable",
    "as_dtype",
    "function",
    "name_scope",
    "group",
)
_NO_OPS += ("control_dependencies", "device", "type_spec_from_value", "is_tensor", "io.write_file")


def fault(program: Data, outcome: Data) -> str | None:
    """What is wrong with an outcome; None: nothing."""
    if "lost" in outcome:
        return f"lost the process: {outcome}"
    if "harness" in outcome:
        return str(outcome["harness"])
    if outcome["end"] == "value" or outcome["boom"]:
        return None
    classes, message = outcome["classes"], outcome["message"]
    if outcome["kind"] == "resource" or "MemoryError" in classes[1:]:
        return None  # what does not fit says so in its own way
    if "OSError" in classes and message:
        return None  # a path that is none: the operating system's words
    if classes[0] in ("MemoryError", "TypeError") and "lies" in program["value"]:
        return None  # Python asked an object how long it is, or for its items
    if classes[0] in _NEVER or not set(classes) & set(_MEANT):
        return f"{classes[0]}"
    if _BINDING.search(message):
        return "the binding's own words"
    if program["path"].startswith(_NO_OPS) or _python_refused(message):
        return None
    if outcome["where"].startswith("<hostile>"):
        return None  # the program's own function raised it
    if "SpillwayError" not in classes:
        return f"a bare {classes[0]}"
    if outcome["kind"] == "bug":
        return "a bug of ours"
    if outcome["stage"] or outcome["file"]:
        return None  # an element's error names its stage and line
    if outcome["kind"] == "data" and outcome["line"] and _named(program, message):
        return None  # the values are wrong, not the argument
    if "UnimplementedError" in classes:
        return None  # what is not here is said by name
    own = outcome["line"].startswith("<hostile>")
    return _unnamed(program, message) if own else f"not the user's line: {outcome['line']}"


def _python_refused(message: str) -> bool:
    """Python's own words for a call that its signature does not allow."""
    return re.search(r"\w+\(\) (missing|takes|got)", message) is not None


@cache
def _registered() -> frozenset[str]:
    return frozenset(op["name"] for op in (*_native.ops(), *_native.operators()))


def _named(program: Data, message: str) -> bool:
    own = program["path"].rpartition(".")[2]
    first = re.match(r"(\w+)\b", message)
    if program["path"].startswith("Tensor."):
        return re.search(r"\bTensor\b|\bindices\b", message) is not None or (
            first is not None and first[1] in _registered()
        )
    known = _registered() | {program.get("function", own)}
    return own in message or (first is not None and first[1] in known)


def _unnamed(program: Data, message: str) -> str | None:
    if not _named(program, message):
        return "does not name the function"
    if program["path"].startswith("Tensor."):
        return None
    words = rf"\b{re.escape(program['parameter'])}\b|\boperand \d|\n  given |^\w+: \w+:? "
    return None if re.search(words, message) else "does not name the parameter"
