"""Libraries that cannot be refused memory once they run are refused before, or made to ask."""

from __future__ import annotations

import importlib.util
import textwrap
from pathlib import Path

import pytest

from tests.ceiling.harness import MIB
from tests.test_process_guard import run


def heavy_package(folder: Path, size: int) -> None:
    """A package whose only module is a file of a library's name and size, and nothing in it."""
    package = folder / "heavy"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from heavy import core\n")
    with (package / "core.so").open("wb") as file:
        file.truncate(size)


IMPORT = """\
held = np.ones(HELD // 8)
try:
    import heavy
except Exception as error:
    print(type(error).__name__, error)
"""


def imports(folder: Path, held: int, size: int) -> str:
    """What is said where a library of `size` bytes is imported beside `held` bytes."""
    installed = folder / "site-packages"
    heavy_package(installed, size)
    first = f"import sys; sys.path.insert(0, {str(installed)!r})"
    code, said, kills = run(IMPORT.replace("HELD", str(held)), 512 * MIB, folder, first=first)
    assert (code, kills) == (0, 0), said
    return said


@pytest.mark.cgroup
def test_a_library_that_does_not_fit_is_not_loaded(tmp_path: Path) -> None:
    said = imports(tmp_path, 300 * MIB, 800 * MIB)
    assert "BudgetError spillway kept the process alive: to load heavy takes about 224 MiB" in said
    assert "the 512 MiB that the container allows are in use" in said
    assert "held (ndarray" in said, said
    assert "program.py:5" in said, said


@pytest.mark.cgroup
@pytest.mark.parametrize(("held", "size"), [(100, 800), (420, 20)])
def test_a_library_that_fits_is_loaded(held: int, size: int, tmp_path: Path) -> None:
    """This one is then found to be none."""
    assert "ImportError" in imports(tmp_path, held * MIB, size * MIB)


TEXTS = """\
import pandas as pd
kept = pd.DataFrame({"a": np.arange(10_000_000)})
for i in range(10):
    kept["c%d" % i] = "text"
"""


@pytest.mark.cgroup
@pytest.mark.skipif(importlib.util.find_spec("pyarrow") is None, reason="needs pandas and pyarrow")
@pytest.mark.parametrize("first", ["import pyarrow", ""])
def test_what_arrow_fills_ends_at_its_line(first: str, tmp_path: Path) -> None:
    """Its allocator takes a GiB of address space, and fills it without asking anybody."""
    pytest.importorskip("pandas")
    code, said, kills = run(textwrap.dedent(TEXTS), 512 * MIB, tmp_path, first=first)
    assert (code, kills) == (1, 0), said
    assert "MemoryError" in said and "spillway" in said and "line 6" in said, said
