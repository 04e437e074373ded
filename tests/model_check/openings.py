"""Several pipelines opened at the same time in one process: R11.

A pipeline's floor is one piece for each of its stages. A pipeline that is open runs on its floor,
so all that matters is how the floor is obtained and whether somebody waits for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from .model import Refusal, replaced

CLOSED, OPEN, DONE, REFUSED = range(4)


class State(NamedTuple):
    """For each pipeline its phase, the pieces it has, and the elements still to deliver."""

    phases: tuple[int, ...]
    pieces: tuple[int, ...]
    left: tuple[int, ...]
    wrongly_refused: bool = False


class Openings:
    """Pipelines with floors of one byte a stage, each on a thread or all on the user's one.

    * "refuse" (R11): the whole floor at once, or a typed error;
    * "wait": the whole floor at once, and wait for it;
    * "lazy": one piece when a stage first runs, and wait for each.
    """

    def __init__(
        self,
        floors: tuple[int, ...],
        budget: int,
        elements: int,
        policy: Literal["refuse", "wait", "lazy"],
        one_thread: bool = False,
    ) -> None:
        """One thread means: the user opens all, pulls from each in turn, then closes all."""
        self.floors = floors
        self.budget = budget
        self.elements = elements
        self.policy = policy
        self.one_thread = one_thread

    def initial(self) -> State:
        """Nothing open."""
        count = len(self.floors)
        return State((CLOSED,) * count, (0,) * count, (self.elements,) * count)

    def held(self, state: State) -> int:
        """Return the bytes reserved."""
        return sum(state.pieces)

    def finished(self, state: State) -> bool:
        """Every pipeline was read to its end or refused, and no refusal was wrong."""
        return not state.wrongly_refused and all(p in (DONE, REFUSED) for p in state.phases)

    def steps(self, state: State) -> Iterator[State]:
        """Move each pipeline that its thread lets move."""
        if state.wrongly_refused:
            return
        for index, phase in enumerate(state.phases):
            if self.one_thread and not self._turn(state, index):
                continue
            if phase == CLOSED:
                yield from self._open(state, index)
            elif phase == OPEN and state.left[index]:
                left = replaced(state.left, index, state.left[index] - 1)
                yield state._replace(left=left)
            elif phase == OPEN:
                yield self._become(state, index, DONE, 0)

    def _turn(self, state: State, index: int) -> bool:
        """All are opened in order first, then advanced in step."""
        if CLOSED in state.phases:
            return index == state.phases.index(CLOSED)
        rows = zip(state.left, state.phases, strict=True)
        most = max((left for left, phase in rows if phase == OPEN), default=0)
        return state.phases[index] == OPEN and state.left[index] == most

    def _open(self, state: State, index: int) -> Iterator[State]:
        free = self.budget - sum(state.pieces)
        floor = self.floors[index]
        have = state.pieces[index]
        if self.policy == "lazy":
            if have == floor:
                yield self._become(state, index, OPEN, floor)
            elif free:
                yield self._become(state, index, CLOSED, have + 1)
        elif floor <= free:
            yield self._become(state, index, OPEN, floor)
        elif self.policy == "refuse":
            rows = zip(self.floors, state.phases, strict=True)
            holders = sum(other for other, phase in rows if phase == OPEN)
            refused = self._become(state, index, REFUSED, 0)
            yield refused._replace(wrongly_refused=holders + floor <= self.budget)

    def _become(self, state: State, index: int, phase: int, pieces: int) -> State:
        return state._replace(
            phases=replaced(state.phases, index, phase),
            pieces=replaced(state.pieces, index, pieces),
        )

    def refusal(self, state: State) -> Refusal | None:
        """Report a pipeline that was refused although the holders left enough."""
        return Refusal("OpenRefused", False) if state.wrongly_refused else None
