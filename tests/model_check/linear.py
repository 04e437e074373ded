"""A chain of stages that run on their own, joined by queues: rules R1-R8 and R12.

Every stage may move whenever it can, which allows more interleavings than any scheduler would.
Sizes are chosen by the adversary *before* memory is asked for: a model that chooses a size when
granting it picks one that fits, and hides deadlocks.
"""

from __future__ import annotations

from collections.abc import Iterator

from .model import DISK, POOL, Allotment, Block, Refusal, Usage, replaced, usage_of
from .stages import (
    DONE,
    PULL,
    READY,
    RECOMMENDED,
    RUN,
    WAIT,
    Batch,
    BatchWork,
    Map,
    MapWork,
    Rules,
    Shuffle,
    ShuffleWork,
    Stage,
    State,
    Task,
)


class Linear:
    """source > stages > consumer; slot i is stage i's guarantee, the last one the consumer's."""

    def __init__(
        self,
        stages: tuple[Stage, ...],
        budget: int,
        slots: tuple[int, ...],
        elements: int,
        sizes: tuple[int, ...] = (1, 2),
        rules: Rules = RECOMMENDED,
        threads: int = 0,
        user_keeps: bool = False,
    ) -> None:
        """Describe the pipeline; `threads` limits the compute pool (0: as many as tasks)."""
        self.stages = stages
        self.rules = rules
        self.sizes = sizes
        self.elements = elements
        self.threads = threads
        self.user_keeps = user_keeps
        self.last = len(stages) - 1
        self.ledger = Allotment(budget, slots if rules.guarantee else (), rules.combine)
        self.budget = budget

    def initial(self) -> State:
        """Nothing read."""
        none: tuple[Block, ...] = ()
        return State(
            self.elements,
            tuple(none for _ in self.stages),
            tuple(stage.initial() for stage in self.stages),
        )

    # Accounting

    def _blocks(self, state: State) -> Iterator[Block]:
        for queue in state.queues:
            yield from queue
        yield from state.kept
        for work in state.work:
            if isinstance(work, MapWork):
                for task in work.tasks:
                    if task.input is not None:
                        yield task.input
                    if task.output is not None:
                        yield task.output
            elif isinstance(work, BatchWork):
                yield from work.inputs
                if work.output is not None:
                    yield work.output
            else:
                yield from work.buffer
                if work.drawn is not None:
                    yield work.drawn

    def held(self, state: State) -> int:
        """Return the bytes in memory."""
        return sum(block.resident for block in self._blocks(state))

    def finished(self, state: State) -> bool:
        """All elements passed, and the user (if one is modelled) asked for more."""
        drained = self._exhausted(state, len(self.stages))
        return drained and (state.asking or not self.user_keeps)

    def _exhausted(self, state: State, index: int) -> bool:
        """Nothing will ever arrive at stage `index` again."""
        if state.left:
            return False
        return not any(
            state.queues[before] or state.work[before] != self.stages[before].initial()
            for before in range(index)
        )

    # Steps

    def steps(self, state: State) -> Iterator[State]:
        """Move any stage, the consumer, or (if an elder waits) what can give way to it."""
        if self.rules.raises and self._hopeless(state):
            return  # known at admission: the error is raised, not waited for
        view = _View(self, state)
        for index, stage in enumerate(self.stages):
            if isinstance(stage, Map):
                yield from self._map(view, index, stage)
            elif isinstance(stage, Batch):
                yield from self._batch(view, index, stage)
            else:
                yield from self._shuffle(view, index, stage)
            head = view.head(index)
            if head is not None and head.slot == DISK:
                for block in view.offers(index, head.size, index):
                    yield _requeued(state, index, 0, block)
        yield from self._consume(view)
        if view.claim is not None:
            yield from self._give_way(view, view.claim)

    def _map(self, view: _View, index: int, stage: Map) -> Iterator[State]:
        work = view.state.work[index]
        assert isinstance(work, MapWork)
        room = len(work.tasks) < stage.parallel
        if room and self.rules.pool_task == "pulls" and index > 0:
            if view.free_thread and not self._exhausted(view.state, index):
                yield _with_tasks(view.state, index, (*work.tasks, Task(None, 0, PULL, None)))
        elif room and view.available(index):
            yield from self._start(view, index, work)
        for position, task in enumerate(work.tasks):
            yield from self._advance(view, index, work, position, task)

    def _start(self, view: _View, index: int, work: MapWork) -> Iterator[State]:
        state = view.state
        if not self.rules.admit:
            if self.rules.pool_task == "runs" or view.free_thread:
                popped, block = view.popped(index)
                for size in self.sizes:
                    task = Task(block, size, WAIT, None)
                    yield _with_tasks(popped, index, (*work.tasks, task))
        elif work.wish == 0:
            for size in self.sizes:
                yield state._replace(work=replaced(state.work, index, work._replace(wish=size)))
        else:
            popped, block = view.popped(index)
            slot = index if not work.tasks or not self.rules.elder else None
            for output in view.offers(index, work.wish, slot):
                task = Task(block, work.wish, READY if self.threads else RUN, output)
                yield _with_tasks(popped, index, (*work.tasks, task))

    def _advance(
        self, view: _View, index: int, work: MapWork, position: int, task: Task
    ) -> Iterator[State]:
        state = view.state
        first = position == 0

        def become(changed: Task, start: State = state) -> State:
            tasks = replaced(work.tasks, position, changed)
            return _with_tasks(start, index, tasks, work.wish)

        if task.phase == PULL:
            next_in_order = first or work.tasks[position - 1].phase != PULL
            if next_in_order and view.available(index):
                popped, block = view.popped(index)
                for size in self.sizes:
                    yield become(Task(block, size, WAIT, None), popped)
            elif self._exhausted(state, index):
                rest = work.tasks[:position] + work.tasks[position + 1 :]
                yield _with_tasks(state, index, rest, work.wish)
        elif task.phase == WAIT:
            slot = index if first or not self.rules.elder else None
            for output in view.offers(index, task.size, slot):
                yield become(task._replace(phase=RUN, output=output))
        elif task.phase == READY:
            if view.free_thread:
                yield become(task._replace(phase=RUN))
        elif task.phase == RUN:
            yield become(task._replace(phase=DONE, input=None))
        elif first:
            assert task.output is not None
            yield _emitted(_with_tasks(state, index, work.tasks[1:], work.wish), index, task.output)

    def _batch(self, view: _View, index: int, stage: Batch) -> Iterator[State]:
        state = view.state
        work = state.work[index]
        assert isinstance(work, BatchWork)
        complete = work.rows == stage.count or (work.rows > 0 and self._exhausted(state, index))
        if complete:
            emptied = state._replace(work=replaced(state.work, index, BatchWork()))
            if work.output is not None:
                yield _emitted(emptied, index, work.output)
            else:
                for output in view.offers(index, stage.size, index):
                    yield _emitted(emptied, index, output)
        elif view.available(index):
            popped, block = view.popped(index)
            assert block is not None
            if stage.grows:
                for output in view.grown(index, work.output, block.size):
                    more = BatchWork(work.rows + 1, output)
                    yield popped._replace(work=replaced(state.work, index, more))
            elif not stage.copies:
                more = BatchWork(work.rows + 1, None, (*work.inputs, block))
                yield popped._replace(work=replaced(state.work, index, more))
            elif work.output is not None:
                more = work._replace(rows=work.rows + 1)
                yield popped._replace(work=replaced(state.work, index, more))
            else:
                for output in view.offers(index, stage.size, index):
                    yield state._replace(
                        work=replaced(state.work, index, work._replace(output=output))
                    )

    def _shuffle(self, view: _View, index: int, stage: Shuffle) -> Iterator[State]:
        state = view.state
        work = state.work[index]
        assert isinstance(work, ShuffleWork)

        def become(start: State, buffer: tuple[Block, ...], drawn: Block | None) -> State:
            changed = ShuffleWork(tuple(sorted(buffer)), drawn)
            return start._replace(work=replaced(start.work, index, changed))

        full = len(work.buffer) == stage.capacity or self._exhausted(state, index)
        if view.available(index) and len(work.buffer) < stage.capacity:
            popped, block = view.popped(index)
            assert block is not None
            if stage.full == "keep":
                entered = [block]
            else:
                slot = index if stage.full == "shrink" else None
                entered = view.offers(index, block.size, slot)
            if not entered and stage.full == "spill":
                entered = [block.spilled()]
            full = full or not entered
            for block in entered:
                yield become(popped, (*work.buffer, block), work.drawn)
        if work.drawn is None:
            if full or (stage.full == "shrink" and view.claim is not None):
                for position, block in enumerate(work.buffer):
                    rest = work.buffer[:position] + work.buffer[position + 1 :]
                    yield become(state, rest, block)
        elif work.drawn.slot == DISK:
            for block in view.offers(index, work.drawn.size, index):
                yield become(state, work.buffer, block)
        else:
            yield _emitted(become(state, work.buffer, None), index, work.drawn)

    def _consume(self, view: _View) -> Iterator[State]:
        state = view.state
        ready = view.available(len(self.stages))
        if not self.user_keeps:
            if ready:
                yield view.popped(len(self.stages))[0]
        elif not state.asking:
            yield state._replace(asking=True)
            for position in range(len(state.kept)):
                yield state._replace(kept=state.kept[:position] + state.kept[position + 1 :])
        else:
            if ready:
                popped, block = view.popped(len(self.stages))
                assert block is not None
                kept = tuple(sorted((*state.kept, block)))
                yield popped._replace(kept=kept, asking=False)
            if self.rules.exports_leave:
                yield from self._leave_guarantee(view)

    def _leave_guarantee(self, view: _View) -> Iterator[State]:
        """R6: charge what the user keeps to the consumer's guarantee and the pool, all at once."""
        packed = self._packed(view.state, view.usage)
        if packed is not None and any(block.slot == self.last for block in view.state.kept):
            yield view.state._replace(kept=packed)

    def _packed(self, state: State, usage: Usage) -> tuple[Block, ...] | None:
        """Return the kept blocks, the largest on the consumer's guarantee, the rest pooled."""
        consumer = len(self.stages)
        largest = max(state.kept, default=None)
        if largest is None:
            return None
        others = list(state.kept)
        others.remove(largest)
        pooled = usage.pooled - sum(block.pooled for block in state.kept)
        if pooled + sum(block.size for block in others) > self.ledger.pool:
            return None
        moved = [Block(block.size, POOL, block.size) for block in others]
        return tuple(sorted([Block(largest.size, consumer, 0), *moved]))

    def _give_way(self, view: _View, claim: int) -> Iterator[State]:
        """R4, R7: charges return to free guarantees, buffers upstream of the claim spill."""
        state = view.state
        for index in range(len(self.stages)):
            for position, block in enumerate(state.queues[index]):
                needed = self.rules.admit and position == 0 and index == claim - 1
                helps = block.pooled > 0 or (position > 0 and block.slot != DISK)
                if helps and not needed and index < claim:
                    yield _requeued(state, index, position, block.spilled())
                elif needed and block.slot == POOL:
                    for moved in view.at_home(index, block):
                        yield _requeued(state, index, position, moved)
            work = state.work[index]
            if isinstance(work, BatchWork) and work.output is not None:
                for moved in view.at_home(index, work.output):
                    rebased = work._replace(output=moved)
                    yield state._replace(work=replaced(state.work, index, rebased))
            if isinstance(work, ShuffleWork):
                for position, block in enumerate(work.buffer):
                    if block.slot != DISK:
                        buffer = replaced(work.buffer, position, block.spilled())
                        spilled = ShuffleWork(tuple(sorted(buffer)), work.drawn)
                        yield state._replace(work=replaced(state.work, index, spilled))

    # Typed errors

    def refusal(self, state: State) -> Refusal | None:
        """R7 for an element that cannot fit, R6 for a user who keeps too much."""
        if not self.rules.raises:
            return None
        if state.asking and any(block.slot == self.last for block in state.kept):
            return Refusal("MemoryPressure", self._unpackable(state))
        return Refusal("ElementTooLarge", self._hopeless(state))

    def _hopeless(self, state: State) -> bool:
        """Some elder and its input would not fit if every other byte of the pool were free."""
        for index, work in enumerate(state.work):
            if isinstance(work, MapWork) and work.wish and not work.tasks:
                need = self.ledger.excess(work.wish, index)
                if index:
                    need += self.ledger.excess(state.queues[index - 1][0].size, index - 1)
                if need > self.ledger.pool:
                    return True
        return False

    def _unpackable(self, state: State) -> bool:
        """Whichever block has the consumer's guarantee, the others do not fit into the pool."""
        return bool(state.kept) and self._packed(state, usage_of(state.kept)) is None


