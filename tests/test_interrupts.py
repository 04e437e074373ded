"""Ctrl-C, SystemExit and signal handlers that raise: heard where they come, and nothing lost."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf
from spillway.interruptions import meaning_of, start_thread

INT = sw.TensorSpec((), "int64")


class Interrupted(BaseException):
    """Ends more than an element, as the outcomes of test frameworks do."""


class LateError(Exception):
    """What a time limit raises."""


ENDS = [KeyboardInterrupt, SystemExit, GeneratorExit, Interrupted]
POLICIES: list[dict[str, Any]] = [
    {},
    {"on_error": "skip"},
    {"on_error": "retry", "retries": 3, "backoff": 0.0},
    {"on_error": "quarantine"},
]


def policy_for(policy: dict[str, Any], folder: Path) -> dict[str, Any]:
    if policy.get("on_error") != "quarantine":
        return policy
    return {**policy, "quarantine": str(folder / "quarantine.jsonl")}


class Once:
    """A function that raises for one element, the first time it is called for it."""

    def __init__(self, kind: type[BaseException], at: int) -> None:
        self.kind, self.at = kind, at
        self.calls: Counter[int] = Counter()

    def __call__(self, x: Any) -> Any:
        return self.seen(int(x)) and x

    def seen(self, number: int) -> bool:
        self.calls[number] += 1
        if number == self.at and self.calls[number] == 1:
            raise self.kind("here")
        return True


def everything(it: Any, take: Callable[[Any], Any] = int) -> tuple[list[Any], list[Any]]:
    """All elements, and what was raised between them: (elements before, exception)."""
    got: list[Any] = []
    raised: list[Any] = []
    while True:
        try:
            for element in it:
                got.append(take(element))
            return got, raised
        except (*ENDS, LateError) as error:
            raised.append((len(got), error))


def holds(audit: Any, delivered: int) -> None:
    assert audit.delivered == delivered, audit
    assert audit.skipped == audit.failed == audit.dropped == 0, audit


# ---- What is not an Exception is for the caller


@pytest.mark.parametrize("kind", ENDS)
@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.get("on_error", "none"))
@pytest.mark.parametrize("calls", [None, 1, 4, sw.AUTOTUNE])
def test_what_ends_more_than_an_element_is_raised_in_its_place(
    kind: type[BaseException], policy: dict[str, Any], calls: int | None, tmp_path: Path
) -> None:
    once = Once(kind, 5)
    ds = sw.Dataset.range(10).map(
        once, num_parallel_calls=calls, **policy_for(policy, tmp_path)
    )  # fmt: skip
    it = iter(ds)
    got, raised = everything(it)
    assert got == list(range(10))
    [(before, error)] = raised
    assert before == 5 and type(error) is kind and error.args == ("here",)
    assert once.calls == Counter({**dict.fromkeys(range(10), 1), 5: 2})
    holds(it.audit(), 10)


OPERATORS: dict[str, tuple[Callable[[Once], sw.Dataset], list[Any]]] = {
    "filter": (lambda f: sw.Dataset.range(10).filter(lambda x: f.seen(int(x))), list(range(10))),
    "filter few": (
        lambda f: sw.Dataset.range(10).filter(lambda x: f.seen(int(x)) and int(x) == 9),
        [9],
    ),
    "flat_map": (
        lambda f: sw.Dataset.range(10).flat_map(
            lambda x: sw.Dataset.from_tensors(f(x)) if f.seen(-1 - int(x)) else None
        ),
        list(range(10)),
    ),
    "scan": (
        lambda f: sw.Dataset.range(10).scan(
            np.int64(0), lambda s, x: (s + x if f.seen(int(x)) else s, x)
        ),
        list(range(10)),
    ),
    "take_while": (
        lambda f: sw.Dataset.range(10).take_while(lambda x: f.seen(int(x))),
        list(range(10)),
    ),
    "prefetch": (lambda f: sw.Dataset.range(10).map(f).prefetch(3), list(range(10))),
    "two maps": (lambda f: sw.Dataset.range(10).map(f).map(lambda x: int(x)), list(range(10))),
    "filtered after": (
        lambda f: sw.Dataset.range(10).map(f).filter(lambda x: int(x) >= 0),
        list(range(10)),
    ),
    "shuffle": (lambda f: sw.Dataset.range(10).map(f).shuffle(1), list(range(10))),
    "unbatch": (lambda f: sw.Dataset.range(10).map(f).batch(5).unbatch(), list(range(10))),
    "rebatch": (
        lambda f: sw.Dataset.range(10).map(f).batch(5).rebatch(2).unbatch(),
        list(range(10)),
    ),
    "padded": (
        lambda f: sw.Dataset.range(10).map(f, output_signature=INT).padded_batch(5).unbatch(),
        list(range(10)),
    ),
    "interleave": (
        lambda f: sw.Dataset.range(10).interleave(
            lambda x: sw.Dataset.from_tensors(f(x)), cycle_length=1
        ),
        list(range(10)),
    ),
    "window": (
        lambda f: sw.Dataset.range(10).map(f).window(5).flat_map(lambda w: w),
        list(range(10)),
    ),
    "zip": (
        lambda f: sw.Dataset.zip(sw.Dataset.range(10), sw.Dataset.range(10).map(f)).map(
            lambda a, b: int(b)
        ),
        list(range(10)),
    ),
    "cache": (lambda f: sw.Dataset.range(10).map(f).cache(), list(range(10))),
    "repeat": (lambda f: sw.Dataset.range(5).map(f).repeat(2), [*range(5), *range(5)]),
    "unique": (lambda f: sw.Dataset.range(10).map(f).unique(), list(range(10))),
    "enumerate": (lambda f: sw.Dataset.range(10).map(f).enumerate(), list(range(10))),
    "concatenate": (
        lambda f: sw.Dataset.range(0).concatenate(sw.Dataset.range(10).map(f)),
        list(range(10)),
    ),
}


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("kind", [SystemExit, Interrupted])
@pytest.mark.parametrize("at", [0, 3, 4])
def test_an_interrupted_element_passes_through_every_operator_once(
    name: str, kind: type[BaseException], at: int
) -> None:
    once = Once(kind, at)
    make, expected = OPERATORS[name]
    it = iter(make(once))
    take = (lambda pair: int(pair[1])) if name == "enumerate" else int
    got, raised = everything(it, take)
    assert got == expected
    assert [type(error) for _, error in raised] == [kind]
    audit = it.audit()
    assert audit.skipped == audit.failed == audit.dropped == 0, audit


def test_an_interruption_inside_a_batch_keeps_the_rows_before_it() -> None:
    once = Once(SystemExit, 6)
    it = iter(sw.Dataset.range(10).map(once, on_error="skip").batch(4))
    got, raised = everything(it, lambda batch: batch.tolist())
    assert got == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert [before for before, _ in raised] == [1]
    assert once.calls[4] == once.calls[5] == 1
    holds(it.audit(), 10)


def test_reduce_is_interrupted_as_any_call() -> None:
    once = Once(SystemExit, 6)
    ds = sw.Dataset.range(10)
    with pytest.raises(SystemExit):
        ds.reduce(np.int64(0), lambda s, x: s + x if once.seen(int(x)) else s)
    assert ds.reduce(np.int64(0), lambda s, x: s + x if once.seen(int(x)) else s) == 45


@pytest.mark.parametrize("policy", POLICIES[:2], ids=["none", "skip"])
def test_a_generator_that_ended_its_caller_goes_on_behind_what_was_delivered(
    policy: dict[str, Any],
) -> None:
    once = Once(SystemExit, 5)

    def numbers() -> Iterator[int]:
        for i in range(10):
            once.seen(i)
            yield i

    it = iter(sw.Dataset.from_generator(numbers, output_signature=INT, **policy))
    got, raised = everything(it)
    assert got == list(range(10))
    assert [(before, type(error)) for before, error in raised] == [(5, SystemExit)]
    holds(it.audit(), 10)


def test_an_async_function_ends_its_caller_and_not_the_event_loop() -> None:
    once = Once(SystemExit, 5)

    async def slow(x: Any) -> Any:
        return once(x)

    it = iter(sw.Dataset.range(10).map(slow, num_parallel_calls=4, on_error="skip"))
    got, raised = everything(it)
    assert got == list(range(10)) and [type(error) for _, error in raised] == [SystemExit]
    holds(it.audit(), 10)


def test_a_task_that_an_async_function_began_may_end_too() -> None:
    once = Once(SystemExit, 5)

    async def inner(x: Any) -> Any:
        return once(x)

    async def slow(x: Any) -> Any:
        return await asyncio.create_task(inner(x))

    it = iter(sw.Dataset.range(10).map(slow, num_parallel_calls=4))
    got, raised = everything(it)
    assert got == list(range(10)) and [type(error) for _, error in raised] == [SystemExit]


def test_an_isolated_function_may_end_its_caller(tmp_path: Path) -> None:
    mark = tmp_path / "been here"

    def once(x: Any) -> Any:
        if int(x) == 5 and not mark.exists():
            mark.touch()
            raise SystemExit(7)
        return x

    for calls in (None, 2):
        mark.unlink(missing_ok=True)
        it = iter(
            sw.Dataset.range(10).map(once, isolate=True, on_error="skip", num_parallel_calls=calls)
        )
        got, raised = everything(it)
        assert got == list(range(10))
        [(before, error)] = raised
        assert before == 5 and type(error) is SystemExit and error.code == 7
        holds(it.audit(), 10)


def test_an_isolated_generator_may_end_its_caller(tmp_path: Path) -> None:
    mark = tmp_path / "been here"

    def numbers() -> Iterator[int]:
        for i in range(10):
            if i == 5 and not mark.exists():
                mark.touch()
                raise SystemExit(7)
            yield i

    it = iter(sw.Dataset.from_generator(numbers, output_signature=INT, isolate=True))
    got, raised = everything(it)
    assert got == list(range(10)) and [type(error) for _, error in raised] == [SystemExit]
    holds(it.audit(), 10)


def test_sandboxed_code_cannot_end_the_notebook() -> None:
    def leave(x: Any) -> Any:
        if int(x) == 1:
            raise SystemExit(7)
        return x

    ds = sw.Dataset.range(3).map(leave, sandbox=True, on_error="skip")
    it = iter(ds)
    assert [int(x) for x in it] == [0, 2]
    assert it.audit().skipped == 1


def test_check_ends_with_its_caller() -> None:
    once = Once(SystemExit, 5)

    def look(x: Any) -> Any:
        if int(x) == 2:
            raise ValueError("bad")
        return once(x)

    with pytest.raises(SystemExit):
        sw.Dataset.range(10).map(look).check(progress=False)
    problems = sw.Dataset.range(10).map(look).check(progress=False)
    assert problems.checked == 10 and len(problems) == 1


def test_check_keeps_the_problems_it_found_before(tmp_path: Path) -> None:
    once = Once(SystemExit, 5)

    def look(x: Any) -> Any:
        if int(x) == 2:
            raise ValueError("bad")
        return once(x)

    log = tmp_path / "log.jsonl"
    ds = sw.Dataset.range(10).map(look)
    with pytest.raises(SystemExit):
        ds.check(progress=False, output=log)
    problems = ds.check(progress=False, output=log, resume=True)
    assert len(problems) == 1 and problems.checked == 10


def test_random_access_raises_it_as_it_is() -> None:
    once = Once(SystemExit, 5)
    ds = sw.Dataset.range(10).map(once)
    with pytest.raises(SystemExit):
        ds[5]
    assert int(ds[5]) == 5


# ---- Signals


@pytest.fixture
def limit() -> Iterator[None]:
    """SIGUSR1 raises, as a time limit does."""

    def late(number: int, frame: Any) -> None:
        raise LateError("too late")

    before = signal.signal(signal.SIGUSR1, late)
    yield
    signal.signal(signal.SIGUSR1, before)


class Signalled(Once):
    """The same by a signal that arrives in the middle of the function."""

    def __init__(self, number: signal.Signals, at: int) -> None:
        super().__init__(BaseException, at)
        self.number = number

    def seen(self, number: int) -> bool:
        self.calls[number] += 1
        if number == self.at and self.calls[number] == 1:
            signal.raise_signal(self.number)
        return True


@pytest.mark.usefixtures("limit")
@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGINT], ids=["limit", "ctrl-c"])
@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.get("on_error", "none"))
def test_a_handler_that_raises_in_a_function_is_no_failure_of_the_element(
    number: signal.Signals, policy: dict[str, Any], tmp_path: Path
) -> None:
    once = Signalled(number, 5)
    it = iter(sw.Dataset.range(10).map(once, **policy_for(policy, tmp_path)))
    got, raised = everything(it)
    assert got == list(range(10))
    kind = LateError if number == signal.SIGUSR1 else KeyboardInterrupt
    assert [type(error) for _, error in raised] == [kind]
    assert once.calls == Counter({**dict.fromkeys(range(10), 1), 5: 2})
    holds(it.audit(), 10)


@pytest.mark.usefixtures("limit")
@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("at", [0, 3, 4])
def test_a_signal_costs_no_row_in_any_operator(name: str, at: int) -> None:
    once = Signalled(signal.SIGUSR1, at)
    make, expected = OPERATORS[name]
    it = iter(make(once))
    take = (lambda pair: int(pair[1])) if name == "enumerate" else int
    if name == "prefetch":
        return  # the function runs on another thread, where signals do not arrive
    got, raised = everything(it, take)
    assert got == expected
    assert [type(error) for _, error in raised] == [LateError]
    audit = it.audit()
    assert audit.skipped == audit.failed == audit.dropped == 0, audit


@pytest.mark.usefixtures("limit")
def test_a_check_that_a_signal_interrupts_counts_every_element_once(tmp_path: Path) -> None:
    once = Signalled(signal.SIGUSR1, 5)

    def look(x: Any) -> Any:
        if int(x) % 4 == 2:
            raise ValueError("bad")
        return once(x)

    log = tmp_path / "log.jsonl"
    policies: list[dict[str, Any]] = [{}, {"on_error": "skip"}]
    for policy in policies:
        once.calls.clear()
        log.unlink(missing_ok=True)
        ds = sw.Dataset.range(10).map(look, **policy)
        with pytest.raises(LateError):
            ds.check(progress=False, output=log)
        problems = ds.check(progress=False, output=log, resume=True)
        assert [problem.index for problem in problems] == [2, 6]
        assert problems.checked == 10


@pytest.mark.usefixtures("limit")
def test_a_limit_that_the_function_handles_itself_is_its_own_affair() -> None:
    def patient(x: Any) -> Any:
        try:
            signal.raise_signal(signal.SIGUSR1)
        except LateError:
            return x
        return -1

    assert [int(x) for x in sw.Dataset.range(3).map(patient)] == [0, 1, 2]


def test_only_what_a_handler_raised_counts_as_a_signal() -> None:
    def looks_like_one(number: int, frame: Any) -> None:
        raise LateError

    try:
        looks_like_one(14, None)
    except LateError as error:
        assert meaning_of(error) == ""


@pytest.mark.usefixtures("limit")
def test_a_restored_position_or_the_one_before() -> None:
    calls: list[int] = []
    armed = [0]

    def numbers() -> Iterator[int]:
        yield from range(10)

    def build() -> Any:
        return sw.Dataset.from_generator(numbers, output_signature=INT).map(watch)

    def watch(x: Any) -> Any:
        calls.append(int(x))
        if armed[0] and int(x) == armed[0]:
            armed[0] = 0
            signal.raise_signal(signal.SIGUSR1)
        return x

    it = iter(build().shuffle(6, seed=3))
    first = [int(next(it)) for _ in range(3)]
    state = it.save()
    rest = [int(x) for x in it]

    again = iter(build().shuffle(6, seed=3))
    armed[0] = 2
    with pytest.raises(LateError):
        again.restore(state)
    assert [int(x) for x in again] == first + rest  # as it was: at its beginning

    again = iter(build().shuffle(6, seed=3))
    armed[0] = 2
    with pytest.raises(LateError):
        again.restore(state)
    again.restore(state)
    assert [int(x) for x in again] == rest


@pytest.mark.usefixtures("limit")
def test_a_running_tf_iterator_stays_where_it_is_when_restore_is_interrupted() -> None:
    armed = [False]

    def watch(x: Any) -> Any:
        if armed[0] and int(x) == 1:
            armed[0] = False
            signal.raise_signal(signal.SIGUSR1)
        return int(x)

    ds = tf.data.Dataset.range(10).map(watch).shuffle(6, seed=3, reshuffle_each_iteration=False)
    whole = [int(x) for x in ds]
    it = iter(ds)
    assert [int(next(it)) for _ in range(3)] == whole[:3]
    state = it.save()
    assert [int(next(it)) for _ in range(2)] == whole[3:5]
    armed[0] = True
    with pytest.raises(LateError):
        it.restore(state)
    assert int(next(it)) == whole[5]
    it.restore(state)
    assert [int(x) for x in it] == whole[3:]


def interrupt_the_next_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal comes while `Thread.start` is under way, and the thread runs already."""
    begin = threading._start_new_thread  # type: ignore[attr-defined]

    def begin_and_signal(bootstrap: Any, args: Any) -> None:
        monkeypatch.undo()
        begin(bootstrap, args)
        while bootstrap.__self__ in threading._limbo:  # type: ignore[attr-defined]
            os.sched_yield()
        signal.raise_signal(signal.SIGUSR1)

    monkeypatch.setattr(threading, "_start_new_thread", begin_and_signal)


