"""`python -m tests.interrupts.programs --seed N --count M`: prints each program and what failed.

A program is an entry point, a place of the user's function, a policy and an interruption. It is
interrupted again and again, goes on each time, and has to come to exactly what it would have come
to without: every element once, and an audit that says so.
"""

from __future__ import annotations

import argparse
import asyncio
import faulthandler
import functools
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import spillway as sw
import spillway.tf as tf
from tests.interrupts.alarms import RAISED, Alarm, TimeIsUpError

INT = sw.TensorSpec((), "int64")
HANGS_S = 200.0
PLACES = ("calling", "parallel", "async", "isolated", "sandbox", "generator", "traced")
POLICIES = ("none", "skip", "retry", "quarantine")
AFTER = ("nothing", "nothing", "prefetch", "batch", "shuffle", "filter", "python")
KINDS = (KeyboardInterrupt, SystemExit, TimeIsUpError)


@dataclass
class Program:
    """What is run, and how it is interrupted."""

    seed: int
    entry: str
    place: str
    policy: str
    kind: type[BaseException]
    rows: int
    work_s: float  # of the function, at most
    ends_at: int  # the function raises SystemExit there, once; -1: nowhere
    random: Random
    folder: Path

    def __str__(self) -> str:
        return (
            f"seed {self.seed}: {self.entry} x {self.place} x {self.policy} x "
            f"{self.kind.__name__}, {self.rows} rows, SystemExit at {self.ends_at}"
        )


class WrongResultError(Exception):
    """A program that came to something else."""


def made(seed: int, folder: Path, entries: tuple[str, ...] | None = None) -> Program:
    random = Random(seed)
    place = random.choice(PLACES)
    slow = place in ("isolated", "sandbox")
    return Program(
        seed=seed,
        entry=random.choice(entries or tuple(ENTRIES)),
        place=place,
        policy=random.choice(POLICIES),
        kind=random.choice(KINDS),
        rows=random.choice((5, 30) if slow else (5, 40, 300)),
        work_s=random.choice((0.0, 0.0, 2e-4, 2e-3)),
        ends_at=random.randrange(5) if random.random() < 0.3 else -1,
        random=random,
        folder=folder,
    )


# ---- Pipelines


def failing(x: int) -> bool:
    return x % 7 == 3


