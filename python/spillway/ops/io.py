"""`tf.io`: what is here of its ops on tensors."""

from spillway.native_ops import names as _names

for _name, _function in _names("io").items():
    globals().setdefault(_name, _function)
__all__ = sorted(_names("io"))
