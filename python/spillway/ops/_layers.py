"""What layers of networks are made of beside convolutions: biases, normalisation, losses."""

from __future__ import annotations

from typing import Any

from spillway.native_ops import call
from spillway.ops._arrays import gather
from spillway.ops._constants import cast
from spillway.ops._math import both
from spillway.ops._windows import channels_first, channels_last, is_channels_first
from spillway.ops.random import uniform
from spillway.shown import shown
from spillway.tensor_convert import integer, integers, is_tensor, refuse, to_tensor

_SMALL = ("float16", "bfloat16")


def bias_add(value: Any, bias: Any, data_format: Any = None, name: Any = None) -> Any:
    """A number for each channel, added.

    >>> bias_add([[1.0, 2.0]], [10.0, 20.0])
    Tensor([[11. 22.]], shape=(1, 2), dtype=float32)
    """
    value, bias = both(value, bias)
    if data_format is not None and not isinstance(data_format, str):
        refuse("TypeError", f"data_format must be text, found {shown(data_format)}")
    if data_format is None or not data_format.startswith("NC"):
        return call("bias_add", value, bias)
    rank = value.shape.rank
    if rank is None or rank < 2:
        refuse("ValueError", f"bias_add: {data_format} needs a known rank of at least 2: {rank}")
    back = [0, rank - 1, *range(1, rank - 1)]
    last = call("transpose", value, [0, *range(2, rank), 1], False)
    return call("transpose", call("bias_add", last, bias), back, False)


def leaky_relu(features: Any, alpha: Any = 0.2, name: Any = None) -> Any:
    """x, and alpha * x where that is not positive.

    >>> leaky_relu([-1.0, 1.0], 0.5)
    Tensor([-0.5  1. ], shape=(2,), dtype=float32)
    """
    x = to_tensor(features)
    x = cast(x, "float32") if x.dtype.is_integer else x
    return call("leaky_relu", x, float(alpha))


def silu(features: Any, beta: Any = 1.0) -> Any:
    """x * sigmoid(beta * x).

    >>> silu([0.0, 20.0])
    Tensor([ 0. 20.], shape=(2,), dtype=float32)
    """
    x = to_tensor(features)
    if not is_tensor(beta) and beta == 1:
        return call("silu", x)
    beta = cast(beta, x.dtype) if is_tensor(beta) else to_tensor(beta, x._dtype_name)
    return call("multiply", x, call("sigmoid", call("multiply", beta, x)))


swish = silu


def moments(x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: Any = None) -> Any:
    """Mean and variance over axes.

    >>> [part.numpy().tolist() for part in moments([[1.0, 3.0], [5.0, 9.0]], [0])]
    [[3.0, 6.0], [4.0, 9.0]]
    """
    x = to_tensor(x)
    small = x._dtype_name in _SMALL
    wide = cast(x, "float32") if small else x
    made = (
        call("reduce_mean", wide, axes, keepdims),
        call("reduce_variance", wide, axes, keepdims),
    )
    return tuple(cast(part, x.dtype) for part in made) if small else made


def batch_normalization(
    x: Any,
    mean: Any,
    variance: Any,
    offset: Any,
    scale: Any,
    variance_epsilon: Any,
    name: Any = None,
) -> Any:
    """(x - mean) / sqrt(variance + epsilon) * scale + offset; scale and offset may be None.

    >>> batch_normalization([[1.0, 3.0]], [1.0, 1.0], [4.0, 4.0], None, None, 0.0)
    Tensor([[0. 1.]], shape=(1, 2), dtype=float32)
    """
    x = to_tensor(x)
    variance = to_tensor(variance)
    kind = variance._dtype_name
    mean = to_tensor(mean, None if is_tensor(mean) else kind)
    by = call("rsqrt", call("add", variance, to_tensor(variance_epsilon, kind)))
    if scale is not None:
        by = call("multiply", by, to_tensor(scale, None if is_tensor(scale) else kind))
    shift = call("multiply", mean, by)
    if offset is None:
        shift = call("negative", shift)
    else:
        shift = call("subtract", to_tensor(offset, None if is_tensor(offset) else kind), shift)
    return call("add", call("multiply", x, cast(by, x.dtype)), cast(shift, x.dtype))


