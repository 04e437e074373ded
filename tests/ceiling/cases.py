"""The cases: each a pipeline that would take far more memory than it is given.

A case runs alone in its process (`python -m tests.ceiling.cases NAME LIMIT REPORT`), counts every
element it sees, and reports.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path

import spillway as sw
from tests.ceiling import (
    awaited,
    checks,
    files,
    floors,
    images,
    isolated,
    kept,
    records,
    refused,
    sessions,
    stages,
    stored,
    tables,
    tensors,
)
from tests.ceiling.case import CASES

__all__ = [
    "CASES",
    "awaited",
    "checks",
    "files",
    "floors",
    "images",
    "isolated",
    "kept",
    "records",
    "refused",
    "sessions",
    "stages",
    "stored",
    "tables",
    "tensors",
]


def main(name: str, limit: str, report: str) -> int:
    try:
        facts = CASES[name].body(int(limit)).report()
        good = facts["lost"] == 0 and facts["doubled"] == 0
        facts["outcome"] = "ok" if good else "WRONG ELEMENTS"
    except BaseException as e:
        traceback.print_exc()
        facts = {"outcome": f"{type(e).__name__}: {str(e).splitlines()[0][:80] if str(e) else ''}"}
    ledger = sw.memory()
    facts["ledger_peak"] = ledger.peak
    Path(report).write_text(json.dumps(facts))
    sys.stdout.flush()
    # Threads of pipelines that were left in the middle are not waited for.
    os._exit(0 if facts["outcome"] == "ok" else 1)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
