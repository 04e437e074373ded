"""The cases: each a pipeline that would take far more memory than it is given.

A case runs alone in its process (`python -m tests.ceiling.cases NAME LIMIT REPORT`), counts every
element it sees, and reports. An element carries its number in every byte or every word, so that a
mixed-up or half-written one is found too.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import tempfile
import time
import traceback
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import spillway as sw

MIB = 1 << 20
WORDS = MIB // 8  # int64 in a MiB


@dataclass
class Facts:
    """What a case saw."""

    seen: list[int]
    expected: Iterable[int]
    effective: str = ""
    more: dict[str, Any] = field(default_factory=dict)

    def report(self) -> dict[str, Any]:
        wanted, found = Counter(self.expected), Counter(self.seen)
        return {
            "elements": len(self.seen),
            "lost": sum((wanted - found).values()),
            "doubled": sum((found - wanted).values()),
            "order": zlib.crc32(np.asarray(self.seen, "int64").tobytes()),
            "effective": self.effective,
            **self.more,
        }


@dataclass(frozen=True)
class Case:
    """A function and the limit it is made for."""

    body: Callable[[int], Facts]
    limit: int

    @property
    def says(self) -> str:
        return (self.body.__doc__ or "").strip().rstrip(".")


CASES: dict[str, Case] = {}


def case(limit: int) -> Callable[[Callable[[int], Facts]], Callable[[int], Facts]]:
    def add(body: Callable[[int], Facts]) -> Callable[[int], Facts]:
        CASES[body.__name__] = Case(body, limit)
        return body

    return add


# ---- Elements


def numbered(number: int, size: int = MIB) -> np.ndarray[Any, Any]:
    """An array of `size` bytes that says its number everywhere."""
    return np.full(size // 8, number, "int64")


def number_of(array: np.ndarray[Any, Any]) -> int:
    first = int(array.flat[0])
    if not (array == first).all():
        raise AssertionError(f"element {first} is not whole")
    return first


def generated(count: int, size: int = MIB, declared: bool = True) -> sw.Dataset:
    def elements() -> Iterator[np.ndarray[Any, Any]]:
        for number in range(count):
            yield numbered(number, size)

    spec = sw.TensorSpec((size // 8,), "int64") if declared else None
    return sw.Dataset.from_generator(elements, output_signature=spec)


def mapped(count: int, size: int = MIB, calls: int | None = None) -> sw.Dataset:
    def make(number: Any) -> np.ndarray[Any, Any]:
        return numbered(int(number), size)

    return sw.Dataset.range(count).map(make, num_parallel_calls=calls)


def stage(dataset: sw.Dataset, name: str) -> Any:
    """The last pass's report of the stage that runs this operator."""
    return next(s for s in dataset.audit().stages if s.name.startswith(name))


def spilled(dataset: sw.Dataset, name: str) -> str:
    return f"{stage(dataset, name).spilled_bytes / MIB:.0f} MiB spilled"


# ---- 1. Shuffle


def shuffled(dataset: sw.Dataset, buffer: int, count: int) -> Facts:
    mixed = dataset.shuffle(buffer, seed=7)
    seen = [number_of(x) for x in mixed]
    effective = f"buffer {stage(mixed, 'shuffle').effective}, {spilled(mixed, 'shuffle')}"
    return Facts(seen, range(count), effective)


