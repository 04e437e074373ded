"""`python -m tests.handover.keeper GROUP METHOD REPORT`: keeps every tensor, for ever.

Goes into a memory cgroup by itself: test_limit.py runs beside the threads of frameworks, where no
Python code may run between fork and exec.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import warnings
from pathlib import Path

from tests.handover.frameworks import rows


def main(group: str, method: str, report: str) -> None:
    (Path(group) / "cgroup.procs").write_text(str(os.getpid()))
    warnings.simplefilter("ignore")
    ds = rows(100_000, size=4 << 20)
    kept = []
    facts = {"text": "", "kept": 0, "after": 0}
    try:
        for tensor in getattr(ds, method)():
            kept.append(tensor)
    except Exception as error:
        facts["text"] = f"{type(error).__name__}: {error}"
    facts["kept"] = len(kept)
    kept.clear()
    del tensor
    gc.collect()
    for at, _tensor in enumerate(getattr(ds, method)()):
        facts["after"] = at + 1
        if at == 9:
            break
    Path(report).write_text(json.dumps(facts))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
