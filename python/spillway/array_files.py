"""Arrays in .npy files that need not fit into memory.

>>> import os, tempfile
>>> import numpy as np
>>> import spillway as sw
>>> folder = tempfile.TemporaryDirectory()
>>> path = os.path.join(folder.name, "squares.npy")
>>> sw.save_npy(path, sw.Tensor(np.arange(5)) ** 2)
>>> sw.load_npy(path)
Tensor([ 0  1  4  9 16], shape=(5,), dtype=int64)
"""

from __future__ import annotations

import os
from typing import Any

from . import _native
from .tensor_convert import to_tensor


def save_npy(path: str | os.PathLike[str], tensor: Any) -> None:
    """Write the value of an expression to an .npy file, some rows at a time.

    Neither the value nor what it is computed from has to fit under the memory limit: rows are
    made, written and let go. The file gets its name when it is whole; until then, and if anything
    fails, nothing of that name is touched.

    >>> import tempfile
    >>> import numpy as np
    >>> import spillway.tf as tf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_npy(f"{folder}/ones.npy", tf.ones([2, 3]) + 1)
    ...     np.load(f"{folder}/ones.npy")
    array([[2., 2., 2.],
           [2., 2., 2.]], dtype=float32)
    """
    _native.save_npy(to_tensor(tensor), os.fspath(path))


def load_npy(path: str | os.PathLike[str]) -> Any:
    """Return an .npy file's array as a tensor whose items stay in the file until they are needed.

    Where rows are enough, as in a sum or a product of matrices, only rows are read. The file is
    never mapped: one that changes later is an error (DATA_LOSS), not a crash.

    >>> import tempfile
    >>> import numpy as np
    >>> import spillway.tf as tf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/a.npy", np.eye(3))
    ...     float(tf.reduce_sum(load_npy(f"{folder}/a.npy")))
    3.0
    """
    return _native.load_npy(os.fspath(path))
