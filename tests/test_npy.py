"""Rows of .npy files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf


def saved(path: Path, array: Any) -> str:
    np.save(path, array)
    return str(path)


DTYPES = ["?", "i1", "u2", "<i4", ">i4", "i8", "f2", "<f4", ">f8", "c8", ">c16"]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_of_any_type_and_order(tmp_path: Path, dtype: str, order: Any) -> None:
    array = np.asarray(np.arange(2 * 300 * 7).reshape(300, 2, 7) % 113, dtype, order=order)
    path = saved(tmp_path / "a.npy", array)
    got = list(sw.Dataset.from_npy(path))
    np.testing.assert_array_equal(np.stack(got), array)
    assert got[0].dtype == np.dtype(dtype).newbyteorder("=")
    assert len(sw.Dataset.from_npy([path, path])) == 600


def test_rows_are_had_by_index_and_resumed(tmp_path: Path) -> None:
    paths = [saved(tmp_path / f"{i}.npy", np.arange(i * 10, i * 10 + 10)) for i in range(3)]
    ds = sw.Dataset.from_npy(paths)
    assert [int(ds[i]) for i in (0, 13, 29)] == [0, 13, 29]
    it = iter(ds.shuffle(7, seed=3).batch(4))
    next(it), next(it)
    state = it.save()
    rest = [batch.tolist() for batch in it]
    again = iter(sw.Dataset.from_npy(paths).shuffle(7, seed=3).batch(4))
    again.restore(state)
    assert [batch.tolist() for batch in again] == rest


def test_columns_of_a_dict_or_tuple(tmp_path: Path) -> None:
    xs = [saved(tmp_path / f"x{i}.npy", np.full((4, 2), i)) for i in range(3)]
    ys = [saved(tmp_path / f"y{i}.npy", np.arange(4) + i) for i in range(3)]
    both = sw.Dataset.from_npy({"x": xs, "y": ys})
    assert both.element_spec["x"].shape == (2,)
    assert [int(row["y"]) for row in both] == [0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 5]
    pairs = tf.data.Dataset.from_npy((xs, ys)).batch(6)
    assert [x.shape.as_list() for x, _ in pairs] == [[6, 2], [6, 2]]


def test_a_short_file_among_sixty_is_named_before_the_first_row(tmp_path: Path) -> None:
    columns = {
        key: [saved(tmp_path / f"{key}{i}.npy", np.zeros(9 if (key, i) == ("b", 7) else 10))
              for i in range(20)]
        for key in ("a", "b", "label")
    }  # fmt: skip
    with pytest.raises(sw.errors.ShapeError, match=r"a7\.npy .* 10 rows, .*b7\.npy .* 9") as caught:
        sw.Dataset.from_npy(columns)
    assert caught.value.file == columns["b"][7]
    with pytest.raises(ValueError, match="20 files of 'a' have 200 rows, the 19 files of 'label'"):
        sw.Dataset.from_npy({"a": columns["a"], "label": columns["label"][1:]})


def test_rows_that_differ_between_files_are_refused_when_it_is_written(tmp_path: Path) -> None:
    paths = [
        saved(tmp_path / "a.npy", np.zeros((2, 3))),
        saved(tmp_path / "b.npy", np.zeros((2, 4))),
    ]
    with pytest.raises(ValueError, match=r"b\.npy has float64 \(4,\), .*a\.npy has float64 \(3,\)"):
        sw.Dataset.from_npy(paths)


class Evil:
    def __reduce__(self) -> Any:
        return print, ("unpickled",)


def test_objects_are_never_unpickled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.npy"
    np.save(path, np.array([Evil()], object), allow_pickle=True)
    with pytest.raises(sw.errors.CorruptFile, match="nothing is unpickled") as caught:
        sw.Dataset.from_npy(str(path))
    assert caught.value.file == str(path)
    assert capsys.readouterr().out == ""


def test_what_is_no_array_or_too_short_says_expected_and_found(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    path.write_bytes(b"")
    with pytest.raises(tf.errors.DataLossError, match=r"not an \.npy file"):
        sw.Dataset.from_npy(path)
    np.save(path, np.zeros(100))
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(sw.errors.CorruptFile, match="expected 928 bytes, found 927"):
        sw.Dataset.from_npy(path)
    with pytest.raises(FileNotFoundError, match=r"none\.npy"):
        sw.Dataset.from_npy(tmp_path / "none.npy")
