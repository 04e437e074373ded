"""A source that failed and gives no more never ends a pass in silence."""

from __future__ import annotations

import os
import random
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf

COUNT = sw.TensorSpec((), "int64")
ENDED = "ended early after 4 elements, what would have followed is missing: ValueError: broken"


def breaks() -> Iterator[int]:
    yield from range(4)
    raise ValueError("broken")


async def breaks_later() -> AsyncIterator[int]:
    for i in range(4):
        yield i
    raise ValueError("broken")


class Breaks:
    """An iterator that fails and can go on."""

    def __init__(self, bad: set[int], stop: int = 8) -> None:
        self.at, self.bad, self.stop = -1, bad, stop

    def __iter__(self) -> Breaks:
        return self

    def __next__(self) -> int:
        self.at += 1
        if self.at >= self.stop:
            raise StopIteration
        if self.at in self.bad:
            raise ValueError(f"bad {self.at}")
        return self.at


def generated(**policy: Any) -> sw.Dataset:
    return sw.Dataset.from_generator(breaks, output_signature=COUNT, **policy)


SOURCES: dict[str, Callable[..., sw.Dataset]] = {
    "generator": generated,
    "async": lambda **policy: sw.Dataset.from_generator(
        breaks_later, output_signature=COUNT, **policy
    ),
    "isolated": lambda **policy: generated(isolate=True, **policy),
}


def taken(ds: sw.Dataset) -> tuple[list[int], BaseException | None]:
    out: list[int] = []
    it = iter(ds)
    while True:
        try:
            out.append(int(next(it)))
        except StopIteration:
            return out, None
        except Exception as error:
            return out, error


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("action", ["skip", "quarantine"])
def test_skipping_does_not_skip_the_rest_of_a_source(name: str, action: str, tmp_path: Any) -> None:
    more = {"quarantine": tmp_path / "bad.jsonl"} if action == "quarantine" else {}
    ds = SOURCES[name](on_error=action, **more)
    rows, error = taken(ds)
    assert rows == [0, 1, 2, 3]
    assert isinstance(error, sw.errors.SourceEndedEarly)
    assert isinstance(error, sw.errors.DataLossError)
    assert "the source ended early after 4 elements" in str(error)
    assert "early_end=True" in str(error) and "ValueError: broken" in str(error)
    assert error.stage == "from_generator#0" and error.index == 4
    assert isinstance(error.__cause__, ValueError) or name == "isolated"
    audit = ds.audit()
    assert audit.balanced
    assert [entry.index for entry in audit.ended_early] == [4]


@pytest.mark.parametrize("name", SOURCES)
def test_who_asks_for_less_gets_it_with_a_warning(name: str) -> None:
    ds = SOURCES[name](on_error="skip", early_end=True)
    with pytest.warns(RuntimeWarning, match=ENDED) as told:
        assert [int(x) for x in ds] == [0, 1, 2, 3]
    assert len(told) == 1 and "from_generator#0, written at" in str(told[0].message)
    audit = ds.audit()
    assert audit.balanced and audit.delivered == 4 and audit.skipped == 1
    (entry,) = audit.ended_early
    assert (entry.stage, entry.index, entry.weight) == ("from_generator#0", 4, 0)
    assert ENDED in entry.message
    assert ENDED in ds.report().summary() and ENDED in repr(ds.report())


def test_a_policy_for_all_stages_is_the_same() -> None:
    rows, error = taken(generated().map(lambda x: x + 1).on_error("skip"))
    assert rows == [1, 2, 3, 4] and isinstance(error, sw.errors.SourceEndedEarly)
    with pytest.warns(RuntimeWarning, match="ended early"):
        assert len(list(generated().batch(2).on_error("skip", early_end=True))) == 2
    policy = sw.OnError("skip", early_end=True)
    with pytest.warns(RuntimeWarning, match="ended early"):
        assert len(list(generated(on_error=policy))) == 4


def test_without_a_policy_the_error_is_the_generators_own() -> None:
    ds = generated()
    rows, error = taken(ds)
    assert rows == [0, 1, 2, 3] and type(error).__mro__[0].__name__ != "SourceEndedEarly"
    assert isinstance(error, ValueError) and str(error).startswith("ValueError: broken")
    assert len(ds.audit().ended_early) == 1


def test_ignore_errors_ends_as_in_tensorflow_and_warns() -> None:
    ds = tf.data.Dataset.from_generator(breaks, output_signature=tf.TensorSpec((), tf.int64))
    kept = ds.ignore_errors()
    with pytest.warns(RuntimeWarning, match=ENDED):
        assert [int(x) for x in kept] == [0, 1, 2, 3]
    assert len(kept.audit().ended_early) == 1


