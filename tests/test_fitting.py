"""Expressions that do not fit as a whole are made to fit, or refused with what would."""

from __future__ import annotations

import re
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf
from spillway import _native


def _how(x: Any) -> str:
    return str(_native.forecast_tensors([x])[3])


def _refusal(x: Any) -> str:
    with pytest.raises(MemoryError) as refused:
        x.numpy()
    assert isinstance(refused.value, tf.errors.ResourceExhaustedError)
    return str(refused.value)


def test_a_sum_of_a_product_of_random_matrices_is_the_same_under_a_tight_limit() -> None:
    def total() -> Any:
        a = tf.random.normal([1500, 1200], seed=3)
        b = tf.random.normal([1200, 1700], seed=4)
        return tf.reduce_sum(a @ b)

    whole = float(total())
    with sw.configure(memory_limit="12MiB"):
        assert _how(total()) == "tiled"
        assert float(total()) == whole


def test_layers_run_in_slices_of_the_batch() -> None:
    weights = [
        tf.constant(np.random.default_rng(i).normal(size=(256, 256)).astype("f4")) for i in range(4)
    ]

    def network() -> Any:
        x = tf.random.uniform([20000, 256], seed=5)
        for w in weights:
            x = tf.nn.relu(x @ w) * 0.1
        return tf.reduce_mean(x, axis=1)

    whole = network().numpy()
    with sw.configure(memory_limit="16MiB"):
        assert _how(network()).startswith("micro-batched")
        assert np.array_equal(network().numpy(), whole)


def test_a_product_of_files_is_written_to_a_file_under_the_limit(tmp_path: Path) -> None:
    draw = np.random.default_rng(7)
    a = draw.normal(size=(1400, 1100)).astype("f4")
    b = draw.normal(size=(1100, 1300)).astype("f4")
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", np.asfortranarray(b))
    inside = (tf.constant(a) @ tf.constant(b)).numpy()
    with sw.configure(memory_limit="8MiB"):
        c = sw.load_npy(tmp_path / "a.npy") @ sw.load_npy(tmp_path / "b.npy")
        sw.save_npy(tmp_path / "c.npy", c)
    assert np.array_equal(np.load(tmp_path / "c.npy"), inside)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.npy", "b.npy", "c.npy"]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "complex128"])
def test_npy_files_are_numpys(tmp_path: Path, dtype: str) -> None:
    for shape in [(), (5,), (4, 3), (2, 0, 3)]:
        array = (np.arange(np.prod(shape)) % 2).reshape(shape).astype(dtype)
        sw.save_npy(tmp_path / "x.npy", tf.constant(array))
        back = np.load(tmp_path / "x.npy")
        assert back.dtype == array.dtype and np.array_equal(back, array), shape


def test_a_file_that_is_no_array_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "x.npy").write_bytes(b"not an array")
    with pytest.raises(tf.errors.DataLossError, match=r"x\.npy"):
        sw.load_npy(tmp_path / "x.npy")
    with pytest.raises(tf.errors.NotFoundError):
        sw.load_npy(tmp_path / "y.npy")


def test_a_refusal_takes_no_time_and_names_every_offender_with_its_line() -> None:
    with sw.configure(memory_limit="2GiB"):
        began = time.process_time()  # of this process: a busy machine costs none
        x = tf.random.normal([10000, 10000, 10000])
        y = tf.random.normal([10000, 10000, 10000])
        text = _refusal(tf.matmul(x, y))
        took = time.process_time() - began
    assert text.count("3.64 TiB") >= 4, text
    assert text.count("test_fitting.py") >= 3, text
    assert text.count("need not be stored") == 2, text
    assert "did you mean [10000, 10000]" in text, text
    assert "GFLOP/s" in text and "hours" in text, text
    assert took < 5  # planned, not begun: 400 GB would have been drawn by then


def test_following_the_suggestion_of_a_smaller_shape_runs() -> None:
    def square(shape: list[int]) -> Any:
        return tf.nn.relu(tf.random.normal(shape, seed=1)) + 1.0

    with sw.configure(memory_limit="24MiB"):
        text = _refusal(square([300, 300, 300]))
        meant = re.search(r"did you mean \[(.*?)\]", text)
        smaller = re.search(r"smaller leading axis: \[(.*?)\]", text)
        assert meant and smaller, text
        for found in (meant, smaller):
            shape = [int(dim) for dim in found[1].split(",")]
            assert square(shape).numpy().shape == tuple(shape)


