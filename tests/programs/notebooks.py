"""The programs as notebooks, with what a real kernel under the limit answered to each cell.

Written as Jupyter's format 4.5, without its library: a notebook is a small JSON file.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from tests.kernel import driver
from tests.programs.catalogue import Program
from tests.programs.kernels import FencedKernel, fenced_kernel

OUT = driver.ROOT / "examples" / "programs"
SECONDS = 900.0
_HOW = (
    "Made by `./run programs --notebooks` from `tests/programs/sources/{file}`, run in a kernel "
    "with a hard limit of {limit} MiB. The files it reads: `python -m tests.programs --data DIR`. "
    "With `import tensorflow as tf` it is the same program for TensorFlow."
)
_SHORT = " This is its short form, with fewer elements."
_CELL = re.compile(r"/\S*/ipykernel_\d+/\d+\.py")
_FRAME = re.compile(r"(?m)^(?:File )?\S*?/(?:site-packages|lib/python3\.\d+)/")


def write(programs: list[Program], limit: int, folder: Path, short: bool = False) -> int:
    """One notebook for each; 0 when every kernel lived to the end of its own."""
    OUT.mkdir(parents=True, exist_ok=True)
    dead = 0
    for program in programs:
        with fenced_kernel("spillway", limit, folder) as kernel:
            book = _notebook(kernel, program, limit, folder, short)
            alive = kernel.alive
        name = program.file.removeprefix("p").removesuffix(".py") + ".ipynb"
        (OUT / name).write_text(json.dumps(book, indent=1, ensure_ascii=False) + "\n")
        print(f"{program.key}: {name}" + ("" if alive else ": the kernel is gone"), flush=True)
        dead += not alive
    return 1 if dead else 0


def _notebook(
    kernel: FencedKernel, program: Program, limit: int, folder: Path, short: bool
) -> dict[str, Any]:
    cells, count = [], 0
    for place, cell in enumerate(program.cells(short=short)):
        if cell.kind == "markdown":
            text = re.sub(r"(?m)^# ?", "", cell.text)
            if place == 0:
                text += "\n\n" + _HOW.format(file=program.file, limit=limit >> 20)
                text += _SHORT if short and program.short else ""
            cells.append(_cell(place, "markdown", text))
            continue
        count += 1
        done = kernel.run(cell.text, SECONDS)
        outputs = [_scrubbed(output, folder) for output in _outputs(done)]
        cells.append(
            {**_cell(place, "code", cell.text), "execution_count": count, "outputs": outputs}
        )
    spec = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": spec, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _cell(place: int, kind: str, text: str) -> dict[str, Any]:
    source = text.splitlines(keepends=True)
    return {"cell_type": kind, "id": f"cell-{place}", "metadata": {}, "source": source}


def _outputs(done: driver.Cell) -> list[dict[str, Any]]:
    outputs: list[dict[str, Any]] = []
    if done.text:
        text = done.text.splitlines(keepends=True)
        outputs.append({"name": "stdout", "output_type": "stream", "text": text})
    if done.error:
        name, _, value = done.error.partition(": ")
        outputs.append(
            {
                "ename": name,
                "evalue": value,
                "output_type": "error",
                "traceback": done.traceback.split("\n"),
            }
        )
    return outputs


def _scrubbed(output: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Without the places of this machine."""

    def clean(text: str) -> str:
        for place in (f"{driver.ROOT / 'python'}/", f"{folder}/", f"{driver.ROOT}/"):
            text = text.replace(place, "")
        text = _CELL.sub("<cell>", text.replace(sys.prefix + "/", ""))
        return _FRAME.sub("File ", text)

    return {
        key: [clean(line) for line in value] if isinstance(value, list) else clean(value)
        for key, value in output.items()
    }
