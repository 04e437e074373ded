"""`tf.nn`: what TensorFlow's signatures let one write, against sums written out in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf
from tests.networks import resnet18, resnet18_weights

Array = np.ndarray[Any, Any]


def random(*shape: int, dtype: str = "float32", seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def convolved(x: Array, w: Array, stride: int, dilation: int, around: list[list[int]]) -> Array:
    """A convolution as it is defined, groups too, in float64."""
    padded = np.pad(x.astype(np.float64), around)
    groups = x.shape[3] // w.shape[2]
    reach = [(size - 1) * dilation + 1 for size in w.shape[:2]]
    out = [(n - r) // stride + 1 for n, r in zip(padded.shape[1:3], reach, strict=True)]
    made = np.zeros((x.shape[0], *out, w.shape[3]))
    for i in range(w.shape[0]):
        for j in range(w.shape[1]):
            rows = slice(i * dilation, i * dilation + (out[0] - 1) * stride + 1, stride)
            columns = slice(j * dilation, j * dilation + (out[1] - 1) * stride + 1, stride)
            parts = np.split(padded[:, rows, columns], groups, axis=3)
            kernels = np.split(w[i, j].astype(np.float64), groups, axis=1)
            made += np.concatenate([a @ b for a, b in zip(parts, kernels, strict=True)], axis=3)
    return made


@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize("groups", [1, 2])
def test_a_convolution_is_the_sum_of_its_definition(
    stride: int, dilation: int, groups: int
) -> None:
    x, w = random(2, 11, 9, 4), random(3, 2, 4 // groups, 6, seed=1)
    around = [[0, 0], [2, 1], [0, 3], [0, 0]]
    made = tf.nn.conv2d(x, w, stride, around, dilations=dilation).numpy()
    np.testing.assert_allclose(made, convolved(x, w, stride, dilation, around), atol=1e-5)


def test_padding_may_be_same_valid_or_a_list() -> None:
    x, w = random(1, 6, 7, 3), random(3, 3, 3, 5, seed=1)
    same = [[0, 0], [1, 1], [1, 1], [0, 0]]
    none = [[0, 0]] * 4
    for padding, around in (("SAME", same), ("valid", none), (same, same)):
        made = tf.nn.conv2d(x, w, [1, 1], padding).numpy()
        np.testing.assert_allclose(made, convolved(x, w, 1, 1, around), atol=1e-5)


def test_channels_may_come_first() -> None:
    x, w = random(2, 5, 6, 3), random(3, 3, 3, 4, seed=1)
    last = tf.nn.conv2d(x, w, [1, 2, 1, 1], "SAME").numpy()
    first = tf.nn.conv2d(x.transpose(0, 3, 1, 2), w, [1, 1, 2, 1], "SAME", data_format="NCHW")
    assert (first.numpy() == last.transpose(0, 3, 1, 2)).all()
    pooled = tf.nn.max_pool2d(x.transpose(0, 3, 1, 2), 2, 2, "VALID", data_format="NCHW")
    expected = tf.nn.max_pool2d(x, 2, 2, "VALID").numpy().transpose(0, 3, 1, 2)
    assert (pooled.numpy() == expected).all()
    biased = tf.nn.bias_add(x.transpose(0, 3, 1, 2), [1.0, 2.0, 3.0], data_format="NCHW")
    assert np.allclose(biased.numpy()[:, 2], x[..., 2] + 3.0)


def test_a_depthwise_convolution_is_one_with_a_group_for_each_channel() -> None:
    for many in (1, 3):
        x, w = random(2, 7, 8, 10, dtype="float64"), random(3, 3, 10, many, dtype="float64", seed=1)
        made = tf.nn.depthwise_conv2d(x, w, [1, 2, 2, 1], "SAME").numpy()
        grouped = w.reshape(3, 3, 1, 10 * many)
        expected = tf.nn.conv2d(x, grouped, 2, "SAME").numpy()
        np.testing.assert_allclose(made, expected, atol=1e-12)


def test_a_batch_gives_the_bits_of_its_images() -> None:
    x, w = random(5, 14, 14, 16), random(3, 3, 16, 24, seed=1)
    whole = tf.nn.conv2d(x, w, 1, "SAME").numpy()
    for i in range(5):
        assert (tf.nn.conv2d(x[i : i + 1], w, 1, "SAME").numpy()[0] == whole[i]).all()


def test_pools_leave_out_what_is_outside() -> None:
    x = random(2, 5, 5, 3)
    largest = tf.nn.max_pool(x, 2, 2, "SAME").numpy()
    mean = tf.nn.avg_pool(x, [2, 2], [2, 2], "SAME").numpy()
    assert (largest[:, 2, 2] == x[:, 4, 4]).all()
    assert (mean[:, 2, 2] == x[:, 4, 4]).all()
    np.testing.assert_allclose(mean[:, 0, 0], x[:, :2, :2].mean((1, 2)), rtol=1e-5)


def test_a_traced_function_convolves_images_one_by_one() -> None:
    x, w = random(6, 8, 8, 3), random(3, 3, 3, 4, seed=1)
    kernel = tf.constant(w)

    def layer(image: Any) -> Any:
        return tf.nn.relu(tf.nn.conv2d(image[tf.newaxis], kernel, 1, "SAME"))[0]

    rows = tf.data.Dataset.from_tensor_slices(x).map(layer)
    made = np.stack([row.numpy() for row in rows])
    assert (made == tf.nn.relu(tf.nn.conv2d(x, w, 1, "SAME")).numpy()).all()


def test_normalisations_agree_with_each_other() -> None:
    x = random(4, 5, 6, 3, dtype="float64")
    mean, variance = tf.nn.moments(x, [0, 1, 2])
    np.testing.assert_allclose(mean.numpy(), x.mean((0, 1, 2)))
    np.testing.assert_allclose(variance.numpy(), x.var((0, 1, 2)))
    scale, offset = random(3, dtype="float64", seed=1), random(3, dtype="float64", seed=2)
    plain = tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-3).numpy()
    expected = (x - x.mean((0, 1, 2))) / np.sqrt(x.var((0, 1, 2)) + 1e-3) * scale + offset
    np.testing.assert_allclose(plain, expected, atol=1e-12)
    fused = tf.compat.v1.nn.fused_batch_norm
    for training in (True, False):
        given = {} if training else {"mean": mean, "variance": variance}
        y, told, spread = fused(x, scale, offset, is_training=training, epsilon=1e-3, **given)
        np.testing.assert_allclose(y.numpy(), expected, atol=1e-12)
        np.testing.assert_allclose(told.numpy(), mean.numpy())
        corrected = 120 / 119 if training else 1.0
        np.testing.assert_allclose(spread.numpy(), variance.numpy() * corrected)


def test_a_layer_is_normalised_element_by_element() -> None:
    x = random(4, 6, dtype="float64")
    gamma, beta = random(6, dtype="float64", seed=1), random(6, dtype="float64", seed=2)
    made = tf.keras.ops.layer_normalization(x, gamma, beta, epsilon=1e-3).numpy()
    centred = x - x.mean(1, keepdims=True)
    expected = centred / np.sqrt(x.var(1, keepdims=True) + 1e-3) * gamma + beta
    np.testing.assert_allclose(made, expected, atol=1e-12)


def test_losses_tell_how_unlikely_the_labels_are() -> None:
    logits = random(3, 4, dtype="float64")
    likely = np.log(np.exp(logits) / np.exp(logits).sum(1, keepdims=True))
    labels = np.array([2, 0, 3])
    sparse = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    np.testing.assert_allclose(sparse.numpy(), -likely[np.arange(3), labels])
    dense = tf.nn.softmax_cross_entropy_with_logits(labels=np.eye(4)[labels], logits=logits)
    np.testing.assert_allclose(dense.numpy(), sparse.numpy())


def test_a_loss_is_traced_where_not_even_ranks_are_known() -> None:
    labels, logits = np.array([2, 0, 3]), random(3, 4)

    def rows() -> Any:
        yield labels, logits

    unknown = (tf.TensorSpec(None, tf.int64), tf.TensorSpec(None, tf.float32))
    ds = tf.data.Dataset.from_generator(rows, output_signature=unknown)
    made = ds.map(lambda a, b: tf.nn.sparse_softmax_cross_entropy_with_logits(a, b))
    assert made.element_spec.shape.rank is None
    at_once = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
    assert (next(iter(made)).numpy() == at_once.numpy()).all()


def test_rows_of_a_table_are_looked_up_and_made_no_longer_than_asked() -> None:
    table = np.array([[3.0, 4.0], [0.3, 0.4]], np.float32)
    assert (tf.nn.embedding_lookup(table, [1, 0]).numpy() == table[[1, 0]]).all()
    short = tf.nn.embedding_lookup(table, [0, 1], max_norm=1.0).numpy()
    np.testing.assert_allclose(short, [[0.6, 0.8], [0.3, 0.4]], rtol=1e-6)


def test_dropout_keeps_the_mean() -> None:
    x = np.ones(100_000, np.float32)
    made = tf.nn.dropout(x, 0.25, seed=3).numpy()
    assert set(np.unique(made)) == {np.float32(0), np.float32(1 / 0.75)}
    assert abs(made.mean() - 1) < 0.02


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: tf.nn.conv2d(np.ones((1, 2, 2, 1), np.int32), np.ones((1, 1, 1, 1), np.int32), 1,
                              "SAME"), "int32, only for float32 and float64"),
        (lambda: tf.nn.conv2d(random(1, 2, 2, 1), random(3, 3, 1, 1), 1, "VALID"),
         "the window does not fit: 3 > 2"),
        (lambda: tf.nn.conv2d(random(1, 2, 2, 1), random(1, 1, 1, 1), [2, 1, 1, 1], "VALID"),
         "strides in the batch and depth dimensions must be 1"),
        (lambda: tf.nn.conv2d(random(1, 2, 2, 1), random(1, 1, 1, 1), 1, "SAME", "CHWN"),
         "data_format must be 'NHWC' or 'NCHW'"),
        (lambda: tf.nn.avg_pool2d(random(1, 2, 2, 1), 2, 2, [[0, 0]] * 4),
         "padding 'SAME' or 'VALID' only"),
        (lambda: tf.nn.dropout([1.0], 1.0), "in the range"),
        (lambda: tf.nn.bias_add(random(2, 3), random(2)), "as many biases as the last dimension"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_with_both_sizes(call: Any, text: str) -> None:
    with pytest.raises(sw.errors.InvalidArgumentError, match=text):
        call()


def test_eighteen_layers_give_each_image_its_own_bits() -> None:
    weights = resnet18_weights(classes=10)
    x = random(3, 32, 32, 3)
    whole = resnet18(tf, x, weights).numpy()
    assert whole.shape == (3, 10)
    assert np.isfinite(whole).all()
    assert (resnet18(tf, x[1:2], weights).numpy()[0] == whole[1]).all()
