"""`ds.check()` and `spillway check`: everything is looked at once, and the bad files are named."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf
from spillway import __main__ as cli
from spillway.check_log import read_log
from spillway.problems import Problem, Problems
from spillway.progress_bar import ProgressBar

JPEG = tf.io.encode_jpeg(np.full((8, 8, 3), 127, np.uint8)).numpy()


def write(folder: Path, **files: bytes) -> list[str]:
    out = []
    for name, content in files.items():
        path = folder / name.replace("__", ".")
        path.write_bytes(content)
        out.append(str(path))
    return out


# ---- ds.check()


def test_everything_runs_once_and_in_order() -> None:
    seen: list[int] = []

    def note(x: Any) -> Any:
        seen.append(int(x))
        return x

    ds = sw.Dataset.range(10).shuffle(10).map(note).cache().repeat().batch(4).prefetch(2)
    found = ds.check()
    assert not found and found == [] and found.checked == 10
    assert seen == list(range(10))


def test_a_function_that_fails_is_told_of_with_line_and_index() -> None:
    def fail(x: Any) -> Any:
        if int(x) in (2, 5):
            raise KeyError(f"no {int(x)}")
        return x

    found = sw.Dataset.range(7).map(fail).batch(3).check()
    assert [problem.index for problem in found] == [2, 5]
    assert "no 2" in found[0].reason and __file__ in found[0].line and found[0].kind == "user"
    assert found.checked == 7


def test_files_are_told_of_once_with_offset(tmp_path: Path) -> None:
    paths = write(tmp_path, a__jpg=JPEG, b__jpg=JPEG[:200], c__jpg=JPEG)
    paths = [*paths, str(tmp_path / "none.jpg"), paths[1]]
    ds = tf.data.Dataset.from_tensor_slices(paths)
    ds = ds.map(lambda p: tf.io.decode_image(tf.io.read_file(p), channels=3)).repeat(3).batch(2)
    found = ds.check()
    assert [(p.file, p.offset, p.index) for p in found] == [
        (paths[1], 200, 1),
        (paths[3], None, 3),
    ]
    assert found.checked == 5


def test_a_file_is_known_behind_several_stages(tmp_path: Path) -> None:
    paths = write(tmp_path, a__jpg=JPEG, b__jpg=JPEG[:200])
    ds = tf.data.Dataset.from_tensor_slices((paths, [0, 1]))
    ds = ds.map(lambda p, label: (tf.io.read_file(p), label))
    found = ds.map(lambda b, label: (tf.io.decode_jpeg(b), label)).check()
    assert [(p.file, p.offset) for p in found] == [(paths[1], 200)]


def test_what_the_pipeline_skips_is_told_of_too(tmp_path: Path) -> None:
    quarantine = tmp_path / "bad.jsonl"
    ds = sw.Dataset.range(4).map(lambda x: 12 // x, on_error="quarantine", quarantine=quarantine)
    assert len(ds.check()) == 1
    assert not quarantine.exists()
    assert len(ds.on_error("skip").check()) == 1


def test_batches_that_a_function_gets_are_kept_and_filled() -> None:
    sizes: list[int] = []

    def note(batch: Any) -> Any:
        sizes.append(len(batch.numpy()))
        return batch

    ds = sw.Dataset.range(6).map(lambda x: 12 // x).batch(2).map(note)
    found = ds.check()
    assert [problem.index for problem in found] == [0]
    assert sizes == [2, 2, 1]


def test_what_never_ends_is_refused() -> None:
    with pytest.raises(ValueError, match="must end"):
        sw.Dataset.counter().check()


def test_more_problems_than_are_kept_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spillway.check._MOST_KEPT", 10)
    found = sw.Dataset.range(30_000).map(lambda x: x // 0).check()
    assert len(found) == 10 and found.total == 30_000 and found.checked == 30_000
    assert "29,950 more" in repr(found) or "more" in repr(found)


def test_an_element_that_does_not_fit_is_a_problem() -> None:
    frame = JPEG.index(b"\xff\xc0")
    bomb = JPEG[: frame + 5] + b"\x30\x00\x30\x00" + JPEG[frame + 9 :]
    ds = tf.data.Dataset.from_tensor_slices([JPEG, bomb, JPEG]).map(tf.io.decode_jpeg)
    with sw.configure(memory_limit="64MiB"):
        found = ds.check()
    assert [problem.index for problem in found] == [1]


# ---- Text and manifests


def test_text_says_what_is_wrong_and_where(tmp_path: Path) -> None:
    paths = write(
        tmp_path,
        good="naïve\n".encode(),
        empty=b"",
        nul=b"ab\0c",
        latin="naïve".encode("latin-1"),
        cut="naï".encode()[:-1],
    )
    paths.append(str(tmp_path / "missing"))
    ds = tf.data.Dataset.from_tensor_slices(paths).map(tf.io.read_file)
    found = {Path(p.file).name: p for p in ds.check(text="utf-8")}
    assert sorted(found) == ["cut", "empty", "latin", "missing", "nul"]
    assert [found[n].offset for n in ("cut", "empty", "latin", "nul")] == [2, 0, 2, 2]
    assert "ends inside a character" in found["cut"].reason
    assert "is empty" in found["empty"].reason
    assert "found 0xEF" in found["latin"].reason
    assert "NUL" in found["nul"].reason
    assert {Path(p.file).name for p in tf.data.TextLineDataset(paths).check(text="utf-8")} == set(
        found
    )


def test_text_needs_files() -> None:
    with pytest.raises(ValueError, match="none of them does"):
        sw.Dataset.range(3).check(text="utf-8")


def test_a_manifest_tells_sizes_and_sums(tmp_path: Path) -> None:
    good, bad, short = write(tmp_path, good=b"good", bad=b"bad", short=b"short")
    sums = {p: hashlib.sha256(Path(p).read_bytes()).hexdigest() for p in (good, bad, short)}
    lines = tmp_path / "SHA256SUMS"
    lines.write_text("".join(f"{digest}  {path}\n" for path, digest in sums.items()))
    ds = sw.Dataset.range(2)
    assert not ds.check(manifest=lines)
    Path(bad).write_bytes(b"BAD")
    os.unlink(short)
    found = {p.file: p.reason for p in ds.check(manifest=lines)}
    assert set(found) == {bad, short}
    assert f"expected {sums[bad]}" in found[bad] and "No such file" in found[short]
    as_json = tmp_path / "manifest.json"
    as_json.write_text(json.dumps({good: {"size": 5}, "bad": {"sha256": sums[bad]}}))
    found = {p.file: p.reason for p in ds.check(manifest=as_json)}
    assert set(found) == {good, bad}
    assert "the size differs: expected 5 bytes, found 4" in found[good]


@pytest.mark.parametrize("content", ["nonsense\n", "{", '{"a": 3}', '{"a": {"size": -1}}', "[]"])
def test_a_manifest_that_is_none_is_refused(tmp_path: Path, content: str) -> None:
    (path,) = write(tmp_path, manifest=content.encode())
    with pytest.raises(sw.errors.CorruptFile, match="expected"):
        sw.Dataset.range(2).check(manifest=path)


# ---- Interrupted and continued


@pytest.fixture
def interrupted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Ctrl-C at the turns of a check that are in the list."""
    monkeypatch.setattr("spillway.check._TURN_S", 0.0)
    turns, at = [0], list[int]()
    update = ProgressBar.update

    def interrupt(bar: ProgressBar, done: int, bad: int) -> None:
        turns[0] += 1
        update(bar, done, bad)
        if turns[0] in at:
            raise KeyboardInterrupt

    monkeypatch.setattr(ProgressBar, "update", interrupt)
    return at


