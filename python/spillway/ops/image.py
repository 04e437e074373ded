"""`tf.image`: images as tensors."""

from spillway.native_ops import names as _names
from spillway.ops._image_colors import (
    adjust_brightness,
    adjust_contrast,
    adjust_gamma,
    adjust_hue,
    adjust_saturation,
    convert_image_dtype,
    grayscale_to_rgb,
    per_image_standardization,
    rgb_to_grayscale,
)
from spillway.ops._image_decode import decode_image
from spillway.ops._image_geometry import (
    central_crop,
    crop_to_bounding_box,
    flip_left_right,
    flip_up_down,
    pad_to_bounding_box,
    resize_with_crop_or_pad,
    rot90,
    transpose,
)
from spillway.ops._image_random import (
    random_brightness,
    random_contrast,
    random_crop,
    random_flip_left_right,
    random_flip_up_down,
    random_hue,
    random_saturation,
    sample_distorted_bounding_box,
    stateless_random_brightness,
    stateless_random_contrast,
    stateless_random_crop,
    stateless_random_flip_left_right,
    stateless_random_flip_up_down,
    stateless_random_hue,
    stateless_random_saturation,
    stateless_sample_distorted_bounding_box,
)
from spillway.ops._image_resize import ResizeMethod, crop_and_resize, resize, resize_with_pad

for _name, _function in _names("image").items():
    globals().setdefault(_name, _function)
__all__ = sorted(name for name in globals() if not name.startswith("_"))