def test_one_of_several_generators_is_named() -> None:
    def counts(stop: int) -> Iterator[int]:
        yield from range(stop)
        if stop == 2:
            raise KeyError("second")

    made = sw.Dataset.range(4).flat_map(
        lambda i: sw.Dataset.from_generator(
            counts, args=(i,), output_signature=COUNT, on_error="skip", early_end=True
        )
    )
    with pytest.warns(RuntimeWarning, match="ended early after 2 elements"):
        assert [int(x) for x in made] == [0, 0, 1, 0, 1, 2]
    assert [entry.index for entry in made.audit().ended_early] == [2]


def test_the_others_of_parallel_generators_go_on() -> None:
    def listed(numbers: list[int]) -> Iterator[int]:
        for number in numbers:
            if number == 3:
                raise ValueError("broken")
            yield number

    def build(**policy: Any) -> sw.Dataset:
        return sw.Dataset.from_generator(
            listed, args=[list(range(8))], parallel=2, output_signature=COUNT, **policy
        )

    it = iter(build(on_error="skip"))
    got = [int(next(it)) for _ in range(3)]
    with pytest.raises(sw.errors.SourceEndedEarly, match="after 1 element:"):
        next(it)
    assert got + [int(x) for x in it] == [0, 1, 2, 4, 6]
    with pytest.warns(RuntimeWarning, match="ended early after 1 element,"):
        assert [int(x) for x in build(on_error="skip", early_end=True)] == [0, 1, 2, 4, 6]


def test_a_generator_that_cannot_begin_is_no_empty_source() -> None:
    def never(*_: Any) -> Any:
        raise OSError("no camera")

    ds = sw.Dataset.from_generator(never, output_signature=COUNT, on_error="skip")
    rows, error = taken(ds)
    assert rows == [] and isinstance(error, sw.errors.SourceEndedEarly)


