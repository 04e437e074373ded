"""The pictures of the images suite: made once from a seed, kept under build/bench-data.

2,000 JPEGs of 500 x 375, baseline 4:2:0, quality 95, about 95 KB each (value noise in octaves, so
that their entropy is that of photographs); the same in four TFRecord files and four tar shards.
`python -m bench.image_data` makes them; the suite does so by itself.
"""

from __future__ import annotations

import functools
import io
import os
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench.environments import ROOT

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WIDTH, HEIGHT, COUNT = 500, 375, 2_000
SHARDS = 4
FOLDER = ROOT / "build" / "bench-data" / "jpegs"
_DONE = FOLDER / "complete"


def paths() -> list[str]:
    """The files, in order."""
    return [str(FOLDER / "jpeg" / f"class{i % 10:02d}" / f"{i:06d}.jpg") for i in range(COUNT)]


def records() -> list[str]:
    """The TFRecord files: examples {image, label}, a quarter of the pictures each."""
    return [str(FOLDER / f"part-{k}.tfrecord") for k in range(SHARDS)]


def shards() -> list[str]:
    """The tar files: 000123.jpg and 000123.cls for each picture, a quarter each."""
    return [str(FOLDER / f"part-{k}.tar") for k in range(SHARDS)]


def means() -> NDArray[np.float32]:
    """The mean of each picture as it was drawn, in [0, 1]."""
    import numpy as np

    found: NDArray[np.float32] = np.load(FOLDER / "means.npy")
    return found


@functools.cache
def _taps(n: int, step: int) -> NDArray[np.float32]:
    """The matrix that interpolates a coarse grid linearly."""
    import numpy as np

    taps = np.zeros((n, n // step + 3), np.float32)
    at = np.arange(n)
    part = (at % step) / step
    taps[at, at // step] = 1 - part
    taps[at, at // step + 1] = part
    return taps


def _octaves(
    rng: np.random.Generator, amplitude: float, decay: float, last: int
) -> NDArray[np.float32]:
    import numpy as np

    out = np.zeros((HEIGHT, WIDTH), np.float32)
    step = 128
    while step >= last:
        down, across = _taps(HEIGHT, step), _taps(WIDTH, step)
        grid = rng.uniform(-1, 1, (down.shape[1], across.shape[1])).astype(np.float32)
        out += amplitude * (down @ grid @ across.T)
        amplitude *= decay
        step //= 2
    return out


def picture(seed: int) -> NDArray[np.uint8]:
    """Noise of many sizes: brightness in steps of 128 to 2 pixels, colours of 128 to 16."""
    import numpy as np

    rng = np.random.default_rng(seed)
    luma = _octaves(rng, 55, 0.62, 2) + rng.normal(0, 9.0, (HEIGHT, WIDTH)).astype(np.float32)
    rgb = np.stack([128 + luma + _octaves(rng, 25, 0.6, 16) for _ in range(3)], -1)
    return np.clip(rgb, 0, 255).astype(np.uint8)


def _make_one(i: int) -> tuple[bytes, float]:
    import spillway.tf as tf

    pixels = picture(i + 1)
    encoded = tf.io.encode_jpeg(pixels, quality=95, chroma_downsampling=True).numpy()
    return encoded, float(pixels.mean()) / 255


def _write(pictures: list[bytes]) -> None:
    import spillway.tf as tf

    for path, data in zip(paths(), pictures, strict=True):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(data)
    for k in range(SHARDS):
        with tf.io.TFRecordWriter(records()[k]) as out:
            for i in range(k, COUNT, SHARDS):
                image = tf.train.Feature(bytes_list=tf.train.BytesList(value=[pictures[i]]))
                label = tf.train.Feature(int64_list=tf.train.Int64List(value=[i % 10]))
                features = tf.train.Features(feature={"image": image, "label": label})
                out.write(tf.train.Example(features=features).SerializeToString())
        with tarfile.open(shards()[k], "w", format=tarfile.USTAR_FORMAT) as archive:
            for i in range(k * COUNT // SHARDS, (k + 1) * COUNT // SHARDS):
                for name, data in (
                    (f"{i:06d}.jpg", pictures[i]),
                    (f"{i:06d}.cls", b"%d" % (i % 10)),
                ):
                    info = tarfile.TarInfo(name)
                    info.size = len(data)
                    archive.addfile(info, io.BytesIO(data))


def prepare() -> None:
    """Make the pictures, unless they are there. Needs Spillway, which encodes them."""
    import numpy as np

    if _DONE.exists():
        return
    print(f"making {COUNT} pictures in {os.path.relpath(FOLDER, ROOT)}", flush=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    made = [_make_one(i) for i in range(COUNT)]
    _write([data for data, _ in made])
    np.save(FOLDER / "means.npy", np.array([mean for _, mean in made], np.float32))
    _DONE.touch()


if __name__ == "__main__":
    prepare()
