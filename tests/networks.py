"""Networks with random weights, for either engine's `tf`: what tests and measurements run."""

from __future__ import annotations

from typing import Any

import numpy as np

Weights = dict[str, Any]

# ResNet-18: channels and first stride of its four stages, two blocks each.
_STAGES = ((64, 1), (128, 2), (256, 2), (512, 2))


def _normalised(rng: np.random.Generator, weights: Weights, name: str, channels: int) -> None:
    weights[f"{name}/mean"] = rng.normal(0, 0.1, channels).astype(np.float32)
    weights[f"{name}/variance"] = rng.uniform(0.5, 1.5, channels).astype(np.float32)
    weights[f"{name}/scale"] = rng.uniform(0.5, 1.0, channels).astype(np.float32)
    weights[f"{name}/offset"] = rng.normal(0, 0.1, channels).astype(np.float32)


def _kernel(rng: np.random.Generator, weights: Weights, name: str, shape: tuple[int, ...]) -> None:
    spread = float(np.sqrt(2 / np.prod(shape[:-1])))
    weights[name] = rng.normal(0, spread, shape).astype(np.float32)
    _normalised(rng, weights, name, shape[-1])


def resnet18_weights(seed: int = 0, classes: int = 1000) -> Weights:
    """NumPy arrays by name: kernels, and what normalises behind each."""
    rng = np.random.default_rng(seed)
    weights: Weights = {}
    _kernel(rng, weights, "first", (7, 7, 3, 64))
    channels = 64
    for stage, (width, stride) in enumerate(_STAGES):
        for block in range(2):
            name = f"{stage}/{block}"
            _kernel(rng, weights, f"{name}/a", (3, 3, channels, width))
            _kernel(rng, weights, f"{name}/b", (3, 3, width, width))
            if block == 0 and (stride, channels) != (1, width):
                _kernel(rng, weights, f"{name}/across", (1, 1, channels, width))
            channels = width
    weights["last"] = rng.normal(0, 0.05, (512, classes)).astype(np.float32)
    weights["last/bias"] = rng.normal(0, 0.05, classes).astype(np.float32)
    return weights


def _conv(tf: Any, x: Any, weights: Weights, name: str, stride: int) -> Any:
    x = tf.nn.conv2d(x, weights[name], stride, "SAME")
    parts = (weights[f"{name}/{part}"] for part in ("mean", "variance", "offset", "scale"))
    return tf.nn.batch_normalization(x, *parts, 1e-5)


def resnet18(tf: Any, x: Any, weights: Weights) -> Any:
    """[batch, height, width, 3] to [batch, classes]."""
    x = tf.nn.relu(_conv(tf, x, weights, "first", 2))
    x = tf.nn.max_pool2d(x, 3, 2, "SAME")
    for stage, (_, stride) in enumerate(_STAGES):
        for block in range(2):
            name = f"{stage}/{block}"
            by = stride if block == 0 else 1
            y = tf.nn.relu(_conv(tf, x, weights, f"{name}/a", by))
            y = _conv(tf, y, weights, f"{name}/b", 1)
            if f"{name}/across" in weights:
                x = _conv(tf, x, weights, f"{name}/across", by)
            x = tf.nn.relu(y + x)
    x = tf.reduce_mean(x, [1, 2])
    return tf.nn.bias_add(tf.matmul(x, weights["last"]), weights["last/bias"])
