"""Cases: pipelines at their floor, which is one batch kept, one being built, and one row.

Read-ahead is asked for everywhere and gives way to the batch that is being built. The user's code
keeps each batch while it asks for the next one, as a `for` loop does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import spillway as sw
import spillway.tf as tf
from tests.ceiling.case import MIB, Facts, case, generated, mapped, number_of, numbered

ROW = 2 * MIB
BATCH = 16
COUNT = 6 * BATCH + 5
# Two batches and one row; slots of buffers and what is known of rows come on top.
FLOOR = (2 * BATCH + 1) * ROW
LIMIT = FLOOR + 3 * MIB


def taken(ds: Any, numbers: Callable[[Any], list[int]] | None = None) -> Facts:
    """A pass that keeps every batch until it has the next one."""
    seen: list[int] = []
    for batch in ds:
        seen += numbers(batch) if numbers else [number_of(row) for row in np.asarray(batch)]
    return Facts(seen, range(COUNT))


def slow(number: Any) -> Any:
    """Waits as for a disk, so that many calls are under way."""
    time.sleep(0.002)
    return numbered(int(number), ROW)


@case(limit=LIMIT)
def batch_of_slow_calls_at_its_floor(limit: int) -> Facts:
    """map(AUTOTUNE) > batch > prefetch(AUTOTUNE) of elements whose size nobody has declared."""
    ds = sw.Dataset.range(COUNT).map(slow, num_parallel_calls=sw.AUTOTUNE)
    return taken(ds.batch(BATCH).prefetch(sw.AUTOTUNE))


@case(limit=LIMIT)
def batch_of_many_calls_at_its_floor(limit: int) -> Facts:
    """The same with as many calls asked for as two batches have rows, and no prefetch."""
    ds = sw.Dataset.range(COUNT).map(slow, num_parallel_calls=2 * BATCH)
    return taken(ds.batch(BATCH))


@case(limit=LIMIT)
def batch_of_declared_elements_at_its_floor(limit: int) -> Facts:
    """The same where the spec tells the sizes."""
    spec = sw.TensorSpec((ROW // 8,), "int64")
    ds = sw.Dataset.range(COUNT)
    ds = ds.map(slow, num_parallel_calls=sw.AUTOTUNE, output_signature=spec)
    return taken(ds.batch(BATCH).prefetch(sw.AUTOTUNE))


@case(limit=LIMIT)
def batch_of_a_generator_at_its_floor(limit: int) -> Facts:
    """A generator, which makes its next row while one waits, read ahead before the batch too."""
    ds = generated(COUNT, ROW, declared=False).prefetch(sw.AUTOTUNE)
    return taken(ds.batch(BATCH).prefetch(sw.AUTOTUNE))


@case(limit=LIMIT)
def batch_of_a_declared_generator_at_its_floor(limit: int) -> Facts:
    """The same where the spec tells the sizes: rows may be made side by side, as a batch."""
    return taken(generated(COUNT, ROW).batch(BATCH).prefetch(sw.AUTOTUNE))


@case(limit=LIMIT)
def padded_batch_of_a_generator_at_its_floor(limit: int) -> Facts:
    """A generator of rows that differ in length."""

    def rows() -> Iterator[np.ndarray[Any, Any]]:
        for number in range(COUNT):
            yield uneven(number)

    ds = sw.Dataset.from_generator(rows, output_signature=sw.TensorSpec((None,), "int64"))
    ds = ds.padded_batch(BATCH, padding_values=np.int64(-1)).prefetch(sw.AUTOTUNE)
    return taken(ds, lambda batch: [number_of_padded(row) for row in batch])


@case(limit=LIMIT)
def batch_of_traced_rows_at_its_floor(limit: int) -> Facts:
    """A traced function, whose rows are made in their places."""
    ds = tf.data.Dataset.range(COUNT)
    ds = ds.map(lambda n: tf.fill([ROW // 8], n), num_parallel_calls=tf.data.AUTOTUNE)
    return taken(
        ds.batch(BATCH).prefetch(tf.data.AUTOTUNE), lambda b: [number_of(r) for r in b.numpy()]
    )


@case(limit=LIMIT + 4 * ROW)
def rebatch_at_its_floor(limit: int) -> Facts:
    """Batches of 4, which are rows here and batches too, gathered into batches of 16."""
    ds = mapped(COUNT, ROW, sw.AUTOTUNE).batch(4).rebatch(BATCH)
    return taken(ds)


@case(limit=LIMIT + 2 * ROW)
def batch_of_windows_at_its_floor(limit: int) -> Facts:
    """Windows of 16 rows, each batched as a dataset of its own."""
    ds = mapped(COUNT, ROW, sw.AUTOTUNE).window(BATCH)
    return taken(ds.flat_map(lambda rows: rows.batch(BATCH)))


@case(limit=LIMIT + 2 * ROW)
def batch_of_groups_at_its_floor(limit: int) -> Facts:
    """group_by_window: rows of three keys wait for their window."""
    ds = mapped(COUNT, ROW, sw.AUTOTUNE).group_by_window(
        key_func=lambda row: row[0] % 3,
        reduce_func=lambda key, rows: rows.batch(BATCH),
        window_size=BATCH,
    )
    return taken(ds.prefetch(sw.AUTOTUNE))


@case(limit=LIMIT + 4 * ROW)
def batch_of_interleaved_files_at_its_floor(limit: int) -> Facts:
    """Four generators interleaved below the batch: a row each is theirs."""

    def rows(first: int) -> Iterator[np.ndarray[Any, Any]]:
        for number in range(first, min(first + 10, COUNT)):
            yield numbered(number, ROW)

    spec = sw.TensorSpec((ROW // 8,), "int64")
    ds = sw.Dataset.range(0, COUNT, 10).interleave(
        lambda first: sw.Dataset.from_generator(rows, args=(first,), output_signature=spec),
        cycle_length=4,
        num_parallel_calls=sw.AUTOTUNE,
    )
    return taken(ds.batch(BATCH).prefetch(sw.AUTOTUNE))


@case(limit=LIMIT + ROW)
def batch_of_zipped_rows_at_its_floor(limit: int) -> Facts:
    """zip of two maps, half a row each."""

    def half(number: Any) -> Any:
        return numbered(int(number), ROW // 2)

    def one() -> Any:
        return sw.Dataset.range(COUNT).map(half, num_parallel_calls=sw.AUTOTUNE)

    def numbers(batch: Any) -> list[int]:
        left, right = batch
        assert (left == right).all()
        return [number_of(row) for row in left]

    return taken(sw.Dataset.zip(one(), one()).batch(BATCH).prefetch(sw.AUTOTUNE), numbers)


def uneven(number: Any) -> Any:
    """Rows of different lengths, the longest of them a whole row."""
    words = ROW // 8
    return np.full(words - int(number) % 7, int(number), "int64")


def number_of_padded(row: Any) -> int:
    number = int(row[0])
    assert (row[: len(row) - 7] == number).all()
    return number


@case(limit=LIMIT)
def padded_batch_at_its_floor(limit: int) -> Facts:
    """Rows wait in the batch's room until the longest of them is known, and move into it."""
    spec = sw.TensorSpec((None,), "int64")
    ds = sw.Dataset.range(COUNT)
    ds = ds.map(uneven, num_parallel_calls=sw.AUTOTUNE, output_signature=spec)
    ds = ds.padded_batch(BATCH, padding_values=np.int64(-1)).prefetch(sw.AUTOTUNE)
    return taken(ds, lambda batch: [number_of_padded(row) for row in batch])


