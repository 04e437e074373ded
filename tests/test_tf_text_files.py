"""Text: files that are not UTF-8, and tf.strings.unicode_transcode."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

import spillway.tf as tf
from spillway import __main__ as cli
from tests import recorded_unicode

RECORDED = [json.loads(line) for line in recorded_unicode.FILE.read_text().splitlines()]


@pytest.mark.parametrize("part", range(4))
def test_text_is_transcoded_as_tensorflow_does(part: int) -> None:
    for call in RECORDED[part::4]:
        gave = call.pop("gave")
        assert recorded_unicode.outcome(tf, call) == gave, call


def test_transcode_keeps_shapes_and_is_traced() -> None:
    ds = tf.data.Dataset.from_tensors([[b"a", b"b\xff"]])
    ds = ds.map(lambda x: tf.strings.unicode_transcode(x, "UTF-8", "UTF-8"))
    assert ds.element_spec.shape == (1, 2) and "native" in str(ds.explain())
    assert next(iter(ds)).numpy().tolist() == [[b"a", b"b\xef\xbf\xbd"]]


KINDS = {
    "good": ("Zürich, 東京\n" * 20).encode(),
    "empty": b"",
    "cut": ("Zürich, 東京" * 20).encode()[:-1],
    "latin1": ("a" * 100 + "é" + "b" * 20).encode("latin-1"),
    "nul": b"ab\0cd",
}
OFFSETS = {"cut": len(KINDS["cut"]) - 2, "latin1": 100, "nul": 2, "empty": 0}


@pytest.fixture
def thousand(tmp_path: Path) -> dict[str, str]:
    """Paths and their kinds: every twentieth is bad in one way or another, three are missing."""
    draw = random.Random(3)
    out = {}
    for i in range(1000):
        kind = draw.choice(["empty", "cut", "latin1", "nul"]) if i % 20 == 7 else "good"
        path = tmp_path / f"{i:04}.txt"
        out[str(path)] = "missing" if i in (100, 500, 900) else kind
        if i not in (100, 500, 900):
            path.write_bytes(KINDS[kind])
    return out


def test_iterating_delivers_the_bytes_as_they_are(thousand: dict[str, str]) -> None:
    there = [path for path, kind in thousand.items() if kind != "missing"]
    read = [x.numpy() for x in tf.data.Dataset.from_tensor_slices(there).map(tf.io.read_file)]
    assert read == [KINDS[thousand[path]] for path in there]
    lines = [x.numpy() for x in tf.data.TextLineDataset(there)]
    assert lines == [line for path in there for line in KINDS[thousand[path]].splitlines()]


def test_a_strict_transcode_is_an_error_of_the_element(thousand: dict[str, str]) -> None:
    ds = tf.data.Dataset.from_tensor_slices(list(thousand)).map(
        lambda path: tf.strings.unicode_transcode(
            tf.io.read_file(path), "UTF-8", "UTF-8", errors="strict"
        )
    )
    it = iter(ds)
    found: dict[str | None, int | None] = {}
    while True:
        try:
            next(it)
        except StopIteration:
            break
        except tf.errors.InvalidArgumentError as error:
            assert error.index is not None and list(thousand)[error.index] == error.file
            assert __file__ in str(error.line)
            found[error.file] = error.offset
        except tf.errors.NotFoundError as error:
            found[error.file] = None
    wanted = {path: kind for path, kind in thousand.items() if kind in ("cut", "latin1", "missing")}
    assert found == {path: OFFSETS.get(kind) for path, kind in wanted.items()}
    skipping = ds.on_error("skip")
    assert len(list(skipping)) == 1000 - len(found)
    assert skipping.audit().balanced and skipping.audit().skipped == len(found)


def test_a_line_that_is_not_text_names_its_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"good\nb\xffd\ngood\n")
    ds = tf.data.TextLineDataset(str(path)).map(
        lambda line: tf.strings.unicode_transcode(line, "UTF-8", "UTF-8", errors="strict")
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="found 0xFF at byte 1 of 3") as caught:
        list(ds)
    assert caught.value.file == str(path) and caught.value.index == 1
    assert caught.value.offset is None  # its place in the line is not one in the file


def test_a_check_finds_all(thousand: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    wanted = {path: OFFSETS.get(kind) for path, kind in thousand.items() if kind != "good"}
    ds = tf.data.Dataset.from_tensor_slices(list(thousand)).shuffle(1000).map(tf.io.read_file)
    found = ds.batch(8).check(text="utf-8")
    assert {problem.file: problem.offset for problem in found} == wanted
    code = cli.main(["check", *thousand, "--text", "utf-8", "--json"])
    listed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert code == 1 and {x["file"]: x["offset"] for x in listed} == wanted
