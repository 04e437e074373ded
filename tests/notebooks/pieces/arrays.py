"""Arrays of NumPy that a notebook keeps, grows, copies or touches late."""

from __future__ import annotations

import random

from tests.notebooks.pieces.registry import KIB, MIB, piece, split


@piece()
def small_arrays_in_a_list(rng: random.Random, total: int) -> str:
    size, count = split(rng, total, 4 * KIB, 1 * MIB)
    return f"KEPT = [np.ones({size // 8}) for _ in range({count})]"


@piece()
def large_arrays_in_a_list(rng: random.Random, total: int) -> str:
    size, count = split(rng, total, 1 * MIB, 64 * MIB)
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
    size, count = split(rng, total, 1 * MIB, 32 * MIB)
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


@piece()
def views_of_empty_arrays(rng: random.Random, total: int) -> str:
    count = rng.randint(2, 20)
    return (
        f"KEPT = [np.empty({total // count}, 'u1')[10:-10] for _ in range({count})]\n"
        f"for each in KEPT:\n    each[:: {rng.choice([1, 1, 512, 4096])}] = 7"
    )


@piece()
def arrays_filled_by_a_stride(rng: random.Random, total: int) -> str:
    """Sparse growth: a page here and there, until all of it is there."""
    stride = rng.choice([1 << 16, 1 << 14, 1 << 12])
    return (
        f"KEPT = np.zeros({total}, 'u1')\n"
        f"for at in range(0, {stride}, 4096):\n    KEPT[at::{stride}] = 1"
    )


@piece()
def a_memmap_that_is_changed(rng: random.Random, total: int) -> str:
    total = min(total, 1500 * MIB)
    mode = rng.choice(["c", "c", "r+"])
    work = rng.choice(["KEPT[:] = 1", "KEPT += 1", "KEPT = np.array(KEPT)"])
    return (
        "import os, tempfile\n"
        "path = os.path.join(tempfile.gettempdir(), 'KEPT.bin')\n"
        f"with open(path, 'wb') as f:\n    f.truncate({total // 8 * 8})\n"
        f"KEPT = np.memmap(path, 'f8', mode='{mode}')\n{work}"
    )


@piece()
def results_of_functions_of_numpy(rng: random.Random, total: int) -> str:
    n = max(16, total // 8 // 3)
    made = rng.choice(
        [
            "np.sort(x)",
            "np.stack([x, x])",
            "np.repeat(x, 2)",
            "np.where(x > 0.5, x, 0.0)",
            "np.cumsum(x)",
            "x.reshape(-1, 1) * np.ones(2)",
            "np.add.outer(x[:3000], x[: {k}])",
            "np.unique(x)",
            "np.fft.rfft(x)",
            "np.meshgrid(x[: 2000], x[: {k}])",
            "x.tolist()",
            "np.char.add(x[: {s}].astype(str), 'x')",
        ]
    ).format(k=max(1, total // 24000), s=max(1, n // 20))
    return f"x = np.random.rand({n})\nKEPT = {made}"


@piece()
def arrays_resized_in_place(rng: random.Random, total: int) -> str:
    step = max(1000, total // 8 // rng.randint(3, 200))
    return (
        "KEPT = np.ones(1000)\n"
        f"while KEPT.nbytes < {total}:\n    KEPT.resize(KEPT.size + {step}, refcheck=False)\n"
        f"    KEPT[-{step}:] = 2"
    )
