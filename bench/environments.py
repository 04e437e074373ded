"""Where each system runs: a virtual environment of its own, made when first needed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENVS = ROOT / "build" / "bench-venvs"
PROJECT = "project"  # the environment the project itself is installed in
SHARED = {"tf": ROOT / "build" / "venv-tf"}  # made by other parts of the project, if at all
# What an environment needs of the system: the program to look for is the Debian package's name.
SYSTEM = {"spdl": "ffmpeg"}


def python_of(name: str) -> Path:
    """The interpreter of an environment, which is created and filled if it is not complete.

    Raises `RuntimeError` if it cannot be made, with pip's last words, or is the project's own
    and missing.
    """
    if name == PROJECT:
        python = _interpreter(ROOT / ".venv")
        if not python.exists():
            raise RuntimeError("the project's environment must exist: .venv")
        return python
    package = SYSTEM.get(name)
    if package is not None and shutil.which(package) is None:
        print(f"environment {name}: installing Debian's {package}", flush=True)
        _run(["apt-get", "install", "-y", "-q", "--no-install-recommends", package])
    requirements = ROOT / "bench" / "requirements" / f"{name}.txt"
    pins = requirements.read_text().split()
    for venv in (VENVS / name, SHARED.get(name)):
        if venv is not None and _holds(venv, pins):
            return _interpreter(venv)
    venv = VENVS / name
    print(f"environment {name}: installing {' '.join(pins)}", flush=True)
    _run([sys.executable, "-m", "venv", str(venv)])
    _run([str(_interpreter(venv)), "-m", "pip", "install", "-q", "-r", str(requirements)])
    return _interpreter(venv)


def _interpreter(venv: Path) -> Path:
    return venv / "bin" / "python"


def _holds(venv: Path, pins: list[str]) -> bool:
    """Whether every pin is installed; pip writes a package's metadata after its files."""
    packages = venv.glob("lib/python*/site-packages/*.dist-info")
    installed = {package.stem.partition("+")[0].lower() for package in packages}
    return {pin.replace("-", "_").replace("==", "-") for pin in pins} <= installed


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise RuntimeError(f"{' '.join(command[1:4])}: exit code must be 0: {last}")
