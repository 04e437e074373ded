"""Damaged files of every kind: the error says all, policies keep the rest, a check finds them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import spillway as sw
import spillway.tf as tf
from spillway import __main__ as cli
from tests import damage as table
from tests.damage import DAMAGES, Damage

IDS = [f"{each.reader}{each.suffix}, {each.name}" for each in DAMAGES]
every = pytest.mark.parametrize("damage", DAMAGES, ids=IDS)
running = pytest.mark.parametrize(
    "damage",
    [each for each in DAMAGES if each.iterates and not each.built],
    ids=[id_ for id_, each in zip(IDS, DAMAGES, strict=True) if each.iterates and not each.built],
)


def test_there_are_forty_kinds() -> None:
    assert sum(not each.eighths for each in DAMAGES) >= 40


@every
def test_the_error_says_what_where_and_whose(damage: Damage, tmp_path: Path) -> None:
    paths = table.make(damage, tmp_path)
    if not damage.iterates:
        assert len(list(table.READERS[damage.reader](paths))) == 3
        return
    error = table.error_of(damage, paths)
    assert error.kind == "data"
    assert error.file == paths[1]
    assert (error.offset is not None) == damage.offset, error
    for words in damage.says:
        assert words in error.message, error
    if not damage.built:
        assert error.stage and error.line and error.index is not None
        for fact in (error.stage, error.line, f"element {error.index}", f"file {paths[1]}"):
            assert fact in str(error)


@running
def test_skipping_keeps_the_others_and_the_audit_balances(damage: Damage, tmp_path: Path) -> None:
    paths = table.make(damage, tmp_path)
    alone = len(list(table.READERS[damage.reader]([paths[0]])))
    ds = table.READERS[damage.reader](paths).on_error("skip")
    delivered = len(list(ds))
    assert 2 * alone <= delivered <= 3 * alone
    audit = ds.audit()
    assert audit.balanced and audit.skipped == 1 and audit.delivered == delivered
    assert [entry.file for entry in audit.entries] == [paths[1]]


@running
def test_quarantine_names_the_file_once(damage: Damage, tmp_path: Path) -> None:
    paths = table.make(damage, tmp_path)
    aside = tmp_path / "aside.jsonl"
    ds = table.READERS[damage.reader](paths).on_error("quarantine", quarantine=aside)
    for _ in range(2):
        list(ds)
        assert ds.audit().balanced
    entries = [json.loads(line) for line in aside.read_text().splitlines()]
    assert [entry["file"] for entry in entries] == [paths[1]]


@every
def test_a_check_finds_it(
    damage: Damage, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = table.make(damage, tmp_path)
    if not damage.built:
        text = None if damage.iterates else "utf-8"
        found = table.READERS[damage.reader](paths).check(text=text)
        assert [problem.file for problem in found] == [paths[1]]
        assert (found[0].offset is not None) == damage.offset
    if damage.check:
        assert cli.main(["check", *paths, "--text", "utf-8", "--json"]) == 1
        listed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert [problem["file"] for problem in listed] == [paths[1]]


def test_the_page_shows_what_is_said() -> None:
    assert table.PAGE.read_text(encoding="utf-8") == table.page()


def test_a_file_that_shrinks_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    path.write_bytes(table.NPY)
    ds = tf.data.Dataset.from_npy([str(path)])
    path.write_bytes(table.NPY[:-40])
    with pytest.raises(sw.errors.CorruptFile) as caught:
        list(ds)
    assert caught.value.file == str(path) and "expected" in caught.value.message
    assert [problem.file for problem in ds.check()] == [str(path)]


_FORBIDDEN = """
import sys, spillway.tf as tf
try:
    list(tf.data.Dataset.from_tensor_slices([sys.argv[1]]).map(tf.io.read_file))
except tf.errors.PermissionDeniedError as error:
    assert error.file == sys.argv[1] and isinstance(error, PermissionError), error
    print(error)
"""


def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    path.write_bytes(table.JPEG)
    path.chmod(0)
    for folder in (tmp_path, *tmp_path.parents[:3]):
        if folder.stat().st_uid == os.geteuid():
            folder.chmod(0o755)
    # The root user may read everything: somebody else tries.
    other: Any = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    environment = os.environ | {"PYTHONPATH": str(Path(sw.__file__).parent.parent)}
    command = [sys.executable, "-c", _FORBIDDEN, str(path)]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, **other)
    except PermissionError:
        pytest.skip("nobody may not run this Python")
    if other and "ModuleNotFoundError" in done.stderr:
        pytest.skip("nobody may not read this package")
    assert "Permission denied" in done.stdout, done.stderr
    assert f"file {path}" in done.stdout and "element 0" in done.stdout
