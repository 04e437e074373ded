"""The values of pixels: dtypes, brightness, colours."""

from __future__ import annotations

from typing import Any

from spillway.dtypes import as_dtype
from spillway.native_ops import call
from spillway.opaque import tracing
from spillway.ops._arrays import tile
from spillway.ops._constants import cast, saturate_cast
from spillway.ops._image_checks import at_least_three_axes, require
from spillway.tensor_convert import is_tensor, refuse, to_tensor


def convert_image_dtype(image: Any, dtype: Any, saturate: bool = False, name: Any = None) -> Any:
    """The image in another dtype: integers fill their range, floats lie in [0, 1).

    >>> convert_image_dtype(to_tensor([0, 255], "uint8"), "float32")
    Tensor([0. 1.], shape=(2,), dtype=float32)
    """
    image = to_tensor(image)
    dtype = as_dtype(dtype)
    for kind, what in ((dtype, "dtype"), (image.dtype, "image dtype")):
        if not kind.is_floating and not kind.is_integer:
            raise AttributeError(f"{what} must be either floating point or integer")
    if dtype == image.dtype:
        return call("identity", image)
    to = saturate_cast if saturate else cast
    if image.dtype.is_integer and dtype.is_integer:
        have, want = int(image.dtype.max) + 1, int(dtype.max) + 1
        if have > want:
            return to(image // (have // want), dtype)
        return to(image, dtype) * (want // have)
    if dtype.is_floating:
        if image.dtype.is_floating:
            return cast(image, dtype)
        return cast(image, dtype) * (1.0 / int(image.dtype.max))
    return to(image * (int(dtype.max) + 0.5), dtype)


def _floats(image: Any) -> Any:
    """The image in a dtype that colours are reckoned in."""
    if image.dtype.name in ("float16", "float32"):
        return image
    return convert_image_dtype(image, "float32")


def adjust_brightness(image: Any, delta: Any) -> Any:
    """Every item, plus delta in units of the full range.

    >>> adjust_brightness([0.25, 0.5], 0.25)
    Tensor([0.5  0.75], shape=(2,), dtype=float32)
    """
    image = to_tensor(image)
    floats = _floats(image)
    return convert_image_dtype(floats + cast(delta, floats.dtype), image.dtype, saturate=True)


def adjust_contrast(images: Any, contrast_factor: Any) -> Any:
    """Every item that many times as far from the mean of its channel.

    >>> adjust_contrast([[[1.0], [3.0]]], 2.0).numpy().ravel()
    array([0., 4.], dtype=float32)
    """
    images = to_tensor(images)
    made = call("adjust_contrast", _floats(images), _scalar(contrast_factor))
    return convert_image_dtype(made, images.dtype, saturate=True)


def _scalar(x: Any) -> Any:
    return x if is_tensor(x) else to_tensor(x, "float32")


def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Any:
    """`gain * image ** gamma`.

    >>> adjust_gamma([0.5], 2.0)
    Tensor([0.25], shape=(1,), dtype=float32)
    """
    image = to_tensor(image)
    floats = _floats(image)
    require(gamma >= 0, "Gamma should be a non-negative real number.")
    return convert_image_dtype(gain * floats**gamma, image.dtype, saturate=True)


def adjust_hue(image: Any, delta: Any, name: Any = None) -> Any:
    """The colours turned by a part of the circle.

    >>> adjust_hue([[[1.0, 0.0, 0.0]]], 1 / 3).numpy().round(3).ravel()
    array([0., 1., 0.], dtype=float32)
    """
    known = not is_tensor(delta) or not delta._symbolic
    if known and not tracing() and (delta < -1 or delta > 1):
        refuse("ValueError", "delta must be in the interval [-1, 1]")
    image = to_tensor(image)
    made = call("adjust_hue", _floats(image), _scalar(delta))
    return convert_image_dtype(made, image.dtype)


def adjust_saturation(image: Any, saturation_factor: Any, name: Any = None) -> Any:
    """The colours nearer to grey, or further from it.

    >>> adjust_saturation([[[1.0, 0.0, 0.0]]], 0.5).numpy().ravel()
    array([1. , 0.5, 0.5], dtype=float32)
    """
    image = to_tensor(image)
    made = call("adjust_saturation", _floats(image), _scalar(saturation_factor))
    return convert_image_dtype(made, image.dtype)


def per_image_standardization(image: Any) -> Any:
    """Each image shifted to mean 0 and scaled to variance 1.

    >>> per_image_standardization([[[1.0], [3.0]]]).numpy().ravel()
    array([-1.,  1.], dtype=float32)
    """
    image = cast(at_least_three_axes(image), "float32")
    axes = [-1, -2, -3]
    items = call("reduce_prod", call("shape", image, "int32")[-3:], None, False)
    mean = call("reduce_mean", image, axes, True)
    spread = call("reduce_std", image, axes, True)
    least = call("rsqrt", cast(items, "float32"))
    return (image - mean) / call("maximum", spread, least)


def rgb_to_grayscale(images: Any, name: Any = None) -> Any:
    """One channel of three, by how bright they look.

    >>> rgb_to_grayscale([[[1.0, 1.0, 1.0]]]).numpy().round(4).ravel()
    array([0.9999], dtype=float32)
    """
    images = to_tensor(images)
    floats = convert_image_dtype(images, "float32")
    return convert_image_dtype(call("rgb_to_grayscale", floats), images.dtype)


def grayscale_to_rgb(images: Any, name: Any = None) -> Any:
    """The one channel, three times.

    >>> grayscale_to_rgb([[[1], [2]]]).numpy().ravel()
    array([1, 1, 1, 2, 2, 2], dtype=int32)
    """
    images = to_tensor(images)
    dims = images._dims
    if dims is not None and len(dims) < 2:
        refuse(
            "ValueError",
            f"A grayscale image (shape {images.shape}) must be at least two-dimensional.",
        )
    text = "Last dimension of a grayscale image should be size 1."
    if dims is None:
        images = call("expand_dims", call("squeeze", images, [-1]), -1)
        shape = call("shape", images, "int32")
        return call("broadcast_to", images, call("concat", [shape[:-1], to_tensor([3])], 0))
    require(dims[-1] in (1, None), text)
    if dims[-1] is None:
        require(call("equal", call("shape", images, "int32")[-1], to_tensor(1)), text)
    made = tile(images, [1] * (len(dims) - 1) + [3])
    return made if dims[-1] else call("reshape", made, _last_three(made))


def _last_three(images: Any) -> Any:
    lead = call("shape", images, "int32")[:-1]
    return call("concat", [lead, to_tensor([3])], 0)