def test_following_the_suggestions_of_a_reduction_and_a_file_runs(tmp_path: Path) -> None:
    def product() -> Any:
        a = tf.random.normal([2500, 600], seed=1)
        return tf.matmul(a, tf.random.normal([600, 2500], seed=2))

    whole = product().numpy()
    with sw.configure(memory_limit="16MiB"):
        text = _refusal(product())
        assert "tf.reduce_sum" in text and "sw.save_npy" in text and "of disk" in text, text
        total = float(tf.reduce_sum(product()))
        sw.save_npy(tmp_path / "value.npy", product())
    assert total == float(tf.reduce_sum(tf.constant(whole)))
    assert np.array_equal(np.load(tmp_path / "value.npy"), whole)


def test_a_forecast_tells_needs_limit_way_and_offenders() -> None:
    with sw.configure(memory_limit="96MiB"):
        x = tf.random.normal([4000, 4000], seed=1)
        needed, limit, fits, how, offenders = _native.forecast_tensors([x + 1.0])
        assert (limit, fits) == (96 << 20, True) and needed >= 64_000_000 and how == "whole"
        needed, limit, fits, how, offenders = _native.forecast_tensors([tf.matmul(x, x)])
        assert fits and how == "tiled" and needed <= limit  # both operands are drawn again
        huge = tf.random.normal([40000, 4000])
        needed, limit, fits, how, offenders = _native.forecast_tensors([huge * 2.0])
        assert not fits and how == "refused" and needed > limit
        bytes_, spec, op, line = offenders[0]
        assert bytes_ == 640_000_000 and spec == "float32 (40000, 4000)"
        assert op == "random_normal" and "test_fitting.py" in line


@pytest.mark.skipif(not hasattr(tf.nn, "conv2d"), reason="no convolutions in this build")
def test_a_convolutional_net_runs_in_slices_of_its_images() -> None:
    draw = np.random.default_rng(3)
    kernels = [draw.normal(size=(3, 3, 8, 8)).astype("f4") * 0.1 for _ in range(4)]

    def network() -> Any:
        x = tf.random.uniform([64, 32, 32, 8], seed=5)
        for kernel in kernels:
            x = tf.nn.relu(tf.nn.conv2d(x, kernel, strides=1, padding="SAME"))
        return tf.reduce_mean(x, axis=[1, 2])

    whole = network().numpy()
    with sw.configure(memory_limit="4MiB"):
        assert _how(network()).startswith("micro-batched")
        assert np.array_equal(network().numpy(), whole)


def test_the_layout_of_the_largest_example_is_known_before_it_runs() -> None:
    with sw.configure(memory_limit="512MiB"):
        a, b = tf.random.normal([20000, 20000]), tf.random.normal([20000, 20000])
        needed, limit, fits, how, offenders = _native.forecast_tensors([tf.reduce_sum(a @ b)])
    assert fits and how == "tiled" and needed <= limit
    assert [op for _, _, op, _ in offenders] == ["random_normal", "random_normal", "matmul"]


def test_a_value_is_planned_for_with_what_its_buffer_is_charged(tmp_path: Path) -> None:
    x = np.random.default_rng(1).standard_normal((12000, 500), "f4")
    np.save(tmp_path / "x.npy", x)  # 22.9 MiB, in a buffer of 24
    with sw.configure(memory_limit="24MiB"):
        y = tf.reduce_max(tf.nn.relu(sw.load_npy(tmp_path / "x.npy") * 2.0) * 0.5, axis=0)
        assert _how(y).startswith("micro-batched")
        np.testing.assert_array_equal(y.numpy(), np.maximum(x, 0).max(0))


def test_what_is_being_computed_is_not_taken_for_memory_of_somebody_else() -> None:
    seen = []
    done = threading.Event()

    def look() -> None:
        while not done.wait(0.002):
            seen.append(sw.memory().untracked)

    with sw.configure(memory_limit="160MiB"):
        x = tf.nn.relu(tf.random.normal([20000, 1000], seed=1) @ tf.random.normal([1000, 1000]))
        y = tf.nn.softmax(x) * 2.0
        before = sw.memory().untracked
        watching = threading.Thread(target=look)
        watching.start()
        try:
            np.asarray(y)  # no copy
        finally:
            done.set()
            watching.join()
    assert max(seen) - before < 40 << 20, "of 76 MiB"


def test_a_file_is_whole_however_many_threads_and_pieces_write_it(tmp_path: Path) -> None:
    x = np.random.default_rng(2).standard_normal(9_000_001, "f4")  # 34 MiB and a bit
    sw.save_npy(tmp_path / "x.npy", tf.constant(x))
    np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), x)
    with sw.configure(memory_limit="24MiB"):
        sw.save_npy(tmp_path / "y.npy", sw.load_npy(tmp_path / "x.npy") * 2.0)
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), x * 2)
