"""Pull operators without lasting state, each with the policy of the rules and the naive one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from .model import DISK, POOL, Block, Refusal, replaced
from .nested import ASKED, END, IDLE, Element, Operator, State, View, Work, at_cursor


@dataclass(frozen=True)
class Read(Operator):
    """A source of `left` elements; reserves before it reads."""

    count: int
    slot: int | None = None
    sizes: tuple[int, ...] = (1, 2)

    def initial(self) -> Work:
        """Nothing read; `wish` will be the size of the next element."""
        return Work(left=self.count)

    def steps(self, view: View) -> Iterator[State]:
        """Learn the size, reserve, read."""
        work = view.work
        if not view.asked:
            return
        if work.left == 0:
            yield view.after(answer=END)
        elif work.wish == 0:
            for size in self.sizes:
                yield view.after(work._replace(wish=size))
        else:
            for block in view.offers(work.wish, self.slot):
                yield view.after(Work(left=work.left - 1), answer=(block,))


@dataclass(frozen=True)
class Chunks(Operator):
    """A source that reads chunks and hands out their rows: it holds memory between two pulls.

    `left` counts chunks, `number` the rows still in the chunk, `blocks` is the chunk.
    """

    chunks: int
    rows: int
    chunk_slot: int | None = None
    row_slot: int | None = None
    size: int = 2
    keeps_state = True

    def initial(self) -> Work:
        """Nothing read."""
        return Work(left=self.chunks)

    def steps(self, view: View) -> Iterator[State]:
        """Read a chunk (again, if it was spilled), then copy a row out of it."""
        work = view.work
        if not view.asked:
            return
        if not work.blocks:
            if work.left == 0:
                yield view.after(answer=END)
            for block in view.offers(self.size, self.chunk_slot) if work.left else ():
                yield view.after(Work(work.left - 1, 0, self.rows, (block,), (0,)))
        elif work.blocks[0].slot == DISK:
            for block in view.offers(self.size, self.chunk_slot):
                yield view.after(work._replace(blocks=(block,)))
        else:
            for row in view.offers(1, self.row_slot):
                rest = work._replace(number=work.number - 1)
                yield view.after(rest if rest.number else Work(work.left), answer=(row,))


@dataclass(frozen=True)
class Map(Operator):
    """A function; reserves its output while the input still sits in the input's cell."""

    source: Operator
    slot: int | None = None
    sizes: tuple[int, ...] = (1, 2)

    @property
    def inputs(self) -> tuple[Operator, ...]:
        """The input."""
        return (self.source,)

    def steps(self, view: View) -> Iterator[State]:
        """Pull, learn the size, reserve, run."""
        work, given = view.work, view.input()
        if not view.asked:
            return
        if given == IDLE:
            yield view.after(inputs=((0, ASKED),))
        elif given == END:
            yield view.after(answer=END)
        elif given == ASKED:
            return
        elif work.blocks:
            yield view.after(Work(), answer=work.blocks, inputs=((0, IDLE),))
        elif work.wish == 0:
            for size in self.sizes:
                yield view.after(Work(wish=size))
        else:
            for block in view.offers(work.wish, self.slot):
                yield view.after(work._replace(blocks=(block,)))


@dataclass(frozen=True)
class Batch(Operator):
    """R5: `rows` rows copied into one reserved output; `number` is how many are in."""

    source: Operator
    rows: int
    size: int
    slot: int | None = None

    @property
    def inputs(self) -> tuple[Operator, ...]:
        """The input."""
        return (self.source,)

    def steps(self, view: View) -> Iterator[State]:
        """Pull, reserve at the first row, copy, answer when full or at the end."""
        work, given = view.work, view.input()
        if not view.asked:
            return
        if work.number == self.rows or (work.number and given == END):
            yield view.after(Work(), answer=work.blocks)
        elif given == END:
            yield view.after(answer=END)
        elif given == IDLE:
            yield view.after(inputs=((0, ASKED),))
        elif given != ASKED and not work.blocks:
            for block in view.offers(self.size, self.slot):
                yield view.after(Work(blocks=(block,)))
        elif given != ASKED:
            yield view.after(work._replace(number=work.number + 1), inputs=((0, IDLE),))


@dataclass(frozen=True)
class Prefetch(Operator):
    """A buffer of `capacity` elements (`blocks`) filled by its own driver thread.

    R4 ("hands over"): what the pool cannot take stays with the input and is handed over directly.
    Naive: the driver waits until the buffer can be charged, or the buffer keeps the charges.
    """

    source: Operator
    capacity: int
    mode: Literal["hands over", "waits", "keeps"] = "hands over"
    reads_ahead = True

    @property
    def inputs(self) -> tuple[Operator, ...]:
        """The input."""
        return (self.source,)

    def steps(self, view: View) -> Iterator[State]:
        """Let the driver fill the buffer; answer from it."""
        work, given = view.work, view.input()
        if view.asked and work.blocks:
            yield view.after(Work(blocks=work.blocks[1:]), answer=work.blocks[:1])
        elif view.asked and given == END:
            yield view.after(answer=END)
        elif view.asked and isinstance(given, tuple) and self.mode == "hands over":
            yield view.after(answer=given, inputs=((0, IDLE),))
        if given == IDLE and len(work.blocks) < self.capacity:
            yield view.after(inputs=((0, ASKED),))
        elif isinstance(given, tuple):
            for block in given if self.mode == "keeps" else transferred(view, given[0]):
                yield view.after(Work(blocks=(*work.blocks, block)), inputs=((0, IDLE),))


