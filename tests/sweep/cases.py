"""The table: for every operator a pipeline of `rows` small rows that makes it hold what it can.

A case that takes another number of steps than of rows says so in its name. Everything is seeded or
the same every time.
"""

from __future__ import annotations

import importlib
import mmap
import tarfile
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

import spillway as sw
import spillway.tf as tf

Make = Callable[[int, Path], Any]
CASES: dict[str, Make] = {}


def case(make: Make) -> Make:
    CASES[make.__name__] = make
    return make


def rows(count: int) -> Any:
    return sw.Dataset.range(count)


# ---- Sources


@case
def range_and_what_hands_rows_on(n: int, folder: Path) -> Any:
    """range, take, skip, shard, enumerate, take_while, with_options, assert_cardinality."""
    ds = rows(2 * n + 10).skip(10).shard(2, 0).take(n).assert_cardinality(n)
    ds = ds.with_options(tf.data.Options()).take_while(lambda x: x >= 0)
    return ds.enumerate()


@case
def counter_and_random(n: int, folder: Path) -> Any:
    return sw.Dataset.zip(sw.Dataset.counter(), sw.Dataset.random(seed=3)).take(n)


@case
def from_generator(n: int, folder: Path) -> Any:
    def numbers() -> Iterator[int]:
        yield from range(n)

    return sw.Dataset.from_generator(numbers, output_signature=sw.TensorSpec((), "int64"))


