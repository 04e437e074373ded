# ruff: noqa: D105, D107  (magic methods do what Python says)
"""What elements look like: the leaves of `Dataset.element_spec`.

>>> TensorSpec([None, 3], "int64")
TensorSpec(shape=(None, 3), dtype=tf.int64, name=None)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from .dtypes import DType, as_dtype, float32, from_numpy, variant
from .nest import assert_same_structure, flatten, is_nested, map_structure, pack_like
from .shapes import TensorShape, dims_of

__all__ = [
    "DatasetSpec",
    "NoneSpec",
    "OptionalSpec",
    "Shape",
    "TensorSpec",
    "TypeSpec",
    "as_shape",
    "assert_same_structure",
    "flatten",
    "is_nested",
    "map_structure",
    "pack_like",
]

# None: the rank is unknown; a None within: that dimension is.
Shape: TypeAlias = tuple[int | None, ...] | None


def as_shape(value: Any) -> Shape:
    """A shape from a tuple, a list, one number, None, or an object with ``as_list``.

    >>> as_shape([None, 3]), as_shape(5), as_shape(None)
    ((None, 3), (5,), None)
    """
    return dims_of(value)


class TypeSpec:
    """The root of the specs. Immutable; equal when all they say is equal."""

    __slots__ = ()

    def _key(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def is_compatible_with(self, value: Any) -> bool:
        """Whether a value of this spec may also be of the other, or be the value given."""
        raise NotImplementedError

    def is_subtype_of(self, other: TypeSpec) -> bool:
        """Whether every value of this spec is of the other, too."""
        raise NotImplementedError

    def _join(self, other: Any) -> TypeSpec | None:
        raise NotImplementedError

    def most_specific_common_supertype(self, others: Iterable[TypeSpec]) -> TypeSpec | None:
        """The narrowest spec that this and all others fit; None if there is none.

        >>> a, b = TensorSpec([2, 3], "int32"), TensorSpec([5, 3], "int32")
        >>> a.most_specific_common_supertype([b])
        TensorSpec(shape=(None, 3), dtype=tf.int32, name=None)
        """
        found: TypeSpec | None = self
        for other in others:
            if found is None or type(found) is not type(other):
                return None
            found = found._join(other)
        return found

    def most_specific_compatible_type(self, other: TypeSpec) -> TypeSpec:
        """The narrowest spec that this and the other fit; ValueError if there is none."""
        found = self.most_specific_common_supertype([other])
        if found is None:
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return found

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        assert isinstance(other, TypeSpec)
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash((type(self).__name__, _freeze(self._key())))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: {name} cannot be set")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._key()


def _freeze(value: Any) -> Any:
    if is_nested(value, lists=True):
        keys = tuple(sorted(value)) if hasattr(value, "keys") else ()
        return keys, tuple([_freeze(item) for item in flatten(value, lists=True)])
    return value


class TensorSpec(TypeSpec):
    """A dense tensor's shape and dtype.

    ``shape`` has None where a dimension varies; ``TensorShape(None)`` when even the rank does.

    >>> spec = TensorSpec((None, 3), "float32", name="x")
    >>> spec.shape, spec.dtype, spec.name
    (TensorShape([None, 3]), tf.float32, 'x')
    >>> spec.is_compatible_with(TensorSpec([2, 3], "float32"))
    True
    """

    __slots__ = ("dtype", "name", "shape")

    shape: TensorShape
    dtype: DType
    name: str | None

    def __init__(self, shape: Any, dtype: Any = float32, name: str | None = None) -> None:
        object.__setattr__(self, "shape", TensorShape(shape))
        object.__setattr__(self, "dtype", as_dtype(dtype))
        object.__setattr__(self, "name", name)

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """The spec of one tensor or array.

        >>> import numpy as np
        >>> TensorSpec.from_tensor(np.zeros((2, 3), "int8"))
        TensorSpec(shape=(2, 3), dtype=tf.int8, name=None)
        """
        return cls(tensor.shape, tensor.dtype, name)

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> TensorSpec:
        """The same spec, under another name if one is given."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @property
    def rank(self) -> int | None:
        """The number of dimensions; None when unknown."""
        return self.shape.rank

    def is_compatible_with(self, value: Any) -> bool:
        """Whether dtype and shape of a spec, tensor or array can be this spec's.

        >>> import numpy as np
        >>> TensorSpec([None], "int64").is_compatible_with(np.array([1, 2]))
        True
        """
        dtype, shape = getattr(value, "dtype", None), getattr(value, "shape", ())
        if dtype is None or (isinstance(value, TypeSpec) and not isinstance(value, TensorSpec)):
            return False
        try:
            dtype = dtype if isinstance(dtype, DType) else from_numpy(dtype)
        except (TypeError, AttributeError):
            return False
        return dtype is self.dtype and self.shape.is_compatible_with(shape)

    def is_subtype_of(self, other: TypeSpec) -> bool:
        """Whether every tensor of this spec is of the other, too; one without a name may be any."""
        return (
            isinstance(other, TensorSpec)
            and self.dtype is other.dtype
            and self.name in (None, other.name)
            and self.shape.is_subtype_of(other.shape)
        )

    def _join(self, other: TensorSpec) -> TensorSpec | None:
        if self.dtype is not other.dtype or self.name != other.name:
            return None
        return TensorSpec(
            self.shape.most_specific_compatible_shape(other.shape), self.dtype, self.name
        )

    def _key(self) -> tuple[Any, ...]:
        return self.shape, self.dtype, self.name

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r})"


