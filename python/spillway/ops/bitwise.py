"""`tf.bitwise`: bits of integers."""

from spillway.native_ops import names as _names

for _name, _function in _names("bitwise").items():
    globals().setdefault(_name, _function)
__all__ = sorted(_names("bitwise"))