def fused_batch_norm(
    x: Any,
    scale: Any,
    offset: Any,
    mean: Any = None,
    variance: Any = None,
    epsilon: float = 0.001,
    data_format: Any = "NHWC",
    is_training: bool = True,
    name: Any = None,
    exponential_avg_factor: float = 1.0,
) -> Any:
    """Images normalised channel by channel, and mean and variance: given ones, or the batch's.

    >>> fused_batch_norm([[[[1.0]], [[3.0]]]], [1.0], [0.0], epsilon=0.0)[0].numpy().ravel()
    array([-1.,  1.], dtype=float32)
    """
    first = is_channels_first(data_format)
    x = channels_last(x) if first else to_tensor(x)
    if is_training:
        if exponential_avg_factor != 1.0:
            refuse("ValueError", "fused_batch_norm: only exponential_avg_factor=1.0 is here")
        wide = cast(x, "float32") if x._dtype_name in _SMALL else x
        mean, variance = moments(wide, [0, 1, 2])
        count = cast(call("reduce_prod", call("shape", x, "int32")[:3], None, False), wide.dtype)
        less = call("maximum", count - 1.0, to_tensor(1, wide._dtype_name))
        told = (mean, variance * (count / less))
    elif mean is None or variance is None:
        refuse("ValueError", "fused_batch_norm: is_training=False needs mean and variance")
    else:
        mean, variance = to_tensor(mean), to_tensor(variance)
        told = (mean, variance)
    by = to_tensor(scale) * call("rsqrt", variance + epsilon)
    shift = to_tensor(offset) - mean * by
    y = x * cast(by, x.dtype) + cast(shift, x.dtype)
    return (channels_first(y) if first else y, *told)


def layer_normalization(
    x: Any, gamma: Any = None, beta: Any = None, axis: Any = -1, epsilon: Any = None
) -> Any:
    """Each element with mean 0 and variance 1 over `axis`, times gamma, plus beta.

    >>> layer_normalization([[1.0, 3.0]], epsilon=0.0)
    Tensor([[-1.  1.]], shape=(1, 2), dtype=float32)
    """
    x = to_tensor(x)
    rank = x.shape.rank
    if rank is None:
        refuse("ValueError", "layer_normalization needs a known rank")
    axes = sorted((a + rank) % rank for a in integers(axis))

    def aligned(value: Any) -> Any:
        value = to_tensor(value, None if is_tensor(value) else x._dtype_name)
        if axes[-1] == rank - 1 and value.shape.rank in (len(axes), rank):
            return value
        if value.shape.rank != 1 or len(axes) != 1:
            refuse("ShapeError", f"gamma and beta must have the {len(axes)} axes {axes}")
        return call("reshape", value, [1] * axes[0] + [-1] + [1] * (rank - 1 - axes[0]))

    mean, variance = moments(x, axes, keepdims=True)
    scale = None if gamma is None else aligned(gamma)
    offset = None if beta is None else aligned(beta)
    return batch_normalization(
        x, mean, variance, offset, scale, 1e-7 if epsilon is None else epsilon
    )


def sparse_softmax_cross_entropy_with_logits(labels: Any, logits: Any, name: Any = None) -> Any:
    """-log of the probability that the logits give each label: an integer for each row.

    >>> sparse_softmax_cross_entropy_with_logits([1], [[0.0, 0.0]])
    Tensor([0.6931472], shape=(1,), dtype=float32)
    """
    labels, logits = to_tensor(labels), to_tensor(logits)
    ranks = (labels.shape.rank, logits.shape.rank)
    if None not in ranks and ranks[1] != ranks[0] + 1:
        refuse(
            "ValueError",
            "`labels.shape.rank` must equal `logits.shape.rank - 1`. Received: "
            f"labels.shape={labels.shape} and logits.shape={logits.shape}",
        )
    rows = call("log_softmax", logits, -1)
    if ranks[0] != 1:
        rows = call("reshape", rows, [-1, call("shape", logits, "int32")[-1]])
    told = gather(rows, call("reshape", labels, [-1]), axis=1, batch_dims=1)
    return call("reshape", call("negative", told), call("shape", labels, "int32"))


