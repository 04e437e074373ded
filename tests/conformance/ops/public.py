"""What `spillway.tf` shows of functions on tensors."""

from __future__ import annotations

import inspect
from typing import Any

import spillway.tf as tf

MODULES = (
    *("", "math", "strings", "random", "linalg", "nn", "bitwise", "debugging", "image", "io"),
    "random.experimental",
)


def find(path: str) -> Any:
    """The function of a path such as "math.add", or None."""
    found: Any = tf
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            return None
    return found


def _of_graphs(value: Any) -> bool:
    """Whether it is about graphs, sessions or variables: tests/session_programs.py."""
    module = str(getattr(value, "__module__", ""))
    return module.startswith(("spillway.sessions", "spillway.tf.compat"))


def functions() -> list[str]:
    """The path of every public function."""
    paths = []
    for module in MODULES:
        space = find(module) if module else tf
        names = getattr(space, "__all__", None) or [n for n in vars(space) if n[0] != "_"]
        for name in names:
            value = getattr(space, name)
            if callable(value) and not inspect.isclass(value) and not _of_graphs(value):
                paths.append(f"{module}.{name}" if module else name)
    return sorted(set(paths))
