"""`to_jax`: arrays of JAX."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from tests.handover.frameworks import held_by_the_process, kept_bytes, rows

pytest.importorskip("jax", reason="jax is not installed here: ./run kernels has it")

import jax
import jax.numpy as jnp

import spillway as sw
from spillway import tf


@pytest.mark.parametrize("front", [sw.Dataset, tf.data.Dataset])
def test_elements_are_arrays_in_the_same_nest(front: Any) -> None:
    ds = front.from_tensor_slices({"x": np.eye(2, dtype="f4"), "y": [1, 2], "s": ["a", "b"]})
    handed = ds.to_jax()
    for _ in range(2):
        first, second = handed
        assert isinstance(first["x"], jax.Array) and first["x"].tolist() == [1.0, 0.0]
        assert second["y"].dtype == jnp.int32 and second["y"].shape == () and second["y"] == 2
        assert first["s"] == b"a"
    assert len(handed) == 2


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "float16", "complex64", "bfloat16"])
def test_dtypes_are_the_same(dtype: str) -> None:
    kind = sw.as_dtype(dtype).as_numpy_dtype
    for shape in ((), (3,), (64, 1024)):
        (found,) = sw.Dataset.from_tensors(np.ones(shape, kind)).to_jax()
        assert found.dtype == kind and found.shape == shape


def test_64_bits_become_32_as_jax_has_it_but_no_number_is_changed() -> None:
    (small,) = sw.Dataset.from_tensors(np.array([1, -2])).to_jax()
    assert small.dtype == jnp.int32 and small.tolist() == [1, -2]
    with pytest.raises(OverflowError, match=r"1099511627776 does not fit.*jax_enable_x64"):
        list(sw.Dataset.from_tensors(np.array([1, 2**40])).to_jax())
    with jax.enable_x64(True):
        (wide,) = sw.Dataset.from_tensors(np.array([1, 2**40])).to_jax()
        assert wide.dtype == jnp.int64 and wide.tolist() == [1, 2**40]


def test_large_arrays_are_shared_and_charged_while_jax_holds_them() -> None:
    before = kept_bytes()
    (array,) = rows(1).to_jax()
    assert kept_bytes() - before >= 1 << 20
    changed = array.at[0].set(5.0)
    assert float(array[0]) == 0.0 and float(changed[0]) == 5.0
    del array
    assert kept_bytes() == before


def test_a_donated_array_harms_nothing() -> None:
    ds = rows(2).cache()
    step = jax.jit(lambda x: x + 1, donate_argnums=0)
    for _ in range(2):
        assert [float(step(x)[0]) for x in ds.to_jax()] == [1.0, 2.0]


def test_keeping_all_arrays_ends_in_our_text() -> None:
    kept = []
    with sw.configure(memory_limit="24MiB"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(sw.errors.BudgetError) as caught:
            kept.extend(rows(100).to_jax())
        assert "kept by you" in str(caught.value)


def test_an_error_is_ours() -> None:
    with pytest.raises(KeyError) as caught:
        list(rows(9, fail_at=7).to_jax())
    for words in ("no label for 7", "in stage map", "frameworks.py", "element 7"):
        assert words in str(caught.value)


def test_a_break_or_a_close_leaves_no_thread_and_no_descriptor() -> None:
    ds = rows(50, size=1 << 16).map(lambda x: x * 2, num_parallel_calls=2).prefetch(4)
    list(ds.take(1).to_jax())
    before, memory = held_by_the_process(), kept_bytes()
    for _ in range(5):
        for _array in ds.to_jax():
            break
        with iter(ds.to_jax()) as it:
            next(it)
        assert list(it) == []
    del _array
    assert held_by_the_process() == before
    assert kept_bytes() == memory
