"""`tf.linalg`: what is here of it."""

from spillway.ops._constants import eye
from spillway.ops._math import l2_normalize, matmul, norm

__all__ = ["eye", "l2_normalize", "matmul", "norm"]
