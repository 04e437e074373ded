"""What TensorFlow's ops on images let one write for strides, dilations, windows and padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spillway.native_ops import call
from spillway.shown import shown
from spillway.tensor_convert import integers, refuse, to_tensor

_FORMATS = ("NHWC", "NCHW")


def is_choice(value: Any, choices: tuple[str, ...]) -> bool:
    """Whether it is one of some texts, or None. Arrays would compare item by item."""
    return value is None or (isinstance(value, str) and value in choices)


def is_channels_first(data_format: Any) -> bool:
    """Whether images are [batch, channels, height, width].

    >>> is_channels_first("NHWC"), is_channels_first("NCHW")
    (False, True)
    """
    if not is_choice(data_format, _FORMATS):
        refuse("ValueError", f"data_format must be 'NHWC' or 'NCHW': {shown(data_format)}")
    return bool(data_format == "NCHW")


def pair(value: Any, name: str, first: bool = False) -> list[int]:
    """[down, across] of a number, of two, or of one for each axis of the images.

    >>> pair(2, "strides"), pair([1, 2, 3, 1], "strides"), pair([1, 1, 2, 3], "strides", True)
    ([2, 2], [2, 3], [2, 3])
    """
    numbers = integers(value)
    if len(numbers) == 1:
        numbers *= 2
    if len(numbers) == 4:
        others = (numbers[0], numbers[1] if first else numbers[3])
        if others != (1, 1):
            refuse(
                "ValueError",
                f"{name} in the batch and depth dimensions must be 1, got {numbers}",
            )
        numbers = numbers[2:] if first else numbers[1:3]
    if len(numbers) != 2:
        refuse("ValueError", f"{name} should be of length 1, 2 or 4 but was {len(numbers)}")
    return numbers


def paddings(padding: Any, first: bool = False) -> tuple[str, list[int]]:
    """The kind of padding, and [top, bottom, left, right] where it is explicit.

    >>> paddings("same"), paddings([[0, 0], [1, 2], [3, 4], [0, 0]])
    (('SAME', [0, 0, 0, 0]), ('EXPLICIT', [1, 2, 3, 4]))
    """
    if isinstance(padding, str):
        kind = padding.upper()
        if kind not in ("SAME", "VALID"):
            refuse("ValueError", f"padding must be 'SAME', 'VALID' or a list: {shown(padding)}")
        return kind, [0, 0, 0, 0]
    rows = [integers(row) for row in padding]
    if len(rows) != 4 or any(len(row) != 2 for row in rows):
        refuse(
            "ValueError", f"explicit padding must be [before, after] for 4 axes: {shown(padding)}"
        )
    others = [rows[0], rows[1] if first else rows[3]]
    if any(row != [0, 0] for row in others):
        refuse(
            "ValueError", f"padding in the batch and depth dimensions must be 0: {shown(padding)}"
        )
    down, across = rows[2:] if first else rows[1:3]
    return "EXPLICIT", [*down, *across]


def channels_last(x: Any) -> Any:
    """[batch, channels, height, width] as [batch, height, width, channels]."""
    return call("transpose", to_tensor(x), [0, 2, 3, 1], False)


def channels_first(x: Any) -> Any:
    """The other way round."""
    return call("transpose", x, [0, 3, 1, 2], False)


def on_images(op: str, images: Any, operands: Sequence[Any], first: bool) -> Any:
    """Applies an op that takes [batch, height, width, channels] to images in either order."""
    if not first:
        return call(op, to_tensor(images), *operands)
    return channels_first(call(op, channels_last(images), *operands))
