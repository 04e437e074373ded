"""Files: tf.io.read_file and its siblings, tf.io.gfile."""

from __future__ import annotations

from pathlib import Path

import pytest

import spillway.tf as tf

gfile = tf.io.gfile


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = str(tmp_path / "new" / "folder" / "a")
    tf.io.write_file(path, b"a\0b")
    assert tf.io.read_file(path).numpy() == b"a\0b"
    assert tf.io.matching_files(str(tmp_path / "*" / "*" / "*")).numpy().tolist() == [path.encode()]


def test_a_missing_file_is_named() -> None:
    with pytest.raises(tf.errors.NotFoundError, match="No such file") as caught:
        tf.io.read_file("/nowhere/x")
    assert isinstance(caught.value, FileNotFoundError)
    ds = tf.data.Dataset.from_tensors("/nowhere/x").map(tf.io.read_file)
    with pytest.raises(tf.errors.NotFoundError) as caught:
        list(ds)
    assert caught.value.file == "/nowhere/x"


def test_writing_happens_once_an_element(tmp_path: Path) -> None:
    def write(i: tf.Tensor) -> tf.Tensor:
        tf.io.write_file(f"{tmp_path}/{int(i)}", tf.strings.as_string(i))
        return i

    ds = tf.data.Dataset.range(3).map(write)
    assert list(tmp_path.iterdir()) == []
    list(ds)
    assert sorted(path.read_text() for path in tmp_path.iterdir()) == ["0", "1", "2"]


def test_folders(tmp_path: Path) -> None:
    top = str(tmp_path / "top")
    gfile.makedirs(top + "/a/b")
    gfile.mkdir(top + "/a")  # there already
    with gfile.GFile(top + "/a/x", "w") as file:
        file.write("one\ntwo\n\nthree")
    gfile.copy(top + "/a/x", top + "/y")
    assert gfile.exists(top + "/y") and gfile.isdir(top + "/a") and not gfile.isdir(top + "/y")
    assert gfile.listdir(top + "/a") and gfile.stat(top + "/y").length == 14
    assert gfile.glob([top + "/*/x", top + "/y"]) == [top + "/a/x", top + "/y"]
    assert list(gfile.walk(top)) == [
        (top, ["a"], ["y"]),
        (top + "/a", ["b"], ["x"]),
        (top + "/a/b", [], []),
    ]
    gfile.rename(top + "/y", top + "/z")
    gfile.remove(top + "/z")
    gfile.rmtree(top)
    assert not gfile.exists(top)


def test_lines(tmp_path: Path) -> None:
    path = str(tmp_path / "x")
    with gfile.GFile(path, "wb") as file:
        file.write(b"one\r\ntwo\n")
        file.write("three")
        assert file.size() == 14
    with gfile.GFile(path) as file:
        assert file.readline() == "one\r\n"
        assert list(file) == ["two\n", "three"]
        file.seek(5)
        assert file.read(3) == "two"
    with gfile.GFile(path, "rb") as file:
        assert file.readlines() == [b"one\r\n", b"two\n", b"three"]


def test_errors_have_tensorflows_classes(tmp_path: Path) -> None:
    path = str(tmp_path / "x")
    tf.io.write_file(path, "x")
    none = str(tmp_path / "none")
    for call in (
        lambda: gfile.GFile(none).read(),
        lambda: gfile.listdir(none),
        lambda: gfile.stat(none),
        lambda: gfile.remove(none),
        lambda: gfile.rmtree(none),
        lambda: gfile.rename(none, none + "2"),
        lambda: gfile.copy(none, none + "2"),
    ):
        with pytest.raises(tf.errors.NotFoundError):
            call()
    with pytest.raises(tf.errors.AlreadyExistsError):
        gfile.copy(path, path)
    with pytest.raises(tf.errors.PermissionDeniedError):
        gfile.GFile(path).write("a")
    with pytest.raises(tf.errors.PermissionDeniedError):
        gfile.GFile(path, "w").read()
    with pytest.raises(tf.errors.InvalidArgumentError):
        gfile.GFile(path, "q")
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.write_file([path], "x")