def test_an_iterator_that_can_go_on_does() -> None:
    def build(**policy: Any) -> sw.Dataset:
        return sw.Dataset.from_generator(lambda: Breaks({2, 5}), output_signature=COUNT, **policy)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ds = build(on_error="skip")
        assert [int(x) for x in ds] == [0, 1, 3, 4, 6, 7]
        assert ds.audit().skipped == 2 and not ds.audit().ended_early
        squares = sw.Dataset.from_generator(
            lambda: map(lambda x: 12 // x, [3, 0, 4]), output_signature=COUNT, on_error="skip"
        )
        assert [int(x) for x in squares] == [4, 3]
    it = iter(build())
    assert [int(next(it)) for _ in range(2)] == [0, 1]
    with pytest.raises(ValueError, match="bad 2"):
        next(it)
    assert int(next(it)) == 3


def test_an_end_right_behind_an_error_is_told() -> None:
    ds = sw.Dataset.from_generator(
        lambda: zip(breaks(), range(9), strict=False),
        output_signature=(COUNT, COUNT),
        on_error="skip",
    )
    with pytest.warns(RuntimeWarning, match="met its end right after an element that failed"):
        assert len(list(ds)) == 4
    assert len(ds.audit().ended_early) == 1


def test_an_iterator_that_only_fails_comes_to_an_end() -> None:
    class Fails:
        def __iter__(self) -> Fails:
            return self

        def __next__(self) -> int:
            raise OSError("gone")

    ds = sw.Dataset.from_generator(Fails, output_signature=COUNT, on_error="skip")
    _, error = taken(ds)
    assert isinstance(error, sw.errors.SourceEndedEarly) and ds.audit().skipped == 99


def test_a_stream_of_batches_that_breaks_is_no_shorter_table() -> None:
    pa = pytest.importorskip("pyarrow")
    schema = pa.schema([("x", pa.int64())])

    def batches() -> Iterator[Any]:
        yield pa.record_batch([pa.array([1, 2, 3])], schema=schema)
        raise ValueError("cut off")

    ds = sw.Dataset.from_arrow(
        lambda: pa.RecordBatchReader.from_batches(schema, batches()), on_error="skip"
    )
    got = []
    with pytest.raises(sw.errors.SourceEndedEarly, match="after 3 elements"):
        for row in ds:
            got.append(int(row["x"]))
    assert got == [1, 2, 3]


def test_a_damaged_cache_is_no_shorter_one(tmp_path: Any) -> None:
    path = tmp_path / "c"

    def build() -> sw.Dataset:
        return sw.Dataset.range(50).cache(str(path)).on_error("skip")

    assert len(list(build())) == 50
    file = tmp_path / "c.cache"
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(sw.errors.SourceEndedEarly, match="cut off"):
        list(build())


def test_every_row_is_delivered_or_spoken_of() -> None:
    """Random sources, failures and policies: rows are missing only where something says so."""
    seed = int(os.environ.get("SPILLWAY_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 30)
    print(f"SPILLWAY_SEED={seed}")
    dice = random.Random(seed)
    for _ in range(40):
        rows, bad = dice.randrange(1, 300), dice.randrange(300)
        asynchronous, early = dice.random() < 0.3, dice.random() < 0.5

        def plain(rows: int = rows, bad: int = bad) -> Iterator[int]:
            for i in range(rows):
                if i == bad:
                    raise ValueError("bad")
                yield i

        async def later(rows: int = rows, bad: int = bad) -> AsyncIterator[int]:
            for i in plain(rows, bad):
                yield i

        ds = sw.Dataset.from_generator(
            later if asynchronous else plain,
            output_signature=COUNT,
            on_error="skip",
            early_end=early,
        )
        for _ in range(dice.randrange(3)):
            ds = ds.map(lambda x: x) if dice.random() < 0.5 else ds.prefetch(2)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            got, error = taken(ds)
        assert np.array_equal(got, range(min(rows, bad)))
        if bad >= rows:
            assert error is None and not told
        else:
            assert isinstance(error, sw.errors.SourceEndedEarly) != early
            assert bool(told) == early and len(ds.audit().ended_early) == 1


def test_a_warning_that_is_an_error_loses_nothing() -> None:
    ds = generated(on_error="skip", early_end=True)
    got = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        it = iter(ds)
        with pytest.raises(RuntimeWarning, match="ended early"):
            for x in it:
                got.append(int(x))
        got += [int(x) for x in it]
    assert got == [0, 1, 2, 3]


def test_ignore_errors_warns_of_each_element_when_it_is_told_to() -> None:
    ds = tf.data.Dataset.range(6).map(lambda x: 12 // (x % 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(list(ds.ignore_errors())) == 4
    with pytest.warns(RuntimeWarning) as told:
        assert len(list(ds.ignore_errors(log_warning=True))) == 4
    assert [str(w.message).split(" of ")[0] for w in told] == [
        "ignore_errors#2 left out element 0",
        "ignore_errors#2 left out element 3",
    ]
    assert "Integer division by zero" in str(told[0].message)


def test_there_is_an_end_to_these_warnings() -> None:
    ds = tf.data.Dataset.range(5000).map(lambda x: 1 // (x % 2))
    with pytest.warns(RuntimeWarning) as told:
        assert len(list(ds.ignore_errors(log_warning=True))) == 2500
    assert len(told) == 101 and "bring no warning" in str(told[-1].message)


@pytest.mark.parametrize("action", ["raise", "skip"])
def test_a_file_that_was_read_in_part_is_named(tmp_path: Any, action: str) -> None:
    paths = [str(tmp_path / f"{name}.tfrecord") for name in "ab"]
    for path in paths:
        with tf.io.TFRecordWriter(path) as writer:
            for i in range(20):
                writer.write(b"%d" % i)
    whole = (tmp_path / "a.tfrecord").read_bytes()
    at = len(whole) // 2
    (tmp_path / "a.tfrecord").write_bytes(whole[:at] + b"\xff" * 20 + whole[at + 20 :])
    ds: tf.data.Dataset = tf.data.TFRecordDataset(paths)
    if action == "skip":
        ds = ds.on_error("skip")
        with pytest.warns(RuntimeWarning, match=f"the rest of {paths[0]} from byte") as told:
            got = len(list(ds))
        assert 20 < got < 40 and len(told) == 1
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(sw.errors.DataLossError):
                list(ds)
    (entry,) = ds.audit().ended_early
    assert [entry] == ds.audit().entries  # one error, which is counted once
    assert entry.outcome == ("skipped" if action == "skip" else "failed") and entry.weight == 1
    assert entry.file == paths[0] and entry.ends_file and entry.offset > 0
    rest = f"the rest of {paths[0]} from byte {entry.offset} on was not read"
    assert entry.message.endswith(f"; {rest}, its elements are missing")
    assert entry.message.count(rest) == 1 and rest in ds.report().summary()
    assert ds.audit().balanced
