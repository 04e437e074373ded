"""Expressions by number: the same seed is the same expression, with as many rows as wanted."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import spillway as sw
import spillway.tf as tf


def rows_of(seed: int) -> int:
    """How many rows expression `seed` has when nobody asks for fewer."""
    return random.Random(seed).choice([600, 2000, 5000, 12000])


def build(seed: int, folder: Path, rows: int | None = None) -> Any:
    """Expression `seed` on `rows` rows. Its files go to `folder`."""
    draw = random.Random(seed)
    count = draw.choice([600, 2000, 5000, 12000])
    count = rows or count
    width = draw.choice([64, 256, 500, 1000])
    x = _source(draw, folder, count, width, seed)
    for _ in range(draw.randint(1, 6)):
        step: Callable[..., Any] = draw.choice(
            [_pointwise, _pointwise, _layer, _large_product, _soft, _reshaped, _joined, _centred]
        )
        x = step(draw, x, seed)
    end = draw.randint(0, 4)
    if end == 0:
        return tf.reduce_sum(x)
    if end == 1:
        return tf.reduce_mean(x, axis=0)
    if end == 2:
        return tf.reduce_max(x, axis=1)
    return x


def _seed(draw: random.Random) -> int:
    return draw.randint(1, 1 << 30)


def _source(draw: random.Random, folder: Path, rows: int, width: int, seed: int) -> Any:
    kind = draw.randint(0, 3)
    if kind == 0:
        path = folder / f"{seed}-{rows}.npy"
        if not path.exists():
            sw.save_npy(path, tf.random.uniform([rows, width], seed=_seed(draw)))
        else:
            _seed(draw)
        return sw.load_npy(path)
    if kind == 1:
        return tf.random.uniform([rows, width], seed=_seed(draw))
    return tf.random.normal([rows, width], seed=_seed(draw))


def _pointwise(draw: random.Random, x: Any, seed: int) -> Any:
    kind = draw.randint(0, 3)
    if kind == 0:
        return tf.nn.relu(x) * 0.5
    if kind == 1:
        return tf.tanh(x) + x
    if kind == 2:
        return x * tf.random.normal([x.shape[1]], seed=_seed(draw))
    return tf.sigmoid(x - 0.25)


def _layer(draw: random.Random, x: Any, seed: int) -> Any:
    out = draw.choice([32, 256, 700])
    w = np.random.default_rng(_seed(draw)).normal(size=(x.shape[1], out)).astype("f4")
    return tf.matmul(x, tf.constant(w)) * 0.05


def _large_product(draw: random.Random, x: Any, seed: int) -> Any:
    out = draw.choice([1500, 4000])
    if draw.random() < 0.5:
        return tf.matmul(x, tf.random.normal([out, x.shape[1]], seed=_seed(draw)), transpose_b=True)
    return tf.matmul(x, tf.random.normal([x.shape[1], out], seed=_seed(draw))) * 0.01


def _soft(draw: random.Random, x: Any, seed: int) -> Any:
    return tf.nn.softmax(x)


def _reshaped(draw: random.Random, x: Any, seed: int) -> Any:
    rows, width = x.shape
    if width % 4:
        return x + 1.0
    return tf.reduce_max(tf.reshape(x, [rows, width // 4, 4]), axis=2)


def _joined(draw: random.Random, x: Any, seed: int) -> Any:
    return tf.concat([x, x * 2.0], axis=1)


def _centred(draw: random.Random, x: Any, seed: int) -> Any:
    return x - tf.reduce_mean(x, axis=0)
