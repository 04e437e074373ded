"""A tree of pull operators with real threads: R4, R9, R10, and R11 for nested pipelines.

An operator works only while it was asked, and asks its inputs in turn: the operators between two
driver threads share one stack, and a wait for memory anywhere in it blocks all of it. Only a
prefetch and an interleave that reads ahead have drivers of their own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import NamedTuple

from .model import DISK, POOL, Allotment, Block, Refusal, replaced, usage_of

IDLE, ASKED, END = range(3)
OUTPUT = -1

Element = tuple[Block, ...]
Cell = int | Element


class Work(NamedTuple):
    """An operator's state; each operator says what it uses the fields for."""

    left: int = 0
    wish: int = 0
    number: int = 0
    blocks: tuple[Block, ...] = ()
    marks: tuple[int, ...] = ()


class State(NamedTuple):
    """For each operator its answer (IDLE, ASKED, END or an element) and its work."""

    cells: tuple[Cell, ...]
    work: tuple[Work, ...]


class Operator(ABC):
    """A node of the tree."""

    keeps_state = False
    reads_ahead = False
    nests = False

    @property
    def inputs(self) -> tuple[Operator, ...]:
        """The operators below."""
        return ()

    def initial(self) -> Work:
        """Return the state before the first pull."""
        return Work()

    @abstractmethod
    def steps(self, view: View) -> Iterator[State]:
        """Return what this operator, or its driver, can do next."""

    def waiting_for(self, view: View) -> Refusal | None:
        """Return the typed error of this operator's wait, where nothing can move."""
        return None


class Tree:
    """A pipeline with its consumer, which drops an element before it asks for the next."""

    def __init__(
        self, root: Operator, budget: int, slots: tuple[int, ...] = (), disk: int = 0
    ) -> None:
        """Number the operators in preorder; `disk` is the room for spilled bytes."""
        self.operators: list[Operator] = []
        self.inputs: list[tuple[int, ...]] = []
        self.within: list[tuple[tuple[int, int], ...]] = []
        self._number(root, ())
        self.ledger = Allotment(budget, slots)
        self.budget = budget
        self.disk = disk

    def _number(self, operator: Operator, within: tuple[tuple[int, int], ...]) -> int:
        me = len(self.operators)
        self.operators.append(operator)
        self.inputs.append(())
        self.within.append(within)
        self.inputs[me] = tuple(
            self._number(below, (*within, (me, inner)) if operator.nests else within)
            for inner, below in enumerate(operator.inputs)
        )
        return me

    def initial(self) -> State:
        """The consumer has asked."""
        cells: list[Cell] = [IDLE] * len(self.operators)
        cells[0] = ASKED
        return State(tuple(cells), tuple(operator.initial() for operator in self.operators))

    def blocks(self, state: State) -> Iterator[Block]:
        """Return every block of the state."""
        for cell in state.cells:
            if isinstance(cell, tuple):
                yield from cell
        for work in state.work:
            yield from work.blocks

    def held(self, state: State) -> int:
        """Return the bytes in memory."""
        return sum(block.resident for block in self.blocks(state))

    def finished(self, state: State) -> bool:
        """The consumer saw the end."""
        return state.cells[0] == END

    def steps(self, state: State) -> Iterator[State]:
        """Move the consumer or any operator that was asked or has a driver."""
        if isinstance(state.cells[0], tuple):
            yield state._replace(cells=replaced(state.cells, 0, ASKED))
        view = View(self, state)
        for me, operator in enumerate(self.operators):
            view.me = me
            yield from operator.steps(view)

    def refusal(self, state: State) -> Refusal | None:
        """Return the typed error of the first operator that raises one."""
        view = View(self, state)
        for me, operator in enumerate(self.operators):
            view.me = me
            refusal = operator.waiting_for(view)
            if refusal is not None:
                return refusal
        return None


