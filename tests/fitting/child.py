"""`python -m tests.fitting.child FIRST COUNT FOLDER REPORT`: runs expressions one after the other.

Says of each what was planned, what was measured and what the value is; follows what a refusal
suggests. The limit is that of the environment.
"""

from __future__ import annotations

import contextlib
import gc
import json
import re
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np

import spillway as sw
import spillway.tf as tf
from spillway import _native
from tests.fitting.graphs import build


def _status(key: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024
    return 0


def _reset_peak() -> None:
    # Where it cannot be reset, the peak of all before counts too: a stricter test.
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _fingerprint(value: Any) -> int:
    return zlib.crc32(np.ascontiguousarray(value).data)  # where it lies: a copy would count


def _follow(seed: int, folder: Path, text: str) -> list[str]:
    """Runs every suggestion of a refusal; the names of those that were there."""
    followed = []
    if "tf.reduce_sum" in text:
        float(tf.reduce_sum(build(seed, folder)))
        followed.append("reduction")
    if "sw.save_npy(" in text:
        path = folder / "value.npy"
        sw.save_npy(path, build(seed, folder))
        path.unlink()
        followed.append("file")
    smaller = re.search(r"smaller leading axis: \[(\d+)", text)
    if smaller:
        build(seed, folder, rows=int(smaller[1])).numpy()
        followed.append("smaller")
    return followed


def one(seed: int, folder: Path) -> dict[str, Any]:
    gc.collect()
    x = build(seed, folder)
    needed, limit, _fits, how, _offenders = _native.forecast_tensors([x])
    fact: dict[str, Any] = {"seed": seed, "planned": needed, "limit": limit, "how": how}
    _reset_peak()
    before = _status("VmRSS")
    try:
        value = np.asarray(x)
    except MemoryError as e:
        fact["refused"] = str(e)
        fact["followed"] = _follow(seed, folder, str(e))
        return fact
    fact["measured"] = max(0, _status("VmHWM") - before)
    fact["value"] = _fingerprint(value)
    return fact


def main() -> None:
    first, count = int(sys.argv[1]), int(sys.argv[2])
    folder, report = Path(sys.argv[3]), Path(sys.argv[4])
    with report.open("w") as out:
        for seed in range(first, first + count):
            print(json.dumps(one(seed, folder)), file=out, flush=True)


if __name__ == "__main__":
    main()
