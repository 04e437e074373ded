"""examples/cpp: the Python twin prints what the C++ program is checked to print."""

import os
import subprocess
import sys
from pathlib import Path

import spillway as sw

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "cpp"


def test_the_python_twin_prints_the_recorded_lines() -> None:
    environment = os.environ | {"PYTHONPATH": str(Path(sw.__file__).parent.parent)}
    command = [sys.executable, str(EXAMPLE / "twin.py")]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    assert done.stdout == (EXAMPLE / "expected.txt").read_text()
