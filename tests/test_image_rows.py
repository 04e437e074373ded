"""Images that go through a function row by row: the same bits as op by op, the same errors."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf

Function = Callable[[Any], Any]
METHODS = ["bilinear", "area", "bicubic", "lanczos3", "nearest", "gaussian"]


def picture(rng: np.random.Generator, channels: int = 3) -> np.ndarray[Any, Any]:
    """Something smooth with noise, of any size."""
    height, width = (int(n) for n in rng.integers(1, 70, 2))
    y, x = np.mgrid[:height, :width]
    waves = 100 + 60 * np.sin(x / 7)[..., None] + 50 * np.cos(y / 5)[..., None]
    noise = rng.normal(0, 12, (height, width, channels))
    return np.asarray(np.clip(waves + noise, 0, 255).astype(np.uint8))


def encoded(rng: np.random.Generator) -> bytes:
    """A file in one of several formats."""
    kind = int(rng.integers(0, 5))
    if kind == 0:
        file = tf.io.encode_png(picture(rng))
    elif kind == 1:
        file = tf.io.encode_jpeg(picture(rng, 1))
    elif kind == 2:
        file = tf.io.encode_jpeg(picture(rng), progressive=True)
    else:
        file = tf.io.encode_jpeg(picture(rng), chroma_downsampling=kind == 3)
    return bytes(file.numpy())


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Some images."""
    rng = np.random.default_rng(5)
    paths = []
    for i in range(23):
        paths.append(str(tmp_path / f"{i}.img"))
        Path(paths[-1]).write_bytes(encoded(rng))
    return paths


