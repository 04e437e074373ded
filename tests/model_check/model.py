"""Explicit-state checker, and the ledger that every model of the memory rules shares.

A model is a finite state machine: hashable states, all steps that any thread could take next, and
every choice (sizes, keys, which thread runs, which grant is taken) made by an adversary. `check`
visits every reachable state once and counts the bad ones:

* deadlock: no thread can move, the work is not finished, and no rule raises a typed error;
* doomed: moves remain, but none of them ever leads to an end (so livelocks are found too);
* unjustified: a typed error although the request would have fitted.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeVar

POOL = -1
DISK = -2

S = TypeVar("S", bound=Hashable)


class Block(NamedTuple):
    """Bytes and the right to them: a guaranteed slot (or POOL, or DISK) and the pool's share.

    `home` is the guarantee a pooled block could return to once that is free.
    """

    size: int
    slot: int
    pooled: int
    home: int = POOL

    @property
    def resident(self) -> int:
        """Bytes in memory."""
        return 0 if self.slot == DISK else self.size

    def spilled(self) -> Block:
        """Return the same bytes on disk."""
        return Block(self.size, DISK, 0)


class Usage(NamedTuple):
    """What a state charges: bytes of the pool, and the guaranteed slots in use."""

    pooled: int
    busy: frozenset[int]


def usage_of(blocks: Iterable[Block]) -> Usage:
    """Add up the charges of the blocks."""
    pooled = 0
    busy = set()
    for _, slot, share, _ in blocks:
        pooled += share
        if slot >= 0:
            busy.add(slot)
    return Usage(pooled, frozenset(busy))


@dataclass(frozen=True)
class Allotment:
    """How the budget is divided: one guarantee a slot (R2), the rest is the pool.

    No slots at all is the naive budget: wait until the bytes fit. With `combine` (R7) a block
    larger than its guarantee takes the guarantee and the difference from the pool.
    """

    budget: int
    slots: tuple[int, ...] = ()
    combine: bool = False

    @property
    def pool(self) -> int:
        """Bytes that belong to no slot."""
        return self.budget - sum(self.slots)

    def offers(self, usage: Usage, size: int, slot: int | None) -> list[Block]:
        """Return every grant open to a request; `slot` is the guarantee it may use, if any."""
        found = []
        if usage.pooled + size <= self.pool:
            found.append(Block(size, POOL, size))
        if slot is not None and slot < len(self.slots) and slot not in usage.busy:
            excess = max(0, size - self.slots[slot])
            if excess == 0 or (self.combine and usage.pooled + excess <= self.pool):
                found.append(Block(size, slot, excess))
        return found

    def excess(self, size: int, slot: int) -> int:
        """Return the least that a block of this size takes from the pool."""
        return max(0, size - self.slots[slot]) if slot < len(self.slots) else size


class Refusal(NamedTuple):
    """A typed error raised where nothing else can move, and whether nothing could have fitted."""

    error: str
    justified: bool


class Model(Protocol[S]):
    """A state machine to check."""

    @property
    def budget(self) -> int:
        """The bytes no state may exceed."""

    def initial(self) -> S:
        """Return the first state."""

    def steps(self, state: S) -> Iterable[S]:
        """Return the states reachable by one step of any thread."""

    def held(self, state: S) -> int:
        """Return the bytes in memory, counted from the blocks and not from the grants."""

    def finished(self, state: S) -> bool:
        """Tell whether all elements were delivered and the end was seen."""

    def refusal(self, state: S) -> Refusal | None:
        """Return the typed error that the rules raise in a state where nothing can move."""


@dataclass
class Report:
    """What `check` found; `example` is one of the deadlocked states nearest to the start."""

    states: int = 0
    finished: int = 0
    deadlocks: int = 0
    doomed: int = 0
    unjustified: int = 0
    peak: int = 0
    over_budget: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    example: Hashable | None = None

    @property
    def sound(self) -> bool:
        """No state is stuck, over the budget, or ended by an error that was not needed."""
        return not (self.deadlocks or self.doomed or self.unjustified or self.over_budget)

    @property
    def verdict(self) -> str:
        """Name the worst that was found."""
        if self.over_budget:
            return "exceeds the budget"
        if self.deadlocks:
            return "deadlocks"
        if self.doomed:
            return "livelocks"
        return "needless errors" if self.unjustified else "sound"


def check(model: Model[S], limit: int = 1_000_000) -> Report:
    """Visit every reachable state of the model; more than `limit` states is an error."""
    report = Report()
    start = model.initial()
    numbers: dict[S, int] = {start: 0}
    todo = deque([start])
    predecessors: list[list[int]] = [[]]
    ends: list[int] = []
    while todo:
        state = todo.popleft()
        number = numbers[state]
        held = model.held(state)
        report.peak = max(report.peak, held)
        report.over_budget += held > model.budget
        if model.finished(state):
            report.finished += 1
            ends.append(number)
            continue
        stuck = True
        for successor in model.steps(state):
            stuck = False
            known = numbers.get(successor)
            if known is None:
                known = numbers[successor] = len(numbers)
                predecessors.append([])
                todo.append(successor)
            predecessors[known].append(number)
        if stuck and _record_stuck(model, state, report):
            ends.append(number)
        if len(numbers) > limit:
            raise RuntimeError(f"check: at most {limit} states: {len(numbers)}")
    report.states = len(numbers)
    report.doomed = report.states - report.deadlocks - _count_reaching(ends, predecessors)
    return report


def _record_stuck(model: Model[S], state: S, report: Report) -> bool:
    """Record a state in which nothing can move; tell whether it is a proper end."""
    refusal = model.refusal(state)
    if refusal is None:
        report.deadlocks += 1
        if report.example is None:
            report.example = state
        return False
    report.errors[refusal.error] += 1
    report.unjustified += not refusal.justified
    return True


def _count_reaching(ends: Collection[int], predecessors: list[list[int]]) -> int:
    """Count the states from which some end can be reached."""
    reached = bytearray(len(predecessors))
    todo = list(ends)
    for number in todo:
        reached[number] = 1
    while todo:
        for number in predecessors[todo.pop()]:
            if not reached[number]:
                reached[number] = 1
                todo.append(number)
    return sum(reached)


def replaced(items: tuple[S, ...], index: int, value: S) -> tuple[S, ...]:
    """Return the tuple with one item exchanged."""
    return (*items[:index], value, *items[index + 1 :])
