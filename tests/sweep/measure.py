"""What a process holds beyond the ledger, while a case runs with so many rows.

    python -m tests.sweep.measure REPORT LIMIT ROWS,ROWS... CASE...

Each case runs twice with the first number of rows, which warms whatever is made once, then with
each of the others.
"""

from __future__ import annotations

import ctypes
import gc
import json
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import spillway as sw
from tests.sweep.cases import CASES, MADE_UP

PAGE = resource.getpagesize()
SAMPLES = 16
_libc = ctypes.CDLL(None)


def beyond_the_ledger() -> int:
    """Bytes in physical memory that nobody has been charged for, without what malloc() keeps."""
    _libc.malloc_trim(0)
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * PAGE
    return resident - sw.memory().used


def most(dataset: Any, expected: int) -> tuple[int, int]:
    """The most that was seen in a pass, and how many elements it had."""
    step = max(1, expected // SAMPLES)
    found = beyond_the_ledger()
    count = 0
    for _ in dataset:
        if count % step == 0:
            found = max(found, beyond_the_ledger())
        count += 1
    return max(found, beyond_the_ledger()), count


def run(name: str, rows: int) -> dict[str, Any]:
    """One pass."""
    gc.collect()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="spillway-sweep-") as folder:
        before = beyond_the_ledger()
        found, elements = most((CASES | MADE_UP)[name](rows, Path(folder)), rows)
    seconds = round(time.monotonic() - begun, 2)
    return {"rows": rows, "grew": found - before, "elements": elements, "seconds": seconds}


def main(report: str, limit: str, rows: str, *names: str) -> int:
    """The command line."""
    sw.configure(memory_limit=int(limit))
    counts = [int(count) for count in rows.split(",")]
    results = {}
    for name in names:
        try:
            run(name, counts[0])
            results[name] = [run(name, count) for count in counts]
        except ImportError as missing:
            results[name] = [{"skipped": str(missing)}]
        Path(report).write_text(json.dumps(results))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
