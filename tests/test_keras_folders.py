"""`tf.keras.utils.image_dataset_from_directory`: orders and splits are recorded from Keras 3."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf

folder_images = tf.keras.utils.image_dataset_from_directory


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Eleven images of one gray each, 1 to 11, in two classes."""
    number = 0
    for name, count in (("cat", 6), ("dog", 5)):
        (tmp_path / name / "deep").mkdir(parents=True)
        for i in range(count):
            number += 1
            png = tf.io.encode_png(np.full((3, 4, 3), number, np.uint8)).numpy()
            (tmp_path / name / ("deep" if i == 2 else "") / f"{i}.png").write_bytes(png)
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "cat" / "notes.txt").write_text("no image")
    return tmp_path


def grays(ds: Any) -> list[int]:
    return [int(np.asarray(image)[0, 0, 0]) for image, *_ in ds]


def names(ds: Any, root: Path) -> list[str]:
    return [os.path.relpath(path, root) for path in ds.file_paths]


SORTED = ["cat/0.png", "cat/1.png", "cat/3.png", "cat/4.png", "cat/5.png", "cat/deep/2.png",
          "dog/0.png", "dog/1.png", "dog/3.png", "dog/4.png", "dog/deep/2.png"]  # fmt: skip
SEED_3 = ["cat/deep/2.png", "cat/5.png", "cat/1.png", "cat/3.png", "dog/4.png", "dog/0.png",
          "dog/1.png", "cat/0.png", "cat/4.png", "dog/3.png", "dog/deep/2.png"]  # fmt: skip


