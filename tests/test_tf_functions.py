"""What functions may return, be given and ask, under TensorFlow's names."""

from __future__ import annotations

from typing import Any

import pytest

import spillway.tf as tf

Dataset: Any = tf.data.Dataset
Optional: Any = tf.experimental.Optional


def ints(ds: Any) -> list[Any]:
    return [element.numpy().tolist() for element in ds]


def test_a_none_beside_what_comes_with_the_element_takes_no_component() -> None:
    ds = Dataset.range(3).flat_map(lambda x: Dataset.from_tensors((None, x, None, x + 1)))
    assert [(a, int(b), c, int(d)) for a, b, c, d in ds] == [
        (None, 0, None, 1),
        (None, 1, None, 2),
        (None, 2, None, 3),
    ]
