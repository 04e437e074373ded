"""Cases: tables in files of many times the limit, read row by row."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import spillway as sw
from tests.ceiling.case import MIB, Facts, case

ROW = 4000  # bytes, about
GROUP = 8 * MIB // ROW  # rows of a row group


def _numbers(dataset: sw.Dataset, key: str | int) -> list[int]:
    seen: list[int] = []
    for batch in dataset:
        seen.extend(batch[key].tolist())
        del batch
    return seen


@case(limit=64 * MIB)
def csv_of_many_times_the_limit(limit: int) -> Facts:
    """A CSV file of four times the limit streams through, however much is to be read ahead."""
    rows = 4 * limit // ROW
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.csv")
        with path.open("w") as file:
            for number in range(rows):
                file.write(f'{number},"{"x" * (ROW - 12)}"\n')
        ds = sw.Dataset.csv_rows(str(path), (np.zeros(0, "int64"), [""]))
        seen = _numbers(ds.batch(500).prefetch(100), 0)
    return Facts(seen, range(rows))


@case(limit=64 * MIB)
def sqlite_of_many_times_the_limit(limit: int) -> Facts:
    """The rows of a query of four times the limit come one by one, however much is read ahead."""
    import spillway.tf as tf

    rows = 4 * limit // ROW
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "a.db"))
        with closing(sqlite3.connect(path)) as database:
            database.execute("CREATE TABLE t (number INTEGER PRIMARY KEY, bytes BLOB)")
            each = ((number, b"x" * (ROW - 12)) for number in range(rows))
            database.executemany("INSERT INTO t VALUES (?, ?)", each)
            database.commit()
        query = "SELECT number, bytes FROM t ORDER BY number"
        ds = tf.data.experimental.SqlDataset("sqlite", path, query, (tf.int64, tf.string))
        seen = [int(n) for batch in ds.batch(500).prefetch(100) for n in batch[0].numpy()]
    return Facts(seen, range(rows))


def write_parquet(path: str, groups: int) -> None:
    """Row groups of 8 MiB that do not compress."""
    pa: Any = import_module("pyarrow")
    pq: Any = import_module("pyarrow.parquet")

    schema = pa.schema([("number", pa.int64()), ("bytes", pa.binary())])
    noise = np.random.default_rng(1).bytes(ROW + GROUP)
    blobs = pa.array([noise[i : i + ROW] for i in range(GROUP)])
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for first in range(0, groups * GROUP, GROUP):
            numbers = pa.array(np.arange(first, first + GROUP))
            writer.write_batch(pa.record_batch([numbers, blobs], schema=schema))


@case(limit=128 * MIB)
def parquet_of_many_times_the_limit(limit: int) -> Facts:
    """A Parquet file of four times the limit streams through, row group by row group."""
    groups = 4 * limit // (GROUP * ROW)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "a.parquet"))
        # What pyarrow keeps after writing would be the process's.
        code = f"from tests.ceiling.tables import write_parquet; write_parquet({path!r}, {groups})"
        subprocess.run([sys.executable, "-c", code], check=True)
        ds = sw.Dataset.from_parquet(path, batch_size=300)
        seen = _numbers(ds.batch(300).prefetch(100), "number")
    return Facts(seen, range(groups * GROUP))
