"""The process that starts workers: it has loaded what they need and forks on demand.

Speaks the engine's messages (`guard/channel.h`): eight bytes of length, then the message.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import sys
import warnings

_SPAWN, _REAP = 1, 2


def main() -> None:
    """Serves the socket whose number is the last argument until its other end is gone."""
    with socket.socket(fileno=int(sys.argv[-1])) as server:
        server.setblocking(True)
        _prepare()
        while True:
            message, fds = _receive(server)
            if message is None:
                return
            if message[0] == _REAP:
                (pid,) = struct.unpack_from("<q", message, 1)
                _send(server, struct.pack("<q", _status(pid)))
            elif message[0] == _SPAWN and len(fds) == 3:
                answer = _spawn(server, message[9:], fds)
                for fd in fds:
                    os.close(fd)
                _send(server, answer)


def _prepare() -> None:
    import gc

    import spillway

    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    gc.collect()
    gc.freeze()  # what is here stays in pages that all workers share
    assert spillway.__version__


def _spawn(server: socket.socket, environment: bytes, fds: list[int]) -> bytes:
    """Forks a worker; its number, or minus one and why not."""
    parent = os.getpid()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", DeprecationWarning
            )  # of threads: there are none of ours
            pid = os.fork()
    except OSError as error:
        text = str(error).encode()
        return struct.pack("<qQ", -1, len(text)) + text
    if pid == 0:
        server.close()
        _become_worker(parent, environment, fds)
    return struct.pack("<q", pid)


def _become_worker(parent: int, environment: bytes, fds: list[int]) -> None:
    code = 1
    try:
        from spillway.guard import worker

        worker.main(parent, environment, *fds)
        code = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _status(pid: int) -> int:
    try:
        return os.waitpid(pid, 0)[1]
    except ChildProcessError:
        return -1


def _receive(server: socket.socket) -> tuple[bytes | None, list[int]]:
    fds: list[int] = []
    data = b""
    while len(data) < 8 or len(data) < 8 + struct.unpack_from("<Q", data)[0]:
        try:
            more, received, _, _ = socket.recv_fds(server, 1 << 16, 8)
        except ConnectionError:  # the other process was killed
            return None, fds
        fds += received
        if not more:
            return None, fds
        data += more
    return data[8:], fds


def _send(server: socket.socket, message: bytes) -> None:
    server.sendall(struct.pack("<Q", len(message)) + message)
