"""A process of its own that kills workers of another at random times.

`python -m tests.faults.killer PID BOARD MEAN_MS SEED`. The times between kills are exponential,
with a mean that grows while nothing arrives between two of them: a slow machine gets on too. A
worker that has ended already is not counted. Told to pause and to stop through the board.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from contextlib import suppress

from tests.faults.board import Board
from tests.faults.processes import children_of, is_spare, servers_of, state_of

SPARES = 0.05  # the share of spare ones that are taken when they are met
SERVER_EVERY = 1000  # kills: then all workers go at once, with the process that starts them


def main(victim: int, path: str, least_ms: float, seed: int) -> None:
    board = Board(path)
    chance = random.Random(seed)
    servers: list[int] = []
    kills = results = 0
    mean_ms = least_ms
    while not board.stopped and os.getppid() != 1:
        time.sleep(chance.expovariate(1000 / mean_ms))
        if board.paused:
            continue
        pids = [pid for server in servers for pid in children_of(server)]
        if not pids:
            servers = servers_of(victim)
            continue
        if kills % SERVER_EVERY == SERVER_EVERY - 1:
            kills += kill_server(board, servers, pids)
            continue
        pid = chance.choice(pids)
        spare = is_spare(pid)
        if spare and chance.random() > SPARES:
            continue
        if kill(pid, servers):
            board.killed(spare)
            kills += 1
            stuck, results = results == board.results, board.results
            mean_ms = min(mean_ms * 1.1, 20 * least_ms) if stuck else max(mean_ms * 0.95, least_ms)


def kill_server(board: Board, servers: list[int], workers: list[int]) -> int:
    lost = sum(1 for pid in workers if state_of(pid)[0] not in "ZX" and not is_spare(pid))
    for server in servers:
        with suppress(ProcessLookupError):
            os.kill(server, signal.SIGKILL)
    for _ in range(lost):
        board.killed(False)
    board.server_killed()
    return max(lost, 1)


def kill(pid: int, servers: list[int]) -> bool:
    """Whether it was alive, a worker, and is no more."""
    try:
        fd = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        # Its number may be somebody else's by now; after pidfd_open it cannot become that.
        state, parent = state_of(pid)
        if state in "ZX" or parent not in servers:
            return False
        signal.pidfd_send_signal(fd, signal.SIGKILL)
        return True
    except ProcessLookupError:
        return False
    finally:
        os.close(fd)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], float(sys.argv[3]), int(sys.argv[4]))
