"""An engine's process: programs come in as lines of JSON, outcomes go out."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any


def serve(run: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Answers every line of stdin."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        try:
            result = run(json.loads(line))
        except Exception as error:
            result = {"harness": f"{type(error).__name__}: {error}"[:400]}
        out.write(json.dumps(result, separators=(",", ":")) + "\n")
        out.flush()
