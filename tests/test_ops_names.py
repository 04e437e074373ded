"""Every name a module of ops shows is there."""

from __future__ import annotations

import importlib

import pytest

MODULES = ("bitwise", "debugging", "image", "io", "linalg", "math", "nn", "random", "strings")


@pytest.mark.parametrize("module", MODULES)
def test_every_name_that_is_shown_is_there(module: str) -> None:
    found = importlib.import_module(f"spillway.ops.{module}")
    assert [name for name in found.__all__ if not hasattr(found, name)] == []
