"""The package's pure-Python modules, also where its native module is not built."""

from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path
from typing import Any

_SOURCE = Path(__file__).resolve().parent.parent / "python"


def load(name: str) -> Any:
    """`spillway.<name>`; under a bare package when the whole one cannot be imported."""
    if str(_SOURCE) not in sys.path:
        sys.path.insert(0, str(_SOURCE))
    if "spillway" not in sys.modules:
        try:
            importlib.import_module("spillway._native")
        except ImportError:
            package = types.ModuleType("spillway")
            package.__path__ = [str(_SOURCE / "spillway")]
            sys.modules["spillway"] = package
    return importlib.import_module(f"spillway.{name}")
