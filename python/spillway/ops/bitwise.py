"""`tf.bitwise`: bits of integers."""

from spillway.native_ops import names

globals().update(names("bitwise"))