def bad_every_tenth(count: int) -> sw.Dataset:
    def fail(x: Any) -> Any:
        if int(x) % 10 == 0:
            raise ValueError(f"bad {int(x)}")
        return x

    return sw.Dataset.range(count).map(fail)


def test_an_interrupted_check_goes_on_without_doubling(
    tmp_path: Path, interrupted: list[int]
) -> None:
    log = tmp_path / "check.jsonl"
    interrupted += [6, 12]
    with pytest.raises(KeyboardInterrupt):
        bad_every_tenth(100).check(output=log)
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    log.write_bytes(log.read_bytes() + b'{"reason": "not behind a position"}\n{"cut')
    with pytest.raises(KeyboardInterrupt):
        bad_every_tenth(100).check(output=log, resume=True)
    found = bad_every_tenth(100).check(output=log, resume=True)
    assert [problem.index for problem in found] == list(range(0, 100, 10))
    assert found.checked == 100
    written = [json.loads(line) for line in log.read_text().splitlines()]
    assert [x["index"] for x in written if "reason" in x] == list(range(0, 100, 10))
    again = bad_every_tenth(100).check(output=log, resume=True)  # complete: nothing runs
    assert list(again) == list(found) and again.checked == 100


def test_the_position_of_another_pipeline_is_refused(
    tmp_path: Path, interrupted: list[int]
) -> None:
    log = tmp_path / "check.jsonl"
    interrupted.append(2)
    with pytest.raises(KeyboardInterrupt):
        bad_every_tenth(100).check(output=log)
    with pytest.raises(sw.errors.NotFoundError, match="saved by another pipeline"):
        bad_every_tenth(99).check(output=log, resume=True)
    with pytest.raises(ValueError, match="needs output"):
        sw.Dataset.range(9).check(resume=True)


