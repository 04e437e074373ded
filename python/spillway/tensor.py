# ruff: noqa: D102, D105, D107  (magic methods do what Python says)
"""The tensor that user functions receive.

>>> x = convert_to_tensor([1, 2, 3])
>>> x * 2 + 1
Tensor([3 5 7], shape=(3,), dtype=int32)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native
from . import tensor_ops as ops
from .dtypes import DType, as_dtype
from .numpy_functions import array_wrap
from .shapes import TensorShape
from .subscripts import subscript
from .tensor_convert import to_tensor

_DTYPES: dict[str, DType] = {}


class Tensor(_native.Tensor):
    """A value, or what computes it: evaluated when somebody asks for it.

    Operators never promote dtypes: Python numbers take the tensor's, other tensors must have it.
    NumPy functions see an array and give arrays; `np.sin` and `np.cos` in float64 are the engine's.

    >>> x = Tensor(np.array([1, 2, 3]))
    >>> x.dtype, x.shape, x[1:].numpy(), np.sqrt(x[:1])
    (tf.int64, TensorShape([3]), array([2, 3]), array([1.]))
    >>> x + 1.5  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    spillway.errors.InvalidArgumentError[TypeError]: cannot convert float to int64: 1.5
    """

    __slots__ = ()
    # ndarray op Tensor: NumPy lets our reflected operator decide, as it does for TensorFlow.
    __array_priority__ = 100
    _numpy = False  # whether it stands for a NumPy array, inside a trace

    if TYPE_CHECKING:  # what the native half has
        _dtype_name: str
        _dims: Any
        _symbolic: bool
        _known: bool
        _serial: int
        _output: int
        _line: str
        _scalar: Any
        _view: Any

    def __new__(cls, array: Any) -> Tensor:
        made: Any = _native.constant(np.asarray(array), True)
        return made  # type: ignore[no-any-return]

    def __init__(self, array: Any) -> None:
        pass

    def numpy(self) -> Any:
        """The value: a NumPy scalar or `bytes` for rank 0, else an array of its own.

        >>> Tensor(np.array(3)).numpy()
        np.int64(3)
        """
        value = self._scalar()
        return value.copy() if isinstance(value, np.ndarray) else value

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        name = self._dtype_name
        found = _DTYPES.get(name)
        if found is None:
            found = _DTYPES[name] = as_dtype(name)
        return found

    @property
    def shape(self) -> Any:
        """The length of each dimension; None where it is not known yet."""
        return TensorShape(self._dims)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._dims)

    def get_shape(self) -> Any:
        """The same as ``shape``."""
        return self.shape

    @property
    def op(self) -> Any:
        """What makes it in its graph; AttributeError for a tensor that was made eagerly."""
        from .sessions.graph import operation_of

        return operation_of(self)

    @property
    def name(self) -> str:
        """Its name in its graph; AttributeError for a tensor that was made eagerly."""
        operation = self.op
        at = next((i for i, x in enumerate(operation.outputs) if x._serial == self._serial), 0)
        return f"{operation.name}:{self._output or at}"

    @property
    def graph(self) -> Any:
        """The graph it was written into."""
        from .sessions.graph import owner_of

        found = owner_of(self)
        if found is None:
            raise AttributeError("Tensor.graph is undefined when eager execution is enabled.")
        return found

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Its value in a session, or the default one; as an array."""
        from .sessions.session import evaluated

        return evaluated(self, feed_dict, session)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        array: np.ndarray[Any, Any] = self._view()  # read-only: np.asarray(x) never changes x
        if copy or (dtype is not None and array.dtype != dtype):
            if copy is False:
                raise ValueError(f"a copy is needed to convert {self.dtype} to {dtype}")
            return array.astype(array.dtype if dtype is None else dtype)
        return array

    __array_wrap__ = array_wrap

    def __len__(self) -> int:
        dims = self._dims
        if not dims:
            raise TypeError("Scalar tensor has no `len()`")
        return int(dims[0])

    def __iter__(self) -> Iterator[Tensor]:
        if not self._dims:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> Tensor:
        found: Tensor = subscript(self, key)
        return found

    def __bool__(self) -> bool:
        return bool(self.numpy())

    def __int__(self) -> int:
        return int(self.numpy())

    def __float__(self) -> float:
        return float(self.numpy())

    def __complex__(self) -> complex:
        return complex(self.numpy())

    def __index__(self) -> int:
        if "int" not in self._dtype_name:
            raise TypeError(f"only integer scalar tensors can be an index: {self!r}")
        return int(self.numpy().__index__())

    def __hash__(self) -> int:
        from .modes import graph

        if graph() is not None:  # where it may be what a session is fed
            return id(self)
        raise TypeError("Tensor is unhashable: use its value as the key, x.numpy() of a scalar")

    def __format__(self, spec: str) -> str:
        return format(self.numpy(), spec)

    def __repr__(self) -> str:
        value = str(self.numpy())
        lead = "\n" if "\n" in value else ""
        return f"Tensor({lead}{value}, shape={self.shape}, dtype={self.dtype.name})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Tensor, (self.numpy(),)

    def __neg__(self) -> Any:
        return ops.unary("negative", self)

    def __abs__(self) -> Any:
        return ops.unary("abs", self)

    def __invert__(self) -> Any:
        return ops.unary("bitwise_invert", self)

    def __add__(self, other: Any) -> Any:
        return ops.binary("+", "add", self, other)

    def __radd__(self, other: Any) -> Any:
        return ops.binary("+", "add", self, other, True)

    def __sub__(self, other: Any) -> Any:
        return ops.binary("-", "subtract", self, other)

    def __rsub__(self, other: Any) -> Any:
        return ops.binary("-", "subtract", self, other, True)

    def __mul__(self, other: Any) -> Any:
        return ops.binary("*", "multiply", self, other)

    def __rmul__(self, other: Any) -> Any:
        return ops.binary("*", "multiply", self, other, True)

    def __truediv__(self, other: Any) -> Any:
        return ops.divide(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return ops.divide(self, other, True)

    def __floordiv__(self, other: Any) -> Any:
        return ops.binary("//", "floordiv", self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return ops.binary("//", "floordiv", self, other, True)

    def __mod__(self, other: Any) -> Any:
        return ops.binary("%", "floormod", self, other)

    def __rmod__(self, other: Any) -> Any:
        return ops.binary("%", "floormod", self, other, True)

    def __pow__(self, other: Any) -> Any:
        return ops.binary("**", "pow", self, other)

    def __rpow__(self, other: Any) -> Any:
        return ops.binary("**", "pow", self, other, True)

    def __matmul__(self, other: Any) -> Any:
        return ops.binary("@", "matmul", self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return ops.binary("@", "matmul", self, other, True)

    def __and__(self, other: Any) -> Any:
        return ops.binary("&", "bitwise_and", self, other)

    def __rand__(self, other: Any) -> Any:
        return ops.binary("&", "bitwise_and", self, other, True)

    def __or__(self, other: Any) -> Any:
        return ops.binary("|", "bitwise_or", self, other)

    def __ror__(self, other: Any) -> Any:
        return ops.binary("|", "bitwise_or", self, other, True)

    def __xor__(self, other: Any) -> Any:
        return ops.binary("^", "bitwise_xor", self, other)

    def __rxor__(self, other: Any) -> Any:
        return ops.binary("^", "bitwise_xor", self, other, True)

    def __lt__(self, other: Any) -> Any:
        return ops.binary("<", "less", self, other)

    def __le__(self, other: Any) -> Any:
        return ops.binary("<=", "less_equal", self, other)

    def __gt__(self, other: Any) -> Any:
        return ops.binary(">", "greater", self, other)

    def __ge__(self, other: Any) -> Any:
        return ops.binary(">=", "greater_equal", self, other)

    def __eq__(self, other: object) -> Any:
        return False if other is None else ops.equal(self, other, False)

    def __ne__(self, other: object) -> Any:
        return True if other is None else ops.equal(self, other, True)


# Where both sides are known and of one dtype, without a Python frame in between.
_native.install_operators(Tensor)


def convert_to_tensor(value: Any, dtype: Any = None) -> Tensor:
    """A tensor of a Python or NumPy value, with TensorFlow's defaults.

    Integers become int32 (int64 when too large), floats float32, str and bytes string; arrays keep
    their dtype.

    >>> convert_to_tensor(7), convert_to_tensor([1.5, 2]), convert_to_tensor("é")
    (Tensor(7, shape=(), dtype=int32), Tensor([1.5 2. ], shape=(2,), dtype=float32), \
Tensor(b'\\xc3\\xa9', shape=(), dtype=string))
    >>> convert_to_tensor(np.zeros(2), "float32").dtype
    tf.float32
    """
    made: Tensor = to_tensor(value, None if dtype is None else as_dtype(dtype).name)
    return made
