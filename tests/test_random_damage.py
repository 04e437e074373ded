"""Every format, damaged at random: the same elements, a typed error, or a documented change."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import spillway as sw
from tests import random_damage
from tests.random_damage import FORMATS, LIMIT, Format

PAGE = Path(__file__).parent.parent / "docs" / "damaged-files.md"
each = pytest.mark.parametrize("format", list(FORMATS.values()), ids=list(FORMATS))


@pytest.fixture(autouse=True)
def little_memory() -> Iterator[None]:
    """Whatever a file claims, the ledger never holds more than this."""
    before = sw.memory().peak
    with sw.configure(memory_limit=LIMIT):
        yield
    assert sw.memory().peak <= max(before, LIMIT)


def _seed() -> int:
    return int(os.environ.get("SPILLWAY_SEED", time.time_ns() % 1_000_000_000))


@each
def test_damage_is_an_error_or_documented(format: Format, tmp_path: Path) -> None:
    first = _seed()
    print(f"SPILLWAY_SEED={first}")
    counts = random_damage.run(format, tmp_path, range(first, first + 60))
    assert sum(counts.values()) == 60


@pytest.mark.soak
@pytest.mark.timeout(3600)
@each
def test_much_damage(format: Format, tmp_path: Path) -> None:
    first = _seed()
    print(f"SPILLWAY_SEED={first}")
    print(format.name, dict(random_damage.run(format, tmp_path, range(first, first + 20_000))))


@each
def test_the_page_says_which_formats_have_a_checksum(format: Format) -> None:
    """A change of value is allowed only where the table says so."""
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:2] == "| "]
    (row,) = [line for line in rows if line.split("|")[1].strip() == format.name]
    assert ("another value" in row) == (not format.checked), row
    assert ("fewer elements" in row) == (not format.whole), row
