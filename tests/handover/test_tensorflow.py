"""`to_tf`: a dataset of TensorFlow's own, and Keras on it."""

from __future__ import annotations

import collections
import gc
import warnings
from typing import Any

import numpy as np
import pytest

from tests.handover.frameworks import held_by_the_process, kept_bytes, rows

pytest.importorskip("tensorflow", reason="tensorflow is not installed here: ./run kernels has it")

import keras
import tensorflow

import spillway as sw
from spillway import tf

FRONTS = [sw.Dataset, tf.data.Dataset]
Pair = collections.namedtuple("Pair", "x y")


def labelled(count: int, fail_at: int | None = None) -> sw.Dataset:
    """Batches of four rows and their labels."""

    def make(number: Any) -> Any:
        if fail_at is not None and int(number) == fail_at:
            raise KeyError(f"no label for {int(number)}")
        x = np.full(3, int(number), np.float32)
        return x, x[:1] * 2

    spec = (sw.TensorSpec((3,), "float32"), sw.TensorSpec((1,), "float32"))
    return sw.Dataset.range(count).map(make, output_signature=spec)


def model() -> Any:
    keras.utils.set_random_seed(1)
    made = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    made.compile(optimizer="sgd", loss="mse")
    return made


@pytest.mark.parametrize("front", FRONTS)
def test_it_is_a_real_dataset_of_the_same_spec_and_elements(front: Any) -> None:
    ds = front.from_tensor_slices(
        {"x": np.eye(3, dtype="f4"), "y": [1, 2, 3], "s": ["a", "b", "c"]}
    )
    handed = ds.batch(2).to_tf()
    assert isinstance(handed, tensorflow.data.Dataset)
    assert handed.element_spec == {
        "x": tensorflow.TensorSpec((None, 3), tensorflow.float32),
        "y": tensorflow.TensorSpec((None,), tensorflow.int32),
        "s": tensorflow.TensorSpec((None,), tensorflow.string),
    }
    assert int(handed.cardinality()) == 2
    for _ in range(2):
        first, second = handed.as_numpy_iterator()
        assert first["x"].tolist() == [[1, 0, 0], [0, 1, 0]] and second["y"].tolist() == [3]
        assert first["s"].tolist() == [b"a", b"b"]


@pytest.mark.parametrize(
    "element",
    [1, "text", (1,), (1, (2.0, {"a": "b"})), Pair(1, 2.0), (1, None), {"b": 1, "a": (2, 3)}],
)
def test_every_nest_arrives_as_it_was(element: Any) -> None:
    ds = sw.Dataset.from_tensors(element)
    (found,) = ds.to_tf().as_numpy_iterator()
    (wanted,) = ds
    assert found == wanted and type(found) is type(wanted)


def test_unknown_sizes_and_lengths_are_unknown_there() -> None:
    ds = sw.Dataset.from_generator(
        lambda: iter([[1], [2, 3]]), output_signature=sw.TensorSpec((None,), "int64")
    )
    handed = ds.to_tf()
    assert handed.element_spec.shape.as_list() == [None]
    assert int(handed.cardinality()) == tensorflow.data.UNKNOWN_CARDINALITY
    assert [x.tolist() for x in handed.as_numpy_iterator()] == [[1], [2, 3]]
    endless = sw.Dataset.range(2).repeat().to_tf()
    assert int(endless.cardinality()) == tensorflow.data.INFINITE_CARDINALITY
    assert [int(x) for x in endless.take(3)] == [0, 1, 0]


def test_what_a_function_gives_must_be_declared() -> None:
    ds = sw.Dataset.range(3).map(lambda x: np.full(int(x), 1.0))
    with pytest.raises(TypeError) as caught:
        ds.to_tf()
    for words in ("map does not say", "test_tensorflow.py", "output_signature="):
        assert words in str(caught.value)


def test_elements_that_are_skipped_are_no_error() -> None:
    ds = labelled(8, fail_at=3).on_error("skip")
    assert len(list(ds.to_tf())) == 7


# ---- Keras


