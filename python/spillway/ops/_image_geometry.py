"""Images turned, cropped and padded."""

from __future__ import annotations

from typing import Any

from spillway.native_ops import call
from spillway.ops._arrays import moved, pad, reverse, slice
from spillway.ops._arrays import transpose as _transpose
from spillway.ops._constants import cast
from spillway.ops._control import case, check, cond
from spillway.ops._image_checks import (
    at_least_three_axes,
    rank_or_three,
    require,
    sizes,
    three_or_four_axes,
    with_sizes,
)
from spillway.tensor_convert import is_tensor, number, refuse, size, to_tensor

# Counted from the last axis, they are those of an image and of each image of a batch.
ROWS, COLUMNS = -3, -2


def flip_left_right(image: Any) -> Any:
    """Each row in reverse order.

    >>> flip_left_right([[[1], [2]]]).numpy().ravel()
    array([2, 1], dtype=int32)
    """
    return reverse(three_or_four_axes(image), [COLUMNS])


def flip_up_down(image: Any) -> Any:
    """The rows in reverse order.

    >>> flip_up_down([[[1]], [[2]]]).numpy().ravel()
    array([2, 1], dtype=int32)
    """
    return reverse(three_or_four_axes(image), [ROWS])


def _turned(image: Any) -> Any:
    """Rows as columns."""
    rank = image.shape.rank
    if rank is None:
        three = call("equal", call("rank", image), to_tensor(3))
        return cond(
            three,
            lambda: _transpose(image, [1, 0, 2]),
            lambda: _transpose(image, [0, 2, 1, 3]),
        )
    return _transpose(image, [1, 0, 2] if rank == 3 else [0, 2, 1, 3])


def transpose(image: Any, name: Any = None) -> Any:
    """Rows as columns.

    >>> transpose([[[1], [2]]]).shape.as_list()
    [2, 1, 1]
    """
    return _turned(three_or_four_axes(image))


def rot90(image: Any, k: Any = 1, name: Any = None) -> Any:
    """Turned `k` times by a quarter, against the clock.

    >>> rot90([[[1], [2]], [[3], [4]]]).numpy().ravel()
    array([2, 4, 1, 3], dtype=int32)
    """
    image = three_or_four_axes(image)
    k = to_tensor(k, None if is_tensor(k) else "int32")
    if k.shape.rank not in (None, 0):
        refuse("ValueError", f"k must be a scalar: {k.shape}")
    ways = {
        1: lambda: _turned(reverse(image, [COLUMNS])),
        2: lambda: reverse(image, [ROWS, COLUMNS]),
        3: lambda: reverse(_turned(image), [COLUMNS]),
    }
    if not k._symbolic:
        return ways.get(int(k) % 4, lambda: image)()
    k = call("floormod", cast(k, "int32"), to_tensor(4))
    pairs = [(call("equal", k, to_tensor(times)), way) for times, way in ways.items()]
    return case(pairs, default=lambda: image)


def crop_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Any:
    """A part of the image.

    >>> crop_to_bounding_box([[[1], [2]], [[3], [4]]], 1, 0, 1, 2).numpy().ravel()
    array([3, 4], dtype=int32)
    """
    offset_height = size(offset_height, "offset_height")
    offset_width = size(offset_width, "offset_width")
    target_height = size(target_height, "target_height")
    target_width = size(target_width, "target_width")
    image = to_tensor(image)
    rank = rank_or_three(image)
    at_least_three_axes(image)
    *batch, height, width, depth = sizes(image, rank)
    require(offset_width >= 0, "offset_width must be >= 0.")
    require(offset_height >= 0, "offset_height must be >= 0.")
    require(target_width > 0, "target_width must be > 0.")
    require(target_height > 0, "target_height must be > 0.")
    require(width >= target_width + offset_width, "width must be >= target + offset.")
    require(height >= target_height + offset_height, "height must be >= target + offset.")
    begin = [0] * len(batch) + [offset_height, offset_width, 0]
    return slice(image, begin, [*batch, target_height, target_width, depth])


