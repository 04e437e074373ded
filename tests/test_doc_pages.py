"""What the pages of docs/ show runs, and prints what they say it prints."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.doc_pages import blocks

ROOT = Path(__file__).resolve().parents[1]
PAGES = (
    "adding-an-operator",
    "checkpoints",
    "errors",
    "from-numpy",
    "from-pytorch",
    "from-tensorflow",
    "limits",
    "memory",
)


@pytest.mark.parametrize("name", PAGES)
def test_the_code_of_a_page_runs_and_prints_what_it_says(name: str) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "python")])}
    done = subprocess.run(
        [sys.executable, "-m", "tests.doc_pages", str(ROOT / "docs" / f"{name}.md")],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]


def test_a_text_block_belongs_to_the_code_right_before_it() -> None:
    page = "```python\nprint(1)\n```\n\n```text\n1\n```\n\nwords\n\n```text\nno\n```\n"
    (block,) = blocks(page)
    assert (block.line, block.code, block.prints) == (1, "print(1)\n", "1\n")