@pytest.mark.usefixtures("limit")
def test_a_limit_that_comes_while_a_thread_starts_is_raised_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    began = threading.Event()
    interrupt_the_next_thread(monkeypatch)
    with pytest.raises(LateError) as caught:
        start_thread(threading.Thread(target=began.set))
    assert meaning_of(caught.value) == "signal"
    assert began.wait(300)


FIRST_ASYNC = """
import signal
import pytest
import spillway as sw
from tests.test_interrupts import LateError, everything, holds, interrupt_the_next_thread

def late(number, frame):
    raise LateError("too late")

async def work(x):
    return x

signal.signal(signal.SIGUSR1, late)
spec = sw.TensorSpec((), "int64")
ds = sw.Dataset.range(10).map(
    work, num_parallel_calls=CALLS, output_signature=spec, on_error="skip"
)
it = iter(ds)
interrupt_the_next_thread(pytest.MonkeyPatch())
got, raised = everything(it)
assert got == list(range(10)), got
assert [type(error) for _, error in raised] == [LateError], raised
holds(it.audit(), 10)
"""


@pytest.mark.parametrize("calls", [None, 4])
def test_a_limit_that_comes_while_the_event_loop_starts_costs_no_row(calls: int | None) -> None:
    root = Path(__file__).resolve().parents[1]
    done = subprocess.run(
        [sys.executable, "-c", FIRST_ASYNC.replace("CALLS", str(calls))],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(root / "python")])},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr


# ---- What was waited for


@pytest.fixture
def ctrl_c() -> Iterator[Callable[[float], None]]:
    """Ctrl-C, so many seconds after it is called."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds) and None
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """What a function waits for; open at the end, or its thread counts as at work for ever."""
    event = threading.Event()
    yield event
    event.set()


def note_of(it: Any, ctrl_c: Callable[[float], None]) -> str:
    """The note of a wait that Ctrl-C ended.

    On a busy machine the wait begins late, and one of less than a second has no note: it is waited
    for again, longer.
    """
    notes: list[str] = []
    for seconds in (1.2, 5.0, 20.0):
        ctrl_c(seconds)
        with pytest.raises(KeyboardInterrupt) as caught:
            next(it)
        notes = getattr(caught.value, "__notes__", [])
        if notes:
            break
    [note] = notes
    return str(note)


def test_a_note_tells_which_line_a_generator_was_waited_for(
    ctrl_c: Callable[[float], None], gate: threading.Event
) -> None:
    def numbers() -> Iterator[int]:
        yield 0
        gate.wait()
        yield 1

    it = iter(sw.Dataset.from_generator(numbers, output_signature=INT))
    assert int(next(it)) == 0
    note = note_of(it, ctrl_c)
    assert "from_generator#0" in note and "test_interrupts.py" in note, note
    assert "element 1" in note and "in numbers: gate.wait()" in note, note
    gate.set()
    assert [int(x) for x in it] == [1]


def test_a_note_tells_which_await_an_async_generator_hangs_in(
    ctrl_c: Callable[[float], None],
) -> None:
    async def deeper() -> None:
        await asyncio.get_running_loop().create_future()

    async def inner() -> AsyncIterator[int]:
        await deeper()
        yield 1

    async def numbers() -> AsyncIterator[int]:
        yield 0
        async for number in inner():
            yield number

    it = iter(sw.Dataset.from_generator(numbers, output_signature=INT))
    assert int(next(it)) == 0
    note = note_of(it, ctrl_c)
    for line in (
        "in numbers: async for number in inner():",
        "in inner: await deeper()",
        "in deeper: await asyncio.get_running_loop().create_future()",
    ):
        assert line in note, note


def test_a_note_tells_of_a_call_on_another_thread(
    ctrl_c: Callable[[float], None], gate: threading.Event
) -> None:
    def slow(x: Any) -> Any:
        if int(x) == 2:
            gate.wait()
        return int(x)

    it = iter(sw.Dataset.range(4).map(slow, num_parallel_calls=2))
    assert [int(next(it)), int(next(it))] == [0, 1]
    note = note_of(it, ctrl_c)
    assert "map#1" in note and "element 2" in note and "gate.wait()" in note, note
    gate.set()
    assert [int(x) for x in it] == [2, 3]


def test_a_short_wait_gets_no_note() -> None:
    once = Signalled(signal.SIGINT, 1)
    with pytest.raises(KeyboardInterrupt) as caught:
        list(sw.Dataset.range(3).map(once))
    assert not hasattr(caught.value, "__notes__")


def test_elements_that_a_session_took_in_vain_come_again() -> None:
    once = Signalled(signal.SIGINT, 11)

    def after(x: Any) -> Any:
        once.seen(int(x) + 10)
        return np.int64(x)

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        source = tf.compat.v1.data.make_one_shot_iterator(tf.data.Dataset.range(3))
        element = tf.numpy_function(after, [source.get_next()], tf.int64)
        got = [int(session.run(element))]
        with pytest.raises(KeyboardInterrupt):
            session.run(element)
        got += [int(session.run(element)) for _ in range(2)]
        assert got == [0, 1, 2]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(element)


def test_handlers_run_while_a_large_array_is_copied() -> None:
    """What a session is fed, or becomes a constant. Behind the copy all that came are one."""
    items = np.ones(1 << 28, np.uint8)
    heard: Counter[tuple[int, int]] = Counter()

    def again(number: int, frame: Any) -> None:
        heard[id(frame), frame.f_lasti] += 1  # where it interrupts: a call of C is one place

    before = signal.signal(signal.SIGALRM, again)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        tf.constant(items)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert max(heard.values()) >= 2, heard


def test_a_copy_that_is_interrupted_ends_with_what_the_handler_raised() -> None:
    items = np.ones(1 << 28, np.uint8)

    def late(number: int, frame: Any) -> None:
        raise LateError

    before = signal.signal(signal.SIGALRM, late)
    try:
        with pytest.raises(LateError):
            signal.setitimer(signal.ITIMER_REAL, 0.002)
            while True:
                tf.constant(items)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert int(tf.constant(items)[-1]) == 1
