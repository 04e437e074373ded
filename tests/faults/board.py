"""Numbers that the processes of a soak share: a mapped file, one writer to each place."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

TIMES = 4096  # the last kills
SLOTS = 1 << 16  # a worker counts in the place that its number leads to
STEPS = 64


class Board:
    """The killer writes what it did; workers write what they called; the soak reads."""

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        self._numbers: Any = np.memmap(
            self.path, np.int64, "r+", shape=(16 + 2 * TIMES + STEPS + SLOTS,)
        )
        self._times = self._numbers[16 : 16 + 2 * TIMES].reshape(TIMES, 2)
        self._steps = self._numbers[16 + 2 * TIMES :][:STEPS]
        self._calls = self._numbers[16 + 2 * TIMES + STEPS :]

    @staticmethod
    def make(path: str | Path) -> Board:
        Path(path).write_bytes(bytes(8 * (16 + 2 * TIMES + STEPS + SLOTS)))
        return Board(path)

    # ---- for the killer

    def killed(self, spare: bool) -> None:
        if spare:
            self._numbers[1] += 1
            return
        count = int(self._numbers[0])
        self._times[count % TIMES] = (time.monotonic_ns(), count)
        self._numbers[0] = count + 1

    def server_killed(self) -> None:
        self._numbers[2] += 1

    @property
    def paused(self) -> bool:
        return bool(self._numbers[8])

    @property
    def stopped(self) -> bool:
        return bool(self._numbers[9])

    @property
    def results(self) -> int:
        """Elements that arrived so far."""
        return int(self._numbers[10])

    # ---- for the soak

    def arrived(self) -> None:
        self._numbers[10] += 1

    def pause(self, yes: bool) -> None:
        self._numbers[8] = int(yes)

    def stop(self) -> None:
        self._numbers[9] = 1

    @property
    def kills(self) -> int:
        return int(self._numbers[0])

    @property
    def spare_kills(self) -> int:
        return int(self._numbers[1])

    @property
    def server_kills(self) -> int:
        return int(self._numbers[2])

    def time_of(self, kill: int) -> int:
        """When that kill was, in monotonic nanoseconds."""
        return int(self._times[kill % TIMES][0])

    @property
    def step_deaths(self) -> list[int]:
        return [int(n) for n in self._steps]

    @property
    def calls(self) -> int:
        return int(self._calls.sum())

    # ---- for workers

    def called(self, pid: int) -> None:
        self._calls[pid % SLOTS] += 1

    def died_at(self, step: int) -> None:
        self._steps[step] += 1
