"""`Dataset.to_torch`: an IterableDataset of torch's tensors."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from spillway.errors import FailedPreconditionError
from spillway.handover.elements import Handed, framework, refuse_datasets

if TYPE_CHECKING:
    from spillway.dataset import Dataset


def handed_over(dataset: Dataset) -> Any:
    """See `Dataset.to_torch`."""
    made = _class()(dataset)
    refuse_datasets(dataset, "to_torch")
    return made


class Elements:
    """What `to_torch` gives, beside being a `torch.utils.data.IterableDataset`."""

    def __init__(self, dataset: Dataset) -> None:
        """Of the elements of `dataset`."""
        self.dataset = dataset

    def __iter__(self) -> Handed:
        """A fresh pass, which has `save`, `restore`, `close`, `audit` and `report`."""
        torch = framework("to_torch", "torch", "torch")
        _refuse_worker(torch.utils.data.get_worker_info())
        return Handed(self.dataset, _Convert(torch))

    def __len__(self) -> int:
        """Number of elements; TypeError when it is infinite or unknown."""
        return len(self.dataset)

    def __reduce__(self) -> tuple[Any, ...]:
        """For `pickle`: made again from the dataset (docs/travel.md)."""
        return handed_over, (self.dataset,)

    def __repr__(self) -> str:
        """What it is, and what of."""
        return f"<to_torch() of {self.dataset!r}>"


@functools.cache
def _class() -> Callable[[Any], Any]:
    base = framework("to_torch", "torch.utils.data", "torch").IterableDataset
    made: Any = types.new_class("TorchElements", (Elements, base))
    made.__module__, made.__doc__ = __name__, Elements.__doc__
    return made  # type: ignore[no-any-return]


def _refuse_worker(info: Any) -> None:
    """A DataLoader's worker is a fork, without the engine's threads, or would read everything."""
    if info is None:
        return
    raise FailedPreconditionError(
        f"to_torch: DataLoader(num_workers={info.num_workers}) runs the pipeline in processes of "
        "its own; each would read all elements again, under a memory limit of its own. Expected "
        "num_workers=0: the pipeline runs beside your loop by itself. For more CPUs "
        "give map num_parallel_calls=sw.AUTOTUNE, for processes isolate=True and num_workers="
    )


class _Convert:
    """An array as a tensor of the same bytes."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._from_numpy = torch.from_numpy

    def __call__(self, array: np.ndarray[Any, Any]) -> Any:
        if array.dtype.isbuiltin == 1:
            return self._from_numpy(array)
        # NumPy has no bfloat16 and float8 of its own, and torch does not know those of ml_dtypes.
        wanted = getattr(self._torch, array.dtype.name, None)
        if wanted is None:
            raise TypeError(
                f"to_torch: torch has no dtype {array.dtype.name}; map with a cast to one it has"
            )
        same_size = {1: np.uint8, 2: np.int16}[array.dtype.itemsize]
        return self._from_numpy(array.view(same_size)).view(wanted)