@pytest.mark.parametrize(
    "line",
    [
        '{"spillway_check": 2}',
        '{"spillway_check": 1, "pass": -1, "checked": 0, "problems": 0}',
        '{"spillway_check": 1, "pass": 0, "checked": 0, "problems": 0, "position": "?"}',
        '{"spillway_check": 1, "pass": 0, "checked": 0, "problems": 0, "position": 7}',
    ],
)
def test_a_damaged_log_is_refused(tmp_path: Path, line: str) -> None:
    (path,) = write(tmp_path, log=line.encode() + b"\n")
    with pytest.raises(sw.errors.CorruptFile, match="not the file of a check"):
        read_log(path, 10)


# ---- What it looks like


def test_paths_and_messages_are_never_taken_for_anything_else() -> None:
    evil = Problem("<script>\x1b[2J", "<b>\r\n", 0)
    found = Problems([evil], checked=1)
    assert "\x1b" not in repr(found) and "\\x1b[2J" in repr(found)
    page = found._repr_html_()
    assert "<script>" not in page and "&lt;script&gt;" in page and "<b>" not in page


def test_the_list_is_written_for_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "problems.jsonl"
    found = Problems([Problem("a\udcff", "bad", 3, 1, "map", "x.py:1")])
    found.save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert Problem.from_facts(json.loads(path.read_text())) == found[0]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bar_draws_over_itself() -> None:
    now = [0.0]
    out = Terminal()
    bar = ProgressBar("check", 200, "files", None, out, lambda: now[0])
    for second in range(1, 5):
        now[0] = float(second)
        bar.update(50 * second, 3)
    bar.close()
    lines = out.getvalue().split("\r")
    assert lines[1].startswith(
        "check:  25% |█████               | 50/200 [00:01<00:03, 50.0 files/s"
    )
    assert lines[-1].rstrip().endswith("200/200 [00:04<00:00, 50.0 files/s, 3 bad]")
    quiet = io.StringIO()
    ProgressBar("check", 10, "files", None, quiet).close()
    ProgressBar("check", 10, "files", False, out).close()
    assert quiet.getvalue() == ""
    ProgressBar("check", 10, "files", True, quiet).close()
    assert quiet.getvalue().count("\n") == 1


# ---- spillway check


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, list[str], str]:
    code = cli.main(["check", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out.splitlines(), captured.err


def test_the_tool_names_bad_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "deep").mkdir()
    records = tmp_path / "deep" / "r.tfrecord"
    with tf.io.TFRecordWriter(str(records)) as writer:
        writer.write(b"one")
    write(tmp_path, a__jpg=JPEG, b__jpg=JPEG[:200], t__txt=b"caf\xe9 au", x__bin=b"?", z__npy=b"no")
    write(tmp_path, g__txt__gz=gzip.compress(b"good"))
    code, out, _ = run(capsys, tmp_path)
    assert code == 1
    assert out[0].startswith(f"{tmp_path}/b.jpg: byte 200: Invalid JPEG data at byte 200 of 200")
    assert out[1].startswith(f"{tmp_path}/z.npy: byte 0: not an .npy file")
    assert "2 problems, 7 files checked" in out[2]
    assert "1 image" in out[2] and "1 tfrecord" in out[2] and "2 text" in out[2]
    assert out[3] == "1 files are of no format known here: only opened"
    code, out, _ = run(capsys, f"{tmp_path}/*.txt", "--text", "utf-8", "--jobs", "1")
    assert code == 1 and out[0].startswith(f"{tmp_path}/t.txt: byte 3: the text is not UTF-8")
    assert run(capsys, tmp_path / "a.jpg")[0] == 0


def test_the_tool_writes_and_continues(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "data"
    data.mkdir()
    paths = write(data, a__jpg=JPEG, b__jpg=b"", c__jpg=JPEG)
    log = data / "out.jsonl"
    assert run(capsys, data, data / "none", "--output", log)[0] == 1
    assert run(capsys, data, data / "none", "--output", log, "--resume")[0] == 1
    listed = [json.loads(line) for line in log.read_text().splitlines()]
    assert [x["file"] for x in listed if "reason" in x] == [paths[1], str(data / "none")]
    _, out, err = run(capsys, data / "b.jpg", "--json")
    assert json.loads(out[0])["offset"] == 0 and "1 problem" in err


def test_the_tool_compares_with_a_manifest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (path,) = write(tmp_path, a__txt=b"text")
    sums = tmp_path / "sums"
    sums.write_text(f"{hashlib.sha256(b'text').hexdigest()}  a.txt\n")
    assert run(capsys, path, "--manifest", sums)[0] == 0
    Path(path).write_bytes(b"TEXT")
    assert run(capsys, "--manifest", sums)[0] == 1


@pytest.mark.parametrize(
    "arguments",
    [[], ["x", "--text", "latin1"], ["x", "--resume"], ["/nowhere/*/", "--manifest", "y"]],
)
def test_wrong_usage_is_told(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, *arguments)
    assert code == 2 and "spillway check:" in err


def test_an_unknown_format_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        run(capsys, "x", "--format", "docx")
    assert caught.value.code == 2 and "tfrecord" in capsys.readouterr().err
