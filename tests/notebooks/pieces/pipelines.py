"""Elements, tensors and workers of Spillway itself."""

from __future__ import annotations

import random

from tests.notebooks.pieces.registry import KIB, MIB, piece, split


@piece()
def elements_that_are_kept(rng: random.Random, total: int) -> str:
    size, count = split(rng, total, 100 * KIB, 8 * MIB)
    return (
        f"ds = sw.Dataset.range({count}).map(lambda i: np.full({size // 8}, float(i)))\n"
        f"{rng.choice(['KEPT = list(ds)', 'KEPT = []' + chr(10) + 'for x in ds: KEPT.append(x)'])}"
    )


@piece()
def elements_copied_by_numpy(rng: random.Random, total: int) -> str:
    size, count = split(rng, total, 100 * KIB, 8 * MIB)
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
    size, count = split(rng, total, 100 * KIB, 16 * MIB)
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
    size, count = split(rng, total, 100 * KIB, 4 * MIB)
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


@piece()
def batches_kept_as_arrays(rng: random.Random, total: int) -> str:
    """Elements of our own pipeline, copied by a function of NumPy and kept."""
    size, count = split(rng, total, 50 * KIB, 4 * MIB)
    batch = rng.choice([1, 4, 16])
    kept = rng.choice(
        [
            "np.asarray(b) + 1",
            "np.concatenate([b, b])",
            "b.copy()",
            "b.tolist()[:1]",
            "np.array(b, 'f8')",
            "np.mean(b, 0)",
            "bytes(b)",
        ]
    )
    stages = rng.choice(["", ".shuffle(20, seed=1)", ".cache()", ".prefetch(4)", ".repeat(2)"])
    return (
        f"ds = sw.Dataset.range({count}).map(lambda i: np.full({max(1, size // 4)}, i, 'f4'))"
        f"{stages}.batch({batch})\nKEPT = [{kept} for b in ds]"
    )


@piece("torch")
def elements_kept_as_torch_tensors(rng: random.Random, total: int) -> str:
    size, count = split(rng, total, 50 * KIB, 4 * MIB)
    kept = rng.choice(["x", "x.clone()", "x + 1"])
    return (
        "import torch\n"
        f"ds = sw.Dataset.range({count}).map(lambda i: np.full({max(1, size // 4)}, i, 'f4'))\n"
        f"KEPT = [{kept} for x in ds.to_torch()]"
    )


@piece()
def a_generator_that_keeps(rng: random.Random, total: int) -> str:
    size, count = split(rng, total, 50 * KIB, 8 * MIB)
    made = rng.choice(["np.ones({n} // 8)", "np.frombuffer(bytes({n}), 'f4')"]).format(
        n=size // 8 * 8
    )
    return (
        "KEPT = []\ndef rows():\n"
        f"    for i in range({count}):\n        KEPT.append({made})\n        yield KEPT[-1]\n"
        f"ds = sw.Dataset.from_generator(rows, output_signature=sw.TensorSpec((None,), {made}.dtype))\n"
        "n = sum(1 for _ in ds.prefetch(2))"
    )


@piece(children=True)
def what_a_worker_brings_back(rng: random.Random, total: int) -> str:
    size, count = split(rng, total, 100 * KIB, 8 * MIB)
    return (
        f"def make(i):\n    return np.full({max(1, size // 8)}, float(i))\n"
        f"KEPT = list(sw.Dataset.range({count}).map(make, isolate=True))"
    )


@piece(children=True)
def a_worker_that_fills(rng: random.Random, total: int) -> str:
    made = rng.choice(
        [
            f"np.ones({max(1, total // 8)})",
            f"['x' * 90 + str(j) for j in range({max(1, total // 150)})]",
            f"bytearray({total})",
        ]
    )
    return (
        f"def fill(i):\n    held = {made}\n    return np.int64(len(held))\n"
        f"KEPT = list(sw.Dataset.range(3).map(fill, isolate=True, output_signature=sw.TensorSpec((), 'int64')))"
    )
