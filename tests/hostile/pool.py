"""Processes that run hostile calls, watched: one that dies or hangs names its program."""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 300.0  # of one call, on a busy machine: longer is a hang
Data = dict[str, Any]


class _Worker:
    def __init__(self, interpreter: str, *arguments: str) -> None:
        self.place = tempfile.mkdtemp(prefix="hostile-")  # a path may be among the values
        self.process = subprocess.Popen(
            [interpreter, "-X", "faulthandler", "-m", "tests.hostile.serving", *arguments],
            cwd=self.place,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        self.lines: queue.Queue[str] = queue.Queue()
        self.complaint = ""
        self.readers = [threading.Thread(target=call) for call in (self._read, self._listen)]
        for reader in self.readers:
            reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put("")

    def _listen(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.complaint = (self.complaint + line)[-3000:]

    def run(self, program: Data) -> Data:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(program) + "\n")
            self.process.stdin.flush()
            line = self.lines.get(timeout=SECONDS)
        except (BrokenPipeError, queue.Empty) as error:
            line = "" if isinstance(error, BrokenPipeError) else '{"lost": "hang"}'
        found: Data = json.loads(line) if line else {"lost": f"exit {self.process.wait()}"}
        if "lost" in found:
            self.stop()
            found["said"] = self.complaint
        return found

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        for reader in self.readers:
            reader.join()
        shutil.rmtree(self.place)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe is not None
            try:
                pipe.close()
            except BrokenPipeError:
                continue  # what was still to be written has no reader any more


def outcomes(
    programs: list[Data], *arguments: str, interpreter: str = sys.executable, jobs: int = 2
) -> Iterator[tuple[Data, Data]]:
    """Each program with its outcome; `{"lost": ...}` where the process died or hung."""

    def run(share: list[Data]) -> list[tuple[Data, Data]]:
        worker: _Worker | None = None
        done = []
        try:
            for program in share:
                worker = worker or _Worker(interpreter, *arguments)
                done.append((program, worker.run(program)))
                if "lost" in done[-1][1]:
                    worker = None
        finally:
            if worker is not None:
                worker.stop()
        return done

    shares = [programs[i::jobs] for i in range(jobs)]
    with ThreadPoolExecutor(jobs) as threads:
        for done in threads.map(run, shares):
            yield from done
