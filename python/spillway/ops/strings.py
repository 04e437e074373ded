"""`tf.strings`: text, item by item."""

from __future__ import annotations

from typing import Any

from spillway.native_ops import call
from spillway.native_ops import names as _names
from spillway.tensor_convert import refuse, to_tensor

for _name, _function in _names("strings").items():
    globals().setdefault(_name, _function)


def split(input: Any, sep: Any = None, maxsplit: int = -1, name: Any = None) -> Any:
    """The parts of one string; by white space where no separator is given.

    >>> split("a b")
    Tensor([b'a' b'b'], shape=(2,), dtype=string)
    """
    x = to_tensor(input)
    if x.shape.rank not in (0, None):
        refuse(
            "ValueError",
            f"strings.split of many strings gives rows of different lengths, "
            f"which are not here yet: shape {x.shape}; split them one by one in a map",
        )
    return call("string_split", x, sep, maxsplit)


def format(
    template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3, name: Any = None
) -> Any:
    """The template with tensors in the places of the placeholder.

    >>> format("x is {}", to_tensor([1, 2]))
    Tensor(b'x is [1 2]', shape=(), dtype=string)
    """
    items = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    items = [to_tensor(item) for item in items]
    return call("string_format", items, template, placeholder, summarize)


__all__ = sorted({*_names("strings"), "format", "split"})
