"""The process that starts workers: it has loaded what they need and forks on demand.

A spare one is forked ahead where the engine asks for it: it waits for its orders with everything
done that needs no orders. Speaks the engine's messages (`guard/channel.h`): eight bytes of length,
then the message.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import struct
import sys
import warnings
from collections.abc import Callable
from typing import NamedTuple

_SPAWN, _REAP, _SPARE = 1, 2, 3


class _Spare(NamedTuple):
    pid: int
    orders: socket.socket  # what it becomes a worker by


def main() -> None:
    """Serves the socket whose number is the last argument until its other end is gone."""
    with socket.socket(fileno=int(sys.argv[-1])) as server:
        server.setblocking(True)
        _prepare()
        workers: set[int] = set()
        try:
            # An answer that nobody waits for any more is no reason to complain.
            with contextlib.suppress(ConnectionError):
                _serve(server, workers)
        finally:
            for pid in workers:
                _end_group(pid)


def _serve(server: socket.socket, workers: set[int]) -> None:
    """Does what it is told; `workers`: those that were started and not asked about since."""
    spare: _Spare | None = None
    while True:
        message, fds = _receive(server)
        if message is None:
            return
        if message[0] == _REAP:
            (pid,) = struct.unpack_from("<q", message, 1)
            _end_group(pid)
            _send(server, struct.pack("<q", _status(pid)))
            workers.discard(pid)
        elif message[0] == _SPARE:
            spare = _keep_spare(server, spare, message[1] == 1)
        elif message[0] == _SPAWN and len(fds) == 3:
            answer = _spawn(server, spare, message, fds)
            workers.add(struct.unpack_from("<q", answer)[0])
            spare = None
            for fd in fds:
                os.close(fd)
            _send(server, answer)


def _end_group(pid: int) -> None:
    """Ends what a worker has started and left running; the worker itself is not waited for yet."""
    if pid > 0:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)


def _prepare() -> None:
    import gc

    # All that a worker imports before its first call: here once, not in each of them.
    import cloudpickle
    import numpy.random

    import spillway.generators
    import spillway.guard.rules
    import spillway.guard.worker

    # What workers hold is watched by the process that they work for; and who forks has no threads.
    spillway._native.guard_process(False)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    gc.collect()
    gc.freeze()  # what is here stays in pages that all workers share
    assert spillway.__version__ and cloudpickle and numpy.random


def _spawn(server: socket.socket, spare: _Spare | None, message: bytes, fds: list[int]) -> bytes:
    """A worker's number, or minus one and why there is none."""
    if spare is not None:
        with spare.orders, contextlib.suppress(OSError):  # somebody may have killed it
            _send(spare.orders, message, fds)
            return struct.pack("<q", spare.pid)
        _status(spare.pid)
    parent = os.getpid()
    try:
        pid = _fork()
    except OSError as error:
        text = str(error).encode()
        return struct.pack("<qQ", -1, len(text)) + text
    if pid == 0:
        server.close()
        _become_worker(parent, lambda: (message, fds))
    return struct.pack("<q", pid)


def _keep_spare(server: socket.socket, spare: _Spare | None, wanted: bool) -> _Spare | None:
    if wanted:
        return spare or _fork_ahead(server)
    if spare is not None:
        with spare.orders, contextlib.suppress(ProcessLookupError):
            os.kill(spare.pid, signal.SIGKILL)
        _status(spare.pid)
    return None


def _fork_ahead(server: socket.socket) -> _Spare | None:
    """A process that becomes a worker when it is told whose; None: the system allows no more."""
    parent = os.getpid()
    ours, theirs = socket.socketpair()
    try:
        pid = _fork()
    except OSError:
        ours.close()
        theirs.close()
        return None
    if pid == 0:
        server.close()
        ours.close()
        _become_worker(parent, lambda: _orders(parent, theirs))
    theirs.close()
    return _Spare(pid, ours)


def _fork() -> int:
    with warnings.catch_warnings():
        # Of threads: there are none of ours.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _orders(parent: int, given: socket.socket) -> tuple[bytes | None, list[int]]:
    from spillway import _native

    _native.die_with_parent(parent)
    with given:
        return _receive(given)


def _become_worker(parent: int, orders: Callable[[], tuple[bytes | None, list[int]]]) -> None:
    code = 1
    try:
        from spillway.guard import worker

        message, fds = orders()
        if message is not None:
            worker.main(parent, message[9:], *fds)
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
    length = _exactly(server, 8, fds)
    if length is None:
        return None, fds
    return _exactly(server, struct.unpack("<Q", length)[0], fds), fds


def _exactly(server: socket.socket, size: int, fds: list[int]) -> bytes | None:
    """So many bytes and no more: others may follow; None: the other process is gone."""
    data = b""
    while len(data) < size:
        try:
            more, received, _, _ = socket.recv_fds(server, size - len(data), 8)
        except ConnectionError:
            return None
        fds += received
        if not more:
            return None
        data += more
    return data


def _send(server: socket.socket, message: bytes, fds: list[int] | None = None) -> None:
    data = struct.pack("<Q", len(message)) + message
    if fds:
        data = data[socket.send_fds(server, [data], fds) :]
    if data:  # whoever has all of it may be gone already
        server.sendall(data)
