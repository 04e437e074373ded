"""Convolutions and pools of images, in TensorFlow's signatures."""

from __future__ import annotations

from typing import Any

from spillway.native_ops import call
from spillway.ops._math import both
from spillway.ops._windows import is_channels_first, is_choice, on_images, paddings, pair
from spillway.shown import shown
from spillway.tensor_convert import integers, refuse, to_tensor


def conv2d(
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: Any = "NHWC",
    dilations: Any = None,
    name: Any = None,
) -> Any:
    """Sums of what a kernel covers, times its items, at each of its places in an image.

    Filters are [height, width, channels, outputs]; with fewer channels than the images have, these
    are convolved in groups.

    >>> conv2d([[[[1.0], [2.0], [3.0]]]], [[[[1.0]], [[10.0]]]], 1, "VALID").numpy().ravel()
    array([21., 32.], dtype=float32)
    """
    first = is_channels_first(data_format)
    input, filters = both(input, filters)
    kind, explicit = paddings(padding, first)
    down_across = pair(strides, "strides", first)
    apart = pair(1 if dilations is None else dilations, "dilations", first)
    return on_images("conv2d", input, (filters, down_across, kind, explicit, apart), first)


def depthwise_conv2d(
    input: Any,
    filter: Any,
    strides: Any,
    padding: Any,
    data_format: Any = None,
    dilations: Any = None,
    name: Any = None,
) -> Any:
    """The same with channels kept apart: filters are [height, width, channels, multiplier].

    >>> image, kernel = [[[[1.0, 10.0], [2.0, 20.0]]]], [[[[1.0], [1.0]], [[1.0], [1.0]]]]
    >>> depthwise_conv2d(image, kernel, [1, 1, 1, 1], "VALID").numpy().ravel()
    array([ 3., 30.], dtype=float32)
    """
    first = is_channels_first(data_format)
    input, filter = both(input, filter)
    kind, explicit = paddings(padding, first)
    down_across = pair(strides, "strides", first)
    apart = pair(1 if dilations is None else dilations, "dilations", first)
    operands = (filter, down_across, kind, explicit, apart)
    return on_images("depthwise_conv2d", input, operands, first)


def separable_conv2d(
    input: Any,
    depthwise_filter: Any,
    pointwise_filter: Any,
    strides: Any,
    padding: Any,
    data_format: Any = None,
    dilations: Any = None,
    name: Any = None,
) -> Any:
    """`depthwise_conv2d`, and what comes of it mixed by a kernel of one pixel.

    >>> separable_conv2d([[[[1.0], [2.0]]]], [[[[3.0]]]], [[[[2.0]]]], 1, "VALID").numpy().ravel()
    array([ 6., 12.], dtype=float32)
    """
    apart = depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations)
    return conv2d(apart, pointwise_filter, 1, "VALID", data_format or "NHWC")


def _line(value: Any, first: bool) -> list[int]:
    numbers = integers(value)
    if len(numbers) == 3:
        numbers = numbers[2:] if first else numbers[1:2]
    if len(numbers) != 1:
        refuse("ValueError", f"expected one number, or one for each of 3 axes: {shown(value)}")
    return numbers


def conv1d(
    input: Any,
    filters: Any,
    stride: Any,
    padding: Any,
    data_format: Any = "NWC",
    dilations: Any = None,
    name: Any = None,
) -> Any:
    """`conv2d` of sequences [batch, length, channels], by [length, channels, outputs].

    >>> conv1d([[[1.0], [2.0], [3.0]]], [[[1.0]], [[10.0]]], 1, "VALID").numpy().ravel()
    array([21., 32.], dtype=float32)
    """
    if not is_choice(data_format, ("NWC", "NCW")):
        refuse("ValueError", f"data_format must be 'NWC' or 'NCW': {shown(data_format)}")
    first = data_format == "NCW"
    input, filters = both(input, filters)
    if not isinstance(padding, str):
        padding = [*padding[:1], *([[0, 0], *padding[1:]])]
        padding = [padding[0], padding[2], padding[1], padding[3]] if first else padding
    axis = 2 if first else 1
    made = conv2d(
        call("expand_dims", input, axis),
        call("expand_dims", filters, 0),
        [1, *_line(stride, first)],
        padding,
        "NCHW" if first else "NHWC",
        [1, *_line(1 if dilations is None else dilations, first)],
    )
    return call("squeeze", made, [axis])


def convolution(
    input: Any,
    filters: Any,
    strides: Any = None,
    padding: Any = "VALID",
    data_format: Any = None,
    dilations: Any = None,
    name: Any = None,
) -> Any:
    """`conv1d` of sequences, `conv2d` of images.

    >>> convolution([[[1.0], [2.0], [3.0]]], [[[1.0]], [[10.0]]]).numpy().ravel()
    array([21., 32.], dtype=float32)
    """
    input, filters = both(input, filters)
    strides, dilations = strides or 1, dilations or 1
    rank = filters.shape.rank
    if rank == 3:
        return conv1d(input, filters, strides, padding, data_format or "NWC", dilations)
    if rank != 4:
        text = "known rank only" if rank is None else f"not of {rank - 2} axes"
        refuse("ValueError", f"convolution: of sequences and images of {text}")
    return conv2d(input, filters, strides, padding, data_format or "NHWC", dilations)


def max_pool2d(
    input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any = "NHWC", name: Any = None
) -> Any:
    """The largest item of each window of an image.

    >>> max_pool2d([[[[1], [3]], [[2], [0]]]], 2, 2, "VALID").numpy().ravel()
    array([3], dtype=int32)
    """
    first = is_channels_first(data_format)
    kind, explicit = paddings(padding, first)
    size = pair(ksize, "ksize", first)
    operands = (size, pair(strides, "strides", first), kind, explicit)
    return on_images("max_pool2d", input, operands, first)


def avg_pool2d(
    input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any = "NHWC", name: Any = None
) -> Any:
    """The mean of each window of an image, of what lies inside of it.

    >>> avg_pool2d([[[[1.0], [3.0]], [[2.0], [0.0]]]], 2, 2, "VALID").numpy().ravel()
    array([1.5], dtype=float32)
    """
    first = is_channels_first(data_format)
    kind, explicit = paddings(padding, first)
    if kind == "EXPLICIT":
        refuse("ValueError", f"avg_pool takes padding 'SAME' or 'VALID' only: {shown(padding)}")
    size = pair(ksize, "ksize", first)
    operands = (size, pair(strides, "strides", first), kind, explicit)
    return on_images("avg_pool2d", input, operands, first)


def _images_only(input: Any, name: str) -> Any:
    input = to_tensor(input)
    if input.shape.rank not in (None, 4):
        refuse("ValueError", f"{name}: of images, 4 axes: {input.shape.rank}")
    return input


def max_pool(
    input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any = None, name: Any = None
) -> Any:
    """`max_pool2d`: of images only.

    >>> max_pool([[[[1], [3]], [[2], [0]]]], 2, 2, "VALID").numpy().ravel()
    array([3], dtype=int32)
    """
    return max_pool2d(_images_only(input, "max_pool"), ksize, strides, padding, data_format)


def avg_pool(
    input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any = None, name: Any = None
) -> Any:
    """`avg_pool2d`: of images only.

    >>> avg_pool([[[[1.0], [3.0]], [[2.0], [0.0]]]], 2, 2, "VALID").numpy().ravel()
    array([1.5], dtype=float32)
    """
    return avg_pool2d(_images_only(input, "avg_pool"), ksize, strides, padding, data_format)
