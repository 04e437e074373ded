"""Each engine in a process of its own, watched: either may hang or abort."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / "build" / "venv-tf"
REQUIREMENT = "tensorflow-cpu==2.21.0"
TENSORFLOW_STARTS_IN = 180.0
SPILLWAY_STARTS_IN = 300.0
PROGRAM_SECONDS = 300.0  # on a busy machine; longer is a hang
PROGRAMS_A_PROCESS = 400
# What a mode of run_spillway needs before the engine starts.
ENVIRONMENT = {"jitter": {"SPILLWAY_TEST_JITTER": "1"}}

Data = dict[str, Any]


def tensorflow_python() -> str:
    """The interpreter that has TensorFlow; its environment is made when missing."""
    interpreter = VENV / "bin" / "python"
    done = VENV / "complete"
    if not done.exists():
        place = VENV.relative_to(ROOT)
        print(f"conformance: installing {REQUIREMENT} into {place} ...", flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
        subprocess.run([interpreter, "-m", "pip", "install", "-q", REQUIREMENT], check=True)
        done.touch()
    return str(interpreter)


class _Worker:
    def __init__(self, interpreter: str, module: str, starts_in: float, mode: str = "") -> None:
        package = __name__.rpartition(".")[0]
        paths = [str(Path(__file__).resolve().parents[package.count(".") + 1])]
        paths += [path for path in [os.environ.get("PYTHONPATH")] if path]
        self.process = subprocess.Popen(
            [interpreter, "-m", f"{package}.{module}", *([mode] if mode else [])],
            cwd=ROOT,
            env={**os.environ, **ENVIRONMENT.get(mode, {}), "PYTHONPATH": os.pathsep.join(paths)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.lines: queue.Queue[str] = queue.Queue()
        self.served = 0
        self.starts_in = starts_in
        self.complaint = ""
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._listen, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put("")

    def _listen(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.complaint = (self.complaint + line)[-2000:]

    def run(self, program: Data) -> Data:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(program) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return self._lost()
        seconds = PROGRAM_SECONDS if self.served else self.starts_in
        self.served += 1
        try:
            line = self.lines.get(timeout=seconds)
        except queue.Empty:
            return {"lost": "hang"}
        result: Data = json.loads(line) if line else self._lost()
        return result

    def _lost(self) -> Data:
        self.process.wait()
        return {"lost": f"exit {self.process.returncode}", "said": self.complaint[-600:]}

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


def _outcomes(
    interpreter: str,
    module: str,
    starts_in: float,
    programs: Iterable[Data],
    mode: str = "",
    programs_a_process: int = PROGRAMS_A_PROCESS,
) -> Iterator[Data]:
    worker: _Worker | None = None
    try:
        for program in programs:
            if worker is None:
                worker = _Worker(interpreter, module, starts_in, mode)
            outcome = worker.run(program)
            yield outcome
            if "lost" in outcome or worker.served >= programs_a_process:
                worker.stop()
                worker = None
    finally:
        if worker is not None:
            worker.stop()


def tensorflow(programs: Iterable[Data]) -> Iterator[Data]:
    """TensorFlow's outcome of each program; `{"lost": ...}` where TensorFlow hung or died."""
    return _outcomes(tensorflow_python(), "run_tf", TENSORFLOW_STARTS_IN, programs)


def spillway(programs: Iterable[Data], mode: str = "plain") -> Iterator[Data]:
    """Spillway's outcome of each program; `{"lost": ...}` where it hung or died."""
    return _outcomes(sys.executable, "run_spillway", SPILLWAY_STARTS_IN, programs, mode)


def of_both(package: str, programs: list[Data]) -> Iterator[tuple[Data, Data, Data]]:
    """Each program with TensorFlow's outcome and ours, by the two runners of a package."""
    many = 2000
    theirs = _outcomes(
        tensorflow_python(), f"{package}.run_tf", TENSORFLOW_STARTS_IN, programs, "", many
    )
    ours = _outcomes(
        sys.executable, f"{package}.run_spillway", SPILLWAY_STARTS_IN, programs, "", many
    )
    ahead: queue.Queue[Data] = queue.Queue(64)

    def pull() -> None:
        for outcome in theirs:
            ahead.put(outcome)

    threading.Thread(target=pull, daemon=True).start()
    for program, outcome in zip(programs, ours, strict=True):
        yield program, ahead.get(), outcome
