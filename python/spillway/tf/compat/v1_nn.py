"""`tf.compat.v1.nn`: `tf.nn`, and what only TensorFlow 1 has."""

from __future__ import annotations

from typing import Any

from spillway.ops import nn as _nn
from spillway.ops._layers import fused_batch_norm as fused_batch_norm
from spillway.tf import _names

for _name in _nn.__all__:
    globals()[_name] = getattr(_nn, _name)
__all__ = sorted([*_nn.__all__, "fused_batch_norm"])


def __getattr__(name: str) -> Any:
    raise _names.missing(__name__, name)
