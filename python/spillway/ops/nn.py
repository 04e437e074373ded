"""`tf.nn`: what is here of it."""

from spillway.native_ops import names as _names
from spillway.ops._math import l2_normalize, top_k

globals().update(_names("nn"))
__all__ = sorted({*_names("nn"), "l2_normalize", "top_k"})
