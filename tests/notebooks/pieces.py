"""What a notebook's cell may do with memory: one function a kind of allocation.

Each is given a random generator and about how many bytes it shall take in all, and returns the
cell. A name that it keeps is `kept_N`, so that a later cell can drop it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

KIB, MIB = 1 << 10, 1 << 20


class Piece(NamedTuple):
    """One kind of allocation."""

    write: Callable[[random.Random, int], str]
    needs: tuple[str, ...] = ()  # libraries beside NumPy


PIECES: dict[str, Piece] = {}


def piece(
    *needs: str,
) -> Callable[[Callable[[random.Random, int], str]], Callable[[random.Random, int], str]]:
    """Registers a kind of allocation under its function's name."""

    def register(write: Callable[[random.Random, int], str]) -> Callable[[random.Random, int], str]:
        PIECES[write.__name__] = Piece(write, needs)
        return write

    return register


def _split(rng: random.Random, total: int, least: int, most: int) -> tuple[int, int]:
    """Bytes of one item, and how many there are."""
    size = int(least * (most / least) ** rng.random())
    return size, max(1, total // size)


# ---- NumPy


@piece()
def small_arrays_in_a_list(rng: random.Random, total: int) -> str:
    size, count = _split(rng, total, 4 * KIB, 1 * MIB)
    return f"KEPT = [np.ones({size // 8}) for _ in range({count})]"


@piece()
def large_arrays_in_a_list(rng: random.Random, total: int) -> str:
    size, count = _split(rng, total, 1 * MIB, 64 * MIB)
    made = rng.choice(
        ["np.ones({n})", "np.random.rand({n})", "np.full({n}, 1.5)", "np.arange({n}) * 2.0"]
    )
    return f"KEPT = []\nfor i in range({count}):\n    KEPT.append({made.format(n=size // 8)})"


@piece()
def arrays_touched_late(rng: random.Random, total: int) -> str:
    count = rng.randint(2, 8)
    empty = rng.choice(["np.zeros", "np.empty"])
    return (
        f"KEPT = [{empty}({total // 8 // count}) for _ in range({count})]\n"
        "for each in KEPT:\n    each += 1"
    )


@piece()
def array_that_is_appended_to(rng: random.Random, total: int) -> str:
    step = max(1, total // 8 // rng.randint(4, 40))
    return f"KEPT = np.zeros(0)\nwhile KEPT.nbytes < {total}:\n    KEPT = np.append(KEPT, np.ones({step}))"


@piece()
def copies_of_one_array(rng: random.Random, total: int) -> str:
    size, count = _split(rng, total, 1 * MIB, 32 * MIB)
    made = rng.choice(
        ["x.copy()", "x * 2", "np.sqrt(x)", "x.astype('f4').astype('f8')", "x[::-1] + 1"]
    )
    return f"x = np.ones({size // 8})\nKEPT = [{made} for _ in range({count})]"


@piece()
def one_large_array(rng: random.Random, total: int) -> str:
    made = rng.choice(
        [
            "np.zeros({n}) + 1",
            "np.ones({n})",
            "np.concatenate([np.ones({h})] * 2)",
            "np.tile(np.ones(1000), {k})",
        ]
    )
    n = total // 8
    return "KEPT = " + made.format(n=n, h=n // 2, k=n // 1000 + 1)


@piece()
def object_arrays(rng: random.Random, total: int) -> str:
    n = total // 100
    return f"KEPT = np.array([str(i) * 5 for i in range({n})], dtype=object)"


# ---- Python


@piece()
def strings_in_a_list(rng: random.Random, total: int) -> str:
    size, count = _split(rng, total, 60, 20 * KIB)
    return f"KEPT = []\nfor i in range({count}):\n    KEPT.append(str(i) + 'x' * {size})"


@piece()
def rows_as_dictionaries(rng: random.Random, total: int) -> str:
    n = total // 400
    return f"KEPT = [{{'id': i, 'name': f'row {{i}}', 'value': i / 7}} for i in range({n})]"


@piece()
def numbers_in_a_list(rng: random.Random, total: int) -> str:
    n = total // 40
    made = rng.choice(
        [
            "list(range(10**6, 10**6 + {n}))",
            "[i * 1.5 for i in range({n})]",
            "{{i: i for i in range({n} // 3)}}",
            "set(range({n} // 2))",
        ]
    )
    return "KEPT = " + made.format(n=n)


@piece()
def bytes_that_double(rng: random.Random, total: int) -> str:
    kind = rng.choice(["b'x' * 1000", "bytearray(1000)", "'x' * 1000"])
    return f"KEPT = {kind}\nwhile len(KEPT) < {total}:\n    KEPT += KEPT"


@piece()
def one_large_object(rng: random.Random, total: int) -> str:
    made = rng.choice(
        [
            "bytes({n})",
            "bytearray({n})",
            "[0] * {w}",
            "'x' * {n}",
            "'ab'.join('x' * 1000 for _ in range({k}))",
        ]
    )
    return "KEPT = " + made.format(n=total, w=total // 8, k=total // 1000)


@piece()
def objects_of_a_class(rng: random.Random, total: int) -> str:
    return (
        "class Record:\n    def __init__(self, i):\n        self.i, self.text = i, 'record %d' % i\n"
        f"KEPT = []\nfor i in range({total // 300}):\n    KEPT.append(Record(i))"
    )


@piece()
def text_in_and_out(rng: random.Random, total: int) -> str:
    call = rng.choice(
        ["json.dumps(rows)", "pickle.dumps(rows)", "copy.deepcopy(rows)", "repr(rows)"]
    )
    return (
        "import json, pickle, copy\n"
        f"rows = [['row', i, i / 3] for i in range({total // 600})]\nKEPT = [{call} for _ in range(3)]"
    )


@piece()
def a_file_read_whole(rng: random.Random, total: int) -> str:
    mode, block = rng.choice([("rb", "b'line of text\\n'"), ("r", "b'line of text\\n'")])
    read = (
        rng.choice(["f.read()", "f.readlines()", "f.read().split()"])
        if total < 600 * MIB
        else "f.read()"
    )
    return (
        "import os, tempfile\n"
        "path = os.path.join(tempfile.gettempdir(), 'file.txt')\n"
        "with open(path, 'wb') as f:\n"
        f"    for _ in range({max(1, total // 8 // MIB)}):\n        f.write({block} * {MIB // 13})\n"
        f"with open(path, '{mode}') as f:\n    KEPT = {read}"
    )


@piece()
def a_thread_that_fills(rng: random.Random, total: int) -> str:
    size, count = _split(rng, total, 100 * KIB, 4 * MIB)
    made = rng.choice(
        [f"np.ones({size // 8})", f"bytes({size})", f"['x' * 90 for _ in range({size // 140})]"]
    )
    return (
        "import threading\nKEPT = []\ndef fill():\n"
        f"    for _ in range({count}):\n        KEPT.append({made})\n"
        "def quiet(args):\n    print('thread:', args.exc_type.__name__, str(args.exc_value)[:60])\n"
        "threading.excepthook = quiet\n"
        "worker = threading.Thread(target=fill)\nworker.start()\nworker.join()"
    )


@piece()
def tries_again_after_an_error(rng: random.Random, total: int) -> str:
    size, count = _split(rng, total, 200 * KIB, 8 * MIB)
    made = rng.choice(
        [f"np.ones({size // 8})", f"['x' * 90 + str(j) for j in range({size // 150})]"]
    )
    return (
        "KEPT = []\nfor attempt in range(3):\n    try:\n"
        f"        for _ in range({count}):\n            KEPT.append({made})\n"
        "    except MemoryError:\n        KEPT.clear()"
    )


# ---- Libraries


@piece("pandas")
def frames_that_are_appended(rng: random.Random, total: int) -> str:
    size, count = _split(rng, total, 200 * KIB, 8 * MIB)
    column = rng.choice(
        ["np.random.rand({n})", "np.arange({n})", "['text %d' % i for i in range({n})]"]
    )
    n = size // 24 if "text" not in column else size // 120
    end = rng.choice(["", "\nKEPT = pd.concat(KEPT)"])
    return (
        "import pandas as pd\nKEPT = []\n"
        f"for i in range({count}):\n    KEPT.append(pd.DataFrame({{'a': {column.format(n=n)}, 'b': 1.0, 'c': i}}))"
        + end
    )


@piece("torch")
def tensors_of_torch(rng: random.Random, total: int) -> str:
    size, count = _split(rng, total, 100 * KIB, 64 * MIB)
    made = rng.choice(["torch.ones({n})", "torch.randn({n})", "torch.zeros({n}) + 1"])
    return f"import torch\nKEPT = []\nfor _ in range({count}):\n    KEPT.append({made.format(n=size // 4)})"


@piece("torch")
def tensors_of_torch_touched_late(rng: random.Random, total: int) -> str:
    count = rng.randint(2, 6)
    return (
        f"import torch\nKEPT = [torch.empty({total // 4 // count}) for _ in range({count})]\n"
        "for each in KEPT:\n    each.fill_(1)"
    )


@piece("pyarrow")
def tables_of_arrow(rng: random.Random, total: int) -> str:
    size, count = _split(rng, total, 200 * KIB, 16 * MIB)
    made = rng.choice(
        [
            f"pa.table({{'a': np.arange({size // 8})}})",
            f"pa.array(['text %d' % i for i in range({size // 40})])",
        ]
    )
    return f"import pyarrow as pa\nKEPT = []\nfor _ in range({count}):\n    KEPT.append({made})"


# ---- Spillway itself


@piece()
def elements_that_are_kept(rng: random.Random, total: int) -> str:
    size, count = _split(rng, total, 100 * KIB, 8 * MIB)
    return (
        f"ds = sw.Dataset.range({count}).map(lambda i: np.full({size // 8}, float(i)))\n"
        f"{rng.choice(['KEPT = list(ds)', 'KEPT = []' + chr(10) + 'for x in ds: KEPT.append(x)'])}"
    )


@piece()
def elements_copied_by_numpy(rng: random.Random, total: int) -> str:
    size, count = _split(rng, total, 100 * KIB, 8 * MIB)
    kept = rng.choice(
        ["b.numpy()", "np.array(b)", "np.sqrt(b.numpy())", "b.numpy() * 2", "(b + 1).numpy()"]
    )
    return (
        "import spillway.tf as tf\n"
        f"ds = tf.data.Dataset.range({count * 4}).map(lambda i: tf.fill([{size // 16}], tf.cast(i, tf.float32))).batch(4).prefetch(2)\n"
        f"KEPT = []\nfor b in ds:\n    KEPT.append({kept})"
    )


@piece()
def tensors_that_are_kept(rng: random.Random, total: int) -> str:
    size, count = _split(rng, total, 100 * KIB, 16 * MIB)
    made = rng.choice(
        ["tf.ones([{n}])", "tf.random.normal([{n}])", "tf.constant(np.ones({n}, 'f4'))"]
    )
    end = rng.choice(["", "\nvalues = [t.numpy() for t in KEPT]"])
    return (
        "import spillway.tf as tf\n"
        f"KEPT = [{made.format(n=size // 4)} for _ in range({count})]" + end
    )


@piece()
def a_shuffle_and_large_batches(rng: random.Random, total: int) -> str:
    size, count = _split(rng, total, 100 * KIB, 4 * MIB)
    return (
        "import spillway.tf as tf\n"
        f"ds = tf.data.Dataset.range({count}).map(lambda i: tf.fill([{size // 4}], tf.cast(i, tf.float32)), num_parallel_calls=tf.data.AUTOTUNE)\n"
        f"ds = ds.shuffle({max(1, count // 2)}, seed=1).batch({rng.choice([1, 8, 32])}).prefetch(tf.data.AUTOTUNE)\n"
        "KEPT = sum(float(b.numpy().mean()) for b in ds)"
    )


@piece()
def what_a_worker_is_given(rng: random.Random, total: int) -> str:
    return (
        f"big = np.ones({max(1000, total // 16)})\n"
        "def look(i):\n    return big[:2] + np.float64(i)\n"
        f"KEPT = list(sw.Dataset.range(20).map(look, isolate=True))"
    )
