# ruff: noqa: D105, D107  (magic methods do what Python says)
"""The tensor that user functions receive.

>>> x = convert_to_tensor([1, 2, 3])
>>> x * 2 + 1
Tensor([3 5 7], shape=(3,), dtype=int32)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import tensor_ops as ops
from .dtypes import DType, as_dtype, from_numpy
from .errors import ShapeError
from .tensor_convert import Holder, refuse, to_array


class Tensor(Holder):
    """A value that is known: one NumPy array with TensorFlow's operators.

    Operators never promote dtypes: Python numbers take the tensor's, other tensors must have it.
    NumPy functions see an array and give arrays.

    >>> x = Tensor(np.array([1, 2, 3]))
    >>> x.dtype, x.shape, x[1:].numpy(), np.sqrt(x[:1])
    (spillway.int64, (3,), array([2, 3]), array([1.]))
    >>> x + 1.5
    Traceback (most recent call last):
    spillway.errors.InvalidArgumentError[TypeError]: a float cannot become int64: 1.5
    """

    __slots__ = ()
    # ndarray op Tensor: NumPy lets our reflected operator decide, as it does for TensorFlow.
    __array_priority__ = 100

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self._array = array

    def numpy(self) -> Any:
        """The value: a NumPy scalar or `bytes` for rank 0, else an array of its own.

        >>> Tensor(np.array(3)).numpy()
        np.int64(3)
        """
        array = self._array
        return array.copy() if array.ndim else array[()]

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return from_numpy(self._array.dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each dimension."""
        shape: tuple[int, ...] = self._array.shape
        return shape

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._array.ndim

    def get_shape(self) -> tuple[int, ...]:
        """The same as ``shape``."""
        return self.shape

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        array = self._array
        if copy or (dtype is not None and array.dtype != dtype):
            if copy is False:
                raise ValueError(f"a copy is needed to convert {self.dtype} to {dtype}")
            return array.astype(array.dtype if dtype is None else dtype)
        if array.flags.writeable:  # shared: np.asarray(x) must not be a way to change x
            array = array.view()
            array.flags.writeable = False
        return array

    def __len__(self) -> int:
        if not self._array.ndim:
            raise TypeError("Scalar tensor has no `len()`")
        return len(self._array)

    def __iter__(self) -> Iterator[Tensor]:
        if not self._array.ndim:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (Tensor(np.asarray(item, self._array.dtype)) for item in self._array)

    def __getitem__(self, key: Any) -> Tensor:
        mask = _mask(key)
        if mask is not None:
            return Tensor(_masked(self._array, mask))
        if isinstance(key, (tuple, list)):
            index = tuple([_index(part) for part in key])
        else:
            index = (_index(key),)
        try:
            found = self._array[index]
        except IndexError as e:
            raise ShapeError(
                f"Tensor[...]: the index must be within the shape: {e}: index {key!r}, "
                f"shape {self.shape}"
            ) from None
        if not isinstance(found, np.ndarray):
            found = np.asarray(found, self._array.dtype)
        return Tensor(found)

    def __bool__(self) -> bool:
        return bool(self.numpy())

    def __int__(self) -> int:
        return int(self.numpy())

    def __float__(self) -> float:
        return float(self.numpy())

    def __complex__(self) -> complex:
        return complex(self.numpy())

    def __index__(self) -> int:
        if self._array.dtype.kind not in "iu":
            raise TypeError(f"only integer scalar tensors can be an index: {self!r}")
        return self._array.__index__()

    def __hash__(self) -> int:
        raise TypeError("Tensor is unhashable: use its value as the key, x.numpy() of a scalar")

    def __format__(self, spec: str) -> str:
        return format(self.numpy(), spec)

    def __repr__(self) -> str:
        value = str(self.numpy())
        lead = "\n" if "\n" in value else ""
        return f"Tensor({lead}{value}, shape={self.shape}, dtype={self.dtype.name})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Tensor, (self._array,)

    def __neg__(self) -> Tensor:
        return Tensor(ops.unary("-", self._array))

    def __abs__(self) -> Tensor:
        return Tensor(ops.unary("abs", self._array))

    def __invert__(self) -> Tensor:
        return Tensor(ops.unary("~", self._array))

    def __add__(self, other: Any) -> Tensor:
        return _wrap(ops.binary("+", self._array, other))

    def __radd__(self, other: Any) -> Tensor:
        return _wrap(ops.binary("+", self._array, other, True))

    def __sub__(self, other: Any) -> Tensor:
        return _wrap(ops.binary("-", self._array, other))

    def __rsub__(self, other: Any) -> Tensor:
        return _wrap(ops.binary("-", self._array, other, True))

    def __mul__(self, other: Any) -> Tensor:
        return _wrap(ops.binary("*", self._array, other))

    def __rmul__(self, other: Any) -> Tensor:
        return _wrap(ops.binary("*", self._array, other, True))

    def __truediv__(self, other: Any) -> Tensor:
        return _wrap(ops.binary("/", self._array, other))

    def __rtruediv__(self, other: Any) -> Tensor:
        return _wrap(ops.binary("/", self._array, other, True))

    def __floordiv__(self, other: Any) -> Tensor:
        return _wrap(ops.binary("//", self._array, other))

    def __rfloordiv__(self, other: Any) -> Tensor:
        return _wrap(ops.binary("//", self._array, other, True))

    def __mod__(self, other: Any) -> Tensor:
        return _wrap(ops.binary("%", self._array, other))

    def __rmod__(self, other: Any) -> Tensor:
        return _wrap(ops.binary("%", self._array, other, True))

    def __pow__(self, other: Any) -> Tensor:
        return _wrap(ops.binary("**", self._array, other))

    def __rpow__(self, other: Any) -> Tensor:
        return _wrap(ops.binary("**", self._array, other, True))

    def __matmul__(self, other: Any) -> Tensor:
        return _wrap(ops.binary("@", self._array, other))

    def __rmatmul__(self, other: Any) -> Tensor:
        return _wrap(ops.binary("@", self._array, other, True))

    def __and__(self, other: Any) -> Tensor:
        return _wrap(ops.binary("&", self._array, other))

    def __rand__(self, other: Any) -> Tensor:
        return _wrap(ops.binary("&", self._array, other, True))

    def __or__(self, other: Any) -> Tensor:
        return _wrap(ops.binary("|", self._array, other))

    def __ror__(self, other: Any) -> Tensor:
        return _wrap(ops.binary("|", self._array, other, True))

    def __xor__(self, other: Any) -> Tensor:
        return _wrap(ops.binary("^", self._array, other))

    def __rxor__(self, other: Any) -> Tensor:
        return _wrap(ops.binary("^", self._array, other, True))

    def __lt__(self, other: Any) -> Tensor:
        return _wrap(ops.binary("<", self._array, other))

    def __le__(self, other: Any) -> Tensor:
        return _wrap(ops.binary("<=", self._array, other))

    def __gt__(self, other: Any) -> Tensor:
        return _wrap(ops.binary(">", self._array, other))

    def __ge__(self, other: Any) -> Tensor:
        return _wrap(ops.binary(">=", self._array, other))

    def __eq__(self, other: object) -> Any:
        return False if other is None else _wrap(ops.equal(self._array, other, False))

    def __ne__(self, other: object) -> Any:
        return True if other is None else _wrap(ops.equal(self._array, other, True))


