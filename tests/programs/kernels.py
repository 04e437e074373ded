"""A real Jupyter kernel inside a fence: a memory cgroup, or RLIMIT_DATA where none can be made."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.ceiling.harness import Group, entrance
from tests.conformance.processes import tensorflow_python
from tests.kernel.driver import ROOT, Kernel

STARTS_IN = 300.0
# Prints how many threads are the program's own, and the bytes the engine keeps ready for reuse:
# those are in the ledger, and given up when anybody needs them.
_AT_REST = """
import gc as _gc, sys as _sys, threading as _threads
_gc.collect()
_sw = _sys.modules.get("spillway")
_idle = [row["held"] for row in _sw.memory().rows if row["name"] == "idle slabs"] if _sw else []
print(sum(_t.name == "producer" for _t in _threads.enumerate()), sum(_idle))
del _gc, _sys, _threads, _sw, _idle
"""


def interpreter(library: str) -> str:
    """The Python whose kernel runs the programs."""
    if library == "spillway":
        return sys.executable
    given = os.environ.get("SPILLWAY_TENSORFLOW_PYTHON")
    python = given or tensorflow_python()
    asked = [python, "-c", "import ipykernel"]
    if subprocess.run(asked, capture_output=True, check=False).returncode and not given:
        subprocess.run([python, "-m", "pip", "install", "-q", "ipykernel>=7,<8"], check=True)
    return python


@dataclass(frozen=True)
class Held:
    """What a kernel holds between two cells, without idle slabs and the program's own threads."""

    resident: int
    threads: int
    descriptors: int


class FencedKernel(Kernel):
    """A kernel, and what the fence around it has seen."""

    def __init__(self, manager: Any, client: Any, group: Group | None, log: Path) -> None:
        super().__init__(manager, client)
        self.group = group
        self._log = log
        self._highest = 0

    def watch(self) -> None:
        """Reads the peak while the process lives: a dead one cannot be asked."""
        self._highest = max(self._highest, _status(self.pid, "VmHWM"))

    @property
    def peak(self) -> int:
        """The most that was resident, as far as it was seen."""
        self.watch()
        return self._highest

    @property
    def kills(self) -> int:
        """How many processes the fence has killed."""
        return self.group.kills() if self.group else 0

    def last_words(self) -> str:
        """The end of what the process itself wrote to standard error: why it ended, if it did."""
        process = getattr(self._manager.provisioner, "process", None)
        code = process.poll() if process is not None else None
        said = self._log.read_text(errors="replace")
        return f"exit {code}\n{said[:1500]}\n...\n{said[-1500:]}"

    def held(self) -> Held:
        """After a garbage collection."""
        message = str(self._client.execute(_AT_REST, store_history=False))
        said = self.end(message)
        own, idle = (int(word) for word in (said.text or "0 0").split())
        process = Path(f"/proc/{self.pid}")
        threads = len(list((process / "task").iterdir())) - own
        files = len(list((process / "fd").iterdir()))
        return Held(_status(self.pid, "VmRSS") - idle, threads, files)


def _status(pid: int, key: str) -> int:
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(key + ":"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


@contextmanager
def fenced_kernel(library: str, limit: int, folder: Path) -> Iterator[FencedKernel]:
    """A fresh kernel that works in `folder` and may hold `limit` bytes."""
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import KernelManager

    # A history of cells is a database with a thread and descriptors that come and go.
    argv = [interpreter(library), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    argv.append("--HistoryManager.enabled=False")
    # What the process itself writes (why it aborted) goes into the log.
    argv.append("--IPKernelApp.capture_fd_output=False")
    group = Group.make(limit)
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="spillway-programs-") as private:
        environment = {**os.environ, "IPYTHONDIR": private, "XDG_CACHE_HOME": private}
        environment |= {"TMPDIR": private, "PYTHONPATH": str(ROOT / "python")}
        environment["PYTHONFAULTHANDLER"] = "1"  # into the log
        if library == "tensorflow":
            environment.pop("PYTHONPATH")
        # Records of kernels that die here are for this folder, not for the user's next import.
        environment.pop("SPILLWAY_FLIGHT_RECORDER", None)
        # Sockets in a folder: ports would be taken by other kernels that start at the same time.
        manager = KernelManager(transport="ipc", ip=str(Path(private) / "kernel"))
        manager._kernel_spec = KernelSpec(argv=argv, display_name=library, language="python")
        log = Path(private) / "kernel.log"
        with log.open("wb") as said:
            manager.start_kernel(
                env=environment,
                cwd=str(folder),
                preexec_fn=entrance(group, limit),
                stdout=subprocess.DEVNULL,  # cells have their own
                stderr=said,
            )
        client = manager.client()
        stop = threading.Event()
        try:
            client.start_channels()
            client.wait_for_ready(timeout=STARTS_IN)
            kernel = FencedKernel(manager, client, group, log)
            watcher = threading.Thread(target=_keep_watching, args=(kernel, stop), daemon=True)
            watcher.start()
            yield kernel
        finally:
            stop.set()
            client.stop_channels()
            manager.shutdown_kernel(now=True)
            if group:
                group.close()


def _keep_watching(kernel: FencedKernel, stop: threading.Event) -> None:
    while not stop.wait(0.2):
        kernel.watch()


def wait(seconds: float, kernel: Kernel) -> None:
    """Until so much time has passed, or the kernel is gone."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and kernel.alive:
        time.sleep(min(0.05, max(0.0, until - time.monotonic())))
