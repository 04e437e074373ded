"""Images of another size."""

from __future__ import annotations

from typing import Any

from spillway.native_ops import call
from spillway.ops._constants import cast
from spillway.ops._image_checks import at_least_three_axes, rank_or_three, require, sizes
from spillway.ops._image_geometry import pad_to_bounding_box
from spillway.tensor_convert import is_tensor, number, refuse, to_tensor


class ResizeMethod:
    """How pixels between pixels are made."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


_PLAIN = ("bilinear", "nearest", "bicubic", "area")
# The filters behind a method, which antialias stretches.
_FILTERS = {
    "bilinear": "triangle",
    "bicubic": "keyscubic",
    **{name: name for name in ("lanczos3", "lanczos5", "gaussian", "mitchellcubic")},
}


def resize(
    images: Any,
    size: Any,
    method: Any = ResizeMethod.BILINEAR,
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: Any = None,
) -> Any:
    """Images of another size: float32, or of their own dtype by the nearest pixel.

    >>> resize([[[1], [3]]], [1, 4]).numpy().ravel()
    array([1. , 1.5, 2.5, 3. ], dtype=float32)
    """
    images = to_tensor(images)
    if images.shape.rank not in (None, 3, 4):
        refuse("ValueError", "'images' must have either 3 or 4 dimensions.")
    size = _size(size)
    if preserve_aspect_ratio:
        size = _in_proportion(images, size)
    if method not in _PLAIN and method not in _FILTERS:
        refuse("ValueError", f"Resize method is not implemented: {method}")
    if method not in _PLAIN or (antialias and method in _FILTERS):
        return call("resize_filtered", images, size, _FILTERS[method], antialias)
    return call(f"resize_{method}", images, size)


def _size(size: Any) -> Any:
    try:
        if is_tensor(size) and size._dtype_name != "int32":
            refuse("ValueError", f"dtype must be int32: {size.dtype}")
        made = to_tensor(size, None if is_tensor(size) else "int32")
    except (TypeError, ValueError):
        refuse("ValueError", "'size' must be a 1-D int32 Tensor")
    if not made.shape.is_compatible_with([2]):
        refuse("ValueError", "'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
    return made


def _in_proportion(images: Any, size: Any) -> Any:
    """The largest size within this one that has the images' own proportions."""
    *_, height, width, _ = sizes(images, 3)
    high, wide = cast(height, "float32"), cast(width, "float32")
    scale = call("minimum", cast(size[0], "float32") / high, cast(size[1], "float32") / wide)
    return call("cast", call("round", scale * call("stack", [high, wide], 0)), "int32")


def resize_with_pad(
    image: Any,
    target_height: Any,
    target_width: Any,
    method: Any = ResizeMethod.BILINEAR,
    antialias: bool = False,
) -> Any:
    """The whole image in its own proportions, in the middle of zeros.

    >>> resize_with_pad([[[1], [3]]], 2, 2).numpy().ravel()
    array([1., 3., 0., 0.], dtype=float32)
    """
    target_height = number(target_height, "target_height")
    target_width = number(target_width, "target_width")
    image = to_tensor(image)
    rank = rank_or_three(image)
    at_least_three_axes(image)
    require(target_width > 0, "target_width must be > 0.")
    require(target_height > 0, "target_height must be > 0.")
    *_, height, width, _ = sizes(image, rank)
    high, wide = cast(height, "float32"), cast(width, "float32")
    to_high, to_wide = cast(target_height, "float32"), cast(target_width, "float32")
    ratio = call("maximum", wide / to_wide, high / to_high)
    new_high, new_wide = high / ratio, wide / ratio
    resized = resize(
        image, call("stack", [_whole(new_high), _whole(new_wide)], 0), method, False, antialias
    )
    above = call("maximum", _whole((to_high - new_high) / 2), to_tensor(0))
    left = call("maximum", _whole((to_wide - new_wide) / 2), to_tensor(0))
    return pad_to_bounding_box(resized, above, left, target_height, target_width)


def _whole(x: Any) -> Any:
    return cast(call("floor", x), "int32")


def crop_and_resize(
    image: Any,
    boxes: Any,
    box_indices: Any,
    crop_size: Any,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
    name: Any = None,
) -> Any:
    """Parts of images, each [top, left, bottom, right] of one in [0, 1], all of one size.

    >>> crop_and_resize([[[[1.0], [2.0]]]], [[0, 1, 0, 0]], [0], [1, 3]).numpy().ravel()
    array([2. , 1.5, 1. ], dtype=float32)
    """
    return call(
        "crop_and_resize",
        to_tensor(image),
        to_tensor(boxes, None if is_tensor(boxes) else "float32"),
        to_tensor(box_indices, None if is_tensor(box_indices) else "int32"),
        to_tensor(crop_size, None if is_tensor(crop_size) else "int32"),
        method,
        float(extrapolation_value),
    )
