"""`tf.image`: known values of TensorFlow 2.21, static shapes, and that maps need no Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import spillway.tf as tf

from .explained import how, why

IMAGE = np.arange(12, dtype=np.uint8).reshape(2, 2, 3) * 20
Change = Callable[[Any], Any]


def numbers(tensor: Any) -> list[Any]:
    items: list[Any] = tensor.numpy().ravel().tolist()
    return items


def images_of(sizes: list[tuple[int, int]]) -> Any:
    """A dataset of images whose sizes are not known."""

    def make() -> Any:
        for height, width in sizes:
            yield np.full((height, width, 3), 40, np.uint8)

    spec = tf.TensorSpec([None, None, 3], tf.uint8)
    return tf.data.Dataset.from_generator(make, output_signature=spec)


KNOWN: list[tuple[Change, list[float]]] = [
    (lambda x: tf.image.stateless_random_brightness(x, 0.3, [1, 2]),
     [52, 72, 92, 112, 132, 152, 172, 193, 213, 233, 253, 255]),
    (lambda x: tf.image.stateless_random_hue(x, 0.3, [1, 2]),
     [29, 0, 40, 89, 60, 100, 149, 120, 160, 209, 180, 220]),
    (lambda x: tf.image.stateless_random_contrast(x, 0.3, 1.7, [1, 2]),
     [0, 0, 0, 45, 65, 85, 134, 154, 174, 223, 243, 255]),
    (lambda x: tf.image.stateless_random_saturation(x, 0.3, 1.7, [1, 2]),
     [0, 20, 40, 40, 70, 100, 100, 130, 160, 161, 190, 220]),
    (lambda x: tf.image.stateless_random_flip_left_right(x, [5, 2]),
     [60, 80, 100, 0, 20, 40, 180, 200, 220, 120, 140, 160]),
    (lambda x: tf.image.stateless_random_flip_up_down(x, [5, 2]),
     [120, 140, 160, 180, 200, 220, 0, 20, 40, 60, 80, 100]),
    (lambda x: tf.image.stateless_random_crop(x, [1, 1, 3], [3, 4]), [0, 20, 40]),
    (tf.image.rgb_to_grayscale, [16, 76, 136, 196]),
    (lambda x: tf.image.resize_with_pad(x, 3, 2),
     [0, 20, 40, 60, 80, 100, 120, 140, 160, 180, 200, 220, 0, 0, 0, 0, 0, 0]),
    (lambda x: tf.image.resize_with_crop_or_pad(x, 1, 4),
     [0, 0, 0, 0, 20, 40, 60, 80, 100, 0, 0, 0]),
    (lambda x: tf.image.convert_image_dtype(x, tf.uint16)[0, 0], [0, 5120, 10240]),
    (lambda x: tf.image.convert_image_dtype(x, tf.float32)[0, 0],
     [0, 0.0784313753247261, 0.1568627506494522]),
    (lambda x: tf.image.rot90(x)[..., 0], [60, 180, 0, 120]),
    (lambda x: tf.image.rot90(x, -1)[..., 0], [120, 0, 180, 60]),
    (lambda x: tf.image.transpose(x)[..., 0], [0, 120, 60, 180]),
    (lambda x: tf.image.flip_up_down(x)[..., 0], [120, 180, 0, 60]),
    (lambda x: tf.image.flip_left_right(x)[..., 0], [60, 0, 180, 120]),
    (lambda x: tf.image.pad_to_bounding_box(x, 0, 1, 2, 3)[..., 0], [0, 0, 60, 0, 120, 180]),
    (lambda x: tf.image.crop_to_bounding_box(x, 1, 0, 1, 2)[..., 0], [120, 180]),
    (lambda x: tf.image.grayscale_to_rgb(x[..., :1])[0, 1], [60, 60, 60]),
    (lambda x: tf.image.resize(x, [1, 2], "area")[..., 0], [60, 120]),
    (lambda x: tf.image.resize(x, [4, 9], "nearest", True)[0, :, 0], [0, 0, 60, 60]),
    (lambda x: tf.image.crop_and_resize(x[None], [[0, 0, 0.5, 1]], [0], [2, 1])[..., 0], [30, 90]),
    (lambda x: tf.image.adjust_gamma(tf.cast(x[0, 0], tf.float32) / 80, 0.5),
     [0, 0.5, 0.7071067690849304]),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(KNOWN)))
def test_functions_of_images_give_what_tensorflow_gives(case: int) -> None:
    function, expected = KNOWN[case]
    assert numbers(function(IMAGE)) == expected
    for shape in ([2, 2, 3], [None, None, 3]):
        spec = tf.TensorSpec(shape, tf.uint8)
        ds = tf.data.Dataset.from_generator(lambda: iter([IMAGE]), output_signature=spec)
        mapped = ds.map(function)
        assert how(mapped) == [True], why(mapped)
        assert [numbers(image) for image in mapped] == [expected]


def test_standardized_images_have_mean_zero_and_variance_one() -> None:
    made = tf.image.per_image_standardization(IMAGE).numpy()
    assert made.dtype == np.float32
    assert np.allclose([made.mean(), made.std(), made[0, 0, 0]], [0, 1, -1.5932551], atol=1e-6)


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (lambda x: tf.image.resize(x, [4, 5]), (4, 5, 3)),
        (lambda x: tf.image.resize(x, [4, 5], preserve_aspect_ratio=True), (None, None, 3)),
        (lambda x: tf.image.resize_with_pad(x, 4, 5), (4, 5, 3)),
        (lambda x: tf.image.resize_with_crop_or_pad(x, 4, 5), (4, 5, 3)),
        (lambda x: tf.image.crop_to_bounding_box(x, 0, 0, 1, 2), (1, 2, 3)),
        (lambda x: tf.image.pad_to_bounding_box(x, 0, 0, 9, 9), (9, 9, 3)),
        (lambda x: tf.image.central_crop(x, 0.5), (None, None, 3)),
        (lambda x: tf.image.random_crop(x, [1, 2, 3]), (1, 2, 3)),
        (lambda x: tf.image.random_flip_left_right(x), (None, None, 3)),
        (lambda x: tf.image.random_brightness(x, 0.2), (None, None, 3)),
        (lambda x: tf.image.random_hue(x, 0.2), (None, None, 3)),
        (lambda x: tf.image.rot90(x), (None, None, 3)),
        (lambda x: tf.image.rgb_to_grayscale(x), (None, None, 1)),
        (lambda x: tf.image.per_image_standardization(x), (None, None, 3)),
    ],
)
def test_maps_over_images_of_any_size_run_without_python(function: Change, shape: Any) -> None:
    ds = images_of([(3, 4), (2, 7)]).map(function)
    assert how(ds) == [True], why(ds)
    assert ds.element_spec.shape == shape
    assert [ds.element_spec.shape.is_compatible_with(image.shape) for image in ds] == [True] * 2


def test_an_image_without_pixels_is_an_error_of_its_element() -> None:
    ds = images_of([(3, 4), (0, 4)]).map(lambda x: tf.image.flip_left_right(x))
    rows = iter(ds)
    assert next(rows).shape == (3, 4, 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be > 0"):
        next(rows)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: tf.image.resize(IMAGE, [2, 2], "magic"), "Resize method is not implemented"),
        (lambda: tf.image.resize(IMAGE, [2]), "'size' must be a 1-D Tensor of 2 elements"),
        (lambda: tf.image.resize(IMAGE, ["a"]), "'size' must be a 1-D int32 Tensor"),
        (lambda: tf.image.resize(IMAGE[0], [2, 2]), "must have either 3 or 4 dimensions"),
        (lambda: tf.image.crop_to_bounding_box(IMAGE, 1, 0, 2, 2), "height must be >= target"),
        (lambda: tf.image.pad_to_bounding_box(IMAGE, 0, 1, 2, 2), "width must be <= target"),
        (lambda: tf.image.resize_with_pad(IMAGE, 0, 2), "target_height must be > 0"),
        (lambda: tf.image.central_crop(IMAGE, 1.5), r"central_fraction must be within \(0, 1\]"),
        (lambda: tf.image.flip_up_down(IMAGE[0]), "must be at least three-dimensional"),
        (lambda: tf.image.random_hue(IMAGE, 0.7), "max_delta must be <= 0.5"),
        (lambda: tf.image.random_contrast(IMAGE, 2, 1), "upper must be > lower"),
        (lambda: tf.image.adjust_hue(IMAGE, 2), r"delta must be in the interval \[-1, 1\]"),
        (lambda: tf.image.grayscale_to_rgb(IMAGE), "Last dimension of a grayscale image"),
    ],
)
def test_wrong_arguments_are_value_errors_in_tensorflows_words(call: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        call()


def test_a_size_without_pixels_is_refused() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="output dimensions must be positive"):
        tf.image.resize(IMAGE, [0, 2])


def test_images_are_drawn_anew_for_every_element() -> None:
    ds = tf.data.Dataset.from_tensors(IMAGE).repeat(40)
    flipped = ds.map(lambda x: tf.image.random_flip_left_right(x, seed=7))
    assert how(flipped) == [True], why(flipped)
    seen = {int(image[0, 0, 0]) for image in flipped}
    assert seen == {0, 60}
    crops = ds.map(lambda x: tf.image.random_crop(x, [1, 1, 3], seed=7))
    assert {int(image[0, 0, 0]) for image in crops} == {0, 60, 120, 180}
