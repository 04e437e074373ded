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


# ---- Archives


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_rows_of_the_arrays_of_archives(tmp_path: Path, save: Any) -> None:
    for i in range(2):
        x = np.arange(300 * 4, dtype=">f4").reshape(300, 4) + i
        save(tmp_path / f"{i}.npz", x=x, y=np.arange(300) + 1000 * i, **{"../up": np.zeros(300)})
    paths = [tmp_path / "0.npz", tmp_path / "1.npz"]
    ds = sw.Dataset.from_npz(paths)
    assert len(ds) == 600
    assert sorted(ds.element_spec) == ["../up", "x", "y"]
    rows = list(ds)
    np.testing.assert_array_equal(np.stack([r["x"] for r in rows[300:]]), x)
    assert [int(r["y"]) for r in rows] == [*range(300), *range(1000, 1300)]
    assert int(ds[450]["y"]) == 1150
    assert [p.name for p in tmp_path.parent.iterdir() if p.name.startswith("up")] == []
    only = tf.data.Dataset.from_npz(paths, keys="y").batch(200)
    assert [batch["y"].shape.as_list() for batch in only] == [[200]] * 3
    it = iter(sw.Dataset.from_npz(paths).batch(7))
    for _ in range(50):
        next(it)
    state = it.save()
    rest = [batch["y"].tolist() for batch in it]
    again = iter(sw.Dataset.from_npz(paths).batch(7))
    again.restore(state)
    assert [batch["y"].tolist() for batch in again] == rest


def test_archives_that_do_not_agree_are_refused_when_it_is_written(tmp_path: Path) -> None:
    a, b = tmp_path / "a.npz", tmp_path / "b.npz"
    np.savez(a, x=np.zeros((5, 2)), y=np.zeros(5))
    np.savez(b, x=np.zeros((5, 2)), y=np.zeros(4))
    with pytest.raises(sw.errors.ShapeError, match=r"b\.npz:x has 5 rows, .*b\.npz:y has 4"):
        sw.Dataset.from_npz([a, b])
    np.savez(b, x=np.zeros((5, 3)), y=np.zeros(5))
    with pytest.raises(ValueError, match=r"b\.npz:x has float64 \(3,\), .*a\.npz:x has .*\(2,\)"):
        sw.Dataset.from_npz([a, b])
    np.savez(b, x=np.zeros((5, 2)), z=np.zeros(5))
    with pytest.raises(ValueError, match=r"a\.npz has x, y, .*b\.npz has x, z: .*keys="):
        sw.Dataset.from_npz([a, b])
    with pytest.raises(sw.errors.CorruptFile, match=r"expected one array 'y', found x\.npy, z"):
        sw.Dataset.from_npz([a, b], keys=["x", "y"])
    assert len(sw.Dataset.from_npz([a, b], keys=["x"])) == 10
    with pytest.raises(sw.errors.CorruptFile, match="a zip archive: from_npz reads"):
        sw.Dataset.from_npy(a)
    np.savez(b, x=np.float64(3))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"b\.npz:x\.npy: .*no rows"):
        sw.Dataset.from_npz(b)


def test_fortrans_order_in_archives(tmp_path: Path) -> None:
    x = np.asfortranarray(np.arange(12).reshape(4, 3))
    np.savez(tmp_path / "a.npz", x=x)
    rows = [row["x"].tolist() for row in sw.Dataset.from_npz(tmp_path / "a.npz")]
    assert rows == x.tolist()
    np.savez_compressed(tmp_path / "b.npz", x=x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be in C order"):
        sw.Dataset.from_npz(tmp_path / "b.npz")


def test_a_damaged_archive_is_an_error_with_its_member(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, x=np.arange(20_000), y=np.arange(20_000))
    content = bytearray(path.read_bytes())
    content[100_000] ^= 1
    path.write_bytes(content)
    with pytest.raises(sw.errors.CorruptFile, match=r"a\.npz:x\.npy: the checksum") as caught:
        list(sw.Dataset.from_npz(path))
    assert caught.value.file == f"{path}:x.npy"
    assert len(list(sw.Dataset.from_npz(path, keys="y"))) == 20_000


def test_columns_stay_in_step_when_a_file_cannot_be_read(tmp_path: Path) -> None:
    xs = [saved(tmp_path / f"x{i}.npy", np.arange(3) + 10 * i) for i in range(3)]
    ys = [saved(tmp_path / f"y{i}.npy", np.arange(3) + 10 * i) for i in range(3)]
    ds = sw.Dataset.from_npy({"x": xs, "y": ys}).on_error("skip")
    Path(xs[1]).unlink()
    rows = [(int(row["x"]), int(row["y"])) for row in ds]
    assert rows == [(i, i) for i in (0, 1, 2, 20, 21, 22)]
    assert ds.audit().skipped == 3
    again = sw.Dataset.from_npy({"x": ys, "y": ys}, on_error="skip", max_errors=5)
    Path(ys[1]).unlink()
    assert [(int(row["x"]), int(row["y"])) for row in again] == rows


# ---- zip(strict=True)


def test_lengths_that_are_known_are_compared_when_it_is_written() -> None:
    a, b = sw.Dataset.range(10), sw.Dataset.range(9).map(lambda x: x + 1)
    with pytest.raises(
        sw.errors.ShapeError,
        match=r"input 0 \(range, .*test_npy\.py.*\) has 10 elements, input 1 \(map, .*\) has 9",
    ):
        sw.Dataset.zip(a, b, strict=True)
    with pytest.raises(ValueError, match="has no end"):
        sw.Dataset.zip(a, b.repeat(), strict=True)


def test_lengths_that_are_not_known_are_compared_at_the_end() -> None:
    a, b = sw.Dataset.range(10), sw.Dataset.range(20).filter(lambda x: x < 9)
    it = iter(sw.Dataset.zip(a, b, strict=True))
    assert [tuple(map(int, next(it))) for _ in range(9)] == [(i, i) for i in range(9)]
    with pytest.raises(ValueError, match=r"input 1 \(filter.* ended after 9 elements, input 0 "):
        next(it)