class View:
    """A state as the operator `me` sees it."""

    def __init__(self, tree: Tree, state: State) -> None:
        """Add up the charges once for all operators."""
        self.tree = tree
        self.state = state
        self.me = 0
        self.usage = usage_of(tree.blocks(state))

    @property
    def asked(self) -> bool:
        """Whether the operator above waits for an answer."""
        return self.state.cells[self.me] == ASKED

    @property
    def work(self) -> Work:
        """This operator's state."""
        return self.state.work[self.me]

    def input(self, position: int = 0) -> Cell:
        """Return the answer of an input."""
        return self.state.cells[self.tree.inputs[self.me][position]]

    def after(
        self,
        work: Work | None = None,
        answer: Cell | None = None,
        inputs: tuple[tuple[int, Cell], ...] = (),
    ) -> State:
        """Return the next state: my work, my answer, and what the inputs' cells become."""
        cells = list(self.state.cells)
        if answer is not None:
            cells[self.me] = answer
        for position, cell in inputs:
            cells[self.tree.inputs[self.me][position]] = cell
        changed = self.state.work
        if work is not None:
            changed = replaced(changed, self.me, work)
        return State(tuple(cells), changed)

    def offers(self, size: int, slot: int | None) -> list[Block]:
        """Return the grants; R10: a guarantee inside an interleave is lent at the cursor only."""
        if not self._lends_to(self.me):
            slot = None
        found = self.tree.ledger.offers(self.usage, size, slot)
        if slot is None:
            return found
        return [b._replace(home=slot) if b.slot == POOL else b for b in found]

    def disk_room(self) -> int:
        """Return the bytes that can still be spilled."""
        spilled = sum(b.size for b in self.tree.blocks(self.state) if b.slot == DISK)
        return self.tree.disk - spilled

    def relieved(self) -> Iterator[State]:
        """Make room in the pool: charges return to free guarantees, state spills."""
        state, slots = self.state, self.tree.ledger.slots
        for node, (cell, work) in enumerate(zip(state.cells, state.work, strict=True)):
            if not self._lends_to(node):
                continue
            for blocks, is_cell in ((cell, True), (work.blocks, False)):
                for position, block in enumerate(blocks if isinstance(blocks, tuple) else ()):
                    home = block.home
                    if home < 0 or home in self.usage.busy or block.size > slots[home]:
                        continue
                    assert isinstance(blocks, tuple)
                    moved = replaced(blocks, position, Block(block.size, home, 0))
                    if is_cell:
                        yield state._replace(cells=replaced(state.cells, node, moved))
                    else:
                        changed = work._replace(blocks=moved)
                        yield state._replace(work=replaced(state.work, node, changed))
        for node, position, block in self._pooled_state():
            if block.size <= self.disk_room():
                changed = state.work[node]
                spilled = replaced(changed.blocks, position, block.spilled())
                changed = changed._replace(blocks=spilled)
                yield state._replace(work=replaced(state.work, node, changed))

    def hopeless(self, size: int, may_spill: bool) -> bool:
        """Whether a request fails with the pool freed of all that can leave it.

        What stays: state larger than the room on disk, and rows read ahead, which no driver can
        put back.
        """
        room = self.disk_room()
        if may_spill and size <= room:
            return False
        stays = sum(block.size for _, _, block in self._pooled_state() if block.size > room)
        for operator, work in zip(self.tree.operators, self.state.work, strict=True):
            if operator.reads_ahead:
                stays += sum(block.pooled for block in work.blocks)
        return size + stays > self.tree.ledger.pool

    def _pooled_state(self) -> Iterator[tuple[int, int, Block]]:
        """Return operator, position and block of what only R9 can move out of the pool."""
        for node, operator in enumerate(self.tree.operators):
            work = self.state.work[node]
            if operator.keeps_state and not (self.tree.within[node] and self._lends_to(node)):
                for position, block in enumerate(work.blocks):
                    if block.pooled and work.marks[position] != OUTPUT:
                        yield node, position, block

    def _lends_to(self, node: int) -> bool:
        """R10: an operator inside an interleave has guarantees only at the cursor."""
        return all(
            at_cursor(self.state.work[nest]) == inner for nest, inner in self.tree.within[node]
        )


def at_cursor(work: Work) -> int:
    """Return the inner iterator at an interleave's cursor."""
    return work.marks[work.number] if work.marks else -1
