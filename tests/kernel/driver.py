"""A real Jupyter kernel, and what its cells say.

Uses `jupyter_client` and `ipykernel` of whichever interpreter is given; the kernel runs this
project's sources.
"""

from __future__ import annotations

import os
import queue
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Cell:
    """What became of a cell."""

    status: str  # "ok", "error", "late", or "dead": the kernel is gone
    text: str  # what it printed, and its last value
    error: str  # class and text of its exception
    traceback: str
    seconds: float
    shown: tuple[tuple[str, dict[str, Any]], ...] = ()  # outputs: kind of message, and its data


class Kernel:
    """One kernel. A cell that does not answer in time leaves it as it is."""

    def __init__(self, manager: Any, client: Any) -> None:
        self._manager, self._client = manager, client

    @property
    def pid(self) -> int:
        return int(self._manager.provisioner.pid)

    @property
    def alive(self) -> bool:
        return bool(self._manager.is_alive())

    def begin(self, code: str) -> str:
        """Sends a cell without waiting for it."""
        return str(self._client.execute(code, store_history=True))

    def end(self, cell: str, timeout: float = 300) -> Cell:
        """Waits for a cell that was sent."""
        begun = time.monotonic()
        text, error, traceback, status = "", "", "", "late"
        shown: list[tuple[str, dict[str, Any]]] = []
        while time.monotonic() - begun < timeout:
            try:
                message = self._client.get_iopub_msg(timeout=0.2)
            except queue.Empty:
                if not self.alive:
                    status = "dead"
                    break
                continue
            except ValueError as broken:  # a front end leaves such a message out
                text += f"[a message of the kernel is broken: {broken}]"
                continue
            if message["parent_header"].get("msg_id") != cell:
                continue
            kind, content = message["msg_type"], message["content"]
            if "data" in content:
                shown.append((kind, content["data"]))
            if kind == "stream":
                text += content["text"]
            elif kind == "execute_result":
                text += content["data"].get("text/plain", "")
            elif kind == "error":
                error = f"{content['ename']}: {content['evalue']}"
                traceback = COLOURS.sub("", "\n".join(content["traceback"]))
            elif kind == "status" and content["execution_state"] == "idle":
                status = "error" if error else "ok"
                break
        return Cell(status, text, error, traceback, time.monotonic() - begun, tuple(shown))

    def wait_for_text(self, cell: str, words: str, timeout: float = 300) -> None:
        """Until a cell that was sent has printed that."""
        text, until = "", time.monotonic() + timeout
        while words not in text:
            assert time.monotonic() < until, f"never said {words!r}: {text!r}"
            try:
                message = self._client.get_iopub_msg(timeout=0.2)
            except queue.Empty:
                continue
            if message["parent_header"].get("msg_id") == cell and message["msg_type"] == "stream":
                text += message["content"]["text"]

    def run(self, code: str, timeout: float = 300) -> Cell:
        """A cell, from its start to its end."""
        return self.end(self.begin(code), timeout)

    def answers(self) -> bool:
        """Whether the next cell works: the same kernel, a right result."""
        done = self.run("6 * 7")
        return done.status == "ok" and done.text == "42"

    def interrupt(self) -> None:
        """What the notebook's stop button does."""
        os.kill(self.pid, signal.SIGINT)


@contextmanager
def kernel() -> Iterator[Kernel]:
    """A fresh one, with `sw` and `np` in it."""
    from jupyter_client.manager import KernelManager

    manager = KernelManager(kernel_name="python3")
    paths = os.pathsep.join([str(ROOT / "python"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": paths.rstrip(os.pathsep)}
    # A kernel under a test must not find a user's own settings.
    environment["IPYTHONDIR"] = str(ROOT / "build" / "ipython")
    manager.start_kernel(env=environment)
    client = manager.client()
    try:
        client.start_channels()
        client.wait_for_ready(timeout=300)
        one = Kernel(manager, client)
        done = one.run("import numpy as np\nimport spillway as sw", timeout=300)
        assert done.status == "ok", done
        yield one
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
