"""Samples of tar archives."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf
from tests.tar_files import archive, shard


def numbers(ds: Any) -> list[int]:
    return [int(sample["cls"]) for sample in ds]


def test_members_under_one_name_are_a_sample(tmp_path: Path) -> None:
    path = shard(tmp_path / "a.tar", 0, 300)
    ds = sw.Dataset.from_tar(path)
    assert ds.element_spec == {
        key: sw.TensorSpec((), "string") for key in ("__key__", "bin", "cls")
    }
    for i, sample in enumerate(ds):
        assert sample["__key__"] == f"{i:05}".encode()
        assert sample["cls"] == str(i).encode()
        assert sample["bin"] == bytes([i % 256]) * (i % 7) * 500
    assert i == 299
    audit = ds.audit()
    assert (audit.total, audit.delivered) == (300, 300)


@pytest.mark.parametrize("format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_names_of_any_length_in_any_format(tmp_path: Path, format: int) -> None:
    names = ["a.txt", "d" * 60 + "/" + "e" * 60 + "/b.txt", "ü/ö.txt"]
    if format != tarfile.USTAR_FORMAT:
        names.append("/".join(["f" * 90] * 5) + ".txt")
    path = archive(tmp_path / "a.tar", [(name, b"x") for name in names], format=format)
    got = [sample["__key__"].decode() for sample in sw.Dataset.from_tar(path)]
    assert got == [name.removesuffix(".txt") for name in names]


# What webdataset 1.0.2 makes of these members, in this order.
WEBDATASET = [
    {"__key__": "a", "jpg": b"0", "seg.png": b"1"},
    {"__key__": "v1.2/b", "jpg": b"2"},
    {"__key__": "a", "jpg": b"3"},
    {"__key__": "dir/", "hidden": b"5"},
    {"__key__": "../../etc/passwd", "txt": b"9"},
    {"__key__": "/abs", "txt": b"10"},
]
MEMBERS = ["a.JPG", "a.seg.png", "v1.2/b.jpg", "a.jpg", "readme", "dir/.hidden", ".hidden",
           "__meta__/x.jpg", "d.ir/.x", "../../etc/passwd.txt", "/abs.txt"]  # fmt: skip


def test_keys_and_groups_are_webdatasets(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.tar", [(m, str(i).encode()) for i, m in enumerate(MEMBERS)])
    got = []
    for key in ("jpg", "seg.png", "hidden", "txt"):
        ds = sw.Dataset.from_tar(path, keys=[key]).on_error("skip")
        got += [(s["__key__"].decode(), key, s[key]) for s in ds]
    expected = [(s["__key__"], k, v) for s in WEBDATASET for k, v in s.items() if k != "__key__"]
    assert sorted(got) == sorted(expected)


def test_nothing_is_written_whatever_the_names_say(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    path = archive(inside / "a.tar", [("../../climbed.txt", b"x"), (f"{tmp_path}/abs.txt", b"y")])
    got = [(s["__key__"].decode(), s["txt"]) for s in sw.Dataset.from_tar(path)]
    assert got == [("../../climbed", b"x"), (f"{tmp_path}/abs", b"y")]
    assert [p.name for p in tmp_path.iterdir()] == ["inside"]


def test_images_flow_into_decode_jpeg(tmp_path: Path) -> None:
    image = np.full((20, 30, 3), 77, np.uint8)
    jpeg = tf.io.encode_jpeg(image, quality=95).numpy()
    members = [(f"{i}.{ext}", jpeg if ext == "jpg" else b"%d" % i)
               for i in range(10) for ext in ("jpg", "cls")]  # fmt: skip
    path = archive(tmp_path / "a.tar", members)

    def load(sample: Any) -> Any:
        pixels = tf.image.resize(tf.io.decode_jpeg(sample["jpg"], channels=3), [8, 8])
        return pixels, tf.strings.to_number(sample["cls"], tf.int32)

    ds = tf.data.Dataset.from_tar(path, keys=("jpg", "cls")).map(load).batch(4)
    assert "Python" not in str(ds.explain())
    labels = [label for _, batch in ds for label in batch.numpy().tolist()]
    assert labels == list(range(10))


def test_compressed_by_name_or_by_word(tmp_path: Path) -> None:
    for name in ("a.tar.gz", "a.tgz"):
        assert numbers(sw.Dataset.from_tar(shard(tmp_path / name, 0, 50, "w:gz"))) == [*range(50)]
    other = shard(tmp_path / "a.shard", 0, 5, "w:gz")
    with pytest.raises(sw.errors.CorruptFile, match="compression_type='GZIP'"):
        sw.Dataset.from_tar(other)
    assert numbers(sw.Dataset.from_tar(other, compression_type="GZIP")) == [*range(5)]


def test_several_archives_one_after_the_other_or_by_turns(tmp_path: Path) -> None:
    paths = [shard(tmp_path / f"{i}.tar", 10 * i, 10) for i in range(3)]
    assert numbers(sw.Dataset.from_tar(paths)) == [*range(30)]
    turns = numbers(sw.Dataset.from_tar(paths, num_parallel_reads=3))
    assert turns[:4] == [0, 10, 20, 1]
    assert sorted(turns) == [*range(30)]
    listed = sw.Dataset.list_files(str(tmp_path / "*.tar"), shuffle=False)
    assert numbers(sw.Dataset.from_tar(listed, keys=("cls",))) == [*range(30)]
    with pytest.raises(ValueError, match="keys="):
        sw.Dataset.from_tar(listed)


def test_a_checkpoint_is_a_file_and_a_position(tmp_path: Path) -> None:
    paths = [shard(tmp_path / "a.tar", 0, 40), shard(tmp_path / "b.tar.gz", 40, 40, "w:gz")]
    it = iter(sw.Dataset.from_tar(paths).shuffle(16, seed=1).batch(3))
    for _ in range(15):
        next(it)
    state = it.save()
    assert len(state) < 10_000
    rest = [batch["cls"].tolist() for batch in it]
    again = iter(sw.Dataset.from_tar(paths).shuffle(16, seed=1).batch(3))
    again.restore(state)
    assert [batch["cls"].tolist() for batch in again] == rest


def test_a_sample_that_differs_is_an_error_in_its_place(tmp_path: Path) -> None:
    members = [("a.x", b"1"), ("a.y", b"2"), ("b.x", b"3"), ("c.x", b"5"), ("c.y", b"6"),
               ("c.z", b"7"), ("d.x", b"8"), ("d.y", b"9")]  # fmt: skip
    path = archive(tmp_path / "a.tar", members)
    it = iter(sw.Dataset.from_tar(path))
    assert next(it)["__key__"] == b"a"
    with pytest.raises(
        sw.errors.CorruptFile, match=r"sample 'b' at 2048 .*expected the extensions x, y, found x"
    ) as caught:
        next(it)
    assert (caught.value.file, caught.value.offset, caught.value.index) == (path, 2048, 1)
    with pytest.raises(sw.errors.CorruptFile, match=r"sample 'c' .*found z \('c\.z'\)"):
        next(it)
    assert next(it)["__key__"] == b"d"
    assert [s["__key__"] for s in sw.Dataset.from_tar(path, keys="x")] == [b"a", b"b", b"c", b"d"]


def damaged(path: str, at: int) -> str:
    content = bytearray(Path(path).read_bytes())
    content[at] ^= 0x55
    Path(path).write_bytes(content)
    return path


def test_a_damaged_archive_is_one_error_and_the_next_follows(tmp_path: Path) -> None:
    first = shard(tmp_path / "a.tar", 0, 10)
    with tarfile.open(first) as opened:
        header = opened.getmember("00004.bin").offset
    paths = [
        damaged(first, header + 5),
        str(tmp_path / "none.tar"),
        shard(tmp_path / "c.tar", 20, 2),
    ]
    ds = sw.Dataset.from_tar(paths, keys=("cls", "bin")).on_error("skip")
    assert numbers(ds) == [0, 1, 2, 3, 20, 21]
    audit = ds.audit()
    assert (audit.total, audit.delivered, audit.skipped) == (8, 6, 2)
    whole = sw.Dataset.from_tar(paths, keys=("cls", "bin"), resynchronise=True).on_error("skip")
    assert numbers(whole) == [0, 1, 2, 3, 5, 6, 7, 8, 9, 20, 21]
    with pytest.raises(
        sw.errors.CorruptFile, match=f"at {header} in .*a.tar: .*checksum"
    ) as caught:
        list(sw.Dataset.from_tar(paths, keys=("cls", "bin")))
    assert (caught.value.file, caught.value.offset, caught.value.index) == (first, header, 4)


def test_a_truncated_archive_says_so_behind_its_last_sample(tmp_path: Path) -> None:
    path = Path(shard(tmp_path / "a.tar", 0, 10))
    with tarfile.open(path) as opened:
        end = opened.getmember("00005.cls").offset
    path.write_bytes(path.read_bytes()[:end])
    it = iter(sw.Dataset.from_tar(str(path)))
    assert [int(next(it)["cls"]) for _ in range(5)] == [*range(5)]
    with pytest.raises(sw.errors.CorruptFile, match=r"truncated.* found the end of the file"):
        next(it)
    assert next(it, None) is None


def test_what_keys_must_be(tmp_path: Path) -> None:
    empty = archive(tmp_path / "empty.tar", [("readme", b"")])
    with pytest.raises(ValueError, match=r"no sample in .*empty\.tar: name the extensions"):
        sw.Dataset.from_tar(empty)
    assert list(sw.Dataset.from_tar(empty, keys="JPG")) == []
    with pytest.raises(ValueError, match="at least one"):
        sw.Dataset.from_tar(empty, keys=[])
    with pytest.raises(FileNotFoundError, match="none"):
        sw.Dataset.from_tar(tmp_path / "none.tar")


def test_keys_that_are_no_text_are_refused_where_they_are_written() -> None:
    with pytest.raises(sw.errors.InvalidArgumentError, match="tar_samples: `keys` must be UTF-8"):
        sw.Dataset.tar_samples("a.tar", keys=b"\xff\xfe")
