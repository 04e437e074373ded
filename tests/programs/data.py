"""The files the programs read: small, made anew for each run.

For a notebook of `examples/programs`: `python -m tests.programs --data DIR`.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

IMAGES = 300
TEXTS = 1_000
YEAR_ROWS = 1 << 26  # 256 float32 each: 64 GiB, of which the disk holds the header only
# What the damaged texts are; each file says the same otherwise.
CUT, EMPTY, LATIN = (100, 350), (400, 401), (700, 701, 702)


def make(folder: Path) -> None:
    """Makes all of it below `folder`."""
    _arrays(folder / "measured")
    _images(folder / "images")
    _texts(folder / "texts")


def _arrays(folder: Path) -> None:
    folder.mkdir(parents=True)
    for day in range(3):
        np.save(folder / f"day{day}.npy", np.full((1000, 256), day + 1, np.float32))
    np.save(folder / "cut.npy", np.zeros((1000, 256), np.float32))
    os.truncate(folder / "cut.npy", 5000)
    with open(folder / "year.npy", "wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (YEAR_ROWS, 256)}
        np.lib.format.write_array_header_1_0(file, header)
        file.truncate(file.tell() + YEAR_ROWS * 256 * 4)


def _images(folder: Path) -> None:
    import spillway.tf as tf

    folder.mkdir(parents=True)
    chance = np.random.default_rng(7)
    for number in range(IMAGES):
        height, width = 90 + number % 40, 120 + number % 50
        slope = np.add.outer(np.arange(height), np.arange(width))[..., None] * [1, 2, 3]
        noise = chance.integers(0, 24, (height, width, 3))
        pixels = ((slope + noise + number) % 256).astype(np.uint8)
        (folder / f"{number:03}.jpg").write_bytes(tf.io.encode_jpeg(pixels).numpy())
    whole = (folder / "000.jpg").read_bytes()
    (folder / "cut.jpg").write_bytes(whole[: len(whole) // 2])
    (folder / "text.jpg").write_text("this is no image\n")


def _texts(folder: Path) -> None:
    folder.mkdir(parents=True)
    for number in range(TEXTS):
        text = f"page {number}\n" + "the café is open\n" * (1 + number % 5)
        data = text.encode("latin-1" if number in LATIN else "utf-8")
        if number in CUT:
            data = data[: data.index("é".encode()) + 1]
        (folder / f"{number:03}.txt").write_bytes(b"" if number in EMPTY else data)