def _wrap(array: Any) -> Tensor:
    wrapped: Tensor = array if array is NotImplemented else Tensor(array)
    return wrapped


def _mask(key: Any) -> np.ndarray[Any, Any] | None:
    array = key._array if isinstance(key, Holder) else key
    if isinstance(array, (np.ndarray, np.bool_, bool)):
        array = np.asarray(array)
        if array.dtype == np.bool_:
            return array
    return None


def _masked(array: np.ndarray[Any, Any], mask: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if not mask.ndim:
        refuse("ValueError", "Tensor[mask]: the mask must not be a scalar")
    if mask.shape != array.shape[: mask.ndim]:
        raise ShapeError(
            f"Tensor[mask]: the mask's shape must begin the tensor's: {mask.shape}, {array.shape}"
        )
    found: np.ndarray[Any, Any] = array[mask]
    return found


def _index(part: Any) -> Any:
    """One part of a subscript as NumPy takes it; TypeError for what TensorFlow refuses."""
    if part is None or part is Ellipsis or type(part) is int:
        return part
    if isinstance(part, slice):
        return slice(_bound(part.start), _bound(part.stop), _bound(part.step))
    return _bound(part)


def _bound(value: Any) -> int | None:
    if value is None or type(value) is int:
        return value
    array = value._array if isinstance(value, Holder) else value
    if isinstance(array, (np.ndarray, np.integer)) and array.ndim == 0 and array.dtype.kind in "iu":
        narrow = isinstance(value, Holder) and array.dtype not in (np.int32, np.int64)
        if not narrow:
            return int(array)
    return refuse(
        "TypeError",
        "Only integers, slices (`:`), ellipsis (`...`), newaxis (`None`) and scalar int32/int64 "
        f"tensors are valid indices, got {value!r}",
    )


def convert_to_tensor(value: Any, dtype: Any = None) -> Tensor:
    """A tensor of a Python or NumPy value, with TensorFlow's defaults.

    Integers become int32 (int64 when too large), floats float32, str and bytes string; arrays keep
    their dtype.

    >>> convert_to_tensor(7), convert_to_tensor([1.5, 2]), convert_to_tensor("é")
    (Tensor(7, shape=(), dtype=int32), Tensor([1.5 2. ], shape=(2,), dtype=float32), \
Tensor(b'\\xc3\\xa9', shape=(), dtype=string))
    >>> convert_to_tensor(np.zeros(2), "float32").dtype
    spillway.float32
    """
    if isinstance(value, Tensor) and dtype is None:
        return value
    return Tensor(to_array(value, None if dtype is None else as_dtype(dtype)))
