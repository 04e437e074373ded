"""The examples of docs/graphs.md run as they stand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any


def test_the_examples_run(tmp_path: Any) -> None:
    page = Path(__file__).parent.parent / "docs" / "graphs.md"
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.S)
    assert len(blocks) >= 5
    names: dict[str, Any] = {"folder": str(tmp_path)}
    for i, block in enumerate(blocks):
        exec(compile(block, f"graphs.md block {i}", "exec"), names)
