"""`Dataset.to_jax`: an iterable of JAX's arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spillway.handover.elements import Handed, framework, refuse_datasets

if TYPE_CHECKING:
    from spillway.dataset import Dataset

_ALIGNMENT = 64  # other arrays are copied by JAX
_NARROW = {"int64": np.int32, "uint64": np.uint32}


def handed_over(dataset: Dataset) -> Elements:
    """See `Dataset.to_jax`."""
    framework("to_jax", "jax", "jax")
    refuse_datasets(dataset, "to_jax")
    return Elements(dataset)


class Elements:
    """What `to_jax` gives: iterate as often as you like."""

    def __init__(self, dataset: Dataset) -> None:
        """Of the elements of `dataset`."""
        self.dataset = dataset

    def __iter__(self) -> Handed:
        """A fresh pass, which has `save`, `restore`, `close`, `audit` and `report`."""
        return Handed(self.dataset, _Convert(), alignment=_ALIGNMENT)

    def __len__(self) -> int:
        """Number of elements; TypeError when it is infinite or unknown."""
        return len(self.dataset)

    def __bool__(self) -> bool:
        """Always true: not a container of what it will read."""
        return True

    def __repr__(self) -> str:
        """What it is, and what of."""
        return f"<to_jax() of {self.dataset!r}>"


class _Convert:
    """An array as JAX's, on its default device: the same bytes where that is the CPU."""

    def __init__(self) -> None:
        self._jax = framework("to_jax", "jax", "jax")

    def __call__(self, array: np.ndarray[Any, Any]) -> Any:
        jax = self._jax
        if array.dtype.name in _NARROW and not jax.config.jax_enable_x64:
            array = _narrowed(array)
        return jax.device_put(array)


def _narrowed(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """As 32 bits, which JAX would do without a word about the numbers that do not fit."""
    narrow = array.astype(_NARROW[array.dtype.name])
    if not np.array_equal(narrow, array):
        found = array[narrow != array].flat[0] if array.ndim else array
        raise OverflowError(
            f"to_jax: {array.dtype.name} becomes {narrow.dtype.name} while jax_enable_x64 is off: "
            f"{found} does not fit; jax.config.update('jax_enable_x64', True)"
        )
    return narrow
