"""The programs in their short form, in a real kernel under a hard limit. All: `./run programs`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("ipykernel")
pytest.importorskip("jupyter_client")

from tests.ceiling.harness import fence
from tests.programs import data, table
from tests.programs.catalogue import BY_KEY, IMPORTS, PROGRAMS, Program
from tests.programs.running import run

LIMIT = 768 << 20
QUICK = ("0.1", "1.1", "3.1", "4.3")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("programs")
    data.make(place)
    yield place


@pytest.mark.parametrize("program", PROGRAMS, ids=[program.key for program in PROGRAMS])
def test_only_the_import_differs_from_what_tensorflow_runs(program: Program) -> None:
    ours = [cell.text for cell in program.cells() if cell.kind == "code"]
    theirs = [cell.text for cell in program.cells("tensorflow") if cell.kind == "code"]
    pairs = zip("\n".join(ours).split("\n"), "\n".join(theirs).split("\n"), strict=True)
    differing = [pair for pair in pairs if pair[0] != pair[1]]
    assert differing == [(IMPORTS["spillway"], IMPORTS["tensorflow"])]
    assert not any("spillway" in text for text in theirs)
    for cell in program.cells():
        if cell.kind != "markdown":
            ast.parse(cell.text)


@pytest.mark.parametrize("program", PROGRAMS, ids=[program.key for program in PROGRAMS])
def test_the_short_form_changes_what_it_names(program: Program) -> None:
    whole = program.text()
    words = {word for end in program.ends for word in end.words} | set(program.shows)
    assert all(line in whole or line in words for line, _ in program.short)


def test_of_an_error_that_begins_with_a_stack_the_end_is_told() -> None:
    said = 'ValueError: in user code:\n\n    File "a.py", line 8, in load  *\n\n    no shape\n'
    assert table.told_lines(said, "error", "ValueError", []) == [
        "ValueError: in user code:",
        "no shape",
    ]
    assert table.told_lines("a\n7 rows\nb\n", "result", "", ["rows"]) == ["7 rows"]


@pytest.mark.cgroup
@pytest.mark.skipif(not fence(), reason="no memory cgroup and no RLIMIT_DATA to be had here")
@pytest.mark.parametrize("key", QUICK)
def test_a_program_ends_usefully_and_its_kernel_lives(key: str, folder: Path) -> None:
    outcome = run(BY_KEY[key], "spillway", LIMIT, folder, short=True, seconds=400)
    print(table.as_text([outcome]))
    assert outcome.useful, outcome.complaints
