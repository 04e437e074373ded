"""The steps of the protocol at which a process may die, and how a test makes it die there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# In a worker: it kills itself there.
FUNCTION_STEPS = (
    "worker is given a function",
    "worker has its function",
    "worker has a call",
    "worker has results",
    "worker writes results",
    "worker asks for room",
    "worker has asked for room",
    "worker was given room",
    "worker has written results",
    "half a message is sent",
    "worker has answered",
)
GENERATOR_STEPS = (
    "worker is to start a generator",
    "worker has started its generator",
    "worker is asked for rows",
    "worker has generated rows",
    "worker has sent rows",
    "worker closes its generator",
)
PARCEL_STEPS = ("worker has a parcel", "worker has served a parcel")
# In the process that it works for: its workers are killed while it is there.
PARENT_STEPS = (
    "a request is due",
    "an answer is awaited",
    "an answer is here",
    "a worker is taken",
    "a worker is dead",
    "a worker is buried",
)
PASSING_STEPS = ("delivered rows are passed over",)
WORKER_STEPS = FUNCTION_STEPS + GENERATOR_STEPS + PARCEL_STEPS
ALL_STEPS = WORKER_STEPS + PARENT_STEPS + PASSING_STEPS
# A worker is asked these things before the user's code runs in it for the first time: it cannot
# arm them itself.
BEFORE_USER_CODE = FUNCTION_STEPS[:2] + GENERATOR_STEPS[:2]


def doomed(path: str, steps: tuple[str, ...], odds: int) -> Callable[[], None]:
    """To be called by user code in a worker: counts the call, and one in `odds` has it die later.

    Travels by value and needs nothing of the tests' modules, as a notebook's function would.
    """
    numbers = {name: ALL_STEPS.index(name) for name in steps}
    places: dict[str, Any] = {}

    def note() -> None:
        import os
        import random
        import signal

        import numpy as np

        from spillway import _native

        if not places:
            board = np.memmap(path, np.int64, "r+")
            places["steps"] = board[16 + 2 * 4096 :][:64]
            places["calls"] = board[16 + 2 * 4096 + 64 :]
            places["chance"] = random.Random(os.urandom(8))
        places["calls"][os.getpid() % (1 << 16)] += 1
        if numbers and places["chance"].randrange(odds) == 0:
            step = places["chance"].choice(list(numbers))

            def die() -> None:
                places["steps"][numbers[step]] += 1
                os.kill(os.getpid(), signal.SIGKILL)

            _native.at_test_point(step, die)

    return note
