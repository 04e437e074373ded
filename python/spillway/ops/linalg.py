"""`tf.linalg`."""

from __future__ import annotations

from typing import Any

from spillway import _native
from spillway.native_ops import call
from spillway.native_ops import names as _names
from spillway.opaque import note
from spillway.ops._arrays import pad
from spillway.ops._constants import eye
from spillway.ops._math import l2_normalize, matmul, norm
from spillway.shapes import TensorShape
from spillway.tensor_convert import refuse, to_tensor

for _name, _function in _names("linalg").items():
    globals().setdefault(_name, _function)


def diag(diagonal: Any, name: Any = "diag", k: int = 0) -> Any:
    """Matrices with the last axis on their k-th diagonal, zero elsewhere.

    >>> diag([1, 2], k=1)
    Tensor(
    [[0 1 0]
     [0 0 2]
     [0 0 0]], shape=(3, 3), dtype=int32)
    """
    made = call("diag", to_tensor(diagonal))
    if k == 0:
        return made
    if made.shape.rank is None:
        note("needs the rank of a tensor")
        return _native.parameter(made.dtype.name, made.shape)
    below, above = max(-k, 0), max(k, 0)
    around = [[0, 0]] * (made.shape.rank - 2) + [[below, above], [above, below]]
    return pad(made, around)


def diag_part(input: Any, name: Any = "diag_part", k: int = 0) -> Any:
    """The k-th diagonal of matrices.

    >>> diag_part([[1, 2], [3, 4]], k=1)
    Tensor([2], shape=(1,), dtype=int32)
    """
    x = to_tensor(input)
    if k != 0 and x.shape.rank not in (0, 1):
        rows, columns = (None, None) if x.shape.rank is None else x.shape.as_list()[-2:]
        if (columns is not None and k >= columns) or (rows is not None and -k >= rows):
            refuse("ValueError", f"the diagonal must lie in the matrix: k={k} in {x.shape}")
        if rows is None or columns is None:
            note("needs the size of a matrix")
            return _native.parameter(x.dtype.name, TensorShape(None))
        x = x[..., max(-k, 0) :, max(k, 0) :]
    return call("diag_part", x)


__all__ = sorted({*_names("linalg"), "diag", "diag_part", "eye", "l2_normalize", "matmul", "norm"})
