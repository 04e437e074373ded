"""Images from their bytes, whichever format they have."""

from __future__ import annotations

from typing import Any

from spillway.dtypes import as_dtype
from spillway.native_ops import call
from spillway.native_ops import names as _names
from spillway.ops._image_colors import convert_image_dtype
from spillway.tensor_convert import to_tensor

_DECODED = ("uint8", "uint16", "float32")


def decode_image(
    contents: Any,
    channels: Any = None,
    dtype: Any = "uint8",
    name: Any = None,
    expand_animations: Any = True,
) -> Any:
    """The pixels of a JPEG, PNG, GIF, BMP or WebP, whichever the bytes are.

    Rank 3; GIF and WebP have an axis of frames before that, unless `expand_animations` is False,
    which gives their first frame.

    >>> png = _names("io")["encode_png"](to_tensor([[[7], [9]]], "uint8"))
    >>> decode_image(png, channels=3).shape
    TensorShape([1, 2, 3])
    """
    wanted = as_dtype(dtype)
    made = wanted.name if wanted.name in _DECODED else "uint16"
    x = call("decode_image", to_tensor(contents), channels or 0, made, expand_animations)
    return x if made == wanted.name else convert_image_dtype(x, wanted)
