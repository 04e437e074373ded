"""What a run has touched: functions, ops of the engine, dtypes, errors."""

from __future__ import annotations

from collections import Counter
from typing import Any

from spillway import native_ops

from . import public
from .table import ELSEWHERE, TABLE

# Ops that only the engine puts in, or that no function of spillway.tf calls.
UNDER_OTHERS = {
    *("bytes_split", "ones_like", "zeros_like", "spread", "spread_strings"),
    *("strided_slice", "strided_slice_strings"),  # subscripts: programs of functions
    *("matching_files", "read_file"),  # files: tests/test_tf_files.py
}

Data = dict[str, Any]


class Coverage:
    """Counts over the programs of a run."""

    def __init__(self) -> None:
        self.programs = 0
        self.values: Counter[str] = Counter()
        self.tried: Counter[str] = Counter()
        self.dtypes: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.ops: Counter[str] = Counter()
        self.ways: Counter[str] = Counter()

    def add(self, program: Data, theirs: Data, ours: Data) -> None:
        self.programs += 1
        self.tried[program["path"]] += 1
        for row in theirs["rows"]:
            if "error" in row:
                self.errors[row["error"][0]] += 1
            else:
                self.values[program["path"]] += 1
                self.dtypes[program["dtype"] or "none"] += 1
        self.ops.update(ours.get("used", ()))
        traced = ours["traced"]
        if "refused" in traced:
            self.ways["map refused"] += 1
        elif traced["native"]:
            self.ways["traced"] += 1
        else:
            self.ways[f"Python: {traced['why'][:60]}"] += 1

    def missing(self) -> list[str]:
        """Public functions and ops of the engine that never gave a value."""
        paths = [path for path in public.functions() if path not in ELSEWHERE]
        names = [path for path in paths if not self.values[path]]
        ops = [name for name in native_ops.definitions if name not in UNDER_OTHERS]
        return names + [f"op {name}" for name in ops if not self.ops[name]]

    def report(self) -> str:
        lines = [
            f"{self.programs} programs of {len(self.tried)} functions ({len(TABLE)} in the table), "
            f"{sum(self.values.values())} values, {sum(self.errors.values())} errors; "
            f"{len(self.ops)} of {len(native_ops.definitions)} ops of the engine",
            f"dtypes of values: {dict(sorted(self.dtypes.items()))}",
            f"errors of TensorFlow: {dict(self.errors.most_common())}",
            "maps:",
            *(f"  {count:6} {way}" for way, count in self.ways.most_common(25)),
        ]
        return "\n".join(lines)
