"""The ops on tensors, made from their definitions in the engine.

Signature, defaults and docstring of each function come from the op's one `.cc`. `names("math")` is
what `spillway.tf.math` shows of them.

>>> call("add", 1, 2)
Tensor(3, shape=(), dtype=int32)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spillway import _native

native: Any = _native  # without types: nodes come and go as Any
definitions: dict[str, dict[str, Any]] = {op["name"]: op for op in _native.ops()}
INDEX: dict[str, int] = {name: op["index"] for name, op in definitions.items()}
apply: Callable[..., Any] = _native.apply


def call(name: str, *parameters: Any) -> Any:
    """Applies an op to all its parameters, in order."""
    return apply(INDEX[name], *parameters)


def _parameter(param: dict[str, Any]) -> str:
    default = param["default"]
    if param["kind"] == "dtype" and default:
        default = repr(default)
    return f"{param['name']}={default}" if default else str(param["name"])


def _source(op: dict[str, Any]) -> str:
    given = ", ".join([*(_parameter(p) for p in op["params"]), "name=None"])
    passed = ", ".join([str(op["index"]), *(p["name"] for p in op["params"])])
    return f"def {op['name']}({given}):\n    return _apply({passed})\n"


def _function(op: dict[str, Any]) -> Callable[..., Any]:
    namespace: dict[str, Any] = {"_apply": apply, "__name__": "spillway.native_ops"}
    exec(compile(_source(op), "<spillway ops>", "exec"), namespace)
    function: Callable[..., Any] = namespace[op["name"]]
    function.__doc__ = "\n\n".join(part for part in (op["summary"], op["example"]) if part)
    return function


functions: dict[str, Callable[..., Any]] = {name: _function(op) for name, op in definitions.items()}


def names(module: str) -> dict[str, Callable[..., Any]]:
    """The functions a module of `spillway.tf` has: "" for the top, else "math", "strings" ..."""
    found = {}
    for name, op in definitions.items():
        for path in op["paths"].split():
            where, _, last = path.rpartition(".")
            if where == module:
                found[last] = functions[name]
    return found