def pad_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Any:
    """The image in the middle of zeros.

    >>> pad_to_bounding_box([[[1]]], 0, 1, 1, 3).numpy().ravel()
    array([0, 1, 0], dtype=int32)
    """
    offset_height = size(offset_height, "offset_height")
    offset_width = size(offset_width, "offset_width")
    target_height = size(target_height, "target_height")
    target_width = size(target_width, "target_width")
    image = to_tensor(image)
    rank = rank_or_three(image)
    *batch, height, width, depth = sizes(image, rank)
    below = target_height - offset_height - height
    right = target_width - offset_width - width
    at_least_three_axes(image)
    require(offset_height >= 0, "offset_height must be >= 0")
    require(offset_width >= 0, "offset_width must be >= 0")
    require(right >= 0, "width must be <= target - offset")
    require(below >= 0, "height must be <= target - offset")
    around: list[Any] = [0, 0] * len(batch) + [offset_height, below, offset_width, right, 0, 0]
    if any(is_tensor(each) for each in around):
        paddings = call("reshape", to_tensor(around), to_tensor([rank, 2]))
    else:
        paddings = to_tensor([around[i : i + 2] for i in range(0, 2 * rank, 2)])
    return with_sizes(pad(image, paddings), [*batch, target_height, target_width, depth])


def _larger(x: Any, y: Any) -> Any:
    return call("maximum", x, y) if is_tensor(x) or is_tensor(y) else max(x, y)


def _smaller(x: Any, y: Any) -> Any:
    return call("minimum", x, y) if is_tensor(x) or is_tensor(y) else min(x, y)


def resize_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Any:
    """The middle of the image, or the image in the middle of zeros.

    >>> resize_with_crop_or_pad([[[1], [2], [3]]], 2, 1).numpy().ravel()
    array([2, 0], dtype=int32)
    """
    target_height = size(target_height, "target_height")
    target_width = size(target_width, "target_width")
    image = to_tensor(image)
    rank = rank_or_three(image)
    at_least_three_axes(image)
    require(target_width > 0, "target_width must be > 0.")
    require(target_height > 0, "target_height must be > 0.")
    *_, height, width, _ = sizes(image, rank)
    more_wide, more_high = target_width - width, target_height - height
    cropped = crop_to_bounding_box(
        image,
        _larger(-more_high // 2, 0),
        _larger(-more_wide // 2, 0),
        _smaller(target_height, height),
        _smaller(target_width, width),
    )
    return pad_to_bounding_box(
        cropped,
        _larger(more_high // 2, 0),
        _larger(more_wide // 2, 0),
        target_height,
        target_width,
    )


def central_crop(image: Any, central_fraction: Any) -> Any:
    """The middle of the image, a fraction of its height and width.

    >>> central_crop([[[1], [2], [3], [4]]], 0.5).numpy().ravel()
    array([2, 3], dtype=int32)
    """
    central_fraction = number(central_fraction, "central_fraction")
    image = to_tensor(image)
    if is_tensor(central_fraction) and not central_fraction._symbolic:
        central_fraction = central_fraction.numpy()
    if is_tensor(central_fraction):
        positive = call("greater", central_fraction, to_tensor(0, central_fraction._dtype_name))
        require(positive, "central_fraction must be within (0, 1]")
    elif central_fraction <= 0.0 or central_fraction > 1.0:
        refuse("ValueError", "central_fraction must be within (0, 1]")
    elif central_fraction == 1.0:
        return image
    at_least_three_axes(image)
    rank = image.shape.rank
    if rank not in (3, 4):
        refuse(
            "ValueError",
            f"`image` should either be a Tensor with rank = 3 or rank = 4. Had rank = {rank}.",
        )
    *batch, height, width, depth = sizes(image, rank)
    top, left = _margin(height, central_fraction), _margin(width, central_fraction)
    begin = [0] * len(batch) + [top, left, 0]
    return slice(image, begin, [*batch, height - top * 2, width - left * 2, depth])


def _margin(size: Any, fraction: Any) -> Any:
    """What is cut off on each side, reckoned in float64."""
    if not is_tensor(size) and not is_tensor(fraction):
        return int((float(size) - float(size) * fraction) / 2)
    wide, part = cast(size, "float64"), cast(fraction, "float64")
    return cast((wide - wide * part) / 2, "int32")


def cropped_at(value: Any, size: Any, offsets: Any) -> Any:
    """`size` items of each axis at places that `offsets(n)` draws: n large integers."""
    value = to_tensor(value)
    size = to_tensor(size, None if is_tensor(size) else "int32")
    rank = value.shape.rank
    if rank is None:
        rank = size.shape[0]
    shape = call("shape", value, "int32")
    fits = call("reduce_all", call("greater_equal", shape, size), None, False)
    check(fits, [shape, size], "Need value.shape >= size, got ", 1000)
    room = shape - size + 1
    at = call("floormod", offsets(rank), room)
    return moved("slice", value, cast(at, "int64"), cast(size, "int64"))
