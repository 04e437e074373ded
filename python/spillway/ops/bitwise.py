"""`tf.bitwise`: bits of integers."""

from spillway.native_ops import names

for _name, _function in names("bitwise").items():
    globals().setdefault(_name, _function)
