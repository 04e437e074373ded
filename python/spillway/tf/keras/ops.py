"""`tf.keras.ops`: the part of it that TensorFlow's own modules have no name for."""

from __future__ import annotations

from typing import Any

from spillway.ops._layers import layer_normalization
from spillway.tf import _names

__all__ = ["layer_normalization"]


def __getattr__(name: str) -> Any:
    raise _names.missing(__name__, name)
