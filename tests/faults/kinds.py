"""The pipelines of the soak. Every element says which one it is, everywhere in it.

Each is made of functions that travel by value, as a notebook's do, and yields tuples: the value,
and the monotonic time at which a worker made it, or 0.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import spillway as sw
from tests.faults.steps import FUNCTION_STEPS, GENERATOR_STEPS, doomed

INT = sw.TensorSpec((), "int64")
# The soak may kill more workers at one element than anything else does.
OFTEN: dict[str, Any] = {"isolate": True, "restarts": 1000}


@dataclass(frozen=True)
class Kind:
    """A pipeline of `count` elements, given what user code calls for each."""

    name: str
    make: Callable[[int, Callable[[], None]], sw.Dataset]
    count: int  # a round's elements
    steps: tuple[str, ...]  # that its workers pass
    alone: bool  # one worker at a time: then a recovery can be told from its neighbour's work
    rarely: int = 1  # so many times fewer deaths at steps: each costs all calls before it again


def print_of(value: Any) -> int:
    """A number for an element's value, all bytes of it."""
    if isinstance(value, dict):
        return zlib.crc32(b"|".join(str(k).encode() + _bytes(v) for k, v in value.items()))
    return zlib.crc32(_bytes(value))


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else np.ascontiguousarray(value).tobytes()


def _scalar(pause: float) -> Callable[[Callable[[], None]], Callable[[Any], Any]]:
    def given(note: Callable[[], None]) -> Callable[[Any], Any]:
        def work(x: Any) -> Any:
            import time

            note()
            if pause:
                time.sleep(pause)
            return np.int64(int(x) * 7 + 1), np.int64(time.monotonic_ns())

        return work

    return given


def _array(size: int) -> Callable[[Callable[[], None]], Callable[[Any], Any]]:
    def given(note: Callable[[], None]) -> Callable[[Any], Any]:
        def work(x: Any) -> Any:
            import time

            note()
            made = np.arange(size // 8, dtype=np.int64) * (int(x) + 1)
            return made, np.int64(time.monotonic_ns())

        return work

    return given


def _mixed(note: Callable[[], None]) -> Callable[[Any], Any]:
    def work(x: Any) -> Any:
        import time

        note()
        i = int(x)
        if i % 500 == 7:  # an error's text goes with the message itself: more than a socket holds
            raise ValueError(f"element {i} " + "x" * 1_000_000)
        value = {"text": b"%d " % i * (i % 50), "list": np.full(i % 300, i, np.float32)}
        return value, np.int64(time.monotonic_ns())

    return work


def mapped(given: Any, calls: int | None, **more: Any) -> Callable[..., sw.Dataset]:
    def make(count: int, note: Callable[[], None]) -> sw.Dataset:
        return sw.Dataset.range(count).map(given(note), num_parallel_calls=calls, **OFTEN, **more)

    return make


def filtered(count: int, note: Callable[[], None]) -> sw.Dataset:
    def keep(x: Any) -> Any:
        note()
        return int(x) % 3 != 1

    return sw.Dataset.range(count).filter(keep, **OFTEN).map(lambda x: (x, np.int64(0)))


def generated(size: int) -> Callable[..., sw.Dataset]:
    def make(count: int, note: Callable[[], None]) -> sw.Dataset:
        def elements(count: int) -> Iterator[Any]:
            for i in range(count):
                note()
                value = np.full(size // 8, i * 7 + 1, np.int64) if size > 8 else np.int64(i * 7 + 1)
                yield value, np.int64(0)  # no time: started again it has to yield the same

        shape = (size // 8,) if size > 8 else ()
        return sw.Dataset.from_generator(
            elements,
            args=(count,),
            output_signature=(sw.TensorSpec(shape, "int64"), INT),
            **OFTEN,
        )

    return make


MAPS = FUNCTION_STEPS[2:]
PLAIN = tuple(step for step in MAPS if step != "half a message is sent" and "room" not in step)
ROOM = tuple(step for step in MAPS if step != "half a message is sent")
KINDS = [
    Kind("scalars", mapped(_scalar(0.0001), None), 8_000, PLAIN, True),
    Kind("scalars, 2 calls at a time", mapped(_scalar(0.0001), 2), 10_000, PLAIN, False),
    Kind("scalars, nothing else", mapped(_scalar(0), None), 100_000, PLAIN, True),
    Kind("64 KB", mapped(_array(64 << 10), None), 1_500, ROOM, True),
    Kind("64 KB, 2 calls at a time", mapped(_array(64 << 10), 2), 1_500, ROOM, False),
    Kind("600 KB", mapped(_array(600_000), None), 250, ROOM, True),
    Kind("600 KB, 2 calls at a time", mapped(_array(600_000), 2), 250, ROOM, False),
    Kind("texts, lists and errors", mapped(_mixed, 2, on_error="skip"), 4_000, MAPS, False),
    Kind("filter", filtered, 30_000, PLAIN, True),
    Kind("generator", generated(8), 4_000, GENERATOR_STEPS[2:-1], True, rarely=40),
    Kind("generator, 64 KB", generated(64 << 10), 150, GENERATOR_STEPS[2:-1], True),
]


def fault_free(kind: Kind, count: int, board: str) -> list[int]:
    """The prints of its elements, in order, when nobody kills anything."""
    return [print_of(value) for value, _ in kind.make(count, doomed(board, (), 1))]
