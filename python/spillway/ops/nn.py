"""`tf.nn`: what is here of it."""

from spillway.native_ops import names as _names

for _name, _function in _names("nn").items():
    globals().setdefault(_name, _function)
__all__ = sorted({*_names("nn"), "l2_normalize", "top_k"})
