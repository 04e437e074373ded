# ruff: noqa: D105, D107  (magic methods do what Python says)
"""Element types, named as TensorFlow names them.

>>> int64 == "int64", int64.size, as_dtype(float)
(True, 8, tf.float32)
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from typing import Any

import numpy as np

from spillway.shown import shown


class DType:
    """The type of a tensor's elements.

    Equal to its name and to its NumPy type, as TensorFlow's is; there is one object of each.

    >>> float32 == "float32", float32 == np.float32, float32 == np.dtype("f4"), float32 == float64
    (True, True, True, False)
    >>> float32.is_floating, float32.as_numpy_dtype
    (True, <class 'numpy.float32'>)
    """

    __slots__ = ("_numpy", "as_datatype_enum", "name", "size")

    name: str
    size: int
    as_datatype_enum: int
    _numpy: Any  # the NumPy scalar type; None: ml_dtypes has it, imported when asked for

    def __init__(self, name: str, number: int, size: int, numpy_type: Any) -> None:
        self.name = name
        self.as_datatype_enum = number
        self.size = size
        self._numpy = numpy_type

    @property
    def as_numpy_dtype(self) -> Any:
        """The NumPy scalar type; `object` for strings.

        bfloat16, float8 and the narrow integers are those of ml_dtypes.
        """
        if self._numpy is None:
            if self.name == "variant":
                raise TypeError("variant has no NumPy dtype")
            self._numpy = _ml_type(self.name)
            _FROM_NUMPY[np.dtype(self._numpy)] = self
        return self._numpy

    @property
    def base_dtype(self) -> DType:
        """This dtype (TensorFlow has reference types beside it)."""
        return self

    @property
    def real_dtype(self) -> DType:
        """The type of the real part.

        >>> complex64.real_dtype
        tf.float32
        """
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    @property
    def is_integer(self) -> builtins.bool:
        """Signed or unsigned integers."""
        return self.name.startswith(("int", "uint"))

    @property
    def is_unsigned(self) -> builtins.bool:
        """Unsigned integers."""
        return self.name.startswith("uint")

    @property
    def is_floating(self) -> builtins.bool:
        """Floating point numbers, bfloat16 and float8 among them."""
        return self.name.startswith(("float", "bfloat"))

    @property
    def is_complex(self) -> builtins.bool:
        """Complex numbers."""
        return self.name.startswith("complex")

    @property
    def is_bool(self) -> builtins.bool:
        """Truth values."""
        return self.name == "bool"

    @property
    def is_numeric(self) -> builtins.bool:
        """What TensorFlow counts as numbers: not bool, float8 or the narrow integers."""
        return self in _NUMERIC

    @property
    def is_quantized(self) -> builtins.bool:
        """Always False: quantized types are not supported."""
        return False

    @property
    def is_numpy_compatible(self) -> builtins.bool:
        """Whether an array can hold it."""
        return self.name != "variant"

    @property
    def min(self) -> Any:
        """The smallest value."""
        return self._limit("min")

    @property
    def max(self) -> Any:
        """The largest value.

        >>> int8.max
        127
        """
        return self._limit("max")

    def _limit(self, which: str) -> Any:
        if self.is_integer or self.is_floating:
            scalar = self.as_numpy_dtype
            ours = scalar.__module__ == "numpy"
            library: Any = np if ours else __import__("ml_dtypes")
            info = (library.iinfo if self.is_integer else library.finfo)(scalar)
            limit = getattr(info, which)
            return int(limit) if self.is_integer else limit
        raise TypeError(f"Cannot find {which}imum value of {self!r}.")

    @property
    def limits(self) -> tuple[Any, Any]:
        """The range of an image's values: from 0 to 1, or to the largest integer.

        >>> uint8.limits, float32.limits
        ((0, 255), (0, 1))
        """
        if not (self.is_integer or self.is_floating or self.is_bool):
            raise ValueError(f"{self!r} has no limits")
        return 0, self.max if self.is_integer else 1

    def is_compatible_with(self, other: Any) -> builtins.bool:
        """Whether `other` names this dtype."""
        return self == as_dtype(other)

    def is_subtype_of(self, other: Any) -> builtins.bool:
        """Whether the other is this dtype."""
        return self is other

    def most_specific_common_supertype(self, others: Iterable[Any]) -> DType | None:
        """This dtype when all others are, else None."""
        return self if all(self is other for other in others) else None

    def __eq__(self, other: object) -> builtins.bool:
        if self is other:
            return True
        if isinstance(other, DType) or other is None:
            return False
        try:
            return as_dtype(other) is self
        except TypeError:
            return False

    def __hash__(self) -> int:
        return self.as_datatype_enum

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return self.name

    def __int__(self) -> int:
        return self.as_datatype_enum

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)


def _ml_type(name: str) -> Any:
    try:
        import ml_dtypes
    except ImportError as e:
        raise ImportError(f"{name} arrays need the package ml_dtypes: pip install ml_dtypes") from e
    return getattr(ml_dtypes, name)


float32 = DType("float32", 1, 4, np.float32)
float64 = DType("float64", 2, 8, np.float64)
int32 = DType("int32", 3, 4, np.int32)
uint8 = DType("uint8", 4, 1, np.uint8)
int16 = DType("int16", 5, 2, np.int16)
int8 = DType("int8", 6, 1, np.int8)
string = DType("string", 7, 0, object)
complex64 = DType("complex64", 8, 8, np.complex64)
int64 = DType("int64", 9, 8, np.int64)
bool = DType("bool", 10, 1, np.bool_)
bfloat16 = DType("bfloat16", 14, 2, None)
uint16 = DType("uint16", 17, 2, np.uint16)
complex128 = DType("complex128", 18, 16, np.complex128)
float16 = DType("float16", 19, 2, np.float16)
variant = DType("variant", 21, 0, None)
uint32 = DType("uint32", 22, 4, np.uint32)
uint64 = DType("uint64", 23, 8, np.uint64)
float8_e5m2 = DType("float8_e5m2", 24, 1, None)
float8_e4m3fn = DType("float8_e4m3fn", 25, 1, None)
float8_e4m3fnuz = DType("float8_e4m3fnuz", 26, 1, None)
float8_e4m3b11fnuz = DType("float8_e4m3b11fnuz", 27, 1, None)
float8_e5m2fnuz = DType("float8_e5m2fnuz", 28, 1, None)
int4 = DType("int4", 29, 1, None)
uint4 = DType("uint4", 30, 1, None)
int2 = DType("int2", 31, 1, None)
uint2 = DType("uint2", 32, 1, None)
half = float16
double = float64

ALL: tuple[DType, ...] = tuple(
    {value.name: value for value in list(globals().values()) if isinstance(value, DType)}.values()
)
_BY_NAME: dict[str, DType] = {d.name: d for d in ALL}
_BY_NAME |= {"half": float16, "float": float32, "double": float64}
_BY_NUMBER: dict[int, DType] = {d.as_datatype_enum: d for d in ALL}
_NUMERIC = {d for d in ALL if d._numpy is not None and d.name not in ("bool", "string")} | {
    bfloat16
}
# By NumPy dtype; ml_dtypes' own enter when first met. Read for every tensor a function makes.
_FROM_NUMPY: dict[Any, DType] = {np.dtype(d._numpy): d for d in ALL if d._numpy is not None}
_FROM_PYTHON: dict[Any, DType] = {float: float32, builtins.bool: bool, object: string}


def from_numpy(dtype: Any) -> DType:
    """The DType of a `numpy.dtype`; TypeError where TensorFlow has none.

    >>> from_numpy(np.dtype("int16"))
    tf.int16
    """
    found = _FROM_NUMPY.get(dtype)
    if found is not None:
        return found
    if dtype.kind in "SU":
        return string
    native = _FROM_NUMPY.get(dtype.newbyteorder("=")) if dtype.kind in "biufc" else None
    if native is not None:  # another name of the same layout (longlong), or the other byte order
        return native
    if dtype.kind in "iu" and dtype.name in _BY_NAME:
        return _BY_NAME[dtype.name]
    if dtype.type.__module__.startswith("ml_dtypes") and dtype.name in _BY_NAME:
        _FROM_NUMPY[dtype] = _BY_NAME[dtype.name]
        return _BY_NAME[dtype.name]
    raise TypeError(
        f"Cannot convert the argument `type_value`: {shown(dtype)} to a TensorFlow DType."
    )


def as_dtype(value: Any) -> DType:
    """The DType that a name, a NumPy type, a Python type or TensorFlow's number stands for.

    >>> as_dtype("half"), as_dtype(np.uint8), as_dtype(np.dtype("U3")), as_dtype(9)
    (tf.float16, tf.uint8, tf.string, tf.int64)
    """
    if isinstance(value, DType):
        return value
    found: DType | None = None
    if isinstance(value, str):
        found = _BY_NAME.get(value)
    elif isinstance(value, np.dtype):
        return from_numpy(value)
    elif isinstance(value, type):
        found = _FROM_PYTHON.get(value)
        if found is None and (
            issubclass(value, np.generic) or value.__module__.startswith("ml_dtypes")
        ):
            return from_numpy(np.dtype(value))
    elif isinstance(value, int):
        found = _BY_NUMBER.get(value)
    elif value is not None:
        # TensorFlow's own DType (by name), or an array (by its dtype).
        inner = getattr(value, "dtype", None)
        if isinstance(inner, (np.dtype, DType)):
            return as_dtype(inner)
        name = getattr(value, "name", None)
        found = _BY_NAME.get(name) if isinstance(name, str) else None
    if found is None:
        raise TypeError(
            f"Cannot convert the argument `type_value`: {shown(value)} to a TensorFlow DType."
        )
    return found
