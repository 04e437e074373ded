"""`tf.experimental`: Optional, and the narrow dtypes."""

from __future__ import annotations

from typing import Any

from spillway.dtypes import (
    float8_e4m3b11fnuz,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    int2,
    int4,
    uint2,
    uint4,
)
from spillway.tf import _names
from spillway.tf.data.optional import Optional

__all__ = [
    "Optional",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "int2",
    "int4",
    "uint2",
    "uint4",
]


def __getattr__(name: str) -> Any:
    raise _names.missing(__name__, name)