class _WrapperSpec(TypeSpec):
    """A variant that holds elements of one structure."""

    __slots__ = ("element_spec",)

    element_spec: Any

    @property
    def dtype(self) -> DType:
        """Always variant."""
        return variant

    @property
    def shape(self) -> TensorShape:
        """Scalar, unless they were batched."""
        return TensorShape(())

    def is_compatible_with(self, value: Any) -> bool:
        """Whether the other is of the same kind and the elements are compatible."""
        if not isinstance(value, type(self)):
            inner = getattr(value, "element_spec", None)
            if inner is None or isinstance(value, TypeSpec):
                return False
        shape = value.shape if isinstance(value, _WrapperSpec) else ()
        return self.shape.is_compatible_with(shape) and self._compare(
            value.element_spec, lambda a, b: bool(a.is_compatible_with(b))
        )

    def is_subtype_of(self, other: TypeSpec) -> bool:
        """Whether every value of this spec is of the other, too."""
        return (
            isinstance(other, type(self))
            and self.shape.is_subtype_of(other.shape)
            and self._compare(other.element_spec, lambda a, b: bool(a.is_subtype_of(b)))
        )

    def _compare(self, other: Any, test: Any) -> bool:
        pairs = _pairs(self.element_spec, other)
        return pairs is not None and all(test(a, b) for a, b in pairs)

    def _join_elements(self, other: _WrapperSpec) -> list[TypeSpec | None] | None:
        pairs = _pairs(self.element_spec, other.element_spec)
        if pairs is None:
            return None
        joined = [a.most_specific_common_supertype([b]) for a, b in pairs]
        if None in joined:
            return None
        own = flatten(self.element_spec)
        return [None if leaf is None else spec for leaf, spec in zip(own, joined, strict=True)]


def _pairs(first: Any, second: Any) -> list[tuple[TypeSpec, TypeSpec]] | None:
    """The leaves of two specs side by side, None as its spec; None where their forms differ."""
    try:
        assert_same_structure(first, second)
    except (TypeError, ValueError):
        return None
    return [
        (_NONE if a is None else a, _NONE if b is None else b)
        for a, b in zip(flatten(first), flatten(second), strict=True)
    ]


class DatasetSpec(_WrapperSpec):
    """A dataset as a component of an element, such as one of `Dataset.window`.

    >>> DatasetSpec(TensorSpec([], "int32"))
    DatasetSpec(TensorSpec(shape=(), dtype=tf.int32, name=None), TensorShape([]))
    """

    __slots__ = ("dataset_shape",)

    dataset_shape: TensorShape

    def __init__(self, element_spec: Any, dataset_shape: Any = ()) -> None:
        object.__setattr__(self, "element_spec", element_spec)
        object.__setattr__(self, "dataset_shape", TensorShape(dataset_shape))

    @staticmethod
    def from_value(value: Any) -> DatasetSpec:
        """The spec of one dataset."""
        return DatasetSpec(value.element_spec)

    @property
    def shape(self) -> TensorShape:
        """Not scalar when datasets were batched."""
        return self.dataset_shape

    def _join(self, other: DatasetSpec) -> DatasetSpec | None:
        joined = self._join_elements(other)
        if joined is None:
            return None
        shape = self.dataset_shape.most_specific_compatible_shape(other.dataset_shape)
        return DatasetSpec(pack_like(self.element_spec, joined), shape)

    def _key(self) -> tuple[Any, ...]:
        return self.element_spec, self.dataset_shape

    def __repr__(self) -> str:
        return f"DatasetSpec({self.element_spec!r}, {self.dataset_shape!r})"


class OptionalSpec(_WrapperSpec):
    """A value that may be absent.

    >>> OptionalSpec(TensorSpec([], "int32"))
    OptionalSpec(TensorSpec(shape=(), dtype=tf.int32, name=None),)
    """

    __slots__ = ()

    def __init__(self, element_spec: Any) -> None:
        object.__setattr__(self, "element_spec", element_spec)

    @staticmethod
    def from_value(value: Any) -> OptionalSpec:
        """The spec of one Optional."""
        return OptionalSpec(value.element_spec)

    def _join(self, other: OptionalSpec) -> OptionalSpec | None:
        joined = self._join_elements(other)
        return None if joined is None else OptionalSpec(pack_like(self.element_spec, joined))

    def _key(self) -> tuple[Any, ...]:
        return (self.element_spec,)

    def __repr__(self) -> str:
        return f"OptionalSpec({self.element_spec!r},)"


class NoneSpec(TypeSpec):
    """The spec of None.

    >>> NoneSpec() == NoneSpec(), NoneSpec().is_compatible_with(None)
    (True, True)
    """

    __slots__ = ()

    def is_compatible_with(self, value: Any) -> bool:
        """Whether `value` is None or its spec."""
        return value is None or isinstance(value, NoneSpec)

    def is_subtype_of(self, other: TypeSpec) -> bool:
        """Whether the other is the spec of None, too."""
        return isinstance(other, NoneSpec)

    def _join(self, other: NoneSpec) -> NoneSpec:
        return self

    def _key(self) -> tuple[Any, ...]:
        return ()

    def __repr__(self) -> str:
        return "NoneSpec()"


_NONE = NoneSpec()
