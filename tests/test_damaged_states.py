"""Every bit of what is written for later, flipped: an error of its own, or the same elements."""

from __future__ import annotations

import os
import pickle
import random
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf
from spillway.check_log import CheckLog, Progress, read_log
from tests.sealed import flipped, other_lengths

COUNT = sw.TensorSpec((), "int64")


def count_up() -> Any:
    yield from range(12)


def invert(x: Any) -> Any:
    if int(x) % 3 == 0:
        raise ValueError("a third")
    return x


PIPELINES: dict[str, Callable[[], sw.Dataset]] = {
    "range": lambda: sw.Dataset.range(10),
    "shuffled": lambda: sw.Dataset.range(40).shuffle(7, seed=3).repeat(2).batch(4),
    "generator": lambda: sw.Dataset.from_generator(count_up, output_signature=COUNT),
    "interleaved": lambda: sw.Dataset.range(4).interleave(
        lambda i: sw.Dataset.range(i, i + 5), cycle_length=2
    ),
    "unseeded": lambda: sw.Dataset.range(30).shuffle(9).window(4).flat_map(lambda w: w.batch(4)),
}


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize("taken", [0, 3])
def test_a_state_with_any_bit_flipped_is_refused(name: str, taken: int) -> None:
    build = PIPELINES[name]
    first = iter(build())
    for _ in range(taken):
        next(first)
    state = first.save()
    rest = [np.asarray(value).tolist() for value in first]
    it: Any = iter(build())
    for damaged in (*flipped(state), *other_lengths(state)):
        with pytest.raises(sw.errors.DataLossError, match=r"^restore: ") as caught:
            it.restore(damaged)
        assert caught.value.kind == "data"
    it.restore(state)  # the refused ones changed nothing
    assert [np.asarray(value).tolist() for value in it] == rest


def test_a_refusal_says_what_is_wrong() -> None:
    state = iter(sw.Dataset.range(10)).save()
    it: Any = iter(sw.Dataset.range(10))

    def refused(damaged: bytes) -> str:
        with pytest.raises(sw.errors.SpillwayError) as caught:
            it.restore(damaged)
        return str(caught.value)

    size = len(state)
    assert f"the state is damaged: its {size} bytes do not have the checksum" in refused(
        state[:-1] + bytes([state[-1] ^ 4])
    )
    assert f"cut off: expected {size - 32} bytes behind its header, found 1" in refused(state[:33])
    assert "cut off: expected a header of 32 bytes, found 9" in refused(state[:9])
    assert "the state has 2 bytes too many" in refused(state + b"ab")
    assert "version 1 of the format, which has no checksum" in refused(b"\x06SPW\x02\x00\x00\x00")
    assert "found something else in 5 bytes" in refused(b"other")


def test_the_state_of_another_pipeline_is_refused_as_such() -> None:
    builds = list(PIPELINES.values())
    for build, other in zip(builds, builds[1:] + builds[:1], strict=True):
        it: Any = iter(other())
        with pytest.raises(sw.errors.NotFoundError, match="saved by another pipeline"):
            it.restore(iter(build()).save())


