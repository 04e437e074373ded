"""Runs a notebook in a kernel of its own behind a fence, and judges how it ended."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from tests.kernel.driver import Cell
from tests.notebooks.generate import Notebook
from tests.notebooks.pieces import PIECES
from tests.programs.kernels import fenced_kernel

REFUSALS = ("MemoryError", "BudgetError", "ElementTooLarge", "FloorTooHigh", "ResourceExhausted")
IN_WORDS = (
    "allocate memory",
    "out of memory",
    "can't start new thread",
    "cannot map zero-fill pages",
)
# How a cell that starts processes may end, too: they may be killed where the notebook is not.
ENDS_OF_CHILDREN = (
    "WorkerDied",
    "WorkerKilled",
    "TimeoutError",
    "MaybeEncodingError",
    "AssertionError",  # of a pool of multiprocessing that is left while a child was killed
)
SECONDS = 90.0


@dataclass
class Verdict:
    """How a notebook ended."""

    notebook: Notebook
    ends: list[str] = field(default_factory=list)  # of each cell: "ok", or the error's class
    complaints: list[str] = field(default_factory=list)
    lost: bool = False  # the kernel died
    peak: int = 0


def run(notebook: Notebook) -> Verdict:
    """From a fresh kernel to its end."""
    verdict = Verdict(notebook)
    with (
        tempfile.TemporaryDirectory(dir="/var/tmp", prefix="spillway-notebooks-") as folder,
        fenced_kernel("spillway", notebook.limit, Path(folder)) as kernel,
    ):
        first = kernel.run("import numpy as np\nimport spillway as sw")
        if first.status != "ok":
            verdict.complaints.append(f"import: {first.status} {first.error}")
        children = any(PIECES[name].children for name in notebook.pieces)
        for at, code in enumerate(notebook.cells):
            cell = kernel.run(code, timeout=SECONDS)
            verdict.ends.append(cell.error.partition(":")[0] or cell.status)
            if children and verdict.ends[-1] in ENDS_OF_CHILDREN:
                continue
            # A pool of multiprocessing waits for ever for the lock that a killed child held.
            if children and cell.status == "late" and kernel.kills > 0:
                break
            verdict.complaints += [f"cell {at}: {text}" for text in complaints(cell)]
            if cell.status in ("dead", "late"):
                break
        verdict.lost = not kernel.alive or (kernel.kills > 0 and not children)
        if verdict.lost:
            said = kernel.last_words()
            verdict.complaints.append(f"the kernel is gone ({kernel.kills} kills): {said}")
        elif not verdict.complaints and not kernel.answers():
            verdict.complaints.append("the next cell does not work")
        verdict.peak = kernel.peak
    return verdict


def complaints(cell: Cell) -> list[str]:
    """What a user would say of a cell's end."""
    if "message of the kernel is broken" in cell.text:
        return [cell.text[-500:]]
    if cell.status == "ok":
        return []
    if cell.status != "error":
        return [f"no end but {cell.status!r}"]
    if "set_int_max_str_digits" in cell.error:  # Python shows no number of so many digits
        return []
    kind, _, text = cell.error.partition(":")
    # C code of libraries that meets a refusal where it expects none.
    from_a_refusal = kind == "SystemError" and "MemoryError" in cell.traceback
    refused = any(word in kind for word in REFUSALS) or any(words in text for words in IN_WORDS)
    if not refused and not from_a_refusal:
        return [f"neither a result nor a refusal: {cell.error[:2000]}\n{cell.traceback[-3000:]}"]
    shown = cell.traceback + text
    found = []
    if "spillway" not in shown and "limit" not in shown:
        found.append(f"nothing of ours in the error: {shown[-2000:]}")
    if "line" not in shown and "In[" not in shown:
        found.append(f"no line in the error: {shown[-2000:]}")
    if not any(unit in shown for unit in ("MiB", "GiB", "KiB")):
        found.append(f"no size in the error: {shown[-2000:]}")
    return found
