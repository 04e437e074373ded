# ruff: noqa: D105, D107  (magic methods do what Python says)
"""Shapes of tensors, known or in part: `TensorSpec.shape`.

>>> shape = TensorShape([None, 3])
>>> shape.rank, shape[1], shape == (None, 3), shape.is_fully_defined()
(2, 3, True, False)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, SupportsIndex, overload

from .dimensions import Dimension, dimension
from .shown import shown


def dims_of(value: Any) -> tuple[int | None, ...] | None:
    """A shape as a plain tuple; None: the rank is unknown.

    >>> dims_of([None, 3]), dims_of(5), dims_of(None), dims_of(TensorShape([2]))
    ((None, 3), (5,), None, (2,))
    """
    if value is None:
        return None
    if isinstance(value, TensorShape):
        return value._dims
    if hasattr(value, "as_list"):  # TensorFlow's own
        if getattr(value, "rank", 0) is None:
            return None
        value = value.as_list()
    if isinstance(value, str | bytes):
        raise TypeError(
            f"Failed to convert {shown(value)} to a shape: "
            "a shape should either be a single dimension "
            "(e.g. 10), or an iterable of dimensions (e.g. [1, 10, None])."
        )
    if isinstance(value, Iterable) and getattr(value, "ndim", 1) != 0:
        return tuple([dimension(item) for item in value])
    return (dimension(value),)


class TensorShape:
    """The lengths of a tensor's dimensions; None stands for one that is unknown.

    Equal to the tuple or list of its dimensions. `TensorShape(None)` has an unknown rank: it has
    no length, and is the only shape that is false.

    >>> TensorShape([2, None]).merge_with((None, 5)), TensorShape(None) + [3]
    (TensorShape([2, 5]), TensorShape(None))
    """

    __slots__ = ("_dims",)

    _dims: tuple[int | None, ...] | None

    def __init__(self, dims: Any) -> None:
        self._dims = dims_of(dims)

    @property
    def rank(self) -> int | None:
        """The number of dimensions; None when it is unknown."""
        return None if self._dims is None else len(self._dims)

    @property
    def ndims(self) -> int | None:
        """The same as ``rank``."""
        return self.rank

    @property
    def dims(self) -> list[Dimension] | None:
        """The dimensions as TensorFlow 1 had them."""
        return None if self._dims is None else [Dimension(d) for d in self._dims]

    def as_list(self) -> list[int | None]:
        """The dimensions; ValueError when the rank is unknown."""
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def num_elements(self) -> int | None:
        """How many elements a tensor of this shape has; None unless all is known.

        >>> TensorShape([2, 3]).num_elements()
        6
        """
        if self._dims is None:
            return None
        known = [d for d in self._dims if d is not None]
        return math.prod(known) if len(known) == len(self._dims) else None

    def is_fully_defined(self) -> bool:
        """Whether rank and all dimensions are known."""
        return self._dims is not None and None not in self._dims

    def is_compatible_with(self, other: Any) -> bool:
        """Whether a tensor may have both shapes.

        >>> TensorShape([None, 3]).is_compatible_with([2, 3])
        True
        """
        a, b = self._dims, dims_of(other)
        if a is None or b is None:
            return True
        return len(a) == len(b) and all(
            x is None or y is None or x == y for x, y in zip(a, b, strict=True)
        )

    def is_subtype_of(self, other: Any) -> bool:
        """Whether every tensor of this shape is of the other, too."""
        if not isinstance(other, TensorShape):
            return False
        a, b = self._dims, other._dims
        if b is None:
            return True
        if a is None or len(a) != len(b):
            return False
        return all(y is None or x == y for x, y in zip(a, b, strict=True))

    def merge_with(self, other: Any) -> TensorShape:
        """What both know together; ValueError when they contradict each other."""
        a, b = self._dims, dims_of(other)
        if a is None or b is None:
            return TensorShape(a if b is None else b)
        if not self.is_compatible_with(b):
            raise ValueError(f"Shapes {self} and {TensorShape(b)} are not compatible")
        return TensorShape([y if x is None else x for x, y in zip(a, b, strict=True)])

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        """The narrowest shape that this and the other fit.

        >>> TensorShape([2, 3]).most_specific_compatible_shape([5, 3])
        TensorShape([None, 3])
        """
        a, b = self._dims, dims_of(other)
        if a is None or b is None or len(a) != len(b):
            return TensorShape(None)
        return TensorShape([x if x == y else None for x, y in zip(a, b, strict=True)])

    def most_specific_common_supertype(self, others: Iterable[Any]) -> TensorShape | None:
        """The same for several shapes; None if one of them is none."""
        found = self
        for other in others:
            if not isinstance(other, TensorShape):
                return None
            found = found.most_specific_compatible_shape(other)
        return found

    def concatenate(self, other: Any) -> TensorShape:
        """These dimensions, then the other's."""
        a, b = self._dims, dims_of(other)
        return TensorShape(None if a is None or b is None else a + b)

    def with_rank(self, rank: int) -> TensorShape:
        """This shape, with the rank given when it was unknown; ValueError for another rank."""
        self.assert_has_rank(rank)
        return TensorShape([None] * rank) if self._dims is None else self

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """This shape; ValueError when its rank is known and smaller."""
        if self._dims is not None and len(self._dims) < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """This shape; ValueError when its rank is known and larger."""
        if self._dims is not None and len(self._dims) > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def assert_has_rank(self, rank: int) -> None:
        """Raise ValueError when the rank is known and another."""
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def assert_same_rank(self, other: Any) -> None:
        """Raise ValueError when both ranks are known and differ."""
        other = TensorShape(other)
        if None not in (self.rank, other.rank) and self.rank != other.rank:
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raise ValueError when no tensor can have both shapes."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {TensorShape(other)} are incompatible")

    def assert_is_fully_defined(self) -> None:
        """Raise ValueError when something is unknown."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def __len__(self) -> int:
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims)

    def __bool__(self) -> bool:
        return self._dims is not None

    def __iter__(self) -> Iterator[int | None]:
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self._dims)

    @overload
    def __getitem__(self, key: SupportsIndex) -> int | None: ...
    @overload
    def __getitem__(self, key: slice) -> TensorShape: ...
    def __getitem__(self, key: Any) -> Any:
        if self._dims is not None:
            found = self._dims[key]
            return TensorShape(found) if isinstance(key, slice) else found
        if not isinstance(key, slice):
            return None
        if key.step is not None:
            raise ValueError("Steps are not yet handled")
        start, stop = key.start or 0, key.stop
        if stop is None or start < 0 or stop < 0:
            return TensorShape(None)
        return TensorShape([None] * (stop - start))

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return TensorShape(other).concatenate(self)

    def __eq__(self, other: object) -> bool:
        try:
            return self._dims == dims_of(other)
        except (TypeError, ValueError):
            return NotImplemented

    def __hash__(self) -> int:
        return hash(self._dims)

    def __str__(self) -> str:
        return "<unknown>" if self._dims is None else str(self._dims)

    def __repr__(self) -> str:
        return f"TensorShape({None if self._dims is None else list(self._dims)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorShape, (self._dims,)