def softmax_cross_entropy_with_logits(
    labels: Any, logits: Any, axis: int = -1, name: Any = None
) -> Any:
    """-sum of labels times the logarithms of the probabilities that the logits give.

    >>> softmax_cross_entropy_with_logits([[0.5, 0.5]], [[0.0, 0.0]])
    Tensor([0.6931472], shape=(1,), dtype=float32)
    """
    logits = to_tensor(logits)
    labels = cast(labels, logits.dtype)
    axis = integer(axis, "axis")
    told = call("multiply", labels, call("log_softmax", logits, axis))
    return call("negative", call("reduce_sum", told, [axis], False))


def sigmoid_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None, name: Any = None
) -> Any:
    """max(x, 0) - x * label + log(1 + exp(-|x|)), item by item.

    >>> sigmoid_cross_entropy_with_logits([1.0], [0.0])
    Tensor([0.6931472], shape=(1,), dtype=float32)
    """
    labels, logits = both(labels, logits)
    if not labels.shape.is_compatible_with(logits.shape):
        text = f"must have the same shape, received {labels.shape} and {logits.shape}"
        refuse("ValueError", f"`logits` and `labels` {text}", labels, logits)
    low = call("softplus", call("negative", call("abs", logits)))
    return call("relu", logits) - logits * labels + low


def embedding_lookup(params: Any, ids: Any, max_norm: Any = None, name: Any = None) -> Any:
    """Rows of a table; with max_norm, longer ones made that long.

    >>> embedding_lookup([[1.0, 2.0], [3.0, 4.0]], [1, 0]).numpy().tolist()
    [[3.0, 4.0], [1.0, 2.0]]
    """
    if isinstance(params, (list, tuple)) and len(params) == 1 and is_tensor(params[0]):
        params = params[0]
    rows = gather(params, ids)
    if max_norm is None:
        return rows
    ids = to_tensor(ids)
    rank = rows.shape.rank
    if rank is None or ids.shape.rank is None:
        refuse("ValueError", "embedding_lookup: max_norm needs known ranks")
    axes = list(range(ids.shape.rank, rank))
    most = to_tensor(max_norm, rows._dtype_name)
    length = call("sqrt", call("reduce_sum", call("square", rows), axes, True))
    return rows * most / call("maximum", length, most)


def dropout(x: Any, rate: Any, noise_shape: Any = None, seed: Any = None, name: Any = None) -> Any:
    """Each item 0 with probability `rate`, else divided by 1 - rate.

    >>> dropout([1.0, 2.0], 0.0)
    Tensor([1. 2.], shape=(2,), dtype=float32)
    """
    x = to_tensor(x)
    if not x.dtype.is_floating:
        refuse("ValueError", f"`x.dtype` must be a floating point dtype. Received: {x.dtype}")
    if not is_tensor(rate) and not 0 <= rate < 1:
        refuse("ValueError", f"`rate` must be a scalar in the range [0, 1). Received: {rate}")
    if not is_tensor(rate) and rate == 0:
        return x
    rate = cast(rate, x.dtype) if is_tensor(rate) else to_tensor(rate, x._dtype_name)
    shape = call("shape", x, "int32") if noise_shape is None else noise_shape
    kept = call("greater_equal", uniform(shape, 0, None, x.dtype, seed), rate)
    scaled = x / (to_tensor(1, x._dtype_name) - rate)
    return call("select", kept, scaled, to_tensor(0, x._dtype_name))