def marked(program: Program, name: str) -> bool:
    """Whether this is the first time, in any process."""
    try:
        os.close(os.open(program.folder / name, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def function_of(program: Program) -> Callable[[Any], Any]:
    work_s, ends_at, fails = program.work_s, program.ends_at, program.policy != "none"
    mark = program.folder / "ended"

    def work(x: Any) -> Any:
        number = int(x)
        if work_s:
            until = time.perf_counter() + work_s * (number % 5) / 4
            while time.perf_counter() < until:
                sum(range(20))
        if number == ends_at:
            try:
                os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return number + 1000
            sys.exit(3)
        if fails and number % 7 == 3:
            raise ValueError("bad")
        return number + 1000

    return work


def policy_of(program: Program) -> dict[str, Any]:
    if program.policy == "none":
        return {}
    if program.policy == "retry":
        return {"on_error": "retry", "retries": 1, "backoff": 0.0}
    if program.policy == "quarantine":
        return {"on_error": "quarantine", "quarantine": str(program.folder / "bad.jsonl")}
    return {"on_error": "skip"}


def dataset_of(program: Program, front: Any = sw.Dataset) -> Any:
    """The pipeline of a program; its elements are different numbers."""
    random, policy = program.random, policy_of(program)
    work = function_of(program)
    if program.place == "sandbox":
        program.ends_at = -1  # which cannot end the notebook
        work = function_of(program)
    if program.place == "generator":

        def numbers() -> Iterator[int]:
            for i in range(program.rows):
                if not (program.policy != "none" and failing(i)):
                    yield work(i)

        ds = front.from_generator(numbers, output_signature=INT)
    else:
        ds = front.range(program.rows)
        if random.random() < 0.3:
            ds = ds.prefetch(random.choice((1, 4, sw.AUTOTUNE)))
        ds = ds.map(*_mapped(program, work), **_how(program), **policy)
    after = random.choice(
        ("nothing", "nothing", "prefetch", "batch", "shuffle", "filter", "python")
    )
    if after == "prefetch":
        ds = ds.prefetch(2)
    elif after == "batch":
        if program.policy in ("none", "skip", "quarantine"):
            ds = ds.batch(3).unbatch()
    elif after == "shuffle":
        ds = ds.shuffle(4, seed=1)
    elif after == "filter":
        ds = ds.filter(lambda x: x >= 0)
    elif after == "python":
        ds = ds.map(lambda x: int(x), output_signature=INT)
    return ds


def _mapped(program: Program, work: Callable[[Any], Any]) -> tuple[Any, ...]:
    if program.place == "traced":
        return (lambda x: x + 1000,)
    if program.place == "async":

        async def awaited(x: Any) -> Any:
            await asyncio.sleep(0)
            return work(x)

        return (awaited,)
    return (work,)


def _how(program: Program) -> dict[str, Any]:
    calls = program.random.choice((2, 4, sw.AUTOTUNE))
    how: dict[str, dict[str, Any]] = {
        "parallel": {"num_parallel_calls": calls},
        "async": {"num_parallel_calls": calls},
        "isolated": {"isolate": True, "num_parallel_calls": program.random.choice((None, 2))},
        "sandbox": {"sandbox": True, "num_parallel_calls": program.random.choice((None, 2))},
    }
    output = {} if program.place == "traced" else {"output_signature": INT}
    return how.get(program.place, {}) | output


def expected(program: Program) -> tuple[set[int], int]:
    """The elements that arrive, and how many fail."""
    fails = program.policy != "none" and program.place != "traced"
    bad = {i for i in range(program.rows) if fails and failing(i) and i != program.ends_at}
    if program.place == "generator" and program.policy != "none":
        return {i + 1000 for i in range(program.rows) if not failing(i)}, 0
    return {i + 1000 for i in range(program.rows) if i not in bad}, len(bad)


# ---- Entry points


def interrupted(error: BaseException) -> bool:
    return isinstance(error, RAISED)


class Pass:
    """A pass that is gone through under a limit, however often that interrupts it."""

    def __init__(self, program: Program, it: Any) -> None:
        self.program, self.it = program, it
        self.got: list[int] = []
        self.errors = 0

    def takes(self, ok: bool, value: Any) -> bool:
        """What one attempt came to; False: that was the end."""
        if ok:
            self.got.append(int(value))
        elif isinstance(value, (StopIteration, sw.errors.OutOfRangeError)):
            return False
        elif not interrupted(value):
            if not (isinstance(value, ValueError) and "bad" in str(value)):
                raise WrongResultError(f"raised {value!r}") from value
            self.errors += 1
        return True

    def judge(self, audit: Any, may_lose: int = 0) -> None:
        want, bad = expected(self.program)
        if len(missed := want - set(self.got)) <= may_lose:
            self.got += missed
        doubled = [x for x, n in Counter(self.got).items() if n > 1]
        lost = sorted(want - set(self.got))
        strange = sorted(set(self.got) - want)
        if doubled or lost or strange:
            raise WrongResultError(f"lost {lost[:9]}, doubled {doubled[:9]}, strange {strange[:9]}")
        skips = self.program.policy in ("skip", "quarantine")
        counted = (audit.delivered, audit.skipped, audit.failed, audit.held, audit.dropped)
        right = (len(want), bad if skips else 0, 0 if skips else bad, 0, 0)
        if counted != right:
            names = "delivered, skipped, failed, held, dropped"
            raise WrongResultError(f"the audit has {counted} where {right} is right ({names})")
        if not skips and not bad - may_lose <= self.errors <= bad:
            raise WrongResultError(f"{self.errors} errors were raised, {bad} elements failed")


def some_iterator(program: Program) -> Any:
    front = program.random.choice((sw.Dataset, tf.data.Dataset))
    ds = dataset_of(program, front)
    made = program.random.choice((iter, lambda ds: ds.as_numpy_iterator()))
    return made(ds)


def run_next(program: Program, alarm: Alarm) -> None:
    it = some_iterator(program)
    run = Pass(program, it)
    while run.takes(*alarm.attempt_next(it)):
        pass
    run.judge(it.audit())


def run_call(program: Program, alarm: Alarm) -> None:
    """By a call. The interpreter looks for signals once more before it stores what that gave."""
    it = iter(dataset_of(program, tf.data.Dataset))
    ask = program.random.choice((functools.partial(next, it), it.get_next, it.get_next_as_optional))
    run = Pass(program, it)
    while True:
        ok, value = alarm.attempt(ask)
        if ok and isinstance(value, sw.Optional):
            if not value.has_value():
                break
            value = value.get_value()
        if not run.takes(ok, value):
            break
    run.judge(it.audit(), may_lose=alarm.raised // 50 + 1)


def run_loop(program: Program, alarm: Alarm) -> None:
    """A for loop that an exception leaves, and another one over the same iterator."""
    it = iter(dataset_of(program, program.random.choice((sw.Dataset, tf.data.Dataset))))
    run = Pass(program, it)
    seen: list[Any] = []
    while True:
        ended, error = alarm.attempt(lambda: _loop(it, seen))
        if ended:
            break
        if not run.takes(False, error):
            break
    run.got = [int(x) for x in seen]
    run.judge(it.audit())


def _loop(it: Any, seen: list[Any]) -> None:
    element: Any = None
    try:
        for element in it:
            seen.append(element)
    except BaseException:
        if element is not None and (not seen or seen[-1] is not element):
            seen.append(element)  # it had reached the variable
        raise


def until_done(program: Program, alarm: Alarm, do: Callable[[], Any]) -> Any:
    """`do`, again until it is not interrupted; then without a limit."""
    for _ in range(program.random.randrange(1, 12)):
        ok, value = alarm.attempt(do)
        if ok:
            return value
        if not interrupted(value):
            raise WrongResultError(f"raised {value!r}") from value
    while True:
        try:
            return do()
        except SystemExit:
            continue  # the function's own


def run_list(program: Program, alarm: Alarm) -> None:
    if program.policy == "retry":
        program.policy = "skip"  # its elements fail for good: list() would end
    ds = dataset_of(program)
    got = until_done(program, alarm, lambda: list(ds))
    run = Pass(program, None)
    run.got = [int(x) for x in got]
    run.judge(ds.audit())


def run_reduce(program: Program, alarm: Alarm) -> None:
    if program.policy == "retry":
        program.policy = "skip"
    ds = dataset_of(program)
    total = until_done(
        program,
        alarm,
        lambda: ds.reduce(np.int64(0), lambda state, x: np.int64(int(state) + int(x))),
    )
    if int(total) != sum(expected(program)[0]):
        raise WrongResultError(f"reduce came to {total}")


def run_check(program: Program, alarm: Alarm) -> None:
    ds = dataset_of(program)
    log = program.folder / "check.jsonl"
    resume = [False]

    def check() -> Any:
        again, resume[0] = resume[0] and log.exists(), True
        return ds.check(progress=False, output=log, resume=again)

    problems = until_done(program, alarm, check)
    _, bad = expected(program)
    if len(problems) != bad:
        raise WrongResultError(f"check found {len(problems)} problems, {bad} are right: {problems}")


def run_checkpoint(program: Program, alarm: Alarm) -> None:
    """save() and restore() into a new iterator, under the limit, every few elements."""
    ds = dataset_of(program, program.random.choice((sw.Dataset, tf.data.Dataset)))
    it = iter(ds)
    run = Pass(program, it)
    going = True
    while going:
        for _ in range(program.random.randrange(1, 30)):
            going = run.takes(*alarm.attempt_next(it))
            if not going:
                break
        state = until_done(program, alarm, it.save)
        it.close()
        it = iter(ds)
        until_done(program, alarm, functools.partial(it.restore, state))
    want, _ = expected(program)
    if Counter(run.got) != Counter(want):
        lost, doubled = Counter(want) - Counter(run.got), Counter(run.got) - Counter(want)
        raise WrongResultError(f"lost {sorted(lost)[:9]}, doubled {sorted(doubled)[:9]}")


def run_eager(program: Program, alarm: Alarm) -> None:
    n = program.random.choice((8, 200, 700))
    a = np.arange(n * n, dtype=np.float32).reshape(n, n) % 7
    want = a @ a + 1

    def value() -> Any:
        x = tf.constant(a)
        return (tf.matmul(x, x) + 1).numpy()

    if not np.array_equal(until_done(program, alarm, value), want):
        raise WrongResultError("a product came to something else")


def run_fit(program: Program, alarm: Alarm) -> None:
    """What does not fit as a whole and is made in slices."""
    side = program.random.choice((900, 1800))
    seed = [program.seed, 1]

    def value() -> float:
        x = tf.random.stateless_uniform([side, side], seed=seed)
        return float(tf.reduce_sum(tf.sort(tf.matmul(x, x) + 1, axis=-1)).numpy())

    want = value()
    limit = sw._native.memory_limit()
    try:
        sw._native.set_memory_limit(sw.memory().used + side * side * 4 * 5 // 2)
        got = until_done(program, alarm, value)
    finally:
        sw._native.set_memory_limit(limit)
    if got != want:
        raise WrongResultError(f"in slices it came to {got}, not {want}")


def run_session(program: Program, alarm: Alarm) -> None:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, (None, 40))
        y = tf.reduce_sum(tf.matmul(x, x, transpose_b=True))
        given = np.ones((program.random.choice((2, 300)), 40), np.float32)
        total = until_done(program, alarm, lambda: session.run(y, {x: given}))
        if float(total) != 40.0 * len(given) ** 2:
            raise WrongResultError(f"session.run came to {total}")


def run_session_next(program: Program, alarm: Alarm) -> None:
    """Elements that a session takes: each run one."""
    ds = dataset_of(program, tf.data.Dataset)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        source = tf.compat.v1.data.make_one_shot_iterator(ds)
        element = tf.cast(source.get_next(), tf.int64) + 0
        run = Pass(program, None)
        while run.takes(*alarm.attempt(lambda: session.run(element))):
            pass
        run.judge(ds.audit(), may_lose=alarm.raised // 50 + 1)


def _double(x: Any) -> Any:
    return x * 2


_GUARDED: list[Any] = []


def run_guarded(program: Program, alarm: Alarm) -> None:
    if not _GUARDED:
        _GUARDED.append(sw.guarded(_double))
    for number in range(3):
        got = until_done(program, alarm, lambda n=number: _GUARDED[0](n))  # type: ignore[misc]
        if got != number * 2:
            raise WrongResultError(f"guarded came to {got}")


def run_access(program: Program, alarm: Alarm) -> None:
    if program.place in ("generator", "isolated", "sandbox"):
        program.place = "calling"
    program.policy = "none"
    work = function_of(program)
    ds = sw.Dataset.range(program.rows).map(*_mapped(program, work), **_how(program))
    for i in range(min(program.rows, 20)):
        got = until_done(program, alarm, lambda i=i: ds[i])  # type: ignore[misc]
        if int(got) != i + 1000:
            raise WrongResultError(f"ds[{i}] came to {got}")


ENTRIES: dict[str, Callable[[Program, Alarm], None]] = {
    "next": run_next,
    "call": run_call,
    "loop": run_loop,
    "list": run_list,
    "reduce": run_reduce,
    "check": run_check,
    "checkpoint": run_checkpoint,
    "eager": run_eager,
    "fit": run_fit,
    "session": run_session,
    "session next": run_session_next,
    "guarded": run_guarded,
    "access": run_access,
}


def run(program: Program) -> Alarm:
    alarm = Alarm(program.random, program.kind, longest_s=0.02)
    try:
        ENTRIES[program.entry](program, alarm)
    finally:
        alarm.close()
    return alarm


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--entry", action="append", choices=list(ENTRIES))
    asked = parser.parse_args()
    failed = interrupts = 0
    latest: tuple[float, str] = (0.0, "")
    for seed in range(asked.seed, asked.seed + asked.count):
        with tempfile.TemporaryDirectory() as folder:
            program = made(seed, Path(folder), tuple(asked.entry) if asked.entry else None)
            faulthandler.dump_traceback_later(HANGS_S, exit=True)  # a hang: where, and no more
            print(f"running {program}", file=sys.stderr, flush=True)
            try:
                alarm = run(program)
            except WrongResultError as error:
                failed += 1
                print(f"WRONG {program}: {error}", flush=True)
                if os.environ.get("SPILLWAY_SHOW") and error.__cause__ is not None:
                    import traceback

                    traceback.print_exception(error.__cause__)
                continue
            interrupts += alarm.raised
            latest = max(latest, (alarm.latest_ms, str(program)))
    faulthandler.cancel_dump_traceback_later()
    print(f"{asked.count} programs, {interrupts} interruptions, {failed} wrong")
    print(f"the latest was heard after {latest[0]:.0f} ms: {latest[1]}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
