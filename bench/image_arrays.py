"""One picture by the decoders that Python users take: for libraries without their own."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.image_tasks import CROP, MEAN, SIDE, STD, crop_box

Pixels = NDArray[np.uint8]
Image = NDArray[np.float32]
_MEAN, _STD = np.array(MEAN, np.float32), np.array(STD, np.float32)


def _cv2() -> Any:
    import cv2  # type: ignore[import-not-found, unused-ignore]

    cv2.setNumThreads(0)
    return cv2


def simplejpeg(data: bytes) -> Pixels:
    """libjpeg-turbo, with as little around it as there is."""
    import simplejpeg as library  # type: ignore[import-not-found, unused-ignore]

    pixels: Pixels = library.decode_jpeg(data)
    return pixels


def opencv(data: bytes) -> Pixels:
    """OpenCV's decoder."""
    cv2 = _cv2()
    pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    rgb: Pixels = cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB)
    return rgb


def loaded(pixels: Pixels) -> Image:
    """What p1 wants of decoded pixels, by OpenCV."""
    cv2 = _cv2()
    small = cv2.resize(pixels, (SIDE, SIDE), interpolation=cv2.INTER_LINEAR)
    made: Image = small.astype(np.float32) / 255
    return made


def augmented(pixels: Pixels) -> Image:
    """What p2 wants of decoded pixels, by OpenCV."""
    cv2 = _cv2()
    x, y, wide, high = crop_box(pixels.shape[1], pixels.shape[0])
    part = cv2.resize(
        pixels[y : y + high, x : x + wide], (CROP, CROP), interpolation=cv2.INTER_LINEAR
    )
    if random.random() < 0.5:
        part = part[:, ::-1]
    made: Image = (part.astype(np.float32) / 255 - _MEAN) / _STD
    return made


def load_simplejpeg(path: str) -> Image:
    """p1 of a file."""
    return loaded(simplejpeg(Path(path).read_bytes()))


def load_opencv(path: str) -> Image:
    """p1 of a file."""
    return loaded(opencv(Path(path).read_bytes()))


def augment_simplejpeg(path: str) -> Image:
    """p2 of a file."""
    return augmented(simplejpeg(Path(path).read_bytes()))


def augment_opencv(path: str) -> Image:
    """p2 of a file."""
    return augmented(opencv(Path(path).read_bytes()))


def load_pil(path: str) -> Image:
    """p1 of a file by Pillow, whose bilinear filter always antialiases."""
    from PIL import Image as library  # type: ignore[import-not-found, unused-ignore] # noqa: N813

    picture = library.open(path).convert("RGB").resize((SIDE, SIDE), library.BILINEAR)
    return np.asarray(picture).astype(np.float32) / np.float32(255)


def augment_pil(path: str) -> Image:
    """p2 of a file by Pillow."""
    from PIL import Image as library  # type: ignore[import-not-found, unused-ignore] # noqa: N813

    picture = library.open(path).convert("RGB")
    x, y, wide, high = crop_box(*picture.size)
    part = picture.resize((CROP, CROP), library.BILINEAR, box=(x, y, x + wide, y + high))
    pixels = np.asarray(part)
    if random.random() < 0.5:
        pixels = pixels[:, ::-1]
    made: Image = (pixels.astype(np.float32) / np.float32(255) - _MEAN) / _STD
    return made
