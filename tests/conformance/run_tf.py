"""Runs programs in TensorFlow: JSON lines in on stdin, one outcome line out for each.

It runs in TensorFlow's own environment: `python -m tests.conformance.run_tf < programs.jsonl`.
"""

from __future__ import annotations

import functools
import gc
import importlib
import json
import os
import re
import sys
from collections.abc import Callable
from typing import Any

from . import functions, infer
from .build import Builder, element
from .outcome import CODES, Reading, run
from .spec import (
    Inner,
    Leaf,
    Nest,
    NotApplicableError,
    dense_leaves,
    of_python,
    pack,
    to_json,
    unpack,
)

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
tf: Any = importlib.import_module("tensorflow")


def _leaf(spec: Any) -> Nest:
    if isinstance(spec, tf.data.DatasetSpec):
        return Inner(of_python(spec.element_spec, _leaf))
    shape = None if spec.shape.rank is None else tuple(spec.shape.as_list())
    return Leaf(spec.dtype.name, shape)


class TensorFlow:
    """TensorFlow as a backend: functions run through `numpy_function`, their types are set."""

    dataset = tf.data.Dataset

    def spec(self, ds: Any) -> Nest:
        return of_python(ds.element_spec, _leaf)

    def signature(self, spec: Nest) -> Any:
        flat = [tf.TensorSpec(leaf.shape, leaf.dtype) for leaf in dense_leaves(spec)]
        return pack(spec, flat)

    def declare(self, spec: Nest) -> dict[str, Any]:
        return {}

    def function(self, desc: functions.Desc, spec: Nest) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            # The type of the arguments, not the one given: TensorFlow widens the state of a scan.
            given = of_python(element(spec, args), _tensor_leaf)
            made = functions.signature(desc, given)
            types = dense_leaves(made)
            flat = tf.numpy_function(
                lambda *leaves: functions.call(desc, given, list(leaves)),
                unpack(given, element(spec, args)),
                [tf.dtypes.as_dtype(leaf.dtype) for leaf in types],
            )
            for tensor, leaf in zip(flat, types, strict=True):
                tensor.set_shape(leaf.shape)
            return pack(made, flat)

        return self.plain(call)

    def plain(self, function: Callable[..., Any]) -> Callable[..., Any]:
        unconverted: Callable[..., Any] = tf.autograph.experimental.do_not_convert(function)
        return unconverted

    def options(self, **settings: Any) -> Any:
        options = tf.data.Options()
        for path, value in settings.items():
            *groups, name = path.split(".")
            target = functools.reduce(getattr, groups, options)
            setattr(target, name, value)
        return options

    def dtype(self, name: str) -> Any:
        return tf.dtypes.as_dtype(name)


def _tensor_leaf(tensor: Any) -> Nest:
    shape = None if tensor.shape.rank is None else tuple(tensor.shape.as_list())
    return Leaf(tensor.dtype.name, shape)


class Plain(Builder):
    """Builds the program, then switches off all that reorders, fuses or tunes."""

    def program(self, program: dict[str, Any], where: str = "") -> Any:
        ds = super().program(program, where)
        if where:
            return ds
        options = tf.data.Options()
        options.experimental_optimization.apply_default_optimizations = False
        options.autotune.enabled = False
        options.deterministic = True
        return ds.with_options(options)


_NOISE = (
    (re.compile(r"\{\{function_node [^}]*\}\}\s*"), ""),
    (re.compile(r"Error in user-defined function passed to .*? with iterator: \S+: "), ""),
    (re.compile(r"\s*\[\[\{?\{?node .*", re.S), ""),
    (re.compile(r"\s*\[Op:\w+\].*", re.S), ""),
    (re.compile(r"^(\w+(?:Error|Iteration)): (.*?)\nTraceback .*", re.S), r"\1: \2"),
    (re.compile(r"\n\s*Traceback .*", re.S), ""),
)


def message(error: Exception) -> str:
    """What the error says, without node names and Python stacks."""
    text = str(getattr(error, "message", None) or error)
    for pattern, by in _NOISE:
        text = pattern.sub(by, text)
    return text.strip()[:400]


def classes(error: Exception) -> list[str]:
    if isinstance(error, tf.errors.OpError):
        return [CODES[error.error_code]]
    return [type(error).__name__]


READING = Reading(numpy=lambda tensor: tensor.numpy(), classes=classes, message=message)


def check_inference(program: dict[str, Any], outcome: dict[str, Any]) -> None:
    """Notes a difference between the rules of this harness and TensorFlow's own type."""
    if "spec" not in outcome:
        return
    try:
        inferred = to_json(infer.program_spec(program))
    except (NotApplicableError, KeyError) as error:
        inferred = repr(error)
    if inferred != outcome["spec"]:
        outcome["inferred"] = inferred


def main() -> None:
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        program = json.loads(line)
        builder = Plain(TensorFlow())
        outcome = run(program, builder, READING)
        builder.close()
        check_inference(program, outcome)
        out.write(json.dumps(outcome, separators=(",", ":")) + "\n")
        out.flush()
        gc.collect()


if __name__ == "__main__":
    main()
