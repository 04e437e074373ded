"""NumPy's functions that the engine computes itself: `np.sin` and `np.cos` of float64.

NumPy calls the C library for each of their items, the engine takes a quarter of the time
(`graph/vector_math.h`, within a unit in the last place). The rule is the same whether a function
runs traced or as Python: asked of a tensor they are the engine's, asked of an array NumPy's. All
else that NumPy does with a tensor is NumPy's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .native_ops import call

_OWN = {np.sin: "sin", np.cos: "cos"}
_PLAIN = (np.ndarray, float, int, bool, complex)


def own(ufunc: Any, dtype: Any) -> str | None:
    """The op that stands for a ufunc whose result has this dtype, if one does."""
    return _OWN.get(ufunc) if dtype == np.float64 else None


def array_wrap(tensor: Any, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
    """`__array_wrap__` of tensors: what NumPy computed, or in its place what the engine does.

    Not `__array_ufunc__`: with that, `array + tensor` would be NumPy's and no longer the tensor's.
    """
    if context is not None:
        ufunc, inputs, _ = context
        if ufunc in _OWN:
            op = own(ufunc, array.dtype)
            if op is not None:
                wide = tensor._dtype_name == "float64"
                array[...] = call(op, tensor if wide else call("cast", tensor, "float64"))._view()
        elif ufunc.nin > 1:
            for other in inputs:  # another kind of array's word counts, as if the tensor had none
                if type(other) not in _PLAIN and other is not tensor and _wraps(other, tensor):
                    return other.__array_wrap__(array)
    return array[()] if return_scalar else array


def _wraps(other: Any, tensor: Any) -> bool:
    return hasattr(other, "__array_wrap__") and not isinstance(other, (np.generic, type(tensor)))
