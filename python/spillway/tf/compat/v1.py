"""`tf.compat.v1`: the names that tf.data's users still meet."""

from __future__ import annotations

from typing import Any

from spillway.dimensions import Dimension
from spillway.shapes import TensorShape
from spillway.tf import _names
from spillway.tf.compat import v1_data as data
from spillway.tf.compat import v1_nn as nn

__all__ = ["Dimension", "TensorShape", "data", "nn"]


def __getattr__(name: str) -> Any:
    raise _names.missing(__name__, name)
