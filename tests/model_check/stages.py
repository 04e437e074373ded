"""What a linear pipeline is made of: its stages, their states, and the rules that may hold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from .model import Block

PULL, WAIT, READY, RUN, DONE = range(5)


class Task(NamedTuple):
    """One call of a map stage's function."""

    input: Block | None
    size: int
    phase: int
    output: Block | None


class MapWork(NamedTuple):
    """Calls in input order, and the output size of the next one once it is known (0: not yet)."""

    wish: int = 0
    tasks: tuple[Task, ...] = ()


class BatchWork(NamedTuple):
    """Rows collected so far: copied into the output, or held as they came."""

    rows: int = 0
    output: Block | None = None
    inputs: tuple[Block, ...] = ()


class ShuffleWork(NamedTuple):
    """The buffer (sorted: its order carries no meaning) and the element drawn from it."""

    buffer: tuple[Block, ...] = ()
    drawn: Block | None = None


Work = MapWork | BatchWork | ShuffleWork


class State(NamedTuple):
    """The whole pipeline; `kept` is what the user still references."""

    left: int
    queues: tuple[tuple[Block, ...], ...]
    work: tuple[Work, ...]
    kept: tuple[Block, ...] = ()
    asking: bool = False


@dataclass(frozen=True)
class Rules:
    """Which of the rules hold; the defaults are the recommended policy."""

    guarantee: bool = True  # R2
    elder: bool = True  # R3
    admit: bool = True  # R1
    combine: bool = True  # R7: guarantee and pool together
    reclaim: bool = True  # R4, R7, R8: buffers give way to the most downstream elder
    raises: bool = True  # R6, R7: typed error where nothing can move
    exports_leave: bool = True  # R6
    pool_task: Literal["runs", "waits", "pulls"] = "runs"  # R12


RECOMMENDED = Rules()
NAIVE = Rules(guarantee=False, elder=False, admit=False, combine=False, reclaim=False, raises=False)
GUARANTEE_ONLY = replace(NAIVE, guarantee=True)
GUARANTEE_ELDER = replace(GUARANTEE_ONLY, elder=True)


@dataclass(frozen=True)
class Map:
    """A function on each element, `parallel` calls at a time, results in input order."""

    parallel: int = 1

    def initial(self) -> MapWork:
        """No calls."""
        return MapWork()


@dataclass(frozen=True)
class Batch:
    """`count` rows into one output of `size` bytes; R5 copies, the naive stage holds its inputs.

    `grows`: the output is charged row by row, as rows move into it, and not as a whole before.
    """

    count: int
    size: int
    copies: bool = True
    grows: bool = False

    def initial(self) -> BatchWork:
        """No rows."""
        return BatchWork()


@dataclass(frozen=True)
class Shuffle:
    """A buffer that keeps its inputs' charges, or (R4) transfers them and shrinks or spills."""

    capacity: int
    full: Literal["keep", "shrink", "spill"]

    def initial(self) -> ShuffleWork:
        """An empty buffer."""
        return ShuffleWork()


Stage = Map | Batch | Shuffle