def _dice() -> random.Random:
    """The seed is printed, and taken from SPILLWAY_SEED."""
    seed = int(os.environ.get("SPILLWAY_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 30)
    print(f"SPILLWAY_SEED={seed}")
    return random.Random(seed)


class Damage:
    """Every bit flipped and every length, or so many of them drawn by chance."""

    def __init__(self, most: int | None) -> None:
        self._most, self._dice = most, _dice()

    def of(self, whole: bytes) -> list[bytes]:
        if self._most is None:
            return [*flipped(whole), *other_lengths(whole)]
        out = []
        for _ in range(self._most):
            at = self._dice.randrange(len(whole))
            bit = 1 << self._dice.randrange(8)
            out.append(whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1 :])
            out.append(whole[: self._dice.randrange(len(whole))])
        return [*out, whole + b"\0", whole + whole]

    def refused(self, path: Path, read: Callable[[], Any]) -> int:
        """How many damaged files were refused; all others must give what the whole one gives."""
        whole, wanted, refused = path.read_bytes(), read(), 0
        for damaged in self.of(whole):
            path.write_bytes(damaged)
            try:
                found = read()
            except sw.errors.SpillwayError as error:
                assert error.kind != "bug", str(error)
                refused += 1
            else:
                assert found == wanted, damaged
        path.write_bytes(whole)
        assert read() == wanted
        return refused


@pytest.fixture(params=[200, pytest.param(None, marks=pytest.mark.soak)])
def damage(request: pytest.FixtureRequest) -> Damage:
    return Damage(request.param)


def _values(ds: Iterable[Any]) -> Any:
    return [
        {k: np.asarray(v).tolist() for k, v in row.items()}
        if isinstance(row, dict)
        else np.asarray(row).tolist()
        for row in ds
    ]


def test_a_damaged_cache_file_is_refused(tmp_path: Path, damage: Damage) -> None:
    def read() -> Any:
        return _values(sw.Dataset.range(3).map(lambda x: {"a": x}).cache(str(tmp_path / "c")))

    read()
    assert damage.refused(tmp_path / "c.cache", read) >= 402


@pytest.mark.parametrize("compression", [None, "GZIP"])
def test_a_damaged_saved_dataset_is_refused(
    tmp_path: Path, compression: str | None, damage: Damage
) -> None:
    made = sw.Dataset.range(3).map(lambda x: {"a": x, "b": x * 2})
    made.save(str(tmp_path), compression=compression)

    def read() -> Any:
        return _values(sw.Dataset.load(str(tmp_path)))

    assert read() == _values(made)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == 2
    for path in files:
        assert damage.refused(path, read) > 200, path


def test_a_damaged_snapshot_is_refused(tmp_path: Path, damage: Damage) -> None:
    def read() -> Any:
        return _values(sw.Dataset.range(3).snapshot(str(tmp_path)))

    read()
    for path in [path for path in tmp_path.rglob("*") if path.is_file()]:
        assert damage.refused(path, read) > 200, path


def test_a_damaged_quarantine_is_refused(tmp_path: Path, damage: Damage) -> None:
    path = tmp_path / "bad.jsonl"
    ds = sw.Dataset.range(5).map(
        invert, output_signature=COUNT, on_error="quarantine", quarantine=path
    )
    assert len(list(ds)) == 3
    assert _values(sw.Dataset.from_quarantine(path)) == [0, 3]
    whole = path.read_bytes()
    first = whole.index(b"\n")
    for damaged in damage.of(whole):
        # As if the other lines had never been written, or without the end of a whole line.
        if damaged in (b"", whole[:first], whole[: first + 1], whole[:-1], whole + whole):
            continue
        path.write_bytes(damaged)
        with pytest.raises(sw.errors.CorruptFile, match=r"line [123]: "):
            _values(sw.Dataset.from_quarantine(path))


def test_a_line_behind_one_that_was_cut_off_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    ds = sw.Dataset.range(3).map(
        invert, output_signature=COUNT, on_error="quarantine", quarantine=path
    )
    path.write_bytes(b'{"version": 2, "st')
    assert len(list(ds)) == 2
    begun, line = path.read_bytes().splitlines()
    path.write_bytes(line + b"\n")
    assert begun == b'{"version": 2, "st'
    assert _values(sw.Dataset.from_quarantine(path)) == [0]


def test_a_damaged_position_of_a_check_is_refused(tmp_path: Path, damage: Damage) -> None:
    path = tmp_path / "log"
    log = CheckLog(path, append=False)
    log.note(Progress(1, b"a position", 7, 2, False))
    log.close()

    def read() -> Any:
        return read_log(path, 10).progress

    whole = path.read_bytes()
    for damaged in damage.of(whole):
        path.write_bytes(damaged)
        try:
            found = read()
        except sw.errors.CorruptFile:
            continue
        assert found in (Progress(), Progress(1, b"a position", 7, 2, False))


def test_a_damaged_checkpoint_file_is_refused(tmp_path: Path, damage: Damage) -> None:
    ds = tf.data.Dataset.range(20).shuffle(5, seed=1)
    it = iter(ds)
    assert next(it) is not None
    path = tf.train.Checkpoint(iterator=it).save(str(tmp_path / "state"))

    def read() -> Any:
        fresh = iter(ds)
        tf.train.Checkpoint(iterator=fresh).restore(path)
        return [int(x) for x in fresh]

    file = Path(path + ".index")
    assert damage.refused(file, read) == len(damage.of(file.read_bytes()))


def test_a_damaged_list_of_checkpoints_names_no_other_one(tmp_path: Path, damage: Damage) -> None:
    checkpoint = tf.train.Checkpoint(iterator=iter(tf.data.Dataset.range(5)))
    paths = [checkpoint.save(str(tmp_path / "state")) for _ in range(3)]
    file = tmp_path / "checkpoint"
    whole = file.read_bytes()
    for damaged in damage.of(whole):
        file.write_bytes(damaged)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                found = tf.train.latest_checkpoint(str(tmp_path))
            except sw.errors.CorruptFile:
                continue
        assert found == paths[-1] or (found is None and told)


def test_a_damaged_pickle_of_a_dataset_is_refused_or_the_same(damage: Damage) -> None:
    ds = sw.Dataset.range(9).shuffle(4, seed=5).map(lambda x: x + 3).batch(2)
    wanted, whole = _values(ds), pickle.dumps(ds)
    refused = 0
    for damaged in damage.of(whole):
        try:
            found = pickle.loads(damaged)
        except Exception:  # pickle's own refusals are of many classes
            refused += 1
            continue
        if isinstance(found, sw.Dataset):
            assert _values(found) == wanted, damaged
    assert refused > 100


def test_a_pickle_whose_numbers_changed_names_its_checksum() -> None:
    whole = pickle.dumps(sw.Dataset.range(1234567))
    damaged = whole.replace((1234567).to_bytes(4, "little"), (1234566).to_bytes(4, "little"))
    assert damaged != whole
    with pytest.raises(sw.errors.DataLossError, match="the pickle is damaged"):
        pickle.loads(damaged)
