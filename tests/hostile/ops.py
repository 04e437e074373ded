"""Calls of every function of tensors with one argument that is a hostile value.

The calls are those recorded for the conformance tests, so every public function occurs, and with
them every op of the engine.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cache
from typing import Any

from tests.conformance.ops import public
from tests.conformance.ops.record import load
from tests.conformance.ops.table import ELSEWHERE

from .mutating import place

Data = dict[str, Any]
_SKIPPED = {"name", "self", "args", "kwargs"}
_FAILS = 10**9  # characters that a call which fails is worse than one which does not

# What has no recorded call.
_WRITTEN = {
    "as_dtype": "tf.as_dtype('int32')",
    "broadcast_static_shape": "tf.broadcast_static_shape(tf.TensorShape([2]), tf.TensorShape([1]))",
    "get_static_value": "tf.get_static_value(tf.constant(1), partial=False)",
    "io.matching_files": "tf.io.matching_files('no.folder/*')",
    "io.read_file": "tf.io.read_file('/dev/null')",
    "io.write_file": "tf.io.write_file('written.text', 'a')",
    "is_tensor": "tf.is_tensor(1)",
    "random.set_seed": "tf.random.set_seed(1)",
    "function": "tf.function(lambda x: x)(1)",
    "device": "tf.device('/cpu:0')",
    "name_scope": "tf.name_scope('a')",
    "group": "tf.group(tf.constant(1))",
    "image.sample_distorted_bounding_box": (
        "tf.image.sample_distorted_bounding_box([9, 9, 3], [[[0.0, 0.0, 1.0, 1.0]]])"
    ),
    "image.stateless_sample_distorted_bounding_box": (
        "tf.image.stateless_sample_distorted_bounding_box("
        "[9, 9, 3], [[[0.0, 0.0, 1.0, 1.0]]], [1, 2])"
    ),
    "strings.unicode_transcode": "tf.strings.unicode_transcode(['a'], 'UTF-8', 'UTF-16-BE')",
    "nn.dropout": "tf.nn.dropout([1.0, 2.0], 0.5)",
    "random_normal": "tf.random_normal([2])",
    "random_uniform": "tf.random_uniform([2])",
    "truncated_normal": "tf.truncated_normal([2])",
    "set_random_seed": "tf.set_random_seed(1)",
    "type_spec_from_value": "tf.type_spec_from_value(1)",
    "control_dependencies": "tf.control_dependencies([tf.constant(1)])",
}
_TENSORS = {
    **dict.fromkeys(
        ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "floordiv", "mod", "pow", "rpow"),
        "tf.constant([3, 4])",
    ),
    **dict.fromkeys(("lt", "le", "gt", "ge", "eq", "ne"), "tf.constant([3, 4])"),
    **dict.fromkeys(("and", "or", "xor"), "tf.constant([True, False])"),
    "matmul": "tf.constant([[3, 4], [5, 6]])",
    "getitem": "tf.constant([3, 4])",
}
_WRITTEN |= {f"Tensor.__{name}__": f"{x}.__{name}__(1)" for name, x in _TENSORS.items()}


@cache
def calls() -> dict[str, Data]:
    """A small recorded call of each function that gives a value."""
    found: dict[str, Data] = {}
    for program, outcome in load():
        path = program["path"]
        rows = outcome.get("rows", ())
        good = bool(rows) and not any("error" in row for row in rows)
        size = len(str(program)) + (0 if good else _FAILS)
        if path not in found or size < found[path]["size"]:
            found[path] = {**program, "size": size}
    for path, source in _WRITTEN.items():
        found[path] = {
            "path": path,
            "size": 0,
            "source": f"lambda: {source}",
            "operands": [],
            "rows": 1,
        }
    return found


def missing() -> list[str]:
    """Public functions without a call here."""
    return [path for path in public.functions() if path not in calls() and path not in ELSEWHERE]


def parameters(path: str) -> list[str]:
    """Names of the parameters of a public function."""
    if path.startswith("Tensor."):
        return ["other"]  # some are C's, without a signature
    found = inspect.signature(public.find(path)).parameters.values()
    stars = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [each.name for each in found if each.kind not in stars and each.name not in _SKIPPED]


def places(path: str) -> list[str]:
    """Parameters of a function that can be given something."""
    return parameters(path) or ["*"]


def program(path: str, parameter: str, value: str) -> Data:
    """The recorded call of a function with a hostile value in the place of one argument."""
    base = calls()[path]
    source = place(base["source"], path, parameters(path), parameter)
    return {
        "kind": "op",
        "path": path,
        "function": getattr(public.find(path), "__name__", ""),  # which may go by several names
        "parameter": parameter,
        "value": value,
        "source": source,
        "operands": base["operands"],
    }


def every(values: list[str]) -> Iterator[tuple[str, str, str]]:
    """Function, parameter and value of every program."""
    for path in sorted(calls()):
        for parameter in places(path):
            for value in values:
                yield path, parameter, value
