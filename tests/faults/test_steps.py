"""A death at every step of the protocol, of Python workers: nothing is lost, nothing comes twice.

A test point kills the worker: in the worker itself, armed by user code that ran there before, or in
this process while it is at the step.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw
from spillway import _native
from tests.faults.board import Board
from tests.faults.processes import ROOT, workers_of
from tests.faults.steps import (
    ALL_STEPS,
    FUNCTION_STEPS,
    GENERATOR_STEPS,
    PARCEL_STEPS,
    PARENT_STEPS,
    PASSING_STEPS,
)

pytestmark = pytest.mark.skipif(
    not _native.test_points, reason="the module was built without test points"
)
COUNT = 40
AFTER_USER_CODE = (
    "worker has results",
    "worker writes results",
    "worker has written results",
    "worker has answered",
)
INT = sw.TensorSpec((), "int64")


@pytest.fixture
def board(tmp_path: Path) -> Iterator[Board]:
    yield Board.make(tmp_path / "board")
    _native.at_test_point("", None)


def arm(step: str, board: Board) -> None:
    """The worker that is taken next dies when it comes to the step."""
    number, path = ALL_STEPS.index(step), board.path
    passes = 1 if step in AFTER_USER_CODE else 0  # on the way out of the call that arms it

    def prepare(x: Any) -> Any:
        import os
        import signal

        from spillway import _native

        left = [passes]

        def die() -> None:
            if left:
                left.pop()
                if passes:
                    _native.at_test_point(step, die)
                    return
            np.memmap(path, np.int64, "r+")[16 + 2 * 4096 + number] += 1
            os.kill(os.getpid(), signal.SIGKILL)

        _native.at_test_point(step, die)
        return x

    assert len(list(sw.Dataset.range(1).map(prepare, isolate=True))) == 1


def map_some() -> None:
    def work(x: Any) -> Any:
        if int(x) % 20 == 3:
            raise ValueError("x" * 1_000_000)  # more than a socket holds
        return np.full(10_000, int(x), np.int64)

    ds = sw.Dataset.range(COUNT).map(work, isolate=True, on_error="skip")
    got = [int(x[0]) if (x == x[0]).all() else -1 for x in ds]
    assert got == [i for i in range(COUNT) if i % 20 != 3]


def generate_some(stop: int = COUNT) -> None:
    def numbers(count: int) -> Iterator[Any]:
        for i in range(count):
            yield np.int64(i)

    ds = sw.Dataset.from_generator(numbers, args=(COUNT,), output_signature=INT, isolate=True)
    got = []
    for x in ds:
        got.append(int(x))
        if len(got) == stop:
            break
    assert got == list(range(stop))


@pytest.mark.parametrize("step", FUNCTION_STEPS + GENERATOR_STEPS)
def test_a_worker_that_dies_at_a_step_loses_nothing(step: str, board: Board) -> None:
    die_at(step, board, 1)


@pytest.mark.soak
@pytest.mark.parametrize("step", FUNCTION_STEPS + GENERATOR_STEPS)
def test_a_hundred_workers_that_die_at_a_step_lose_nothing(step: str, board: Board) -> None:
    die_at(step, board, 100)


def die_at(step: str, board: Board, many: int) -> None:
    for n in range(many):
        if "room" in step:  # a worker keeps the room that it was once given
            kill_workers()
        arm(step, board)
        if step in FUNCTION_STEPS:
            map_some()
        else:
            generate_some(10 if step == "worker closes its generator" else COUNT)
        # The last steps come after the answer: the worker may still be on its way there.
        for _ in range(1000):
            if board.step_deaths[ALL_STEPS.index(step)] == n + 1:
                break
            map_some()
        assert board.step_deaths[ALL_STEPS.index(step)] == n + 1


@pytest.mark.parametrize("step", PARCEL_STEPS)
def test_a_guarded_call_whose_worker_dies_at_a_step_is_made_again(step: str, board: Board) -> None:
    number, path = ALL_STEPS.index(step), board.path

    def call(x: int, doomed: bool) -> int:
        import os
        import signal

        from spillway import _native

        def die() -> None:
            np.memmap(path, np.int64, "r+")[16 + 2 * 4096 + number] += 1
            os.kill(os.getpid(), signal.SIGKILL)

        if doomed:
            _native.at_test_point(step, die)
        return x + 1

    with sw.guarded(call, restarts=1) as guarded:
        assert guarded(0, False) == 1
        with suppress(sw.errors.WorkerDied):  # its answer may not have left any more
            guarded(1, True)
        assert guarded(2, False) == 3
    assert board.step_deaths[number] >= 1


@pytest.mark.parametrize("step", PARENT_STEPS + PASSING_STEPS)
def test_workers_killed_while_this_process_is_at_a_step_lose_nothing(
    step: str, board: Board
) -> None:
    kill_at(step, board, 1)


@pytest.mark.soak
@pytest.mark.parametrize("step", PARENT_STEPS + PASSING_STEPS)
def test_workers_killed_a_hundred_times_at_a_step_lose_nothing(step: str, board: Board) -> None:
    kill_at(step, board, 100)


def kill_workers() -> None:
    for pid in workers_of(os.getpid()):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def kill_at(step: str, board: Board, many: int) -> None:
    fired: list[int] = []

    def kill_all() -> None:
        fired.append(1)
        kill_workers()

    for n in range(many):
        if step in ("a worker is dead", "a worker is buried"):
            arm("worker has results", board)
        _native.at_test_point(step, kill_all)
        map_some()
        if step in PASSING_STEPS:
            pass_over(board)
        generate_some()
        assert len(fired) == n + 1


def pass_over(board: Board) -> None:
    """A generator that is killed in its middle and has to be passed over."""
    marker = Path(board.path + ".killed")
    marker.unlink(missing_ok=True)
    path = str(marker)

    def killed_once(count: int) -> Iterator[Any]:
        import os
        import signal

        for i in range(count):
            if i == count // 2 and not os.path.exists(path):
                with open(path, "w"):
                    os.kill(os.getpid(), signal.SIGKILL)
            yield np.int64(i)

    ds = sw.Dataset.from_generator(
        killed_once, args=(3000,), output_signature=INT, isolate=True, read_ahead=0, restarts=1000
    )
    assert [int(x) for x in ds] == list(range(3000))


def test_every_step_of_the_protocol_is_here() -> None:
    named = set()
    for path in [
        *(ROOT / "src/spillway/guard").glob("*.cc"),
        *(ROOT / "src/spillway/pipeline").glob("guarded_*.cc"),
        ROOT / "src/spillway/pipeline/worker_loop.cc",
    ]:
        if not path.name.endswith("_test.cc"):
            named |= set(re.findall(r'SW_TEST_POINT\("([^"]+)"\)', path.read_text()))
    assert named == set(ALL_STEPS)
