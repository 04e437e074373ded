"""From the engine's values to TensorFlow's: tensors for NumPy values, datasets of this front.

>>> import numpy as np
>>> to_front((np.int64(3), {"s": b"a"}))
(Tensor(3, shape=(), dtype=int64), {'s': Tensor(b'a', shape=(), dtype=string)})
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import spillway
from spillway import nest
from spillway.tensor import Tensor


def to_front(value: Any) -> Any:
    """An element, or a part of one, as `spillway.tf` hands it out."""
    if isinstance(value, np.ndarray):
        if value.dtype == object and value.size and isinstance(value.flat[0], spillway.Dataset):
            return _batch_of_datasets(value)
        return Tensor(value)
    if isinstance(value, bytes):
        return Tensor(np.array(value, object))
    if isinstance(value, np.generic):
        return Tensor(np.asarray(value))
    if value is None or isinstance(value, Tensor):
        return value
    if type(value) is tuple:
        return tuple([to_front(part) for part in value])
    if type(value) is dict:
        return {key: to_front(part) for key, part in value.items()}
    if isinstance(value, spillway.Dataset):
        from spillway.tf.data.dataset import Dataset

        return value if isinstance(value, Dataset) else Dataset(value._node)
    if isinstance(value, spillway.Optional):
        from spillway.tf.data.optional import Optional

        return value if isinstance(value, Optional) else Optional(value._element, value._spec)
    if nest.is_nested(value):
        return nest.map_structure(to_front, value)
    return Tensor(np.asarray(value))


def _batch_of_datasets(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    out = np.empty(value.shape, object)
    for at, dataset in enumerate(value.flat):
        out.flat[at] = to_front(dataset)
    return out


def has_front_parts(spec: Any) -> bool:
    """Whether elements of `spec` hold what differs between the fronts; True when it is unknown."""
    return spec is None or any(
        isinstance(leaf, spillway.DatasetSpec | spillway.OptionalSpec)
        for leaf in nest.flatten(spec)
    )


class Fronted:
    """A user function whose datasets and Optionals arrive as this front's.

    Known to the engine by the code of `func`.

    >>> Fronted(lambda ds: type(ds).__module__)(spillway.Dataset.range(3))
    'spillway.tf.data.dataset'
    """

    func: Callable[..., Any]

    def __init__(self, func: Callable[..., Any]) -> None:
        """Stands for `func`, with its name."""
        functools.update_wrapper(self, func, updated=())
        self.func = func

    def __call__(self, *args: Any) -> Any:
        """The user's function of the front's values."""
        return self.func(*[to_front(arg) for arg in args])


def fronted(argument: Any) -> Any:
    """An argument of a method, where it is a function as a `Fronted` one."""
    plain = isinstance(argument, type | Fronted) or not callable(argument)
    return argument if plain else Fronted(argument)
