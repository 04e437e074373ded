"""`tf.nn`: what is here of it."""

from spillway.native_ops import names as _names
from spillway.ops import _math
from spillway.ops._convolutions import (
    avg_pool,
    avg_pool2d,
    conv1d,
    conv2d,
    convolution,
    depthwise_conv2d,
    max_pool,
    max_pool2d,
    separable_conv2d,
)
from spillway.ops._layers import (
    batch_normalization,
    bias_add,
    dropout,
    embedding_lookup,
    leaky_relu,
    moments,
    sigmoid_cross_entropy_with_logits,
    silu,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
    swish,
)

l2_normalize, top_k = _math.l2_normalize, _math.top_k
for _name, _function in _names("nn").items():
    globals().setdefault(_name, _function)
__all__ = [
    "avg_pool",
    "avg_pool2d",
    "batch_normalization",
    "bias_add",
    "conv1d",
    "conv2d",
    "convolution",
    "depthwise_conv2d",
    "dropout",
    "embedding_lookup",
    "l2_normalize",
    "leaky_relu",
    "max_pool",
    "max_pool2d",
    "moments",
    "separable_conv2d",
    "sigmoid_cross_entropy_with_logits",
    "silu",
    "softmax_cross_entropy_with_logits",
    "sparse_softmax_cross_entropy_with_logits",
    "swish",
    "top_k",
]
__all__ += sorted({*_names("nn")} - {*__all__})