@case
def in_turn(n: int, folder: Path) -> Any:
    def numbers(parts: list[int]) -> Iterator[int]:
        for _ in parts:
            yield from range(n // 20)  # two threads take turns at Python's lock

    spec = sw.TensorSpec((), "int64")
    return sw.Dataset.from_generator(numbers, args=[[0, 1]], output_signature=spec, parallel=2)


@case
def from_tensors_and_slices(n: int, folder: Path) -> Any:
    slices = sw.Dataset.from_tensor_slices(np.zeros(1000, "int32")).repeat(n // 1000)
    return slices.concatenate(sw.Dataset.from_tensors(np.int32(1)))


@case
def from_arrow(n: int, folder: Path) -> Any:
    pa: Any = importlib.import_module("pyarrow")

    batches = (
        pa.record_batch({"x": np.arange(first, min(first + 1000, n))})
        for first in range(0, n, 1000)
    )
    schema = pa.schema([("x", pa.int64())])
    return sw.Dataset.from_arrow(pa.RecordBatchReader.from_batches(schema, batches))


@case
def list_files(n: int, folder: Path) -> Any:
    (folder / "only.txt").write_text("")
    return sw.Dataset.list_files(str(folder / "only.txt")).repeat(n)


@case
def text_lines(n: int, folder: Path) -> Any:
    path = folder / "lines.txt"
    with path.open("w") as out:
        out.writelines(f"{i}\n" for i in range(n))
    return sw.Dataset.text_lines(str(path))


@case
def csv_rows(n: int, folder: Path) -> Any:
    path = folder / "rows.csv"
    with path.open("w") as out:
        out.writelines(f"{i},{i}\n" for i in range(n))
    return sw.Dataset.csv_rows(str(path), ([-1], [""]))


@case
def fixed_length_records(n: int, folder: Path) -> Any:
    (folder / "records.bin").write_bytes(bytes(8 * n))
    return sw.Dataset.fixed_length_records(str(folder / "records.bin"), 8)


@case
def tf_record(n: int, folder: Path) -> Any:
    with tf.io.TFRecordWriter(str(folder / "records.tfrecord")) as writer:
        for _ in range(1000):
            writer.write(b"a record")
    return sw.Dataset.tf_record(str(folder / "records.tfrecord")).repeat(n // 1000)


@case
def npy_rows(n: int, folder: Path) -> Any:
    np.save(folder / "rows.npy", np.zeros((n, 2), "int32"))
    return sw.Dataset.npy_rows(str(folder / "rows.npy"))


@case
def tar_samples(n: int, folder: Path) -> Any:
    with tarfile.open(folder / "samples.tar", "w") as tar:
        for i in range(1000):
            member = tarfile.TarInfo(f"{i:06}.txt")
            member.size = 5
            tar.addfile(member, BytesIO(b"hello"))
    return sw.Dataset.tar_samples(str(folder / "samples.tar"), ["txt"]).repeat(n // 1000)


# ---- Functions


@case
def map_and_filter(n: int, folder: Path) -> Any:
    return rows(n).map(lambda x: x + 1).filter(lambda x: x > 0)


@case
def map_in_python(n: int, folder: Path) -> Any:
    kept: list[int] = []

    def count(x: Any) -> Any:
        kept[:] = [int(x)]
        return x

    return rows(n // 4).map(count, num_parallel_calls=4)


@case
def scan(n: int, folder: Path) -> Any:
    return rows(n).scan(np.int64(0), lambda state, x: (state + x, state))


@case
def reduce(n: int, folder: Path) -> Any:
    total = rows(n).reduce(np.int64(0), lambda state, x: state + x)
    return sw.Dataset.from_tensors(total)


# ---- What holds rows


@case
def prefetch(n: int, folder: Path) -> Any:
    return rows(n).prefetch(n)


@case
def shuffle_with_random_access_below(n: int, folder: Path) -> Any:
    return rows(n).shuffle(n, seed=3)


@case
def shuffle(n: int, folder: Path) -> Any:
    return rows(n).filter(lambda x: x >= 0).shuffle(n, seed=3)


@case
def shuffle_anew_each_epoch(n: int, folder: Path) -> Any:
    return rows(n // 4).filter(lambda x: x >= 0).shuffle(n, seed=3).repeat(4)


@case
def shuffle_of_rows_of_many_datasets(n: int, folder: Path) -> Any:
    ds = rows(n // 2).flat_map(lambda x: sw.Dataset.from_tensors(x))
    return ds.shuffle(n, seed=3)


@case
def batch_unbatch_and_rebatch(n: int, folder: Path) -> Any:
    return rows(n).batch(100).rebatch(33).unbatch()


@case
def padded_batch(n: int, folder: Path) -> Any:
    return rows(n).map(lambda x: tf.fill([x % 3], x)).padded_batch(10).repeat(1)


@case
def bucket_by_sequence_length(n: int, folder: Path) -> Any:
    ds = rows(n // 4).map(lambda x: tf.fill([x % 5], x))
    return ds.bucket_by_sequence_length(
        element_length_func=lambda x: tf.shape(x)[0],
        bucket_boundaries=[2, 4],
        bucket_batch_sizes=[n, n, n],
    ).unbatch()


@case
def window(n: int, folder: Path) -> Any:
    return rows(n).window(n).flat_map(lambda ds: ds)


@case
def many_windows(n: int, folder: Path) -> Any:
    return rows(n // 4).window(3, shift=1).flat_map(lambda ds: ds.batch(3))


@case
def group_by_window(n: int, folder: Path) -> Any:
    return rows(n // 4).group_by_window(
        key_func=lambda x: x % 3, reduce_func=lambda key, ds: ds, window_size=n
    )


@case
def group_by_window_of_many_keys(n: int, folder: Path) -> Any:
    return rows(n // 8).group_by_window(
        key_func=lambda x: x,
        reduce_func=lambda key, ds: ds,
        window_size_func=lambda key: key * 0 + 2,
    )


@case
def unique(n: int, folder: Path) -> Any:
    return rows(n).unique()


@case
def cache(n: int, folder: Path) -> Any:
    return rows(n).cache().repeat(2)


@case
def cache_in_a_file(n: int, folder: Path) -> Any:
    return rows(n).cache(str(folder / f"cache-{n}")).repeat(2)


@case
def cache_of_many_epochs(n: int, folder: Path) -> Any:
    return rows(10).map(lambda x: x + 1).cache().repeat(n // 10)


@case
def snapshot(n: int, folder: Path) -> Any:
    return rows(n).snapshot(str(folder / f"snapshot-{n}")).repeat(2)


@case
def save_and_load(n: int, folder: Path) -> Any:
    rows(n).save(str(folder / f"saved-{n}"))
    return sw.Dataset.load(str(folder / f"saved-{n}"))


# ---- Several inputs, nested datasets, epochs


@case
def zip_and_concatenate(n: int, folder: Path) -> Any:
    return sw.Dataset.zip(rows(n), rows(n).concatenate(rows(n)))


@case
def choose_and_sample(n: int, folder: Path) -> Any:
    choice = sw.Dataset.range(2).repeat()
    ds = sw.Dataset.choose_from_datasets([rows(n), rows(n)], choice)
    return sw.Dataset.sample_from_datasets([ds, rows(n)], [0.5, 0.5], seed=3)


@case
def pad_to_cardinality(n: int, folder: Path) -> Any:
    return rows(10).map(lambda x: {"x": x}).pad_to_cardinality(n)


@case
def flat_map_of_many_datasets(n: int, folder: Path) -> Any:
    return rows(n // 4).flat_map(lambda x: sw.Dataset.range(x, x + 2))


@case
def interleave_of_many_datasets(n: int, folder: Path) -> Any:
    return rows(n // 4).interleave(
        lambda x: sw.Dataset.range(x, x + 2), cycle_length=4, num_parallel_calls=2
    )


@case
def epochs(n: int, folder: Path) -> Any:
    return rows(3).map(lambda x: x + 1).repeat(n // 3)


# ---- Errors


@case
def ignore_errors(n: int, folder: Path) -> Any:
    return rows(n // 4).map(lambda x: 6 // (x % 8)).ignore_errors()


@case
def on_error_with_a_quarantine(n: int, folder: Path) -> Any:
    ds = rows(n // 8).map(lambda x: 6 // (x % 8))
    return ds.on_error("quarantine", quarantine=str(folder / f"bad-{n}.jsonl"))


# ---- Made up: what the sweep must find, and what it must not take for a leak


def a_leak_of_24_bytes_a_row(n: int, folder: Path) -> Any:
    def numbers() -> Iterator[int]:
        left = mmap.mmap(-1, 24 * n)  # in no ledger; resident once it is touched, page by page
        for i in range(n):
            left.write(b"24 bytes of each row ...")
            yield i

    return sw.Dataset.from_generator(numbers, output_signature=sw.TensorSpec((), "int64"))


def made_once_and_late(n: int, folder: Path) -> Any:
    def numbers() -> Iterator[int]:
        made = b""
        for i in range(n):
            if i == 50_000:
                made = b"x" * 3_000_000
            yield i + len(made) - len(made)

    return sw.Dataset.from_generator(numbers, output_signature=sw.TensorSpec((), "int64"))


MADE_UP: dict[str, Make] = {
    make.__name__: make for make in (a_leak_of_24_bytes_a_row, made_once_and_late)
}

# Made by others of the table only: random_choice by sample_from_datasets, window_rows by window,
# fail_together by map_and_batch, the shards by save, load and snapshot.
WITHIN = {"random_choice", "window_rows", "fail_together", "saved_shard", "load_shards"}
# These run within Python calls that end before the pass: what they made is what is swept.
CALLED = {"reduce", "save"}
