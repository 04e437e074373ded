"""`tf.math`."""

from spillway.native_ops import functions as _functions
from spillway.native_ops import names as _names
from spillway.ops import _arrays, _math

_OWN = """
abs add add_n argmax argmin bincount count_nonzero divide divide_no_nan equal imag l2_normalize
logical_xor multiply not_equal reduce_logsumexp reduce_std reduce_variance top_k unique
"""
# By name: an import that only re-exports looks unused to the linter.
for _name in _OWN.split():
    if hasattr(_math, _name):
        globals()[_name] = getattr(_math, _name)
unique = _arrays.unique
truediv = _math.truediv
for _name, _function in _names("math").items():
    globals().setdefault(_name, _function)
floordiv = _functions["floordiv"]
is_nan, is_inf, is_finite = (_functions[name] for name in ("is_nan", "is_inf", "is_finite"))
__all__ = sorted({*_names("math"), *_OWN.split(), "truediv"})
