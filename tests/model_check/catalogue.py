"""Every configuration that is checked, and what must come out.

Budgets are the smallest that hold all guarantees (the pool is empty or a few bytes) up to ones
where memory rarely binds: deadlocks live in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from .linear import Linear
from .model import Model
from .nested import Operator, Tree
from .openings import Openings
from .operators import Batch as PullBatch
from .operators import (
    Chunks,
    Interleave,
    Prefetch,
    Read,
    Zip,
)
from .operators import Map as PullMap
from .stages import (
    GUARANTEE_ELDER,
    GUARANTEE_ONLY,
    NAIVE,
    RECOMMENDED,
    Batch,
    Map,
    Rules,
    Shuffle,
    Stage,
)
from .stateful import Generator, Group, StateMode, Unique

Verdict = Literal["sound", "deadlocks", "needless errors"]

NO_R1 = replace(RECOMMENDED, admit=False, raises=False)
NO_RECLAIM = replace(RECOMMENDED, reclaim=False, raises=False)
RAISE_EARLY = replace(RECOMMENDED, reclaim=False)
VIEWS_STAY = replace(RECOMMENDED, exports_leave=False, raises=False)
TASKS_WAIT = replace(NO_R1, reclaim=False, pool_task="waits")
TASKS_PULL = replace(NO_R1, reclaim=False, pool_task="pulls")


@dataclass(frozen=True)
class Case:
    """One run of the checker."""

    rule: str
    pipeline: str
    policy: str
    verdict: Verdict
    model: Callable[[], Model[Any]]
    errors: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """Identify the case in reports."""
        return f"{self.rule}: {self.pipeline}: {self.policy}"


def cases() -> list[Case]:
    """Return all cases, in the order of the rules."""
    return [*_linear(), *_huge(), *_kept(), *_pool(), *_pulled(), *_state(), *_nested(), *_opened()]


def _chain(
    rule: str,
    pipeline: str,
    policy: str,
    verdict: Verdict,
    stages: tuple[Stage, ...],
    budget: int,
    slots: tuple[int, ...],
    elements: int,
    rules: Rules,
    *,
    sizes: tuple[int, ...] = (1, 2),
    threads: int = 0,
    user_keeps: bool = False,
    errors: frozenset[str] = frozenset(),
) -> Case:
    def make() -> Linear:
        return Linear(stages, budget, slots, elements, sizes, rules, threads, user_keeps)

    return Case(rule, f"{pipeline}, B={budget}", policy, verdict, make, errors)


def _linear() -> Iterator[Case]:
    one, two, three = Map(), Map(2), Map(3)
    serial, ordered = (one, one, one), (one, two)
    yield _chain("R2", "3 maps", "naive", "deadlocks", serial, 6, (2, 2, 2), 4, NAIVE)
    for budget in (6, 7):
        yield _chain("R2", "3 maps", "R1-R8", "sound", serial, budget, (2, 2, 2), 4, RECOMMENDED)
    for name, rules in (("naive", NAIVE), ("guarantee only", GUARANTEE_ONLY)):
        yield _chain("R3", "map > map(2)", name, "deadlocks", ordered, 5, (2, 2), 4, rules)
    for budget in (4, 5, 6, 7):
        for name, rules in (("guarantee + elder", GUARANTEE_ELDER), ("R1-R8", RECOMMENDED)):
            yield _chain("R3", "map > map(2)", name, "sound", ordered, budget, (2, 2), 4, rules)
    wide = (one, two, two)
    yield _chain(
        "R3", "map > 2 x map(2)", "guarantee only", "deadlocks", wide, 8, (2, 2, 2), 3,
        GUARANTEE_ONLY,
    )  # fmt: skip
    for budget in (6, 8):
        yield _chain(
            "R3", "map > 2 x map(2)", "R1-R8", "sound", wide, budget, (2, 2, 2), 3, RECOMMENDED
        )
    holds = (one, Batch(2, 4, copies=False))
    yield _chain(
        "R5", "map > batch", "holds inputs", "deadlocks", holds, 6, (2, 4), 4, GUARANTEE_ELDER
    )
    for budget in (6, 8):
        yield _chain(
            "R5", "map > batch", "R1-R8", "sound", (one, Batch(2, 4)), budget, (2, 4), 4,
            RECOMMENDED,
        )  # fmt: skip
    yield _chain(
        "R5", "map > map(3) > batch", "R1-R8", "sound", (one, three, Batch(2, 4)), 10, (2, 2, 4),
        4, RECOMMENDED,
    )  # fmt: skip
    # Sizes that only elements tell: a batch has the guarantee of a row, not of itself.
    for budget in (9, 10, 12):
        yield _chain(
            "R5", "map > map(3) > batch of unknown rows", "charged as it is filled", "sound",
            (one, three, Batch(2, 4, grows=True)), budget, (2, 2, 2), 4, RECOMMENDED,
        )  # fmt: skip
    yield _chain(
        "R5", "map > map(3) > batch of unknown rows", "reserved as a whole", "deadlocks",
        (one, three, Batch(2, 4)), 9, (2, 2, 2), 4, GUARANTEE_ELDER,
    )  # fmt: skip
    keeps = (one, Shuffle(3, "keep"), one)
    yield _chain(
        "R4", "map > shuffle > map", "keeps charges", "deadlocks", keeps, 7, (2, 2, 2), 4,
        GUARANTEE_ELDER,
    )  # fmt: skip
    full: Literal["shrink", "spill"]
    for full in ("shrink", "spill"):
        for budget in (6, 7):
            yield _chain(
                "R4", "map > shuffle > map", f"R1-R8, {full}s", "sound",
                (one, Shuffle(3, full), one), budget, (2, 2, 2), 4, RECOMMENDED,
            )  # fmt: skip
        yield _chain(
            "R4", "map > shuffle > map(2) > batch", f"R1-R8, {full}s", "sound",
            (one, Shuffle(2, full), two, Batch(2, 2)), 9, (2, 2, 2, 2), 2, RECOMMENDED,
        )  # fmt: skip


def _huge() -> Iterator[Case]:
    too_large = frozenset({"ElementTooLarge"})
    for parallel in ((1, 1), (1, 2), (2, 2), (1, 2, 1), (2, 2, 2)):
        stages = tuple(Map(width) for width in parallel)
        slots = (2,) * len(stages)
        pipeline = "huge: maps" + str(parallel).replace(" ", "")
        for extra in (2, 4):
            yield _chain(
                "R7", pipeline, "R1-R8", "sound", stages, sum(slots) + extra, slots, 3,
                RECOMMENDED, sizes=(1, 4), errors=too_large,
            )  # fmt: skip
    pipeline, stages, slots = "huge: maps(1,2)", (Map(), Map(2)), (2, 2)
    variants: tuple[tuple[str, str, Verdict, Rules], ...] = (
        ("R1", "pops before it reserves", "deadlocks", NO_R1),
        ("R7", "waits, nothing gives way", "deadlocks", NO_RECLAIM),
        ("R7", "raises, nothing gives way", "needless errors", RAISE_EARLY),
    )
    for rule, policy, verdict, rules in variants:
        yield _chain(
            rule, pipeline, policy, verdict, stages, 8, slots, 3, rules, sizes=(1, 4),
            errors=too_large,
        )  # fmt: skip
    yield _chain(
        "R7", "huge: 2 maps > batch", "R1-R8", "sound", (Map(), Map(), Batch(2, 4)), 10,
        (2, 2, 4), 4, RECOMMENDED, sizes=(1, 3),
    )  # fmt: skip
    yield _chain(
        "R7", "huge: map > shuffle > map", "R1-R8, spills", "sound",
        (Map(), Shuffle(2, "spill"), Map()), 9, (2, 3, 2), 4, RECOMMENDED, sizes=(1, 3),
    )  # fmt: skip


def _kept() -> Iterator[Case]:
    variants: tuple[tuple[str, Verdict, Rules], ...] = (
        ("R1-R8", "sound", RECOMMENDED),
        ("exports stay where they are", "deadlocks", VIEWS_STAY),
        ("exports leave, no error", "deadlocks", replace(RECOMMENDED, raises=False)),
        ("raises, nothing gives way", "needless errors", RAISE_EARLY),
    )
    for policy, verdict, rules in variants:
        for budget in {"sound": (6, 8), "deadlocks": (6,), "needless errors": (8,)}[verdict]:
            yield _chain(
                "R6", "user keeps: 2 maps", policy, verdict, (Map(), Map()), budget, (2, 2, 2), 4,
                rules, user_keeps=True, errors=frozenset({"MemoryPressure"}),
            )  # fmt: skip


def _pool() -> Iterator[Case]:
    variants: tuple[tuple[str, Verdict, Rules], ...] = (
        ("R12", "sound", RECOMMENDED),
        ("tasks wait for memory", "deadlocks", TASKS_WAIT),
        ("tasks pull", "deadlocks", TASKS_PULL),
    )
    for policy, verdict, rules in variants:
        for threads, budget in ((1, 4), (2, 4), (1, 6), (2, 6)):
            if verdict == "sound" or budget == 4:
                yield _chain(
                    "R12", f"2 x map(2), {threads} threads", policy, verdict, (Map(2), Map(2)),
                    budget, (2, 2), 3, rules, threads=threads,
                )  # fmt: skip


def _tree(
    rule: str,
    pipeline: str,
    policy: str,
    verdict: Verdict,
    root: Operator,
    budget: int,
    slots: tuple[int, ...],
    disk: int = 0,
    errors: frozenset[str] = frozenset(),
) -> Case:
    def make() -> Tree:
        return Tree(root, budget, slots, disk)

    room = f", disk={disk}" if disk or errors else ""
    return Case(rule, f"{pipeline}, B={budget}{room}", policy, verdict, make, errors)


def _pulled() -> Iterator[Case]:
    name = "read > prefetch > map"
    for budget in (4, 5, 6, 7):
        good = PullMap(Prefetch(Read(5, 0), 2), 1)
        yield _tree("R4", name, "hands over", "sound", good, budget, (2, 2))
    waits = PullMap(Prefetch(Read(4, 0), 2, "waits"), 1)
    yield _tree("R4", name, "driver waits for the pool", "deadlocks", waits, 5, (2, 2))
    keeps = PullMap(Prefetch(Read(4), 2, "keeps"))
    yield _tree("R4", name, "naive", "deadlocks", keeps, 6, ())
    twice = PullBatch(Prefetch(PullMap(Prefetch(Read(4, 0), 2), 1), 2), 2, 4, 2)
    for budget in (8, 10):
        yield _tree(
            "R4", "prefetch > map > prefetch > batch", "hands over", "sound", twice, budget,
            (2, 2, 4),
        )  # fmt: skip
    name = "zip of 2 prefetched branches"
    both = PullMap(Zip((Prefetch(Read(3, 0), 2), Prefetch(Read(3, 1), 2))), 2)
    for budget in (6, 7, 8):
        yield _tree("R2", name, "R1-R8", "sound", both, budget, (2, 2, 2))
    naive = PullMap(Zip((Prefetch(Read(3), 2, "keeps"), Prefetch(Read(3), 2, "keeps"))))
    yield _tree("R2", name, "naive", "deadlocks", naive, 8, ())
    uneven = Zip((PullBatch(Prefetch(Read(4, 0), 2), 2, 2, 1), PullMap(Read(3, 2), 3)))
    for budget in (10, 12):
        yield _tree(
            "R2", "zip of a batch and a map", "R1-R8", "sound", PullMap(uneven, 4), budget,
            (2, 2, 2, 2, 2),
        )  # fmt: skip


def _state() -> Iterator[Case]:
    full = frozenset({"DiskFull"})

    def group(mode: StateMode) -> Operator:
        return PullMap(Group(Prefetch(Read(5, 0), 1), 2, 4, 1, mode), 2)

    def unique(mode: StateMode) -> Operator:
        return PullMap(Unique(PullMap(Read(4, 0), 1), mode), 2)

    for budget in (8, 9, 10):
        for disk in (0, 2, 10):
            yield _tree(
                "R9", "group_by_window", "spills", "sound", group("spills"), budget, (2, 4, 2),
                disk, full,
            )  # fmt: skip
    for budget in (6, 7):
        for disk in (0, 1, 4):
            yield _tree(
                "R9", "unique", "spills", "sound", unique("spills"), budget, (2, 2, 2), disk, full
            )
    both = PullMap(Unique(Group(Read(4, 0), 2, 2, 1)), 2)
    for disk in (1, 8):
        yield _tree(
            "R9", "group_by_window > unique", "spills", "sound", both, 8, (2, 2, 2), disk, full
        )
    for mode in ("waits", "holds"):
        yield _tree(
            "R9", "group_by_window", f"{mode} in memory", "deadlocks", group(mode), 9, (2, 4, 2)
        )
    yield _tree("R9", "unique", "waits in memory", "deadlocks", unique("waits"), 7, (2, 2, 2))


def _nested() -> Iterator[Case]:
    full = frozenset({"DiskFull"})
    lent = (Chunks(2, 2, 0, 1), Chunks(1, 2, 0, 1), Chunks(1, 2, 0, 1))
    own = (Chunks(1, 2), Chunks(1, 2), Chunks(1, 2))
    for cycle in (2, 3):
        for ahead in (False, True):
            name = f"interleave(cycle={cycle}{', ahead' if ahead else ''})"
            for budget, disk in ((5, 0), (5, 2), (5, 8), (6, 8), (7, 0), (7, 8), (8, 4)):
                inner = Interleave(lent, cycle, ahead=ahead)
                yield _tree(
                    "R10", name, "lent, given back when needed", "sound", PullMap(inner, 2),
                    budget, (2, 1, 2), disk, full,
                )  # fmt: skip
            strict = PullMap(Interleave(lent, cycle, "before leaving", ahead), 2)
            yield _tree(
                "R10", name, "lent, given back before leaving", "sound", strict, 5, (2, 1, 2), 8
            )
            never = PullMap(Interleave(lent, cycle, "never", ahead), 2)
            yield _tree("R10", name, "lent, not given back", "deadlocks", never, 5, (2, 1, 2), 8)
            each = PullMap(Interleave(own, cycle, "never", ahead), 2)
            yield _tree("R10", name, "each its own memory", "deadlocks", each, 5, (0, 0, 2), 8)
    strict = PullMap(Interleave(lent, 2, "before leaving"), 2)
    yield _tree(
        "R10", "interleave(cycle=2)", "given back before leaving", "needless errors", strict, 7,
        (2, 1, 2), 0, full,
    )  # fmt: skip
    buffered = PullMap(Prefetch(Interleave(lent, 2, ahead=True), 1), 2)
    yield _tree(
        "R10", "interleave(ahead) > prefetch", "lent, given back when needed", "sound", buffered,
        7, (2, 1, 2), 8,
    )  # fmt: skip

    refused = frozenset({"OpenRefused", "DiskFull"})
    for budget in (4, 6, 7, 8):
        for disk in (0, 1, 4):
            for name, after in (("", None), (" > prefetch", 2)):
                child: Operator = Unique(Generator(3, 2, 0))
                if after:
                    child = Prefetch(child, after)
                yield _tree(
                    "R11", f"dataset in a generator > unique{name}", "child", "sound",
                    PullMap(child, 1), budget, (2, 2), disk, refused,
                )  # fmt: skip
    stranger = PullMap(Unique(Generator(3, 2, 0, "stranger")), 1)
    yield _tree(
        "R11", "dataset in a generator > unique", "opens on its own and waits", "deadlocks",
        stranger, 6, (2, 2), 4,
    )  # fmt: skip
    crowded = PullMap(Unique(Generator(3, 2, 0, "in my slot")), 1)
    yield _tree(
        "R11", "dataset in a generator > unique", "lives in the output's guarantee", "deadlocks",
        crowded, 8, (2, 2), 4,
    )  # fmt: skip


def _opened() -> Iterator[Case]:
    def case(
        policy: Literal["refuse", "wait", "lazy"],
        floors: tuple[int, ...],
        budget: int,
        one_thread: bool,
        verdict: Verdict,
    ) -> Case:
        name = f"{len(floors)} pipelines, floors {floors}{', 1 thread' if one_thread else ''}"

        def make() -> Openings:
            return Openings(floors, budget, 3, policy, one_thread)

        return Case("R11", f"{name}, B={budget}", f"floors: {policy}", verdict, make)

    for one_thread in (False, True):
        for floors, budgets in (((2, 2), (2, 3, 4)), ((2, 3), (3, 4, 5)), ((2, 2, 2), (3, 4, 6))):
            for budget in budgets:
                yield case("refuse", floors, budget, one_thread, "sound")
    yield case("lazy", (2, 2), 2, False, "deadlocks")
    yield case("lazy", (2, 3), 3, False, "deadlocks")
    yield case("lazy", (2, 2, 2), 3, False, "deadlocks")
    yield case("wait", (2, 2), 3, True, "deadlocks")
