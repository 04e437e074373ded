"""What the tests of a framework need of it."""

from __future__ import annotations

import gc
import importlib.util
import os
import threading
from pathlib import Path
from typing import Any

import spillway as sw

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

ROOT = Path(__file__).resolve().parents[2]


def missing(package: str) -> bool:
    return importlib.util.find_spec(package) is None


def kept_bytes() -> int:
    """Bytes of elements that are charged because somebody still holds them."""
    gc.collect()
    return sum(row["exported"] for row in sw.memory().rows if row["depth"] == 0)


def held_by_the_process() -> tuple[int, int]:
    """Threads that Python or the engine runs, and open descriptors."""
    gc.collect()
    return threading.active_count(), len(os.listdir("/proc/self/fd"))


def rows(count: int, size: int = 1 << 20, fail_at: int | None = None) -> sw.Dataset:
    """Float arrays of `size` bytes, each full of its number; one of them may fail."""
    import numpy as np

    def make(number: Any) -> Any:
        if fail_at is not None and int(number) == fail_at:
            raise KeyError(f"no label for {int(number)}")
        return np.full(size // 4, int(number), np.float32)

    spec = sw.TensorSpec((size // 4,), "float32")
    return sw.Dataset.range(count).map(make, output_signature=spec)