def test_keras_fits_two_epochs_as_from_arrays() -> None:
    x = np.arange(16, dtype=np.float32)[:, None].repeat(3, 1) / 16
    y = x[:, :1] * 2
    ds = sw.Dataset.from_tensor_slices((x, y)).batch(4)
    ours, theirs = model(), model()
    history = ours.fit(ds.to_tf(), epochs=2, verbose=0).history["loss"]
    theirs.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0)
    assert len(history) == 2
    for a, b in zip(ours.get_weights(), theirs.get_weights(), strict=True):
        assert np.allclose(a, b)


def test_an_error_in_element_7_reaches_the_caller_of_fit_with_our_text() -> None:
    ds = labelled(40, fail_at=7).batch(2)
    with pytest.raises(tensorflow.errors.UnknownError) as caught:
        model().fit(ds.to_tf(), epochs=2, verbose=0)
    text = str(caught.value)
    with pytest.raises(KeyError) as direct:
        list(ds)
    assert str(direct.value) in text
    for words in ("no label for 7", "in stage map", "element 7", "test_tensorflow.py"):
        assert words in text
    assert 'raise KeyError(f"no label for {int(number)}")' in text  # the user's own line
    assert ds.audit().failed >= 1 or ds.audit().dropped >= 1


@pytest.mark.parametrize("stage", ["none", "take", "skip", "shard", "batch", "padded_batch"])
def test_elements_follow_an_error_that_tensorflow_is_told_to_ignore(stage: str) -> None:
    arguments = {"take": (6,), "skip": (5,), "shard": (2, 0), "batch": (3,), "padded_batch": (3,)}
    ds: Any = labelled(8, fail_at=3)
    if stage != "none":
        ds = getattr(ds, stage)(*arguments[stage])
    wanted, it = [], iter(ds)
    while True:
        try:
            wanted.append(next(it)[0].tolist())
        except KeyError:
            continue
        except StopIteration:
            break
    handed = ds.to_tf()
    assert int(handed.cardinality()) == len(ds)
    assert [x.numpy().tolist() for x, _ in handed.ignore_errors()] == wanted


def test_a_limit_too_low_reaches_the_caller_of_fit_with_our_text() -> None:
    ds = rows(4, size=8 << 20).map(lambda x: (x[:3], x[:1])).batch(4)
    with sw.configure(memory_limit="4MiB"):
        with pytest.raises(tensorflow.errors.ResourceExhaustedError) as caught:
            model().fit(ds.to_tf(), verbose=0)
        with pytest.raises(sw.errors.BudgetError) as direct:
            list(ds)
    assert str(direct.value).splitlines()[0][:40] in str(caught.value)


# ---- Bytes, ends


def test_writing_by_tensorflow_changes_nothing_else() -> None:
    ds = rows(2).cache()
    for _ in range(3):
        added = ds.to_tf().map(lambda x: x + 1.0).map(lambda x: x * 3.0)
        assert [float(x[0]) for x in added] == [3.0, 6.0]
    assert [float(x[0]) for x in ds] == [0.0, 1.0]


def test_keeping_all_tensors_ends_in_our_text() -> None:
    kept = []
    with sw.configure(memory_limit="24MiB"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(tensorflow.errors.ResourceExhaustedError) as caught:
            for tensor in rows(100).to_tf():
                kept.append(tensor)
        assert "BudgetError" in str(caught.value) and "kept by you" in str(caught.value)
        assert 10 <= len(kept) < 30


def test_an_early_end_leaves_no_thread_and_no_descriptor() -> None:
    ds = rows(50, size=1 << 16).map(lambda x: x * 2, num_parallel_calls=2).prefetch(4)
    for _tensor in ds.to_tf():
        break
    del _tensor
    memory = kept_bytes()
    before = held_by_the_process()
    for _ in range(5):
        for _tensor in ds.to_tf():
            break
        list(ds.to_tf().take(2))
    del _tensor
    gc.collect()
    assert held_by_the_process() == before
    assert kept_bytes() == memory
