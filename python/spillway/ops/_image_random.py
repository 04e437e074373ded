"""Images changed at random: drawn anew for every element, or from a seed alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from spillway.native_ops import call
from spillway.ops._arrays import reverse
from spillway.ops._constants import cast
from spillway.ops._image_checks import require, three_or_four_axes
from spillway.ops._image_colors import (
    adjust_brightness,
    adjust_contrast,
    adjust_hue,
    adjust_saturation,
)
from spillway.ops._image_geometry import COLUMNS, ROWS, cropped_at
from spillway.ops.random import stateless_uniform, uniform
from spillway.tensor_convert import integer, is_tensor, number, refuse, to_tensor

_MOST = 2**31 - 1


class BoundingBox(NamedTuple):
    """A part of an image."""

    begin: Any
    size: Any
    bboxes: Any


def _between(low: Any, high: Any, seed: Any) -> Any:
    return uniform([], low, high, seed=seed)


def _between_stateless(low: Any, high: Any, seed: Any) -> Any:
    return stateless_uniform([], seed, low, high)


def _reach(max_delta: Any, most: float | None = None) -> Any:
    """A largest change that may be drawn."""
    max_delta = number(max_delta, "max_delta")
    if most is not None and max_delta > most:
        refuse("ValueError", f"max_delta must be <= {most}.")
    if max_delta < 0:
        refuse("ValueError", "max_delta must be non-negative.")
    return max_delta


def _ordered(lower: Any, upper: Any) -> tuple[Any, Any]:
    """Ends between which a factor may be drawn."""
    lower, upper = number(lower, "lower"), number(upper, "upper")
    if upper <= lower:
        refuse("ValueError", "upper must be > lower.")
    if lower < 0:
        refuse("ValueError", "lower must be non-negative.")
    return lower, upper


def random_brightness(image: Any, max_delta: Any, seed: Any = None) -> Any:
    """`adjust_brightness` by a number within max_delta of 0.

    >>> random_brightness([[[0.5]]], 0.0).numpy().ravel()
    array([0.5], dtype=float32)
    """
    reach = _reach(max_delta)
    return adjust_brightness(image, _between(-reach, reach, seed))


def stateless_random_brightness(image: Any, max_delta: Any, seed: Any) -> Any:
    """`random_brightness` that depends on the seed alone.

    >>> stateless_random_brightness([[[0.5]]], 0.25, [1, 2]).numpy().ravel()
    array([0.6720302], dtype=float32)
    """
    reach = _reach(max_delta)
    return adjust_brightness(image, _between_stateless(-reach, reach, seed))


def random_hue(image: Any, max_delta: Any, seed: Any = None) -> Any:
    """`adjust_hue` by a number within max_delta of 0.

    >>> random_hue([[[1.0, 1.0, 1.0]]], 0.1).numpy().ravel()
    array([1., 1., 1.], dtype=float32)
    """
    reach = _reach(max_delta, 0.5)
    return adjust_hue(image, _between(-reach, reach, seed))


def stateless_random_hue(image: Any, max_delta: Any, seed: Any) -> Any:
    """`random_hue` that depends on the seed alone.

    >>> stateless_random_hue([[[1.0, 1.0, 1.0]]], 0.1, [1, 2]).numpy().ravel()
    array([1., 1., 1.], dtype=float32)
    """
    reach = _reach(max_delta, 0.5)
    return adjust_hue(image, _between_stateless(-reach, reach, seed))


def random_contrast(image: Any, lower: Any, upper: Any, seed: Any = None) -> Any:
    """`adjust_contrast` by a number between two others.

    >>> random_contrast([[[1.0], [1.0]]], 0.5, 2.0).numpy().ravel()
    array([1., 1.], dtype=float32)
    """
    return adjust_contrast(image, _between(*_ordered(lower, upper), seed))


def stateless_random_contrast(image: Any, lower: Any, upper: Any, seed: Any) -> Any:
    """`random_contrast` that depends on the seed alone.

    >>> stateless_random_contrast([[[1.0], [1.0]]], 0.5, 2.0, [1, 2]).numpy().ravel()
    array([1., 1.], dtype=float32)
    """
    return adjust_contrast(image, _between_stateless(*_ordered(lower, upper), seed))


def random_saturation(image: Any, lower: Any, upper: Any, seed: Any = None) -> Any:
    """`adjust_saturation` by a number between two others.

    >>> random_saturation([[[1.0, 1.0, 1.0]]], 0.5, 2.0).numpy().ravel()
    array([1., 1., 1.], dtype=float32)
    """
    return adjust_saturation(image, _between(*_ordered(lower, upper), seed))


def stateless_random_saturation(image: Any, lower: Any, upper: Any, seed: Any = None) -> Any:
    """`random_saturation` that depends on the seed alone.

    >>> stateless_random_saturation([[[1.0, 1.0, 1.0]]], 0.5, 2.0, [1, 2]).numpy().ravel()
    array([1., 1., 1.], dtype=float32)
    """
    return adjust_saturation(image, _between_stateless(*_ordered(lower, upper), seed))


def _flip(image: Any, axis: int, draw: Callable[[list[Any]], Any]) -> Any:
    """Reversed along an axis, for half of the images."""
    image = three_or_four_axes(image)
    if image.shape.rank is None:  # a batch draws as many numbers as it has images
        one = call("equal", call("rank", image), to_tensor(3))
        require(one, "an image whose rank is not known must be one image, not a batch.")
    if image.shape.rank != 4:
        return call("reverse_if", image, call("less", draw([]), to_tensor(0.5)), [axis])
    flipped = reverse(image, [axis])
    batch = image.shape[0] if image.shape[0] is not None else call("shape", image, "int32")[0]
    drawn = call("reshape", call("round", draw([batch])), to_tensor([-1, 1, 1, 1]))
    flips = cast(drawn, image.dtype)
    return flips * flipped + (1 - flips) * image


def random_flip_left_right(image: Any, seed: Any = None) -> Any:
    """Half of the images with each row in reverse order.

    >>> sorted(random_flip_left_right([[[1], [2]]]).numpy().ravel().tolist())
    [1, 2]
    """
    return _flip(image, COLUMNS, lambda shape: uniform(shape, 0, 1.0, seed=seed))


def random_flip_up_down(image: Any, seed: Any = None) -> Any:
    """Half of the images with the rows in reverse order.

    >>> sorted(random_flip_up_down([[[1]], [[2]]]).numpy().ravel().tolist())
    [1, 2]
    """
    return _flip(image, ROWS, lambda shape: uniform(shape, 0, 1.0, seed=seed))


def stateless_random_flip_left_right(image: Any, seed: Any) -> Any:
    """`random_flip_left_right` that depends on the seed alone.

    >>> stateless_random_flip_left_right([[[1], [2]]], [1, 2]).numpy().ravel()
    array([1, 2], dtype=int32)
    """
    return _flip(image, COLUMNS, lambda shape: stateless_uniform(shape, seed, 0, 1.0))


def stateless_random_flip_up_down(image: Any, seed: Any) -> Any:
    """`random_flip_up_down` that depends on the seed alone.

    >>> stateless_random_flip_up_down([[[1]], [[2]]], [1, 2]).numpy().ravel()
    array([1, 2], dtype=int32)
    """
    return _flip(image, ROWS, lambda shape: stateless_uniform(shape, seed, 0, 1.0))


def random_crop(value: Any, size: Any, seed: Any = None, name: Any = None) -> Any:
    """A part of this size, anywhere.

    >>> random_crop([[1, 2], [3, 4]], [1, 2]).shape.as_list()
    [1, 2]
    """
    return cropped_at(value, size, lambda n: uniform([n], 0, _MOST, "int32", seed))


def stateless_random_crop(value: Any, size: Any, seed: Any, name: Any = None) -> Any:
    """`random_crop` that depends on the seed alone.

    >>> stateless_random_crop([1, 2, 3, 4], [2], [1, 2])
    Tensor([2 3], shape=(2,), dtype=int32)
    """
    return cropped_at(value, size, lambda n: stateless_uniform([n], seed, 0, _MOST, "int32"))


def sample_distorted_bounding_box(
    image_size: Any,
    bounding_boxes: Any,
    seed: Any = 0,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: Any = None,
    use_image_if_no_bounding_boxes: Any = None,
    name: Any = None,
) -> BoundingBox:
    """A random part of an image: where it begins, its size, and both as a box in [0, 1].

    `tf.slice(image, begin, size)` takes it. It covers `min_object_covered` of one of the boxes.

    >>> begin, size, box = sample_distorted_bounding_box(
    ...     [40, 60, 3], [[[0.0, 0.0, 1.0, 1.0]]], 0, 0.1, [1.5, 1.5], [1.0, 1.0]
    ... )
    >>> size.numpy()
    array([40, 60, -1], dtype=int32)
    """
    drawn = uniform([2], 0, _MOST, "int32", seed or None)
    return stateless_sample_distorted_bounding_box(
        image_size,
        bounding_boxes,
        drawn,
        min_object_covered,
        aspect_ratio_range,
        area_range,
        max_attempts,
        use_image_if_no_bounding_boxes,
    )


def stateless_sample_distorted_bounding_box(
    image_size: Any,
    bounding_boxes: Any,
    seed: Any,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: Any = None,
    use_image_if_no_bounding_boxes: Any = None,
    name: Any = None,
) -> BoundingBox:
    """`sample_distorted_bounding_box` that depends on the seed alone.

    >>> begin, size, _ = stateless_sample_distorted_bounding_box(
    ...     [40, 60, 3], [[[0.0, 0.0, 1.0, 1.0]]], [1, 2], area_range=[0.25, 0.5]
    ... )
    >>> begin.numpy(), size.numpy()
    (array([ 0, 17,  0], dtype=int32), array([31, 38, -1], dtype=int32))
    """
    ratios = [float(ratio) for ratio in aspect_ratio_range or (0.75, 1.33)]
    areas = [float(area) for area in area_range or (0.05, 1)]
    return BoundingBox(
        *call(
            "stateless_sample_distorted_bounding_box",
            to_tensor(image_size),
            to_tensor(bounding_boxes, None if is_tensor(bounding_boxes) else "float32"),
            to_tensor(min_object_covered, None if is_tensor(min_object_covered) else "float32"),
            to_tensor(seed),
            *ratios,
            *areas,
            100 if max_attempts is None else integer(max_attempts, "max_attempts"),
            use_image_if_no_bounding_boxes,
        )
    )