@case(limit=64 * MIB)
def shuffle_of_a_generator(limit: int) -> Facts:
    """A seeded shuffle asked for ten times the limit keeps its order and spills."""
    count = 10 * limit // MIB + 100
    return shuffled(generated(count), 10 * limit // MIB, count)


@case(limit=64 * MIB)
def shuffle_of_undeclared_elements(limit: int) -> Facts:
    """The same when only the elements themselves tell their size."""
    count = 10 * limit // MIB + 100
    return shuffled(generated(count, declared=False), 10 * limit // MIB, count)


@case(limit=48 * MIB)
def shuffle_of_a_parallel_map(limit: int) -> Facts:
    """The same over a parallel map and small elements, which are packed in pages."""
    size = MIB // 32
    count = 10 * limit // size
    return shuffled(mapped(count, size, sw.AUTOTUNE), count - 100, count)


# ---- 2. Prefetch


def prefetched(dataset: sw.Dataset, count: int) -> Facts:
    ahead = dataset.prefetch(1000)
    seen, most = [], 0
    for x in ahead:
        seen.append(number_of(x))
        del x
        time.sleep(0.02)  # the consumer: long enough for the driver to get ahead of it
        most = max(most, stage(ahead, "prefetch").held)
    return Facts(seen, range(count), f"held at most {most} of 1000")


@case(limit=96 * MIB)
def prefetch_of_a_map(limit: int) -> Facts:
    """prefetch(1000) of 8 MiB elements holds as many as fit while the consumer is slow."""
    return prefetched(mapped(50, 8 * MIB), 50)


@case(limit=96 * MIB)
def prefetch_of_a_generator(limit: int) -> Facts:
    """The same over a generator with a declared spec."""
    return prefetched(generated(50, 8 * MIB), 50)


# ---- 3. Cache


def cached(dataset: sw.Dataset, count: int) -> Facts:
    kept = dataset.cache()
    seen = [number_of(x) for x in kept]
    effective = spilled(kept, "cache")
    seen += [number_of(x) for x in kept]
    return Facts(seen, [*range(count), *range(count)], effective)


@case(limit=64 * MIB)
def cache_of_a_generator(limit: int) -> Facts:
    """cache() of five times the limit: the second epoch reads what the first one spilled."""
    made = []

    def elements() -> Iterator[np.ndarray[Any, Any]]:
        made.append(1)
        for number in range(5 * limit // MIB):
            yield numbered(number)

    spec = sw.TensorSpec((WORDS,), "int64")
    facts = cached(sw.Dataset.from_generator(elements, output_signature=spec), 5 * limit // MIB)
    assert len(made) == 1, "the generator ran again: its rows were dropped instead of spilled"
    return facts


@case(limit=48 * MIB)
def cache_of_small_rows(limit: int) -> Facts:
    """cache() of five times the limit in rows of 4 KiB."""
    count = 5 * limit // 4096
    return cached(mapped(count, 4096), count)


# ---- 4. Batch


def batched(dataset: sw.Dataset, batches: int) -> Facts:
    seen = []
    for batch in dataset:
        assert batch.shape == (64, WORDS)
        seen += [number_of(row) for row in batch]
        del batch
    return Facts(seen, range(64 * batches), f"{stage(dataset, 'map').parallelism} calls at a time")


@case(limit=256 * MIB)
def batch_of_four_calls(limit: int) -> Facts:
    """Batches of 64 x 1 MiB out of a parallel map of four calls."""
    return batched(mapped(64 * 6, MIB, 4).batch(64), 6)


@case(limit=256 * MIB)
def batch_of_tuned_calls(limit: int) -> Facts:
    """Batches of 64 x 1 MiB out of a tuned parallel map, prefetched."""
    return batched(mapped(64 * 6, MIB, sw.AUTOTUNE).batch(64).prefetch(sw.AUTOTUNE), 6)


# ---- 5. Interleave


def interleaved(inner: Callable[[int], sw.Dataset], calls: int | None) -> Facts:
    def open_file(number: Any) -> sw.Dataset:
        return inner(int(number))

    together = sw.Dataset.range(96).interleave(open_file, cycle_length=64, num_parallel_calls=calls)
    seen = []
    for x in together:
        seen += [number_of(row) for row in x.reshape(-1, WORDS)]
        del x
    return Facts(seen, range(96 * 4), "cycle 64")


@case(limit=64 * MIB)
def interleave_of_generators(limit: int) -> Facts:
    """64 generators of 1 MiB elements are walked in turn, each looking ahead."""

    def inner(file: int) -> sw.Dataset:
        def elements() -> Iterator[np.ndarray[Any, Any]]:
            for row in range(4):
                yield numbered(4 * file + row)

        return sw.Dataset.from_generator(
            elements, output_signature=sw.TensorSpec((WORDS,), "int64")
        )

    return interleaved(inner, None)


@case(limit=64 * MIB)
def interleave_in_parallel(limit: int) -> Facts:
    """64 mapped and batched datasets are read ahead in parallel."""

    def inner(file: int) -> sw.Dataset:
        def row(number: Any) -> np.ndarray[Any, Any]:
            return numbered(4 * file + int(number))

        return sw.Dataset.range(4).map(row).batch(2)

    return interleaved(inner, sw.AUTOTUNE)


# ---- 6. Pipelines inside generators


@case(limit=16 * MIB)
def generators_three_levels_deep(limit: int) -> Facts:
    """A generator iterates a dataset whose generator iterates a dataset, and so once more."""

    def level(depth: int, base: int) -> sw.Dataset:
        def elements() -> Iterator[np.ndarray[Any, Any]]:
            for part in range(3):
                number = 3 * base + part
                if depth == 0:
                    yield numbered(number)
                else:
                    for batch in level(depth - 1, number):
                        yield from batch

        rows = sw.Dataset.from_generator(
            elements, output_signature=sw.TensorSpec((WORDS,), "int64")
        )
        return rows.batch(2)

    seen = []
    for batch in level(2, 0):
        seen += [number_of(row) for row in batch]
        del batch
    return Facts(seen, range(27), "3 levels, batch 2")


# ---- 7. The user's own allocations


@case(limit=2048 * MIB)
def load_of_a_huge_file_in_a_generator(limit: int) -> Facts:
    """np.load of 3 GiB in a generator is a MemoryError that names the file."""
    rows = 3 * 1024 * MIB // 8
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "huge.npy"
        with path.open("wb") as file:
            header = {"descr": "<i8", "fortran_order": False, "shape": (rows,)}
            np.lib.format.write_array_header_1_0(file, header)
            os.truncate(path, file.tell() + 8 * rows)

        def elements() -> Iterator[int]:
            yield 0
            np.load(path)
            yield 1

        seen = []
        try:
            for x in sw.Dataset.from_generator(elements):
                seen.append(int(x))
        except MemoryError as e:
            assert str(path) in str(e), f"the file is not named: {e}"
            return Facts(seen, [0], "MemoryError", {"text": str(e)})
    raise AssertionError("3 GiB were loaded into 2 GiB")


@case(limit=2048 * MIB)
def huge_array_in_plain_code(limit: int) -> Facts:
    """np.random.rand(10000, 10000, 3) is a MemoryError at its line, and the pipeline goes on."""
    line = 0
    passed = iter(mapped(20))
    seen = [number_of(next(passed))]
    try:
        line = sys._getframe().f_lineno + 1
        np.random.rand(10000, 10000, 3)
    except MemoryError as e:
        trace = e.__traceback__
        assert trace is not None and trace.tb_lineno == line
        seen += [number_of(x) for x in passed]
        return Facts(seen, range(20), "MemoryError", {"text": str(e)})
    raise AssertionError("2.2 GiB were made beside a pipeline in 2 GiB")


# ---- 8. A consumer that keeps everything


@case(limit=96 * MIB)
def consumer_that_keeps_everything(limit: int) -> Facts:
    """Two pipelines, every batch kept: warned at half of the limit, then a BudgetError."""
    pipelines = [iter(mapped(400).batch(4)), iter(generated(400).batch(4))]
    kept: list[list[Any]] = [[], []]
    text = ""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            for _ in range(100):
                for pipeline, batches in zip(pipelines, kept, strict=True):
                    batches.append(next(pipeline))
        except sw.errors.BudgetError as e:
            text = str(e)
            assert "by your own code" in text, text
            assert "held" in text and "kept by you" in text, text
    count = sum(map(len, kept))
    assert text, f"{count} batches of 4 MiB were kept in {limit / MIB:.0f} MiB"
    assert count * 4 * MIB > limit / 2, f"refused after {count} batches"
    warned = [str(w.message) for w in told if issubclass(w.category, UserWarning)]
    assert 1 <= len(warned) <= len(pipelines), warned
    assert "MiB" in warned[0] and "cases.py" in warned[0], warned
    seen = [number_of(row) for batch in kept[0] for row in batch]
    # What was kept can be let go of, and the pipelines go on where they were.
    for batches in kept:
        batches.clear()
    gc.collect()
    seen += [number_of(row) for batch in pipelines[0] for row in batch]
    return Facts(seen, range(400), f"{count} batches kept", {"text": text, "warned": warned[0]})


@case(limit=96 * MIB)
def consumer_that_keeps_rows(limit: int) -> Facts:
    """One small row kept of every batch holds no batch."""
    kept = []
    seen = []
    for batch in generated(1024).batch(8).unbatch():
        seen.append(number_of(batch))
        if len(seen) % 16 == 0:
            kept.append(batch)
        del batch
    assert [number_of(row) for row in kept] == list(range(15, 1024, 16))
    return Facts(seen, range(1024), f"{len(kept)} rows kept")


# ---- 9. What can never fit


def refusal(dataset: sw.Dataset, kind: type[Exception], *words: str) -> tuple[list[int], str]:
    """The elements before the refusal, and its text."""
    seen: list[int] = []
    try:
        for x in dataset:
            seen.append(number_of(x))
            del x
    except kind as e:
        text = str(e)
        for word in words:
            assert word in text, f"{word!r} is not in: {text}"
        return seen, text
    raise AssertionError(f"{len(seen)} elements came, and no {kind.__name__}")


@case(limit=64 * MIB)
def element_larger_than_the_limit(limit: int) -> Facts:
    """An element that cannot fit is refused by name, after those that could."""

    def make(number: Any) -> np.ndarray[Any, Any]:
        return numbered(int(number), 2 * limit if int(number) == 3 else MIB)

    seen, text = refusal(sw.Dataset.range(5).map(make), sw.errors.ElementTooLarge, "limit", "map")
    return Facts(seen, range(3), "ElementTooLarge", {"text": text})


@case(limit=64 * MIB)
def batch_larger_than_the_limit(limit: int) -> Facts:
    """A batch of unknown size that cannot fit is refused at the batch."""
    seen, text = refusal(mapped(500).batch(256), sw.errors.BudgetError, "limit", "batch")
    return Facts(seen, [], "BudgetError", {"text": text})


@case(limit=64 * MIB)
def floor_above_the_limit(limit: int) -> Facts:
    """Static sizes that do not fit together are refused at once, with a table."""
    called = []

    def elements() -> Iterator[np.ndarray[Any, Any]]:
        called.append(1)
        yield numbered(0)

    spec = sw.TensorSpec((WORDS,), "int64")
    dataset = sw.Dataset.from_generator(elements, output_signature=spec).batch(
        128, drop_remainder=True
    )
    seen, text = refusal(dataset, sw.errors.FloorTooHigh, "batch", "needs", "128 MiB", "cases.py")
    assert not called, "the generator ran although the limit can never hold a batch"
    return Facts(seen, [], "FloorTooHigh", {"text": text})


# ---- 10. State that may not be given up


@case(limit=48 * MIB)
def window_larger_than_the_limit(limit: int) -> Facts:
    """A window of four times the limit spills and is read back in order."""
    count = 4 * limit // MIB
    seen = []
    windows = mapped(2 * count).window(count)
    for window in windows:
        for x in window:
            seen.append(number_of(x))
            del x
    return Facts(seen, range(2 * count), spilled(windows, "window"))


@case(limit=48 * MIB)
def groups_larger_than_the_limit(limit: int) -> Facts:
    """Groups that together hold four times the limit spill."""
    count = 4 * limit // MIB

    def key(x: Any) -> Any:
        return np.int64(int(x[0]) % 4)

    groups = mapped(count).group_by_window(key, lambda key, rows: rows, window_size=count)
    seen = []
    for x in groups:
        seen.append(number_of(x))
        del x
    assert seen == sorted(range(count), key=lambda n: (n % 4, n))
    return Facts(seen, range(count), spilled(groups, "group_by_window"))


@case(limit=2 * MIB)
def unique_values_beyond_the_limit(limit: int) -> Facts:
    """More different values than fit are remembered on disk."""
    count = limit // 16  # of 16 bytes each, were they all kept
    again = sw.Dataset.range(0, count, 64)
    values = sw.Dataset.range(count).concatenate(again).unique().batch(4096)
    seen = np.concatenate(list(values)).tolist()
    return Facts(seen, range(count), spilled(values, "unique"))


@case(limit=48 * MIB)
def padded_batch_larger_than_the_limit(limit: int) -> Facts:
    """A padded batch that cannot fit is refused; one that can arrives."""

    def make(number: Any) -> np.ndarray[Any, Any]:
        return np.full((1 + int(number) % 3) * WORDS // 4, int(number), "int64")

    small = []
    spec = sw.TensorSpec((None,), "int64")
    made = sw.Dataset.range(60).map(make, output_signature=spec)
    for batch in made.padded_batch(6, padding_values=np.int64(-1)):
        small += [int(row[0]) for row in batch]
        del batch
    seen, text = refusal(
        sw.Dataset.range(400)
        .map(make, output_signature=spec)
        .padded_batch(200, padding_values=np.int64(-1)),
        sw.errors.BudgetError,
        "padded_batch",
    )
    return Facts(small + seen, range(60), "BudgetError", {"text": text})


# ---- 11. Tensors and traced functions


@case(limit=64 * MIB)
def sum_of_more_than_memory(limit: int) -> Facts:
    """800 MB of random numbers, never held: made, worked on and summed in blocks."""
    import spillway.tf as tf

    x = tf.random.normal([1000, 1000, 200], seed=5)
    mean = float(tf.reduce_mean(x * 2 + 1))
    assert abs(mean - 1) < 0.01, mean
    return Facts([1], [1], "in blocks")


@case(limit=64 * MIB)
def tensor_larger_than_the_limit(limit: int) -> Facts:
    """Refused where its value is asked for, with the numbers; what was held is still there."""
    import spillway.tf as tf

    small = tf.ones([1000, 1000]) + 1.0
    assert float(tf.reduce_sum(small)) == 2e6
    try:
        (tf.zeros([1000, 1000, 100]) + 1.0).numpy()
    except sw.errors.BudgetError as e:
        assert "381 MiB" in str(e) and "64.0 MiB" in str(e), str(e)
        assert float(tf.reduce_sum(small)) == 2e6
        return Facts([1], [1], "BudgetError", {"text": str(e)})
    raise AssertionError("381 MiB were made in 64")


@case(limit=64 * MIB)
def sum_over_scattered_axes(limit: int) -> Facts:
    """Axes that do not lie side by side are brought together a little at a time."""
    import spillway.tf as tf

    x = tf.random.normal([200, 500, 100], seed=5)
    host = x.numpy()
    sums = tf.reduce_sum(x, axis=[0, 2]).numpy()
    assert np.allclose(sums, host.sum(axis=(0, 2)), atol=1e-2)
    return Facts([1], [1], "in blocks")


@case(limit=64 * MIB)
def op_beside_arrays_that_are_kept(limit: int) -> Facts:
    """What the program itself shows in arrays is never waited for: a BudgetError, at once."""
    import spillway.tf as tf

    kept = tf.random.normal([10 * MIB], seed=5)
    shown = kept.numpy()
    first = float(shown[0])
    try:
        tf.sort(kept).numpy()
    except sw.errors.BudgetError as e:
        assert "tensors" in str(e), str(e)
        assert float(kept[0]) == float(shown[0]) == first
        return Facts([1], [1], "BudgetError", {"text": str(e)})
    raise AssertionError("40 MiB were sorted beside 40 in 64")


@case(limit=64 * MIB)
def tensors_that_go_to_disk(limit: int) -> Facts:
    """Twenty-four tensors of 8 MiB, all kept: the oldest wait on disk and come back when used."""
    import spillway.tf as tf

    kept = []
    for number in range(24):
        kept.append(tf.zeros([MIB], tf.int64) + number)
        assert int(kept[-1].numpy()[0]) == number  # its value is made now
    seen = [int(tf.reduce_max(x)) for x in kept]
    again = [int(tf.reduce_min(x + x)) // 2 for x in reversed(kept)]
    assert again == seen[::-1], again
    return Facts(seen, range(24), "on disk")


@case(limit=96 * MIB)
def elements_that_are_kept(limit: int) -> Facts:
    """A traced map of 1 MiB tensors, every one kept: they go to disk, and nothing is lost."""
    import spillway.tf as tf

    def grown(x: Any) -> Any:
        return tf.zeros([WORDS], tf.int64) + x

    ds = tf.data.Dataset.range(400).map(grown)
    assert ds.explain().stages[-1]["native"]
    kept = list(ds)
    return Facts([number_of(np.array(x)) for x in kept], range(400), "on disk")


@case(limit=96 * MIB)
def traced_maps_in_a_row(limit: int) -> Facts:
    """Three traced maps of 4 MiB elements, batched: bounded by the limit like any stage."""
    import spillway.tf as tf

    ds = tf.data.Dataset.range(200).map(lambda x: tf.zeros([4 * WORDS], tf.int64) + x)
    ds = ds.map(lambda x: x + 1).map(lambda x: x - 1).batch(4)
    seen: list[int] = []
    for batch in ds:
        seen += [number_of(row) for row in np.asarray(batch)]
    return Facts(seen, range(200), "in order")


def main(name: str, limit: str, report: str) -> int:
    try:
        facts = CASES[name].body(int(limit)).report()
        good = facts["lost"] == 0 and facts["doubled"] == 0
        facts["outcome"] = "ok" if good else "WRONG ELEMENTS"
    except BaseException as e:
        traceback.print_exc()
        facts = {"outcome": f"{type(e).__name__}: {str(e).splitlines()[0][:80] if str(e) else ''}"}
    ledger = sw.memory()
    facts["ledger_peak"] = ledger.peak
    Path(report).write_text(json.dumps(facts))
    sys.stdout.flush()
    # Threads of pipelines that were left in the middle are not waited for.
    os._exit(0 if facts["outcome"] == "ok" else 1)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
