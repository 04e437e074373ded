"""What tests of functions ask a dataset."""

from __future__ import annotations

from typing import Any

import numpy as np


def how(ds: Any) -> list[bool]:
    """Whether each function of the last stage runs natively."""
    return [function["native"] for function in ds.explain().stages[-1]["functions"]]


def why(ds: Any) -> str:
    text: str = ds.explain().stages[-1]["functions"][0]["why"]
    return text


def values(ds: Any) -> list[Any]:
    return [np.asarray(x).tolist() for x in ds.as_numpy_iterator()]
