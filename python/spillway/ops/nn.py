"""`tf.nn`: what is here of it."""

from spillway.native_ops import names as _names
from spillway.ops import _math

l2_normalize, top_k = _math.l2_normalize, _math.top_k
for _name, _function in _names("nn").items():
    globals().setdefault(_name, _function)
__all__ = sorted({*_names("nn"), "l2_normalize", "top_k"})
