"""`./run docs`: writes docs/reference.md from the definitions themselves.

An operator's summary, parameters and example stand in its one `.cc`, a function's in its docstring.
This page repeats them; a test compares, so that it cannot go stale.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference.md"
MODULES = ("math", "strings", "image", "io", "linalg", "nn", "random", "bitwise", "debugging")
_PLACE = re.compile(r" at 0x[0-9a-f]+")
_HEAD = """# Reference

Written by `./run docs` from the definitions; `tests/test_reference.py` keeps it so. Every example is
a doctest. Keywords that many operators share are told of once, here:

| keyword | |
|---|---|
| `name` | of the stage, in errors, reports and the ledger |
| `output_signature` | what a function returns, where tracing does not find it out |
| `on_error`, `retries`, `backoff`, `max_errors`, `max_error_rate`, `quarantine`, `early_end` | [errors](errors.md) |
| `isolate`, `num_workers`, `timeout`, `restarts`, `memory_limit`, `sandbox` | [isolation](isolation.md) |
"""  # noqa: E501


def text() -> str:
    """The whole page."""
    import spillway as sw
    import spillway.tf as tf
    from spillway import _operators

    operators = _operators.definitions
    sources = [op for op in operators.values() if not op["hidden"] and not op["inputs"]]
    stages = [op for op in operators.values() if not op["hidden"] and op["inputs"]]
    generated = {op["name"] for op in sources + stages}
    out = [_HEAD]
    out += ["## Sources: `sw.Dataset.…`", *_operators_of(sources)]
    out += ["## Stages: `ds.…`", *_operators_of(stages)]
    out += ["## More of `sw.Dataset`", *_methods(sw.Dataset, generated)]
    out += ["## `sw`", *_functions(_public(sw), "sw")]
    out += ["## Errors: `sw.errors`", *_errors(sw.errors)]
    out += ["## Functions of tensors: `spillway.tf`", *_tensor_functions(tf)]
    return "\n".join(out).rstrip() + "\n"


def _operators_of(found: Iterable[dict[str, Any]]) -> list[str]:
    out = []
    for op in sorted(found, key=lambda op: str(op["name"])):
        given = [f"{p['name']}={p['default']}" if p["default"] else p["name"] for p in op["params"]]
        out += ["", f"### `{op['name']}({', '.join(given)})`", "", op["summary"], ""]
        out += [f"- `{p['name']}`: {p['doc']}" for p in op["params"] if p["doc"]]
        floor = "none of its own" if op["passes_rows"] else "one element"
        out += ["", f"[Floor](memory.md#the-floor): {floor}."]
        out += _example(op["example"].split("\n"))
    return [*out, ""]


def _methods(cls: type, without: set[str]) -> list[str]:
    found = {}
    for base in reversed(cls.__mro__[:-1]):
        for name, value in vars(base).items():
            value = inspect.unwrap(getattr(value, "__func__", value))
            if inspect.isfunction(value) and not name.startswith("_"):
                found[name] = value
    return _functions({k: v for k, v in found.items() if k not in without}, "Dataset")


def _public(module: ModuleType) -> dict[str, Callable[..., Any]]:
    names: list[str] = getattr(module, "__all__", [n for n in dir(module) if n[0] != "_"])
    found = {name: getattr(module, name) for name in names}
    return {name: value for name, value in found.items() if inspect.isroutine(value)}


def _functions(found: dict[str, Callable[..., Any]], where: str) -> list[str]:
    out = []
    for name, value in sorted(found.items()):
        out += ["", f"### `{where}.{name}{_signature(value)}`", "", *_docstring(value)]
    return [*out, ""]


def _errors(module: ModuleType) -> list[str]:
    out = ["", "| class | also | |", "|---|---|---|"]
    for name, cls in vars(module).items():
        if inspect.isclass(cls) and issubclass(cls, module.SpillwayError):
            also = [base.__name__ for base in cls.__mro__[1:-1] if base.__name__ != "BaseException"]
            out.append(f"| `{name}` | {', '.join(also)} | {_summary(cls)} |")
    return [*out, ""]


def _tensor_functions(tf: ModuleType) -> list[str]:
    """Each function once, under its first name, with its others."""
    names: dict[int, list[str]] = {}
    values: dict[int, Callable[..., Any]] = {}
    for module in ("", *MODULES):
        place = getattr(tf, module) if module else tf
        for name in sorted(dir(place)):
            value = None if name.startswith("_") else getattr(place, name, None)
            if inspect.isfunction(value) and value.__module__.startswith("spillway."):
                path = f"tf.{module}.{name}" if module else f"tf.{name}"
                names.setdefault(id(value), []).append(path)
                values[id(value)] = value
    out = []
    for key, paths in sorted(names.items(), key=lambda item: item[1][0].lower()):
        out += ["", f"### `{paths[0]}{_signature(values[key])}`", ""]
        others = [f"`{path}`" for path in paths[1:]]
        out += [f"Also {', '.join(others)}.", ""] if others else []
        out += _docstring(values[key])
    return out


def _signature(value: Callable[..., Any]) -> str:
    """Names and defaults, without types."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return "(...)"
    plain = [
        p.replace(annotation=inspect.Parameter.empty)
        for p in signature.parameters.values()
        if p.name != "self"
    ]
    return _PLACE.sub(
        "", str(signature.replace(parameters=plain, return_annotation=signature.empty))
    )


def _summary(value: object) -> str:
    return (inspect.getdoc(value) or "").partition("\n")[0]


def _docstring(value: object) -> list[str]:
    """Its words; its example as code."""
    lines = (inspect.getdoc(value) or "").split("\n")
    begin = next((i for i, line in enumerate(lines) if line.startswith(">>> ")), len(lines))
    words = [line.rstrip() for line in lines[:begin]]
    while words and not words[-1]:
        words.pop()
    return [*words, *_example(lines[begin:])]


def _example(lines: list[str]) -> list[str]:
    lines = [line.partition("  # doctest:")[0] for line in lines]
    while lines and not lines[-1]:
        lines.pop()
    return ["", "```pycon", *lines, "```"] if lines else []


def main() -> int:
    """Writes the page."""
    PAGE.write_text(text())
    print(f"{PAGE.name}: {PAGE.read_text().count('### ')} entries")
    return 0


if __name__ == "__main__":
    sys.exit(main())
