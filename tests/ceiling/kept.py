"""Cases: memory the user takes beside the pipeline, or keeps from it."""

from __future__ import annotations

import gc
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import spillway as sw
from tests.ceiling.case import MIB, Facts, case, generated, mapped, number_of

# ---- The user's own allocations


@case(limit=2048 * MIB)
def load_of_a_huge_file_in_a_generator(limit: int) -> Facts:
    """np.load of 3 GiB in a generator is a MemoryError that names the file."""
    rows = 3 * 1024 * MIB // 8
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "huge.npy"
        with path.open("wb") as file:
            header = {"descr": "<i8", "fortran_order": False, "shape": (rows,)}
            np.lib.format.write_array_header_1_0(file, header)
            os.truncate(path, file.tell() + 8 * rows)

        def elements() -> Iterator[int]:
            yield 0
            np.load(path)
            yield 1

        seen = []
        try:
            for x in sw.Dataset.from_generator(elements):
                seen.append(int(x))
        except MemoryError as e:
            assert str(path) in str(e), f"the file is not named: {e}"
            return Facts(seen, [0], "MemoryError", {"text": str(e)})
    raise AssertionError("3 GiB were loaded into 2 GiB")


@case(limit=2048 * MIB)
def huge_array_in_plain_code(limit: int) -> Facts:
    """np.random.rand(10000, 10000, 3) is a MemoryError at its line, and the pipeline goes on."""
    line = 0
    passed = iter(mapped(20))
    seen = [number_of(next(passed))]
    try:
        line = sys._getframe().f_lineno + 1
        np.random.rand(10000, 10000, 3)
    except MemoryError as e:
        trace = e.__traceback__
        assert trace is not None and trace.tb_lineno == line
        seen += [number_of(x) for x in passed]
        return Facts(seen, range(20), "MemoryError", {"text": str(e)})
    raise AssertionError("2.2 GiB were made beside a pipeline in 2 GiB")


# ---- A consumer that keeps everything


@case(limit=96 * MIB)
def consumer_that_keeps_everything(limit: int) -> Facts:
    """Two pipelines, every batch kept: warned at half of the limit, then a BudgetError."""
    pipelines = [iter(mapped(400).batch(4)), iter(generated(400).batch(4))]
    kept: list[list[Any]] = [[], []]
    text = ""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            for _ in range(100):
                for pipeline, batches in zip(pipelines, kept, strict=True):
                    batches.append(next(pipeline))
        except sw.errors.BudgetError as e:
            text = str(e)
            assert "by your own code" in text, text
            assert "held" in text and "kept by you" in text, text
    count = sum(map(len, kept))
    assert text, f"{count} batches of 4 MiB were kept in {limit / MIB:.0f} MiB"
    assert count * 4 * MIB > limit / 2, f"refused after {count} batches"
    warned = [str(w.message) for w in told if issubclass(w.category, UserWarning)]
    assert 1 <= len(warned) <= len(pipelines), warned
    assert "MiB" in warned[0] and "kept.py" in warned[0], warned
    seen = [number_of(row) for batch in kept[0] for row in batch]
    # What was kept can be let go of, and the pipelines go on where they were.
    for batches in kept:
        batches.clear()
    gc.collect()
    seen += [number_of(row) for batch in pipelines[0] for row in batch]
    return Facts(seen, range(400), f"{count} batches kept", {"text": text, "warned": warned[0]})


@case(limit=96 * MIB)
def consumer_that_keeps_rows(limit: int) -> Facts:
    """One small row kept of every batch holds no batch."""
    kept = []
    seen = []
    for batch in generated(1024).batch(8).unbatch():
        seen.append(number_of(batch))
        if len(seen) % 16 == 0:
            kept.append(batch)
        del batch
    assert [number_of(row) for row in kept] == list(range(15, 1024, 16))
    return Facts(seen, range(1024), f"{len(kept)} rows kept")
