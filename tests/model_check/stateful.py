"""Operators whose state may not be given up (R9), and user code that opens a dataset (R11)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from .model import DISK, Block, Refusal
from .nested import ASKED, END, IDLE, OUTPUT, Operator, State, View, Work
from .operators import transferred

FRESH_KEY = Block(1, DISK, 0)  # not charged yet

StateMode = Literal["spills", "waits", "holds"]


def _kept(view: View, block: Block, mode: StateMode) -> list[Block]:
    """Return the homes of a block that becomes state: the pool, and with R9 else the disk."""
    if mode == "holds":
        return [block]
    homes = transferred(view, block)
    if not homes and mode == "spills" and block.size <= view.disk_room():
        homes = [block.spilled()]
    return homes


@dataclass(frozen=True)
class Group(Operator):
    """group_by_window: collects `window` elements of each key, then batches them.

    `blocks` with their keys in `marks` are the state (and OUTPUT the batch being made), `wish - 1`
    the key being emitted, `number - 1` the key of the element that waits to enter.
    """

    source: Operator
    window: int
    size: int
    slot: int | None = None
    mode: StateMode = "spills"
    keys: int = 2
    keeps_state = True

    @property
    def inputs(self) -> tuple[Operator, ...]:
        """The input."""
        return (self.source,)

    def steps(self, view: View) -> Iterator[State]:
        """Emit a full window, or a rest at the end; else take one more element."""
        work, given = view.work, view.input()
        if not view.asked:
            return
        if work.wish:
            yield from self._emit(view)
            return
        full = [key for key in range(self.keys) if work.marks.count(key) == self.window]
        if given == END and not full:
            full = sorted(set(work.marks))
            if not full:
                yield view.after(answer=END)
        for key in full:
            yield view.after(work._replace(wish=key + 1))
        if full or given in (ASKED, END):
            return
        if given == IDLE:
            yield view.after(inputs=((0, ASKED),))
        elif work.number == 0:
            for key in range(self.keys):
                yield view.after(work._replace(number=key + 1))
        else:
            assert isinstance(given, tuple)
            homes = _kept(view, given[0], self.mode)
            if not homes and self.mode == "spills":
                yield from view.relieved()
            for block in homes:
                more = [*zip(work.blocks, work.marks, strict=True), (block, work.number - 1)]
                yield view.after(_state_work(more), inputs=((0, IDLE),))

    def _emit(self, view: View) -> Iterator[State]:
        work = view.work
        entries = list(zip(work.blocks, work.marks, strict=True))
        if OUTPUT not in work.marks:
            for block in view.offers(self.size, self.slot):
                yield view.after(_state_work([*entries, (block, OUTPUT)], work.wish))
        else:
            output = tuple(block for block, mark in entries if mark == OUTPUT)
            rest = [entry for entry in entries if entry[1] not in (OUTPUT, work.wish - 1)]
            yield view.after(_state_work(rest), answer=output)

    def waiting_for(self, view: View) -> Refusal | None:
        """R9: the disk is full."""
        given = view.input()
        if self.mode != "spills" or not (view.asked and isinstance(given, tuple)):
            return None
        return Refusal("DiskFull", view.hopeless(given[0].size, may_spill=True))


@dataclass(frozen=True)
class Unique(Operator):
    """unique: keeps a key of size 1 for every fresh element, until the end (`blocks`)."""

    source: Operator
    mode: StateMode = "spills"
    keeps_state = True

    @property
    def inputs(self) -> tuple[Operator, ...]:
        """The input."""
        return (self.source,)

    def steps(self, view: View) -> Iterator[State]:
        """Drop a repeated element; keep the key of a fresh one and hand it on."""
        work, given = view.work, view.input()
        if not view.asked or given == ASKED:
            return
        if given == IDLE:
            yield view.after(inputs=((0, ASKED),))
        elif given == END:
            yield view.after(Work(), answer=END)
        elif work.wish == 0:
            yield view.after(work._replace(wish=1))
            if work.blocks:
                yield view.after(work, inputs=((0, IDLE),))
        else:
            homes = _kept(view, FRESH_KEY, self.mode)
            if not homes and self.mode == "spills":
                yield from view.relieved()
            for block in homes:
                more = [*zip(work.blocks, work.marks, strict=True), (block, 0)]
                yield view.after(_state_work(more), answer=given, inputs=((0, IDLE),))

    def waiting_for(self, view: View) -> Refusal | None:
        """R9: the disk is full."""
        if self.mode != "spills" or not (view.asked and view.work.wish):
            return None
        return Refusal("DiskFull", view.hopeless(1, may_spill=True))


def _state_work(entries: list[tuple[Block, int]], wish: int = 0) -> Work:
    ordered = sorted(entries)
    return Work(
        wish=wish,
        blocks=tuple(block for block, _ in ordered),
        marks=tuple(mark for _, mark in ordered),
    )


@dataclass(frozen=True)
class Generator(Operator):
    """User code that opens another dataset for each element it yields; `blocks`: output, floor.

    R11 ("child"): the inner iterator's floor comes from the outer pipeline's pool, whose state
    gives way, or the open is refused. Naive: it opens as a stranger and waits, or it is to live in
    the generator's own guarantee, which the output already has.
    """

    count: int
    floor: int
    slot: int | None = None
    opens: Literal["child", "stranger", "in my slot"] = "child"
    sizes: tuple[int, ...] = (1, 2)

    def initial(self) -> Work:
        """Nothing yielded."""
        return Work(left=self.count)

    def steps(self, view: View) -> Iterator[State]:
        """Reserve the output, open the inner dataset, run, close it."""
        work = view.work
        if not view.asked:
            return
        if work.left == 0:
            yield view.after(answer=END)
        elif work.wish == 0:
            for size in self.sizes:
                yield view.after(work._replace(wish=size))
        elif not work.blocks:
            for block in view.offers(work.wish, self.slot):
                yield view.after(work._replace(blocks=(block,)))
        elif len(work.blocks) == 1:
            yield from self._open(view)
        else:
            yield view.after(Work(left=work.left - 1), answer=work.blocks[:1])

    def _open(self, view: View) -> Iterator[State]:
        work = view.work
        found = view.offers(self.floor, self.slot if self.opens == "in my slot" else None)
        if self.opens == "in my slot":
            found = [block for block in found if block.slot >= 0]
        for floor in found:
            yield view.after(work._replace(blocks=(*work.blocks, floor)))
        if not found and self.opens == "child":
            yield from view.relieved()

    def waiting_for(self, view: View) -> Refusal | None:
        """R11: refused, with the list of holders."""
        if self.opens != "child" or not view.asked or len(view.work.blocks) != 1:
            return None
        return Refusal("OpenRefused", view.hopeless(self.floor, may_spill=False))
