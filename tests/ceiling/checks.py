"""Cases: images, and checks of many files."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import spillway as sw
import spillway.tf as tf
from tests.ceiling.case import MIB, Facts, case

_SIDE = 1000  # pixels: 3 MB decoded


def _image(level: int, bad: bool = False) -> bytes:
    pixels = np.full((_SIDE, _SIDE, 3), level, np.uint8)
    content: bytes = tf.io.encode_jpeg(pixels).numpy()
    return content[: len(content) // 2] if bad else content


def _files(folder: str, bad: set[int], count: int) -> list[str]:
    paths = [f"{folder}/{i:02}.jpg" for i in range(count)]
    for i, path in enumerate(paths):
        Path(path).write_bytes(_image(10 * i, i in bad))
    return paths


@case(limit=48 * MIB)
def decoded_images_in_batches(limit: int) -> Facts:
    """Twenty times the limit of images, decoded in parallel, batched and prefetched."""
    with tempfile.TemporaryDirectory() as folder:
        paths = _files(folder, set(), 4) * (5 * limit // (3 * MIB))
        ds = tf.data.Dataset.from_tensor_slices(paths)
        ds = ds.map(
            lambda path: tf.io.decode_jpeg(tf.io.read_file(path), channels=3),
            num_parallel_calls=sw.AUTOTUNE,
        )
        seen = []
        for batch in ds.batch(2).prefetch(sw.AUTOTUNE):
            seen += [int(level) // 10 for level in batch.numpy()[:, 0, 0, 0]]
            del batch
    return Facts(seen, [i % 4 for i in range(len(paths))])


@case(limit=48 * MIB)
def check_of_many_files(limit: int) -> Facts:
    """A check of 20,000 paths, of which a quarter is bad, and a hundred different images."""
    with tempfile.TemporaryDirectory() as folder:
        good = _files(folder, {3}, 8)
        # Most are names only: a missing one costs an entry in the list, whatever their number.
        paths = good * 12 + [f"{folder}/none-{i}" for i in range(5_000)]
        paths += [str(Path(folder) / "text.txt")] * 14_904
        Path(paths[-1]).write_text("text\n" * 100)
        ds = tf.data.Dataset.from_tensor_slices(paths)
        found = ds.map(lambda path: tf.io.read_file(path)).check(progress=False, text="utf-8")
        images = tf.data.Dataset.from_tensor_slices(good * 12)
        decoded = images.map(lambda path: tf.io.decode_image(tf.io.read_file(path), channels=3))
        damaged = decoded.shuffle(100).batch(16).check(progress=False)
    assert found.checked == 40_000, found.checked
    assert [problem.file for problem in damaged] == [good[3]], damaged
    # Nothing but the images is no text, each told of once; and what is missing.
    return Facts([len(found), found.unlisted], [5_000 + len(good), 0])