@case(limit=LIMIT + 2 * ROW)
def bucket_by_sequence_length_at_its_floor(limit: int) -> Facts:
    """The same in buckets by length."""
    spec = sw.TensorSpec((None,), "int64")
    words = ROW // 8
    ds = sw.Dataset.range(COUNT)
    ds = ds.map(uneven, num_parallel_calls=sw.AUTOTUNE, output_signature=spec)
    ds = ds.bucket_by_sequence_length(
        element_length_func=lambda row: tf.shape(row)[0],
        bucket_boundaries=[words - 3],
        bucket_batch_sizes=[BATCH, BATCH],
        padding_values=np.int64(-1),
    )
    return taken(ds, lambda batch: [number_of_padded(row) for row in batch])


@case(limit=LIMIT)
def batch_of_strings_at_its_floor(limit: int) -> Facts:
    """Strings have no size before they come: their rows wait, and move into the batch."""

    def text(number: Any) -> Any:
        return int(number).to_bytes(8, "little") * (ROW // 8)

    spec = sw.TensorSpec((), "string")
    ds = tf.data.Dataset.range(COUNT)
    ds = ds.map(text, num_parallel_calls=tf.data.AUTOTUNE, output_signature=spec)

    def numbers(batch: Any) -> list[int]:
        heads = tf.strings.substr(batch, 0, 8).numpy()
        assert set(tf.strings.length(batch).numpy()) == {ROW}
        return [int.from_bytes(head, "little") for head in heads]

    return taken(ds.batch(BATCH).prefetch(tf.data.AUTOTUNE), numbers)


@case(limit=FLOOR + 64 * MIB)
def batch_of_isolated_calls_at_its_floor(limit: int) -> Facts:
    """Rows from worker processes; the workers' own memory comes on top."""
    ds = sw.Dataset.range(COUNT).map(slow, num_parallel_calls=sw.AUTOTUNE, isolate=True)
    return taken(ds.batch(BATCH).prefetch(sw.AUTOTUNE))