class _View:
    """A state with its usage, and the claim of the most downstream elder that waits (R8)."""

    def __init__(self, model: Linear, state: State) -> None:
        self.model = model
        self.state = state
        self.usage: Usage = usage_of(model._blocks(state))
        self.claim: int | None = None
        if model.rules.reclaim:
            self.claim = self._find_claim()

    @property
    def free_thread(self) -> bool:
        """Whether a thread of the compute pool is idle."""
        busy = sum(
            task.phase in (PULL, WAIT, RUN)
            for work in self.state.work
            if isinstance(work, MapWork)
            for task in work.tasks
        )
        return self.model.threads == 0 or busy < self.model.threads

    def head(self, queue: int) -> Block | None:
        """Return the oldest block of a queue."""
        blocks = self.state.queues[queue]
        return blocks[0] if blocks else None

    def available(self, index: int) -> bool:
        """Whether stage `index` has an input in memory."""
        if index == 0:
            return self.state.left > 0
        head = self.head(index - 1)
        return head is not None and head.slot != DISK

    def popped(self, index: int) -> tuple[State, Block | None]:
        """Take the next input of stage `index`."""
        state = self.state
        if index == 0:
            return state._replace(left=state.left - 1), None
        queue = state.queues[index - 1]
        return state._replace(queues=replaced(state.queues, index - 1, queue[1:])), queue[0]

    def offers(self, index: int, size: int, slot: int | None) -> list[Block]:
        """Return the grants open to stage `index`; pool bytes wait for a claim further down."""
        found = self.model.ledger.offers(self.usage, size, slot)
        if self.claim is not None and index < self.claim:
            return [block for block in found if block.pooled == 0]
        return found

    def grown(self, index: int, output: Block | None, size: int) -> list[Block]:
        """Return what an output may become when a row of `size` moves in, which is still held."""
        usage, before = self.usage, 0
        if output is not None:
            busy = usage.busy - {output.slot}
            usage, before = Usage(usage.pooled - output.pooled, busy), output.size
        return self.model.ledger.offers(usage, before + size, index)

    def at_home(self, index: int, block: Block) -> list[Block]:
        """Return the block on its own stage's guarantee, if that is free and saves pool bytes."""
        without = Usage(self.usage.pooled - block.pooled, self.usage.busy)
        found = self.model.ledger.offers(without, block.size, index)
        return [moved for moved in found if moved.slot == index and moved.pooled < block.pooled]

    def _find_claim(self) -> int | None:
        model, state = self.model, self.state
        offers = model.ledger.offers
        if state.asking and model.rules.exports_leave and not model._unpackable(state):
            exported = any(block.slot == model.last for block in state.kept)
            if exported and model._packed(state, self.usage) is None:
                return len(model.stages)
        for index in reversed(range(len(model.stages))):
            head = self.head(index)
            if head is not None and head.slot == DISK and not offers(self.usage, head.size, index):
                return index + 1
            work, stage = state.work[index], model.stages[index]
            wanted = 0
            if isinstance(work, BatchWork) and isinstance(stage, Batch) and stage.grows:
                row = self.head(index - 1) if self.available(index) else None
                waits = row is not None and work.rows < stage.count
                if waits and row and not self.grown(index, work.output, row.size):
                    return index
            elif isinstance(work, MapWork) and not work.tasks and self.available(index):
                wanted = work.wish
            elif isinstance(work, MapWork) and work.tasks and work.tasks[0].phase == WAIT:
                wanted = work.tasks[0].size
            elif isinstance(work, ShuffleWork) and work.drawn and work.drawn.slot == DISK:
                wanted = work.drawn.size
            if wanted and not offers(self.usage, wanted, index):
                return index
        return None


def _with_tasks(state: State, index: int, tasks: tuple[Task, ...], wish: int = 0) -> State:
    return state._replace(work=replaced(state.work, index, MapWork(wish, tasks)))


def _emitted(state: State, index: int, block: Block) -> State:
    queue = (*state.queues[index], block)
    return state._replace(queues=replaced(state.queues, index, queue))


def _requeued(state: State, index: int, position: int, block: Block) -> State:
    queue = replaced(state.queues[index], position, block)
    return state._replace(queues=replaced(state.queues, index, queue))
