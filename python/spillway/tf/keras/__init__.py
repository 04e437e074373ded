"""`tf.keras`: the part of it that makes datasets, and a little more."""

from __future__ import annotations

from typing import Any

from spillway.tf import _names

from . import ops, preprocessing, utils

__all__ = ["ops", "preprocessing", "utils"]


def __getattr__(name: str) -> Any:
    raise _names.missing(__name__, name)
