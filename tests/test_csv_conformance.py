"""What TensorFlow made of random CSV files, as recorded, and what is made of them here."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import spillway.tf as tf
from tests.conformance import csv_files


def until_error(found: dict[str, Any]) -> dict[str, Any]:
    """Where an error counts as a turn in TensorFlow's interleave, it does not here."""
    events = found.get("events", [])
    wrong = [i for i, event in enumerate(events) if isinstance(event, str)]
    return {**found, "events": events[: wrong[0] + 1]} if wrong else found


def test_random_files_give_tensorflows_elements_specs_and_errors(tmp_path: Path) -> None:
    differ = []
    with gzip.open(csv_files.RECORDED, "rt") as recorded:
        lines = recorded.readlines()
    assert len(lines) > 1000
    for number, line in enumerate(lines):
        case, theirs = json.loads(line.replace("FOLDER", str(tmp_path)))
        ours = csv_files.outcome(tf, case, tmp_path)
        if case["options"].get("num_parallel_reads"):
            theirs, ours = map(until_error, (theirs, ours))
        if not csv_files.same(theirs, ours):
            differ.append(f"{number}: {case}\n  TensorFlow: {theirs}\n  here: {ours}")
    assert not differ, f"{len(differ)} of {len(lines)}:\n" + "\n".join(differ[:5])
