"""`tf.keras.utils.image_dataset_from_directory`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spillway.tf.keras.utils.folders import Wanted, dataset_of, ops

_FORMATS = (".bmp", ".gif", ".jpeg", ".jpg", ".png")
_CHANNELS = {"rgb": 3, "rgba": 4, "grayscale": 1}
_METHODS = ("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian",
            "mitchellcubic")  # fmt: skip
_CROPPING_METHODS = _METHODS[:6]


def image_dataset_from_directory(
    directory: Any,
    labels: Any = "inferred",
    label_mode: str | None = "int",
    class_names: Any = None,
    color_mode: str = "rgb",
    batch_size: int | None = 32,
    image_size: Any = (256, 256),
    shuffle: bool = True,
    seed: int | None = None,
    validation_split: float | None = None,
    subset: str | None = None,
    interpolation: str = "bilinear",
    follow_links: bool = False,
    crop_to_aspect_ratio: bool = False,
    pad_to_aspect_ratio: bool = False,
    data_format: str | None = None,
    format: str = "tf",
    verbose: bool = True,
) -> Any:
    """Images of a folder, resized, with the names of their folders as labels.

    A seed gives Keras's files, order and split. The dataset has `class_names` and `file_paths`. A
    file that is no image is an error with its path, for `on_error` to settle.

    >>> import spillway.tf as tf, os, tempfile
    >>> root = tempfile.mkdtemp()
    >>> png = tf.io.encode_png(tf.zeros([4, 6, 3], tf.uint8)).numpy()
    >>> for name in ("cat", "dog"):
    ...     os.mkdir(f"{root}/{name}")
    ...     with open(f"{root}/{name}/1.png", "wb") as file:
    ...         _ = file.write(png)
    >>> ds = tf.keras.utils.image_dataset_from_directory(root, image_size=(2, 2), shuffle=False)
    Found 2 files belonging to 2 classes.
    >>> ds.class_names
    ['cat', 'dog']
    >>> [(images.shape, labels.numpy().tolist()) for images, labels in ds]
    [(TensorShape([2, 2, 2, 3]), [0, 1])]
    """
    wanted = Wanted(directory, labels, label_mode, class_names, batch_size, shuffle, seed,
                    validation_split, subset, follow_links, format, verbose, "image")  # fmt: skip
    load = _loader(
        _channels(color_mode),
        _size(image_size),
        _method(interpolation, crop_to_aspect_ratio, pad_to_aspect_ratio),
        crop_to_aspect_ratio,
        pad_to_aspect_ratio,
        _channels_first(data_format),
    )
    return dataset_of(wanted, _FORMATS, load)


def _channels(color_mode: str) -> int:
    if color_mode not in _CHANNELS:
        raise ValueError(
            '`color_mode` must be one of {"rgb", "rgba", "grayscale"}. Received: '
            f"color_mode={color_mode}"
        )
    return _CHANNELS[color_mode]


def _size(image_size: Any) -> tuple[int, int]:
    if isinstance(image_size, int):
        return (image_size, image_size)
    if not isinstance(image_size, list | tuple) or len(image_size) != 2:
        raise ValueError(
            "Invalid `image_size` value. Expected a tuple of 2 integers. Received: "
            f"image_size={image_size}"
        )
    return (int(image_size[0]), int(image_size[1]))


def _method(interpolation: str, crop: bool, pad: bool) -> str:
    method = interpolation.lower()
    known = _CROPPING_METHODS if crop else _METHODS
    if method not in known:
        raise ValueError(
            f"Argument `interpolation` should be one of {known}. Received: interpolation={method}"
        )
    if crop and pad:
        raise ValueError(
            "Only one of `pad_to_aspect_ratio`, `crop_to_aspect_ratio` can be set to `True`."
        )
    return method


def _channels_first(data_format: str | None) -> bool:
    chosen = "channels_last" if data_format is None else str(data_format).lower()
    if chosen not in ("channels_first", "channels_last"):
        raise ValueError(
            "The `data_format` argument must be one of {'channels_first', 'channels_last'}. "
            f"Received: data_format={data_format}"
        )
    return chosen == "channels_first"


def _loader(
    channels: int, size: tuple[int, int], method: str, crop: bool, pad: bool, first: bool
) -> Callable[[Any], Any]:
    height, width = size

    def load(path: Any) -> Any:
        img = ops.image.decode_image(
            ops.io.read_file(path), channels=channels, expand_animations=False
        )
        if pad:
            img = ops.image.resize_with_pad(img, height, width, method=method)
        else:
            img = ops.image.resize(
                _cropped(img, height, width) if crop else img, size, method=method
            )
        return ops.transpose(img, (2, 0, 1)) if first else img

    return load


def _cropped(img: Any, height: int, width: int) -> Any:
    """The middle of the image that has the proportions of the result."""
    shape = ops.shape(img)
    rows, columns = shape[0], shape[1]
    high = ops.cast(ops.cast(columns * height, "float32") / width, "int32")
    high = ops.maximum(ops.minimum(rows, high), 1)
    wide = ops.cast(ops.cast(rows * width, "float32") / height, "int32")
    wide = ops.maximum(ops.minimum(columns, wide), 1)
    top = ops.cast(ops.cast(rows - high, "float32") / 2.0, "int32")
    left = ops.cast(ops.cast(columns - wide, "float32") / 2.0, "int32")
    return img[top : top + high, left : left + wide, :]