def test_files_come_in_keras_order(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ds = folder_images(root, image_size=(2, 2), batch_size=None, shuffle=False)
    assert capsys.readouterr().out == "Found 11 files belonging to 2 classes.\n"
    assert (ds.class_names, names(ds, root)) == (["cat", "dog"], SORTED)
    assert grays(ds) == [1, 2, 4, 5, 6, 3, 7, 8, 10, 11, 9]
    assert [int(label) for _, label in ds] == [0] * 6 + [1] * 5
    assert "Python" not in str(ds.explain())


def test_a_seed_gives_keras_order_in_every_epoch(root: Path) -> None:
    ds = folder_images(root, image_size=(2, 2), batch_size=None, seed=3)
    assert names(ds, root) == SEED_3
    assert grays(ds) == [4, 6, 7, 3, 9, 10, 11, 2, 8, 1, 5]
    assert grays(ds) == [10, 11, 9, 5, 4, 7, 6, 8, 1, 3, 2]


def test_a_seed_gives_keras_split(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    split: dict[str, Any] = {
        "image_size": (2, 2),
        "batch_size": None,
        "seed": 3,
        "validation_split": 0.3,
    }
    training, validation = folder_images(root, subset="both", **split)
    assert capsys.readouterr().out == (
        "Found 11 files belonging to 2 classes.\n"
        "Using 8 files for training.\nUsing 3 files for validation.\n"
    )
    assert names(training, root) == SEED_3[:8]
    assert names(validation, root) == SEED_3[8:]
    assert grays(training) == [11, 2, 6, 3, 4, 8, 7, 1]
    assert grays(validation) == [5, 10, 9]
    assert grays(folder_images(root, subset="validation", **split))
    alone = folder_images(root, subset="training", **split)
    assert names(alone, root) == SEED_3[:8]


def test_labels_of_every_mode(root: Path) -> None:
    common: dict[str, Any] = {
        "image_size": (2, 2),
        "shuffle": False,
        "verbose": False,
        "batch_size": 11,
    }
    ((_, ints),) = folder_images(root, **common)
    assert (ints.dtype, ints.numpy().tolist()) == (tf.int32, [0] * 6 + [1] * 5)
    ((_, floats),) = folder_images(root, label_mode="binary", **common)
    assert (floats.dtype, floats.shape.as_list()) == (tf.float32, [11, 1])
    ((_, vectors),) = folder_images(root, label_mode="categorical", **common)
    assert vectors.numpy()[0].tolist() == [1.0, 0.0]
    (images,) = folder_images(root, labels=None, **common)
    assert images.shape.as_list() == [11, 2, 2, 3]
    given = list(range(11))
    ds = folder_images(root, labels=given, **{**common, "shuffle": True, "seed": 5})
    assert given == list(range(11))
    assert ds.class_names == [str(i) for i in sorted(given)]
    for image, label in ds.unbatch():
        assert [1, 2, 4, 5, 6, 3, 7, 8, 10, 11, 9][int(label)] == int(image[0, 0, 0])
    turned = folder_images(root, class_names=["dog", "cat"], **common)
    assert grays(turned.unbatch())[:5] == [7, 8, 10, 11, 9]


def test_shapes_of_every_kind(root: Path) -> None:
    common: dict[str, Any] = {
        "labels": None,
        "shuffle": False,
        "verbose": False,
        "image_size": (6, 5),
    }
    for color, channels in (("rgb", 3), ("rgba", 4), ("grayscale", 1)):
        ds = folder_images(root, color_mode=color, **common)
        assert ds.element_spec.shape.as_list() == [None, 6, 5, channels]
    first = folder_images(root, data_format="channels_first", **common)
    assert first.element_spec.shape.as_list() == [None, 3, 6, 5]
    padded = next(iter(folder_images(root, pad_to_aspect_ratio=True, **common)))
    assert padded.numpy()[0, :, 2, 0].tolist() == [0, 1, 1, 1, 0, 0]
    cropped = next(iter(folder_images(root, crop_to_aspect_ratio=True, **common)))
    assert np.unique(cropped.numpy()[0]).tolist() == [1]


def test_a_file_that_is_no_image_is_named(root: Path) -> None:
    bad = root / "dog" / "1.png"
    bad.write_bytes(bad.read_bytes()[:40])
    ds = folder_images(root, image_size=(2, 2), batch_size=None, shuffle=False, verbose=False)
    with pytest.raises(sw.errors.SpillwayError, match=r"dog/1\.png"):
        grays(ds)
    assert grays(ds.on_error("skip")) == [1, 2, 4, 5, 6, 3, 7, 10, 11, 9]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"labels": 5}, "`labels` argument should be a list/tuple"),
        ({"labels": [1], "class_names": ["a"]}, "You can only pass `class_names` if"),
        ({"labels": [1, 2]}, r"len\(labels\) is 2 while we found 11 files"),
        ({"label_mode": "x"}, "`label_mode` argument must be one of"),
        ({"label_mode": "binary", "class_names": ["cat"]}, "there must be exactly 2 class_names"),
        ({"class_names": ["eel"]}, r"Expected: \['cat', 'dog'\] \(or a subset of it\)"),
        ({"color_mode": "x"}, "`color_mode` must be one of"),
        ({"image_size": (1, 2, 3)}, "Expected a tuple of 2 integers"),
        ({"interpolation": "x"}, "`interpolation` should be one of"),
        ({"subset": "training"}, "If `subset` is set, `validation_split` must be set"),
        ({"subset": "training", "validation_split": 2.0}, "must be between 0 and 1"),
        ({"subset": "x", "validation_split": 0.5}, "`subset` must be either"),
        ({"subset": "training", "validation_split": 0.5}, "you must provide a `seed`"),
        ({"crop_to_aspect_ratio": True, "pad_to_aspect_ratio": True}, "Only one of"),
        ({"data_format": "x"}, "`data_format` argument must be one of"),
        ({"format": "grain"}, '`format` must be "tf"'),
    ],
)
def test_wrong_arguments_are_refused_as_keras_does(
    root: Path, arguments: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        folder_images(root, **arguments)


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="No images found in directory"):
        folder_images(tmp_path)
    with pytest.raises(FileNotFoundError):
        folder_images(tmp_path / "none")


def test_texts_of_folders(tmp_path: Path) -> None:
    for name in ("neg", "pos"):
        (tmp_path / name).mkdir()
        for i in range(3):
            (tmp_path / name / f"{i}.txt").write_text(f"{name} {i}")
    make = tf.keras.utils.text_dataset_from_directory
    ((texts, labels),) = make(tmp_path, shuffle=False, verbose=False, max_length=4)
    assert texts.numpy().tolist() == [b"neg "] * 3 + [b"pos "] * 3
    assert labels.numpy().tolist() == [0, 0, 0, 1, 1, 1]
    assert tf.keras.preprocessing.text_dataset_from_directory is make
