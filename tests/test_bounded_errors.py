"""Exceptions of user code are bounded in every part, wherever the code runs."""

from __future__ import annotations

import pickle
import random
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import spillway as sw
from spillway import error_bounds

MOST = 2 << 20  # characters that a traceback of anything may have, all causes together
HUGE = 50_000_000


class OursError(ValueError):
    """A class of the user's with attributes and its own text."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.held = text

    def __str__(self) -> str:
        return "ours: " + self.held


def huge_text() -> Exception:
    return ValueError("x" * HUGE)


def huge_key() -> Exception:
    return KeyError("é" * HUGE)


def huge_list() -> Exception:
    return ValueError(list(range(HUGE // 10)), "second")


def huge_own_text() -> Exception:
    return OursError("y" * HUGE)


def huge_attribute() -> Exception:
    error = ValueError("small")
    error.values = np.zeros(HUGE // 8)  # type: ignore[attr-defined]
    return error


def many_notes() -> Exception:
    error = ValueError("noted")
    for i in range(100_000):
        error.add_note(f"note {i} " + "n" * 100)
    return error


def huge_name() -> Exception:
    return type("N" * 10_000_000, (ValueError,), {})("named")  # type: ignore[no-any-return]


def many_causes() -> Exception:
    error: Exception = ValueError("first")
    for i in range(5_000):
        outer = ValueError(f"cause {i} " + "c" * 1000)
        outer.__cause__, error = error, outer
    return error


def large_cause() -> Exception:
    error = KeyError("outer")
    error.__cause__ = ValueError("x" * HUGE)
    return error


def wide_group() -> Exception:
    return ExceptionGroup("group", [ValueError("g" * 100_000) for _ in range(500)])


def many_bases() -> Exception:
    cls: Any = ValueError
    for i in range(300):
        cls = type("B" * 1000 + str(i), (cls,), {})
    return cls("based")  # type: ignore[no-any-return]


MAKERS = [
    huge_text,
    huge_key,
    huge_list,
    huge_own_text,
    huge_attribute,
    many_notes,
    huge_name,
    many_causes,
    large_cause,
    wide_group,
    many_bases,
]
PLACES = [
    "process",
    "isolated",
    "sandbox",
    "generator",
    "isolated generator",
    "guarded",
    "boxed call",
]


def raised(make: Callable[[], Exception], place: str) -> BaseException:
    """What the user gets when such an exception is raised there at element 1."""

    def work(x: Any) -> Any:
        if int(x) == 1:
            raise make()
        return np.int64(int(x))

    def gen() -> Any:
        yield np.int64(0)
        raise make()

    spec = sw.TensorSpec((), "int64")
    kinds: dict[str, Callable[[], Any]] = {
        "process": lambda: list(sw.Dataset.range(3).map(work)),
        "isolated": lambda: list(sw.Dataset.range(3).map(work, isolate=True)),
        "sandbox": lambda: list(sw.Dataset.range(3).map(work, sandbox=True)),
        "generator": lambda: list(sw.Dataset.from_generator(gen, output_signature=spec)),
        "isolated generator": lambda: list(
            sw.Dataset.from_generator(gen, output_signature=spec, isolate=True)
        ),
        "guarded": lambda: sw.guarded(work)(1),
        "boxed call": lambda: sw.guarded(work, sandbox=True)(1),
    }
    try:
        kinds[place]()
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


def assert_bounded(error: BaseException) -> None:
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        one = pending.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        assert len(str(one)) < MOST
        assert len(type(one).__name__) < 1000
        assert sum(len(note) for note in getattr(one, "__notes__", [])) < MOST
        assert all(len(a) < MOST for a in one.args if isinstance(a, str | list))
        pending += [one.__cause__, one.__context__]
    assert len(seen) < 100
    assert len("".join(traceback.format_exception(error))) < MOST


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_what_is_raised_is_bounded_and_keeps_its_class(make: Any, place: str) -> None:
    error = raised(make, place)
    assert_bounded(error)
    known: Any = next(c for c in type(make()).__mro__ if c.__module__ == "builtins")
    # What a sandboxed worker sends is made again of classes that are known to need no help.
    assert isinstance(error, known) or known is ExceptionGroup


@pytest.mark.parametrize("place", PLACES)
def test_an_ordinary_one_arrives_whole(place: str) -> None:
    error = raised(lambda: KeyError("label " + "x" * 10_000, 7), place)
    assert isinstance(error, KeyError)
    cause = error if error.__cause__ is None else error.__cause__
    assert cause.args == ("label " + "x" * 10_000, 7)


@pytest.mark.parametrize("place", ["process", "isolated"])
def test_one_that_was_cut_can_be_pickled(place: str) -> None:
    error = raised(huge_text, place)
    again = pickle.loads(pickle.dumps(error))
    assert isinstance(again, ValueError)
    assert isinstance(again, sw.errors.UserFunctionError)
    assert str(again).startswith("ValueError: xxx")


def test_one_raised_in_this_process_is_the_cause_itself() -> None:
    given = KeyError("label")

    def work(x: Any) -> Any:
        raise given

    with pytest.raises(KeyError) as caught:
        list(sw.Dataset.range(1).map(work))
    assert caught.value.__cause__ is given


@pytest.mark.parametrize("place", PLACES)
def test_an_exception_that_cannot_say_what_it_is_arrives(place: str) -> None:
    def make() -> Exception:
        class MuteError(ValueError):
            def __str__(self) -> str:
                raise RuntimeError("no text")

            def __reduce__(self) -> Any:
                raise RuntimeError("no pickle")

            __repr__ = __str__

        return MuteError("hidden")

    assert isinstance(raised(make, place), ValueError)


def test_random_exceptions_are_bounded() -> None:
    seed = random.SystemRandom().randrange(10**9)
    print(f"seed {seed}")
    rng = random.Random(seed)
    for _ in range(60):
        error = made_at_random(rng, 3)
        small = error_bounds.bounded(error)
        assert_bounded(small)
        assert len(error_bounds.trace_of(error)) < MOST
        if small is error:
            assert len(str(error)) <= error_bounds.MOST_TEXT


def made_at_random(rng: random.Random, depth: int) -> BaseException:
    size = rng.choice([1, 10, 1000, 100_000, 3_000_000])
    makers: list[Callable[[], Any]] = [
        lambda: "x" * size,
        lambda: b"y" * size,
        lambda: list(range(size // 10)),
        lambda: {i: "z" for i in range(size // 30)},
        lambda: 1 << size,
        lambda: bytearray(size),
        lambda: [["deep"] * 10] * (size // 100),
    ]
    value: Any = rng.choice(makers)()
    cls: Any = rng.choice([ValueError, KeyError, OSError, OursError, RuntimeError, MemoryError])
    error: BaseException = cls(value if cls is not OursError else "t" * size)
    if rng.random() < 0.3:
        for _ in range(rng.choice([1, 20, 200])):
            error.add_note("n" * rng.choice([1, 1000, 100_000]))
    if rng.random() < 0.3:
        error.extra = value  # type: ignore[attr-defined]
    if depth > 0 and rng.random() < 0.6:
        error.__cause__ = made_at_random(rng, depth - 1)
    if depth > 0 and rng.random() < 0.6:
        error.__context__ = made_at_random(rng, depth - 1)
    return error
