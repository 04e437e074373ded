"""Cases: images, decoded and resized into batches."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import spillway.tf as tf
from tests.ceiling.case import MIB, Facts, case

SIDE = 256


def _files(folder: str, count: int) -> list[str]:
    """Large pictures, each of one grey that says which it is."""
    paths = []
    for i in range(count):
        pixels = np.full((1500, 2000, 3), 2 * i, np.uint8)
        paths.append(os.path.join(folder, f"{i}.jpg"))
        Path(paths[-1]).write_bytes(tf.io.encode_jpeg(pixels, quality=100).numpy())
    return paths


@case(limit=96 * MIB)
def images_into_batches(limit: int) -> Facts:
    """300 pictures of 9 MB each, resized into batches of 24 MB, read ahead as far as it fits."""
    count, repeats = 100, 3
    with tempfile.TemporaryDirectory() as folder:
        paths = _files(folder, count)

        def load(path: Any) -> Any:
            image = tf.io.decode_image(tf.io.read_file(path), channels=3)
            return tf.cast(tf.image.resize(image, [SIDE, SIDE]), tf.float32) / 255.0

        ds = tf.data.Dataset.from_tensor_slices(paths * repeats)
        ds = ds.map(load, num_parallel_calls=tf.data.AUTOTUNE).batch(32).prefetch(tf.data.AUTOTUNE)
        seen: list[int] = []
        for batch in ds:
            greys = batch.numpy().mean((1, 2, 3)) * 255 / 2
            seen.extend(int(grey) for grey in np.rint(greys))
    return Facts(seen, list(range(count)) * repeats)
