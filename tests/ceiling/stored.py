"""Cases: datasets on disk, and files read through another store."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import spillway as sw
import spillway.tf as tf
from tests.ceiling.case import MIB, Facts, case, mapped, number_of


@case(limit=64 * MIB)
def save_and_load_of_many_shards(limit: int) -> Facts:
    """Six times the limit is saved to 300 shards, compressed, and loaded by turns."""
    count = 6 * limit // MIB
    with tempfile.TemporaryDirectory() as folder:
        numbers = sw.Dataset.range(count)
        pairs = sw.Dataset.zip(numbers, mapped(count))
        pairs.save(folder, compression="GZIP", shard_func=lambda i, _: i % 300)
        loaded = sw.Dataset.load(
            folder, reader_func=lambda shards: shards.interleave(lambda shard: shard, 8)
        )
        return Facts([number_of(x) for _, x in loaded], range(count))


@case(limit=64 * MIB)
def snapshot_of_large_rows(limit: int) -> Facts:
    """Rows of an eighth of the limit are written and read again, without a second copy."""
    size, count = limit // 8, 48
    with tempfile.TemporaryDirectory() as folder:
        kept = mapped(count, size).snapshot(folder)
        seen = [number_of(x) for x in kept]
        seen += [number_of(x) for x in kept]
    return Facts(seen, [*range(count), *range(count)])


@case(limit=64 * MIB)
def a_store_through_fsspec(limit: int) -> Facts:
    """Eight times the limit is read in ranges through fsspec, by eight files at a time."""
    count = 8 * limit // MIB
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for i in range(8):
            path = Path(folder) / str(i)
            with path.open("wb") as file:
                for number in range(i, count, 8):
                    file.write(np.full(MIB // 8, number, "int64").tobytes())
            paths.append(f"file://{path}")
        dataset = tf.data.FixedLengthRecordDataset(paths, MIB, num_parallel_reads=8)
        seen = [_number(x) for x in dataset.as_numpy_iterator()]
    return Facts(seen, range(count))


def _number(record: Any) -> int:
    return number_of(np.frombuffer(record, "int64"))
