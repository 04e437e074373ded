"""Images in functions: tf.io and tf.image. The expected pixels are TensorFlow 2.21's."""

from __future__ import annotations

import base64
from pathlib import Path

import numpy as np
import pytest

import spillway
import spillway.tf as tf

# A still WebP of two pixels, lossless.
WEBP = base64.b64decode("UklGRiwAAABXRUJQVlA4TCAAAAAvAQAAAA+gEEAAFDQKAQRAQaMQQAAUNPMf+R8qENH/AA==")
NAMES = """decode_and_crop_jpeg decode_bmp decode_gif decode_image decode_jpeg decode_png
decode_webp encode_jpeg encode_png extract_jpeg_shape is_jpeg"""


def photo(height: int, width: int) -> np.ndarray:
    y, x = np.mgrid[0:height, 0:width]
    waves = [128 + 100 * np.sin(x / (7 + 3 * k) + y / (11 + 2 * k)) for k in range(3)]
    return np.stack(waves, -1).astype(np.uint8)


JPEG = tf.io.encode_jpeg(photo(40, 60)).numpy()


@pytest.mark.parametrize(
    ("method", "ratio", "total"),
    [("", 1, 889560), ("INTEGER_ACCURATE", 1, 895572), ("INTEGER_FAST", 2, 223276)],
)
def test_pixels_are_tensorflows(method: str, ratio: int, total: int) -> None:
    image = tf.io.decode_jpeg(JPEG, dct_method=method, ratio=ratio).numpy()
    assert image.shape == (40 // ratio, 60 // ratio, 3)
    assert int(image.sum(dtype=np.int64)) == total


def test_png_comes_back_as_it_was() -> None:
    for channels in (1, 2, 3, 4):
        image = np.arange(4 * 5 * channels, dtype=np.uint16).reshape(4, 5, channels) * 321
        file = tf.image.encode_png(image)
        assert (tf.image.decode_png(file, dtype=tf.uint16).numpy() == image).all()
        assert (tf.image.decode_png(file).numpy() == image >> 8).all()


def test_a_batch_of_images_becomes_a_batch_of_files() -> None:
    files = tf.io.encode_png(np.zeros((2, 3, 4, 1), np.uint8))
    assert files.shape == (2,)
    assert tf.io.decode_png(files[1]).shape == (4 - 1, 4, 1)


def test_names_are_in_both_modules() -> None:
    for name in NAMES.split():
        assert getattr(tf.io, name) is getattr(tf.image, name)


def test_webp_has_frames() -> None:
    assert tf.io.decode_webp(WEBP).numpy().tolist() == [[[[1, 2, 3], [4, 5, 6]]]]
    assert tf.io.decode_image(WEBP).shape == (1, 1, 2, 3)
    assert tf.io.decode_image(WEBP, expand_animations=False).shape == (1, 2, 3)


def test_specs_say_what_is_known() -> None:
    ds = tf.data.Dataset.from_tensors(JPEG)
    for function, shape in (
        (lambda b: tf.io.decode_image(b, channels=3), None),
        (lambda b: tf.io.decode_image(b, 3, expand_animations=False), [None, None, 3]),
        (lambda b: tf.io.decode_jpeg(b), [None, None, None]),
        (lambda b: tf.io.decode_gif(b), [None, None, None, 3]),
        (lambda b: tf.io.decode_and_crop_jpeg(b, [0, 0, 8, 9], channels=1), [8, 9, 1]),
    ):
        mapped = ds.map(function)
        assert mapped.element_spec.shape == tf.TensorShape(shape)
        assert "native" in str(mapped.explain())
        assert len(list(mapped)) == 1


def test_floats_are_scaled() -> None:
    file = tf.io.encode_png(np.array([[[0], [255]]], np.uint8))
    assert tf.io.decode_image(file, dtype=tf.float32).numpy().ravel().tolist() == [0.0, 1.0]
    assert tf.io.decode_image(file, dtype=tf.int32).numpy().ravel().tolist() == [0, 2147450880]


def test_damage_names_file_and_offset(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.jpg", tmp_path / "bad.jpg"
    good.write_bytes(JPEG)
    bad.write_bytes(JPEG[:600])
    ds = tf.data.Dataset.from_tensor_slices([str(good), str(bad), str(good)])
    ds = ds.map(lambda path: tf.io.decode_jpeg(tf.io.read_file(path)))
    seen = iter(ds)
    next(seen)
    with pytest.raises(tf.errors.InvalidArgumentError, match="the file ends too soon") as caught:
        next(seen)
    assert caught.value.file == str(bad)
    assert caught.value.offset == 600
    assert len(list(ds.apply(tf.data.experimental.ignore_errors()))) == 2


def test_recovering_makes_up_the_rest() -> None:
    assert tf.io.decode_jpeg(JPEG[:1500], try_recover_truncated=True).shape == (40, 60, 3)


def test_a_forged_size_is_refused_by_the_budget() -> None:
    frame = JPEG.index(b"\xff\xc0")
    bomb = JPEG[: frame + 5] + b"\x30\x00\x30\x00" + JPEG[frame + 9 :]
    with spillway.configure(memory_limit="64MiB"), pytest.raises(tf.errors.ResourceExhaustedError):
        tf.io.decode_jpeg(bomb)


@pytest.mark.parametrize(
    "call",
    [
        lambda: tf.io.decode_jpeg(b""),
        lambda: tf.io.decode_jpeg([JPEG]),
        lambda: tf.io.decode_jpeg(JPEG, channels=4),
        lambda: tf.io.decode_jpeg(JPEG, channels=2),
        lambda: tf.io.decode_bmp(JPEG),
        lambda: tf.io.decode_gif(b"GIF89a"),
        lambda: tf.io.decode_and_crop_jpeg(JPEG, [0, 0, 41, 60]),
        lambda: tf.io.encode_jpeg(np.zeros((2, 2, 2), np.uint8)),
        lambda: tf.io.encode_png(np.zeros((2, 2, 5), np.uint8)),
        lambda: tf.io.encode_jpeg(np.zeros((2, 2, 3), np.uint8), quality=101),
    ],
)
def test_what_tensorflow_refuses_is_refused(call: object) -> None:
    assert callable(call)
    with pytest.raises(tf.errors.InvalidArgumentError):
        call()
