"""One pass whose arrays belong to whoever takes them.

An array handed over may be written to, and nothing else refers to its bytes. Most need no copy for
that: a batch, or the result of a function, is held by nobody else. What a cache, a constant, the
user's own array or the rest of a chunk shows as well is copied, into bytes that are reserved first.
Either way they stay charged to the pipeline until the last tensor that shows them is gone.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from spillway import _native, nest
from spillway.shown import shown
from spillway.specs import DatasetSpec, OptionalSpec

if TYPE_CHECKING:
    from spillway.audit import Audit
    from spillway.dataset import Dataset
    from spillway.report import Report


def framework(method: str, package: str, install: str) -> Any:
    """The package that `method` hands over to; ImportError says what to install.

    >>> framework("to_torch", "no_such_package", "torch")
    Traceback (most recent call last):
    ...
    ImportError: to_torch: needs the package torch, which cannot be imported here (No module named
    'no_such_package'): pip install torch
    """
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise ImportError(
            f"{method}: needs the package {install}, which cannot be imported here ({error}): "
            f"pip install {install}",
            name=package,
        ) from error


def refuse_datasets(dataset: Dataset, method: str) -> None:
    """TypeError where components are datasets or Optionals, which no framework has.

    >>> import spillway as sw
    >>> refuse_datasets(sw.Dataset.range(4).window(2), "to_torch")
    Traceback (most recent call last):
    ...
    TypeError: to_torch: components must be tensors: DatasetSpec(...); flat_map or batch them first
    """
    for leaf in nest.flatten(dataset.element_spec):
        if isinstance(leaf, DatasetSpec | OptionalSpec):
            raise TypeError(
                f"{method}: components must be tensors: {shown(leaf)}; flat_map or batch them first"
            )


class Handed(_native.Elements):
    """One pass over a dataset: the arrays of each element go through `leaf`.

    Strings are as NumPy has them: `bytes`, and arrays of those. None stays None.

    >>> import spillway as sw
    >>> it = Handed(sw.Dataset.from_tensors((1, {"s": "a"})), lambda array: array + 1)
    >>> next(it)
    (np.int32(2), {'s': b'a'})
    """

    __slots__ = ("__weakref__",)

    def __init__(
        self,
        dataset: Dataset,
        leaf: Callable[[np.ndarray[Any, Any]], Any],
        alignment: int = 1,
        main_waits: bool = False,
    ) -> None:
        """At the beginning of a new pass.

        `alignment`: what `leaf` needs of an array of some size to show it without a copy.
        `main_waits`: the main thread does, in other code, while another one asks this pass.
        """
        self._convert = functools.partial(converted, leaf=leaf)
        self._pass: Any = dataset._open(False, owned=alignment, main_waits=main_waits)

    def save(self) -> bytes:
        """The position as bytes, for `restore` of an iterator over an equal pipeline."""
        state: bytes = self._pass.save()
        return state

    def restore(self, state: bytes) -> None:
        """Goes on where `save` was called. Only before the first element."""
        self._pass.restore(state)

    def close(self) -> None:
        """Stops, and lets go of the memory. Further elements are none."""
        self._pass.close()

    def audit(self) -> Audit:
        """What became of every element of this pass so far."""
        audit: Audit = self._pass.audit()
        return audit

    def report(self) -> Report:
        """Time, bytes and errors of this pass so far, a line a stage."""
        report: Report = self._pass.report()
        return report

    def __enter__(self) -> Handed:
        """This iterator, closed at the end of the block."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Closes it."""
        self.close()


def converted(value: Any, leaf: Callable[[np.ndarray[Any, Any]], Any]) -> Any:
    """An element with its numbers through `leaf`.

    >>> converted((np.arange(2), b"a", None), lambda array: array.tolist())
    ([0, 1], b'a', None)
    """
    kind = type(value)
    if kind is np.ndarray:
        return value if value.dtype.hasobject else leaf(value)
    if kind is tuple:
        return tuple([converted(part, leaf) for part in value])
    if kind is dict:
        return {key: converted(part, leaf) for key, part in value.items()}
    if kind is bytes or value is None or not nest.is_nested(value):
        return value
    return nest.map_structure(lambda part: converted(part, leaf), value)
