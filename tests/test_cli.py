"""`spillway describe`, in Python and against the C++ tool where it is built."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import spillway as sw
from spillway import __main__ as cli
from spillway import _native

ROOT = Path(__file__).resolve().parent.parent
NAMES = sorted(op["name"] for op in _native.operators() if not op["hidden"])


def test_every_operator_is_listed_with_its_summary(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["describe"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == NAMES
    assert all(len(line.split()) > 1 for line in lines)


def test_one_operator_has_signature_parameters_and_example(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.main(["describe", "batch"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("batch(batch_size, drop_remainder=False, ")
    assert "\n  drop_remainder      bool = False  leave out a last batch" in out
    assert "\n  >>> list(sw.Dataset.range(5).batch(2)" in out


@pytest.mark.parametrize("name", ["tkae", "window_rows"])
def test_an_unknown_or_hidden_operator_is_named(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["describe", name]) == 2
    assert f"no such operator: {name}" in capsys.readouterr().err


def test_it_runs_as_a_module() -> None:
    environment = os.environ | {"PYTHONPATH": str(Path(sw.__file__).parent.parent)}
    command = [sys.executable, "-m", "spillway", "describe", "take"]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    assert done.stdout.startswith("take(count)\n")


def test_the_cpp_tool_prints_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    tool = ROOT / "build" / "dev" / "spillway"
    if not tool.exists():
        pytest.skip("the C++ tool is not built here")
    for arguments in (["describe"], *(["describe", name] for name in NAMES)):
        done = subprocess.run([tool, *arguments], check=True, capture_output=True, text=True)
        assert cli.main(arguments) == 0
        assert capsys.readouterr().out == done.stdout
