"""Names: what lies in this package's modules, and what TensorFlow has that is not here."""

from __future__ import annotations

import difflib
import functools
import importlib
import sys
from importlib import resources
from typing import Any

_PACKAGE = __name__.rpartition(".")[0]


@functools.cache
def _tensorflow_names() -> dict[str, frozenset[str]]:
    """The public names of TensorFlow 2.21's modules, by module."""
    text = resources.files(_PACKAGE).joinpath("tensorflow_names.txt").read_text("ascii")
    sections = [line.partition(":") for line in text.splitlines() if not line.startswith("#")]
    return {module: frozenset(names.split()) for module, _, names in sections}


def tensorflow_names(module: str) -> frozenset[str]:
    """The public names of one of TensorFlow's modules."""
    return _tensorflow_names().get(module, frozenset())


_GRADIENTS = (
    "there are no gradients here: train with Keras or PyTorch, fed by this package's datasets "
    "(`ds.to_tf()`, `ds.to_torch()`), and put the step into `spillway.guarded(step, "
    "memory_limit=...)` so that it cannot take the notebook with it; see docs/handover.md"
)
# What to use instead of names that will not come.
_INSTEAD = dict.fromkeys(
    ("GradientTape", "gradients", "hessians", "custom_gradient", "recompute_grad"), _GRADIENTS
)


def missing(module: str, name: str) -> AttributeError:
    """The error for a name that a module of this package has not.

    >>> print(missing("spillway.tf.data", "Datset"))
    spillway.tf.data has no 'Datset'; the nearest is 'Dataset'
    >>> print(missing("spillway.tf", "xla"))
    spillway.tf has no 'xla': it is TensorFlow's, and not here yet
    """
    if name in _INSTEAD or (name.endswith("Optimizer") and not name.startswith("_")):
        text = f"{module} has no {name!r}: {_INSTEAD.get(name, _GRADIENTS)}"
        return AttributeError(text, name=name, obj=sys.modules[module])
    ours = module.removeprefix(_PACKAGE).lstrip(".")
    have = vars(sys.modules[module]).get("__all__", ())
    near = difflib.get_close_matches(name, have, 1, 0.6)
    text = f"{module} has no {name!r}"
    if name in _tensorflow_names().get(ours, ()):
        text += ": it is TensorFlow's, and not here yet"
    if near:
        text += f"; the nearest is {near[0]!r}"
    return AttributeError(text, name=name, obj=sys.modules[module])


def merge(module: str) -> None:
    """Puts the tensor ops of `spillway.ops` into the module of the same name, "" for `tf` itself.

    What a module defines itself stays. A namespace that is only in `spillway.ops` (`math`,
    `strings`) becomes an attribute as it is.
    """
    source = "spillway.ops" + (f".{module}" if module else "")
    try:
        ops: Any = importlib.import_module(source)
    except ModuleNotFoundError as error:
        if error.name is None or not source.startswith(error.name):
            raise
        return
    target = vars(sys.modules[f"{_PACKAGE}.{module}" if module else _PACKAGE])
    names = getattr(ops, "__all__", [name for name in vars(ops) if not name.startswith("_")])
    for name in names:
        target.setdefault(name, getattr(ops, name))
    target["__all__"] = sorted({*target.get("__all__", ()), *names})
