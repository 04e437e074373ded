"""The dataset's methods, made from the operators' definitions in the engine.

Signature, defaults and docstring of each method come from the operator's one `.cc`. The same text,
written to `_operators.pyi` by the build, is what type checkers see.
"""

from __future__ import annotations

from typing import Any

from spillway import _native, policies

_TYPES = {
    "int": "int",
    "float": "float",
    "bool": "bool",
    "str": "Any",
    "function": "Callable[..., Any]",
    "dataset": "Dataset",
    "datasets": "Any",
}
_DATASETS = ("dataset", "datasets")


def _has_functions(op: dict[str, Any]) -> bool:
    return any(param["type"] == "function" for param in op["params"])


def _keywords(op: dict[str, Any]) -> tuple[str, ...]:
    if not op["policy"]:
        return ()
    return policies.NAMES + (policies.GUARD_NAMES if _has_functions(op) else ())


def _signature(op: dict[str, Any], typed: bool) -> list[str]:
    out = []
    for param in op["params"]:
        text = param["name"]
        default = param["default"]
        if typed:
            kind = _TYPES.get(param["type"], "Any")
            text += f": {kind}" + (" | None" if default == "None" and kind != "Any" else "")
        if default:
            text += " = ..." if typed else f"={default}"
        out.append(text)
    out.append("name: str | None = ..." if typed else "name=None")
    if _has_functions(op):
        out.append("output_signature: Any = ..." if typed else "output_signature=None")
    if op["policy"]:
        out.append("*")
        out += [f"{name}: Any = ..." if typed else f"{name}=None" for name in _keywords(op)]
    return out


def _docstring(op: dict[str, Any]) -> str:
    lines = [op["summary"], ""]
    lines += [f"{p['name']}: {p['doc']}." for p in op["params"]]
    if op["policy"]:
        lines.append(f"{', '.join(policies.NAMES)}: for elements that fail, see `OnError`.")
        if _has_functions(op):
            lines.append(
                "isolate: run the function in worker processes, where it may crash; num_workers: "
                "how many of them, with as many calls at a time; timeout: "
                "seconds for an element there; restarts: further attempts after a crash (1); "
                "memory_limit: bytes a worker may allocate; sandbox: the worker may only compute "
                "and read files (True), or only those in some folders."
            )
    if op["example"]:
        lines += [
            "",
            ">>> import spillway as sw",
            ">>> import numpy as np",
            *op["example"].split("\n"),
        ]
    return "\n".join(lines)


def _method(op: dict[str, Any]) -> str:
    names = "".join(f"{p['name']}, " for p in op["params"])
    signature = "output_signature" if _has_functions(op) else "None"
    static = op["inputs"] == 0 or (
        all(p["type"] in _DATASETS for p in op["params"][:1])
        and (op["params"][:1] and op["params"][0]["type"] == "datasets")
    )
    args = _signature(op, typed=False)
    head = "    @staticmethod\n" if static else ""
    args = args if static else ["self", *args]
    caller = "None" if static else "self"
    given = ", ".join(f"{name}={name}" for name in _keywords(op))
    passed = f"{op['name']!r}, {caller}, ({names}), {signature}, name, dict({given})"
    return (
        f"{head}    def {op['name']}({', '.join(args)}):\n"
        f"        return _apply({passed})\n"
        f"    {op['name']}.__doc__ = _DOCS[{op['name']!r}]\n"
    )


def source() -> str:
    """Python source of the class `Operators`."""
    methods = [_method(op) for op in _native.operators() if not op["hidden"]]
    return "class Operators:\n    __slots__ = ()\n" + "".join(methods)


def stub() -> str:
    """What `_operators.pyi` holds."""
    from spillway.dataset import Dataset
    from spillway.file_sources import FileSources

    lines = [
        "from collections.abc import Callable",
        "from typing import Any",
        "from spillway.dataset import Dataset",
        "definitions: dict[str, dict[str, Any]]",
        "def stub() -> str: ...",
        "def source() -> str: ...",
        "class Operators:",
    ]
    for op in _native.operators():
        # What Dataset writes by hand has its own types.
        if op["hidden"] or op["name"] in {*vars(Dataset), *vars(FileSources)}:
            continue
        static = "@staticmethod" in _method(op)
        args = _signature(op, typed=True)
        if static:
            lines.append("    @staticmethod")
        shown = ", ".join([*([] if static else ["self"]), *args])
        lines.append(f"    def {op['name']}({shown}) -> Dataset: ...")
    return "\n".join(lines) + "\n"


definitions: dict[str, dict[str, Any]] = {op["name"]: op for op in _native.operators()}


def _apply(*args: Any) -> Any:
    from spillway.building import apply_operator

    return apply_operator(*args)


_namespace: dict[str, Any] = {
    "_apply": _apply,
    "_DOCS": {name: _docstring(op) for name, op in definitions.items()},
    "__name__": "spillway.dataset",
}
exec(compile(source(), __file__, "exec"), _namespace)
Operators: Any = _namespace["Operators"]
