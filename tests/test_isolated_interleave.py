"""`interleave` over generators that have workers of their own."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw
from spillway import _native

SPEC = sw.TensorSpec((), "int64")


def rows(part: Any, count: int = 6, bad: int = -1, log: str = "", where: bool = False) -> Any:
    import ctypes
    import os

    try:
        for i in range(count):
            if int(part) == bad and i == 2:
                ctypes.string_at(0)
            yield np.int64(int(part) * 100 + i + (1000 * os.getpid() if where else 0))
    finally:
        if log:
            with open(log, "a") as file:
                file.write(f"{int(part)}\n")


def woven(parts: int, cycle: int, **how: Any) -> Any:
    def inner(part: Any) -> Any:
        return sw.Dataset.from_generator(
            rows, args=(int(part), *how.get("args", ())), output_signature=SPEC, isolate=True
        )

    return sw.Dataset.range(parts).interleave(
        inner, cycle_length=cycle, num_parallel_calls=how.get("calls")
    )


def events(it: Any) -> list[Any]:
    found: list[Any] = []
    while True:
        try:
            found.append(int(next(it)))
        except StopIteration:
            return found
        except sw.errors.SpillwayError as error:
            found.append(error)


@pytest.mark.parametrize("calls", [None, 4])
def test_each_generator_has_a_worker_and_no_more_run_than_the_cycle(calls: Any) -> None:
    ds = woven(10, 4, calls=calls, args=(6, -1, "", True))
    seen = [(int(x) % 1000, int(x) // 1000) for x in ds]
    expected = [x for block in ((0, 4), (4, 8), (8, 10)) for i in range(6)
                for x in (part * 100 + i for part in range(*block))]  # fmt: skip
    assert [x for x, _ in seen] == expected
    workers = {pid for _, pid in seen}
    assert os.getpid() not in workers
    first = {pid for x, pid in seen if x // 100 < 4}
    assert len(first) == 4


def test_a_crash_in_one_is_its_elements_error_and_the_others_go_on() -> None:
    found = events(iter(woven(4, 4, args=(6, 2))))
    errors = [each for each in found if not isinstance(each, int)]
    assert [type(each).__name__ for each in errors] == ["WorkerDied"]
    assert "SIGSEGV" in str(errors[0])
    assert "test_isolated_interleave.py" in str(errors[0])
    values = [each for each in found if isinstance(each, int)]
    expected = {part * 100 + i for part in range(4) for i in range(6) if part != 2 or i < 2}
    assert set(values) == expected
    assert len(values) == len(expected)


def test_leaving_early_closes_every_generator(tmp_path: Path) -> None:
    log = tmp_path / "closed"
    before = _native.workers()["idle"]
    with iter(woven(4, 4, args=(1000, -1, str(log)))) as it:
        for _ in range(8):
            next(it)
    assert sorted(log.read_text().split()) == ["0", "1", "2", "3"]
    assert _native.workers()["idle"] >= before


def test_a_checkpoint_goes_on_in_another_pass() -> None:
    whole = [int(x) for x in woven(5, 2)]
    for cut in (1, 7, 13, 29):
        it = iter(woven(5, 2))
        head = [int(next(it)) for _ in range(cut)]
        state = it.save()
        it.close()
        other = iter(woven(5, 2))
        other.restore(state)
        assert head + [int(x) for x in other] == whole


numbers = itertools.count()


@pytest.mark.parametrize("how", ["flat_map", "interleave"])
def test_a_generator_that_is_another_one_after_a_restore_is_an_error(how: str) -> None:
    def another() -> Any:
        for _ in range(6):
            yield np.int64(next(numbers))

    def inner(_: Any) -> Any:
        return sw.Dataset.from_generator(another, output_signature=SPEC)

    ds = getattr(sw.Dataset.range(2), how)(inner)
    it = iter(ds)
    for _ in range(5):
        next(it)
    state = it.save()
    with pytest.raises(sw.errors.GeneratorNotReplayable):
        other = iter(ds)
        other.restore(state)
        list(other)
