"""`to_torch`: tensors of torch, with and without its DataLoader."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest

from tests.handover.frameworks import held_by_the_process, kept_bytes, rows

pytest.importorskip("torch", reason="torch is not installed here: ./run kernels has it")

import torch
from torch.utils.data import DataLoader, IterableDataset

import spillway as sw
from spillway import tf

FRONTS = [sw.Dataset, tf.data.Dataset]


@pytest.mark.parametrize("front", FRONTS)
def test_elements_are_tensors_in_the_same_nest(front: Any) -> None:
    ds = front.from_tensor_slices({"x": np.eye(2, dtype="f4"), "y": [1, 2], "s": ["a", "b"]})
    handed = ds.to_torch()
    assert isinstance(handed, IterableDataset)
    first, second = handed
    assert isinstance(first["x"], torch.Tensor) and first["x"].tolist() == [1.0, 0.0]
    assert second["y"].dtype == torch.int32 and second["y"].ndim == 0 and int(second["y"]) == 2
    assert first["s"] == b"a"


def test_strings_stay_bytes_in_batches_and_none_stays_none() -> None:
    ds = sw.Dataset.from_tensor_slices((["a", "bc"], [1, 2])).batch(2).map(lambda s, y: (s, None))
    ((text, nothing),) = ds.to_torch()
    assert text.tolist() == [b"a", b"bc"] and nothing is None


def test_every_epoch_is_a_pass_and_the_length_is_the_datasets() -> None:
    handed = sw.Dataset.range(5).shuffle(5, seed=1, reshuffle_each_iteration=False).to_torch()
    assert [int(x) for x in handed] == [int(x) for x in handed]
    assert len(handed) == 5
    with pytest.raises(TypeError, match="infinite"):
        len(sw.Dataset.range(5).repeat().to_torch())


@pytest.mark.parametrize(
    "dtype", ["bool", "uint8", "int8", "int16", "uint16", "int32", "int64", "uint64", "float16",
              "float32", "float64", "bfloat16", "float8_e5m2"],
)  # fmt: skip
def test_dtypes_are_torchs_own_of_the_same_name(dtype: str) -> None:
    pytest.importorskip("ml_dtypes")
    kind = sw.as_dtype(dtype).as_numpy_dtype
    for shape in ((), (3,), (64, 1024)):
        (found,) = sw.Dataset.from_tensors(np.ones(shape, kind)).to_torch()
        assert found.dtype == getattr(torch, dtype) and tuple(found.shape) == shape
        assert bool((found.to(torch.float32) == 1).all())


# ---- Whose bytes they are


@pytest.mark.parametrize(
    "make",
    [
        lambda array: sw.Dataset.from_tensors(array),
        lambda array: sw.Dataset.from_tensor_slices(array[None]),
        lambda array: sw.Dataset.from_tensors(array).cache(),
        lambda array: rows(1).cache(),
        lambda array: sw.Dataset.range(1).map(lambda i: array),
        lambda array: rows(1).map(lambda x: (x, x)).map(lambda x, y: x),
        lambda array: rows(2).batch(2).cache().unbatch(),
        lambda array: sw.Dataset.from_generator(lambda: iter([array, array])),
    ],
)
def test_writing_into_a_tensor_changes_nothing_else(make: Any) -> None:
    array = np.full(1 << 18, 0, np.float32)
    ds = make(array)
    wanted = [x.copy() for x in ds]
    for _ in range(3):
        for tensor in ds.to_torch():
            tensor.add_(7).mul_(3)
    assert all(np.array_equal(a, b) for a, b in zip(ds, wanted, strict=True))
    assert not array.any()


def test_two_components_of_the_same_bytes_are_two_tensors() -> None:
    ((x, y),) = rows(1).map(lambda x: (x, x)).to_torch()
    x.fill_(5)
    assert float(y.max()) == 0.0


def test_a_tensor_that_goes_back_into_a_pipeline_is_copied_there() -> None:
    (tensor,) = rows(1).to_torch()
    kept = sw.Dataset.from_generator(lambda: iter([tensor.numpy(), tensor.numpy()])).cache()
    assert [float(x.max()) for x in kept] == [0.0, 0.0]
    tensor.fill_(9)
    assert [float(x.max()) for x in kept] == [0.0, 0.0]


def test_bytes_stay_kept_bytes_while_torch_holds_any_view_of_them() -> None:
    before = kept_bytes()
    (tensor,) = rows(1).to_torch()
    view = tensor.reshape(64, -1)[3:5]
    del tensor
    assert kept_bytes() - before >= 1 << 20
    del view
    assert kept_bytes() == before


def test_keeping_all_tensors_ends_in_our_text() -> None:
    kept = []
    with sw.configure(memory_limit="24MiB"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(sw.errors.BudgetError) as caught:
            kept.extend(rows(100).to_torch())
        assert "kept by you" in str(caught.value)
        kept.clear()
        assert len(list(zip(range(5), rows(100).to_torch(), strict=False))) == 5


def test_keeping_all_copies_ends_in_our_text_too() -> None:
    array = np.zeros((100, 1 << 18), np.float32)  # the user's own: every row is copied
    kept = []
    with sw.configure(memory_limit="24MiB"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(sw.errors.BudgetError) as caught:
            for tensor in sw.Dataset.from_tensor_slices(array).to_torch():
                kept.append(tensor)
        assert "kept by you" in str(caught.value)
        assert 10 <= len(kept) < 30


# ---- Errors, ends


def test_an_error_is_ours_and_the_next_element_follows() -> None:
    it = iter(rows(9, fail_at=7).to_torch())
    for _ in range(7):
        next(it)
    with pytest.raises(KeyError) as caught:
        next(it)
    for words in ("no label for 7", "in stage map", "frameworks.py", "element 7"):
        assert words in str(caught.value)
    assert float(next(it)[0]) == 8.0


def test_a_break_or_a_close_leaves_no_thread_and_no_descriptor() -> None:
    ds = rows(50, size=1 << 16).map(lambda x: x * 2, num_parallel_calls=2).prefetch(4)
    list(ds.take(1).to_torch())  # pools start once, and stay
    before, memory = held_by_the_process(), kept_bytes()
    for _ in range(5):
        for _tensor in ds.to_torch():
            break
        with iter(ds.to_torch()) as it:
            next(it)
        assert list(it) == []
    del _tensor
    assert held_by_the_process() == before
    assert kept_bytes() == memory


def test_a_pass_is_saved_and_restored() -> None:
    ds = sw.Dataset.range(10).shuffle(10, seed=4, reshuffle_each_iteration=False)
    it = iter(ds.to_torch())
    seen = [int(next(it)) for _ in range(4)]
    again = iter(ds.to_torch())
    again.restore(it.save())
    assert seen + [int(x) for x in again] == [int(x) for x in ds]
    assert again.audit().balanced and "shuffle" in repr(again.report())


def test_datasets_as_components_are_refused() -> None:
    with pytest.raises(TypeError, match="to_torch: components must be tensors"):
        sw.Dataset.range(4).window(2).to_torch()


# ---- torch's DataLoader


def test_a_loader_hands_on_or_collates() -> None:
    ds = sw.Dataset.from_tensor_slices((np.arange(6.0), ["a"] * 6))
    loader = DataLoader(ds.to_torch(), batch_size=4)
    assert [(x.tolist(), list(s)) for x, s in loader] == [
        ([0.0, 1.0, 2.0, 3.0], [b"a"] * 4),
        ([4.0, 5.0], [b"a"] * 2),
    ]
    whole = DataLoader(ds.batch(3).to_torch(), batch_size=None)
    assert [x.tolist() for x, _ in whole] == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert len(whole) == 2


def test_a_loader_with_workers_is_refused_with_what_to_do() -> None:
    loader = DataLoader(sw.Dataset.range(4).to_torch(), batch_size=None, num_workers=1)
    with pytest.raises(sw.errors.FailedPreconditionError) as caught:
        list(loader)
    for words in ("num_workers=1", "num_workers=0", "num_parallel_calls", "isolate=True"):
        assert words in str(caught.value)
    assert [int(x) for x in sw.Dataset.range(4).to_torch()] == [0, 1, 2, 3]


def test_it_travels_as_its_dataset_does() -> None:
    handed = sw.Dataset.range(4).to_torch()
    again = pickle.loads(pickle.dumps(handed))
    assert isinstance(again, IterableDataset) and [int(x) for x in again] == [0, 1, 2, 3]