def chains() -> list[tuple[str, Function]]:
    """Functions of decoded images, drawn at random, that the dataset and the eager ops both run."""
    draw = random.Random(11)
    mean, std = tf.constant([120.0, 110.0, 100.0]), tf.constant([60.0, 61.0, 62.0])
    before: dict[str, Function] = {
        "": lambda x: x,
        "float": lambda x: tf.image.convert_image_dtype(x, tf.float32),
        "crop": lambda x: tf.slice(
            x, [0, 0, 0], tf.stack([(tf.shape(x)[0] + 1) // 2, (tf.shape(x)[1] + 1) // 2, 3])
        ),
        "corner": lambda x: x[:, :, :],
        "flip": lambda x: tf.image.flip_left_right(x),
        "crop and flip": lambda x: tf.image.flip_left_right(
            tf.slice(x, [tf.shape(x)[0] // 3, tf.shape(x)[1] // 3, 0], [-1, -1, -1])
        ),
    }
    after: dict[str, Function] = {
        "": lambda x: x,
        "/255": lambda x: tf.cast(x, tf.float32) / 255.0,
        "normalise": lambda x: (tf.cast(x, tf.float32) - mean) / std,
        "flip": lambda x: tf.image.flip_left_right(x) * 2,
        "clip": lambda x: tf.clip_by_value(tf.cast(x, tf.float32), 50.0, 200.0),
        "crop": lambda x: tf.cast(tf.slice(x, [2, 3, 0], [5, 4, 3]), tf.float32) + 1.0,
        "flip and crop": lambda x: tf.slice(tf.image.flip_left_right(x), [1, 2, 0], [5, 4, 3]),
        "bytes": lambda x: tf.cast(tf.cast(x, tf.float32) + 0.5, tf.uint8),
        "grows": lambda x: tf.cast(x, tf.float32)[..., :1] * mean,
    }
    found: list[tuple[str, Function]] = []
    for _ in range(60):
        first, last = draw.choice(sorted(before)), draw.choice(sorted(after))
        size, method = [draw.randint(7, 60), draw.randint(7, 60)], draw.choice(METHODS)
        antialias = draw.random() < 0.3

        def made(
            x: Any,
            first: str = first,
            last: str = last,
            size: list[int] = size,
            method: str = method,
            antialias: bool = antialias,
        ) -> Any:
            resized = tf.image.resize(before[first](x), size, method, antialias=antialias)
            return after[last](resized)

        found.append((f"{first} | {method} {size} {antialias} | {last}", made))
    found += [(f"{name} alone", function) for name, function in before.items() if name]
    found.append(("items alone", lambda x: tf.cast(x, tf.float32) / 255.0))
    found.append(
        ("shape later", lambda x: tf.image.resize(x, [9, 9]) + tf.cast(tf.shape(x)[0], tf.float32))
    )
    return found


@pytest.mark.parametrize("calls", [None, tf.data.AUTOTUNE, 3])
def test_every_chain_has_the_bits_of_its_ops(files: list[str], calls: Any) -> None:
    decoders: list[Function] = [
        lambda data: tf.io.decode_image(data, channels=3, expand_animations=False),
        lambda data: tf.io.decode_image(data, channels=3),
        lambda data: tf.io.decode_jpeg(data, channels=3),
        lambda data: tf.io.decode_jpeg(data, channels=3, dct_method="INTEGER_ACCURATE"),
        lambda data: tf.io.decode_png(data, channels=3),
    ]
    for i, (name, chain) in enumerate(chains()):
        decode = decoders[i % len(decoders)]
        if decode is decoders[1] and "flip" in name:
            decode = decoders[0]  # the rank has to be known

        def load(path: Any, decode: Function = decode, chain: Function = chain) -> Any:
            return chain(decode(tf.io.read_file(path)))

        made = list(tf.data.Dataset.from_tensor_slices(files).map(load, num_parallel_calls=calls))
        assert len(made) == len(files)
        for path, image in zip(files, made, strict=True):
            wanted = load(tf.constant(path))
            assert image.dtype == wanted.dtype, name
            np.testing.assert_array_equal(image.numpy(), wanted.numpy(), err_msg=name)


def test_batches_hold_the_rows_in_order_whatever_the_size(files: list[str]) -> None:
    def load(path: Any) -> Any:
        image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
        return tf.image.resize(image, [64, 48]) / 255.0, tf.strings.length(path)

    rows = [tuple(part.numpy() for part in load(tf.constant(path))) for path in files]
    source = tf.data.Dataset.from_tensor_slices(files)
    for size in (1, 2, 3, 4, 5, 8, 23, 40):
        for calls in (None, tf.data.AUTOTUNE):
            for drop in (False, True):
                batches = list(
                    source.map(load, num_parallel_calls=calls).batch(size, drop_remainder=drop)
                )
                seen = [
                    row
                    for images, lengths in batches
                    for row in zip(images.numpy(), lengths.numpy(), strict=True)
                ]
                assert len(seen) == (len(files) // size * size if drop else len(files))
                for (image, length), wanted in zip(seen, rows, strict=False):
                    np.testing.assert_array_equal(image, wanted[0])
                    assert length == wanted[1]


def test_a_bad_file_fails_in_its_place_with_its_name_and_line(files: list[str]) -> None:
    good = Path(files[0]).read_bytes()
    bad = {3: good[: len(good) // 2], 4: b"", 11: b"no image at all"}
    for i, data in bad.items():
        Path(files[i]).write_bytes(data)

    def load(path: Any) -> Any:
        image = tf.io.decode_image(tf.io.read_file(path), channels=3, expand_animations=False)
        return tf.image.resize(image, [20, 20]) / 255.0

    def fate(path: str) -> Any:
        try:
            return load(tf.constant(path)).numpy()
        except tf.errors.OpError as error:
            return error

    fates = [fate(path) for path in files]
    for calls in (None, tf.data.AUTOTUNE, 4):
        for size in (None, 4):
            ds = tf.data.Dataset.from_tensor_slices(files).map(load, num_parallel_calls=calls)
            if size is not None:
                ds = ds.ignore_errors().batch(size)
                seen = np.concatenate([batch.numpy() for batch in ds])
                kept = [row for row in fates if isinstance(row, np.ndarray)]
                np.testing.assert_array_equal(seen, np.stack(kept))
                continue
            rows = iter(ds)
            for i, wanted in enumerate(fates):
                if isinstance(wanted, np.ndarray):
                    np.testing.assert_array_equal(next(rows).numpy(), wanted)
                    continue
                with pytest.raises(type(wanted)) as caught:
                    next(rows)
                assert files[i] in str(caught.value)
                assert str(wanted).splitlines()[0].split(": ", 1)[-1][:30] in str(caught.value)
                assert "decode_image" in str(caught.value)


def test_an_op_behind_the_image_does_not_hide_its_error(files: list[str]) -> None:
    data = Path(files[0]).read_bytes()
    Path(files[1]).write_bytes(data[: len(data) - len(data) // 4])

    def load(path: Any) -> Any:
        image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
        cropped = tf.image.crop_to_bounding_box(image, 0, 0, 1000, 1000)
        return tf.image.resize(cropped, [8, 8])

    for path in files[:2]:
        with pytest.raises(tf.errors.InvalidArgumentError):
            next(iter(tf.data.Dataset.from_tensors(path).map(load)))


def test_a_random_flip_and_a_crop_agree_with_the_ops_for_the_same_seeds(files: list[str]) -> None:
    def load(path: Any, seed: Any) -> Any:
        data = tf.io.read_file(path)
        begin, size, _ = tf.image.stateless_sample_distorted_bounding_box(
            tf.io.extract_jpeg_shape(data),
            tf.zeros([1, 0, 4]),
            seed,
            area_range=(0.08, 1.0),
            min_object_covered=0.0,
            use_image_if_no_bounding_boxes=True,
        )
        window = tf.stack([begin[0], begin[1], size[0], size[1]])
        image = tf.io.decode_and_crop_jpeg(data, window, channels=3)
        image = tf.image.stateless_random_flip_left_right(tf.image.resize(image, [24, 24]), seed)
        return (image / 255.0 - tf.constant([0.4, 0.5, 0.6])) / tf.constant([0.2, 0.3, 0.4])

    jpegs = [path for path in files if Path(path).read_bytes()[:2] == b"\xff\xd8"]
    seeds = np.arange(2 * len(jpegs), dtype=np.int32).reshape(-1, 2)
    ds = tf.data.Dataset.from_tensor_slices((jpegs, seeds))
    made = np.concatenate([b.numpy() for b in ds.map(load, num_parallel_calls=-1).batch(5)])
    wanted = [
        load(tf.constant(p), tf.constant(s)).numpy() for p, s in zip(jpegs, seeds, strict=True)
    ]
    np.testing.assert_array_equal(made, np.stack(wanted))


def test_a_checkpoint_between_rows_of_one_call_goes_on_with_the_next(files: list[str]) -> None:
    def load(path: Any) -> Any:
        return tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(path), channels=3), [6, 5])

    ds = sw.Dataset.from_tensor_slices(files).map(load, num_parallel_calls=-1)
    wanted = [np.asarray(row) for row in ds]
    for taken in range(0, len(files), 3):
        rows = iter(ds)
        for _ in range(taken):
            next(rows)
        again = iter(ds)
        again.restore(rows.save())
        np.testing.assert_array_equal(
            np.stack([np.asarray(row) for row in again]) if taken < len(files) else [],
            wanted[taken:],
        )


def test_a_kept_batch_is_not_written_again(files: list[str]) -> None:
    def load(path: Any) -> Any:
        image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
        return tf.image.resize(image, [64, 64]) / 255.0

    ds = tf.data.Dataset.from_tensor_slices(files * 8).map(load, num_parallel_calls=-1).batch(4)
    kept = list(ds.prefetch(-1))
    again = list(ds)
    for first, second in zip(kept, again, strict=True):
        np.testing.assert_array_equal(first.numpy(), second.numpy())


@pytest.mark.soak
def test_memory_does_not_grow_over_100_000_images(tmp_path: Path) -> None:
    pixels = np.clip(np.random.default_rng(1).normal(128, 40, (375, 500, 3)), 0, 255)
    paths = []
    for i in range(200):
        paths.append(str(tmp_path / f"{i}.jpg"))
        shifted = np.roll(pixels, i, axis=1).astype(np.uint8)
        Path(paths[-1]).write_bytes(tf.io.encode_jpeg(shifted, quality=80).numpy())

    def load(path: Any) -> Any:
        image = tf.io.decode_image(tf.io.read_file(path), channels=3)
        return tf.cast(tf.image.resize(image, [256, 256]), tf.float32) / 255.0

    page_mb = os.sysconf("SC_PAGE_SIZE") / 2**20
    resident: list[float] = []
    rows = 0
    with sw.configure(memory_limit="512MiB"):
        ds = tf.data.Dataset.from_tensor_slices(paths * 500)
        ds = ds.map(load, num_parallel_calls=tf.data.AUTOTUNE).batch(32).prefetch(tf.data.AUTOTUNE)
        for batch in ds:
            rows += int(batch.shape[0])
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            resident.append(pages * page_mb)
    assert rows == 100_000
    quarter = len(resident) // 4
    assert max(resident[-quarter:]) - max(resident[quarter : 2 * quarter]) < 8, "MB gained"
    assert sw.memory().peak <= 512 << 20
