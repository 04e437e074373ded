"""How many CPU seconds does a million CSV rows take, against pyarrow's reader and tf.data?

    python -m bench.csv_task [ROWS] [ROUNDS]

Every reader runs alone in a process of its own, by turns, on the same files; the least of the
rounds counts. Reading ahead is charged: CPU time is that of all threads. Spillway and tf.data hand
out batches of 1,024; pyarrow hands out its own, with one thread.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TENSORFLOW = ROOT / "build" / "venv-tf" / "bin" / "python"
BATCH = 1024
TASKS = {
    "floats": ["float32"] * 10,
    "mixed": ["int64", "string", "int32", "string", "float64", "string"],
}


def write(path: Path, task: str, rows: int) -> None:
    """10 floats of 8 digits, or numbers and words, some of them quoted."""
    rng = random.Random(task)
    words = ("alpha", "a longer piece of text", '"quoted, with a comma"', "x")
    with path.open("w") as file:
        for _ in range(rows):
            if task == "floats":
                file.write(",".join(f"{rng.uniform(-100, 100):.6f}" for _ in range(10)) + "\n")
            else:
                file.write(
                    f"{rng.randrange(10**12)},{rng.choice(words)},{rng.randrange(-1000, 1000)},"
                    f"{rng.choice(words)},{rng.random():.12f},user{rng.randrange(10**6)}\n"
                )


def _batches(tf: Any, path: str, types: list[str]) -> Iterator[int]:
    ds = tf.data.experimental.CsvDataset(path, [getattr(tf, name) for name in types])
    for columns in ds.batch(BATCH):
        yield int(columns[0].shape[0])


def spillway(path: str, types: list[str]) -> Iterator[int]:
    import spillway.tf as tf

    return _batches(tf, path, types)


def tensorflow(path: str, types: list[str]) -> Iterator[int]:
    return _batches(import_module("tensorflow"), path, types)


def _arrow(path: str, types: list[str], read: str) -> Any:
    pa: Any = import_module("pyarrow")
    csv: Any = import_module("pyarrow.csv")
    names = [f"c{i}" for i in range(len(types))]
    return getattr(csv, read)(
        path,
        read_options=csv.ReadOptions(use_threads=False, column_names=names),
        convert_options=csv.ConvertOptions(
            column_types={n: getattr(pa, t)() for n, t in zip(names, types, strict=True)}
        ),
    )


def pyarrow_stream(path: str, types: list[str]) -> Iterator[int]:
    for batch in _arrow(path, types, "open_csv"):
        yield batch.num_rows


def pyarrow_whole(path: str, types: list[str]) -> Iterator[int]:
    yield _arrow(path, types, "read_csv").num_rows


SYSTEMS: dict[str, Callable[[str, list[str]], Iterator[int]]] = {
    "spillway": spillway,
    "pyarrow open_csv": pyarrow_stream,
    "pyarrow read_csv": pyarrow_whole,
    "tf.data": tensorflow,
}


def child(system: str, task: str, path: str, warm: str) -> None:
    """Prints rows, CPU and wall seconds; what starting costs is spent on a small file before."""
    read = SYSTEMS[system]
    assert sum(read(warm, TASKS[task])) > 0
    cpu, wall = time.process_time(), time.perf_counter()
    rows = sum(read(path, TASKS[task]))
    print(json.dumps([rows, time.process_time() - cpu, time.perf_counter() - wall]))


def measure(rows: int, rounds: int) -> None:
    """All readers by turns; a line each."""
    with tempfile.TemporaryDirectory() as folder:
        for task in TASKS:
            path, warm = Path(folder, f"{task}.csv"), Path(folder, f"{task}-warm.csv")
            write(path, task, rows)
            write(warm, task, 3000)
            best: dict[str, tuple[float, float]] = {}
            for _ in range(rounds):
                for system in SYSTEMS:
                    python = str(TENSORFLOW) if system == "tf.data" else sys.executable
                    if not Path(python).exists():
                        continue
                    command = [python, "-m", "bench.csv_task", "child", system, task]
                    run = subprocess.run(
                        [*command, str(path), str(warm)],
                        cwd=ROOT,
                        stdout=subprocess.PIPE,
                        stderr=subprocess.DEVNULL,
                        check=True,
                    )
                    found, cpu, wall = json.loads(run.stdout.splitlines()[-1])
                    assert found == rows, (system, found)
                    best[system] = min(best.get(system, (cpu, wall)), (cpu, wall))
            size = path.stat().st_size / 1e6
            print(f"{task}: {rows:,} rows, {size:.0f} MB")
            for system, (cpu, wall) in best.items():
                million = 1e6 / rows
                print(
                    f"  {system:17} {cpu * million:6.3f} CPU-s  {wall * million:6.3f} s a million "
                    f"rows  {size / cpu:5.0f} MB a CPU second"
                )


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        child(*sys.argv[2:])
    else:
        given = [int(value) for value in sys.argv[1:]]
        measure(*(given + [1_000_000, 3][len(given) :]))