@dataclass(frozen=True)
class Zip(Operator):
    """One element of each branch, pulled in turn, handed on without a copy."""

    branches: tuple[Operator, ...]

    @property
    def inputs(self) -> tuple[Operator, ...]:
        """The branches."""
        return self.branches

    def steps(self, view: View) -> Iterator[State]:
        """Ask the first branch that has not answered; at any end, drop the rest."""
        if not view.asked:
            return
        pair: Element = ()
        for position in range(len(self.branches)):
            given = view.input(position)
            if given == END:
                ended = tuple((other, END) for other in range(len(self.branches)))
                yield view.after(answer=END, inputs=ended)
                return
            if not isinstance(given, tuple):
                if given == IDLE:
                    yield view.after(inputs=((position, ASKED),))
                return
            pair += given
        taken = tuple((position, IDLE) for position in range(len(self.branches)))
        yield view.after(answer=pair, inputs=taken)


@dataclass(frozen=True)
class Interleave(Operator):
    """A cycle of inner iterators: `marks` are the open ones, `number` the cursor, `left` the next.

    R10: what an inner holds on a lent guarantee moves to the pool or to disk, before the cursor
    leaves it or when the inner at the cursor needs the guarantee. Naive: never. `ahead`: the
    inners away from the cursor are read by drivers, on pool memory.
    """

    inners: tuple[Operator, ...]
    cycle: int
    gives_back: Literal["when needed", "before leaving", "never"] = "when needed"
    ahead: bool = False
    nests = True

    @property
    def inputs(self) -> tuple[Operator, ...]:
        """The inner pipelines, in the order they are opened."""
        return self.inners

    def initial(self) -> Work:
        """The first cycle is open."""
        return Work(left=self.cycle, marks=tuple(range(self.cycle)))

    def steps(self, view: View) -> Iterator[State]:
        """Pull at the cursor, make room, move on."""
        work = view.work
        if self.ahead:
            for inner in work.marks:
                if view.input(inner) == IDLE:
                    yield view.after(inputs=((inner, ASKED),))
        if not view.asked:
            return
        if not work.marks:
            yield view.after(answer=END)
            return
        inner = at_cursor(work)
        given = view.input(inner)
        if given == IDLE:
            yield view.after(inputs=((inner, ASKED),))
        elif given == END:
            yield view.after(self._closed(work))
        elif given == ASKED:
            if self.gives_back == "when needed":
                for other in work.marks:
                    for lent in self._lent(view, other) if other != inner else ():
                        yield from _evicted(view, *lent)
        elif isinstance(given, tuple):
            lent_here = next(self._lent(view, inner), None)
            if lent_here and self.gives_back == "before leaving":
                yield from _evicted(view, *lent_here)
            else:
                cursor = (work.number + 1) % len(work.marks)
                moved = work._replace(number=cursor)
                yield view.after(moved, answer=given, inputs=((inner, IDLE),))

    def _closed(self, work: Work) -> Work:
        """Open the next inner in the place of the one that ended, or narrow the cycle."""
        if work.left < len(self.inners):
            return work._replace(
                marks=replaced(work.marks, work.number, work.left), left=work.left + 1
            )
        marks = work.marks[: work.number] + work.marks[work.number + 1 :]
        return work._replace(marks=marks, number=work.number % len(marks) if marks else 0)

    def _lent(self, view: View, inner: int) -> Iterator[tuple[int, int]]:
        """Return (operator, block) of what an inner holds on lent guarantees."""
        for node, within in enumerate(view.tree.within):
            if (view.me, inner) in within:
                for position, block in enumerate(view.state.work[node].blocks):
                    if block.slot >= 0:
                        yield node, position

    def waiting_for(self, view: View) -> Refusal | None:
        """R9: the chunks of the open inners exceed pool, disk and the lent guarantee together."""
        work = view.work
        if not (view.asked and work.marks) or self.gives_back == "never":
            return None
        chunks = [
            (operator, state)
            for operator, state in zip(view.tree.operators, view.state.work, strict=True)
            if isinstance(operator, Chunks)
        ]
        held = sum(block.size for _, state in chunks for block in state.blocks)
        operator, state = chunks[at_cursor(work)]
        resident = bool(state.blocks) and state.blocks[0].slot != DISK
        wanted = 0 if resident else operator.size  # a spilled chunk is on disk until it is back
        room = view.tree.ledger.pool + view.tree.disk
        if operator.chunk_slot is not None:
            room += view.tree.ledger.slots[operator.chunk_slot]
        return Refusal("DiskFull", held + wanted > room)


def transferred(view: View, block: Block) -> list[Block]:
    """R4: the charge moves to the pool; a block that is there already costs nothing."""
    if block.slot == POOL:
        return [Block(block.size, POOL, block.size)]
    return view.offers(block.size, None)


def _evicted(view: View, node: int, position: int) -> Iterator[State]:
    """Move one block of an operator to the pool, or else to disk."""
    work = view.state.work[node]
    block = work.blocks[position]
    homes = view.tree.ledger.offers(view.usage, block.size, None)
    if not homes and block.size <= view.disk_room():
        homes = [block.spilled()]
    for home in homes:
        moved = work._replace(blocks=replaced(work.blocks, position, home))
        yield view.state._replace(work=replaced(view.state.work, node, moved))
    if not homes:
        yield from view.relieved()
