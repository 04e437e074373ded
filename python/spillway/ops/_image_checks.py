"""What the functions on images share: their sizes, known or not, and what is asked of them."""

from __future__ import annotations

from typing import Any

from spillway.native_ops import call
from spillway.ops._control import check
from spillway.tensor_convert import is_tensor, refuse, to_tensor


def require(holds: Any, text: str) -> None:
    """ValueError unless it holds; InvalidArgumentError where only a tensor says so."""
    if is_tensor(holds):
        check(call("reduce_all", holds, None, False), [], text, None)
    elif not holds:
        refuse("ValueError", text)


def sizes(image: Any, rank: int) -> list[Any]:
    """The lengths of the axes: numbers where they are known, else tensors."""
    static = image._dims
    if static is not None and None not in static:
        return list(static)
    asked = call("shape", image, "int32")
    known = static or (None,) * rank
    return [asked[i] if dim is None else dim for i, dim in enumerate(known)]


def at_least_three_axes(image: Any) -> Any:
    """The image as a tensor, with pixels."""
    image = to_tensor(image)
    dims = image._dims
    if dims is not None and len(dims) < 3:
        refuse("ValueError", f"'image' (shape {image.shape}) must be at least three-dimensional.")
    inner = (None,) * 3 if dims is None else dims[-3:]
    if 0 in inner:
        refuse("ValueError", f"inner 3 dims of 'image.shape' must be > 0: {image.shape}")
    if None in inner:
        asked = call("shape", image, "int32")
        text = "inner 3 dims of 'image.shape' must be > 0."
        require(call("greater", asked[-3:], to_tensor(0)), text)
    if dims is None:
        enough = call("greater_equal", call("rank", image), to_tensor(3))
        require(enough, "'image' must be at least three-dimensional.")
    return image


def three_or_four_axes(image: Any) -> Any:
    """The image, or batch of images, as a tensor."""
    image = at_least_three_axes(image)
    rank = image.shape.rank
    if rank is not None and rank > 4:
        refuse("ValueError", f"'image' (shape {image.shape}) must have either 3 or 4 dimensions.")
    return image


def rank_or_three(image: Any) -> int:
    """The number of axes; an image of which nothing is known is one image."""
    rank: int | None = image.shape.rank
    if rank not in (None, 3, 4):
        refuse("ValueError", f"'image' (shape {image.shape}) must have either 3 or 4 dimensions.")
    return 3 if rank is None else rank


def with_sizes(image: Any, dims: list[Any]) -> Any:
    """The image with what is known of its sizes said: one of them may be unknown, -1."""
    told = [None if is_tensor(dim) else dim for dim in dims]
    if image._dims is not None and all(
        dim is None or dim == have for dim, have in zip(told, image._dims, strict=True)
    ):
        return image
    if told.count(None) == 1:
        return call("reshape", image, to_tensor([-1 if dim is None else dim for dim in told]))
    return call("reshape", image, to_tensor(dims))
