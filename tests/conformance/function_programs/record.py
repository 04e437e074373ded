"""The recorded sample of programs of functions."""

from __future__ import annotations

from pathlib import Path

from ..ops.record import Record

PATH = Path(__file__).with_name("recorded.jsonl.gz")
SAMPLE = 300


def sample(pairs: list[Record]) -> list[Record]:
    """The first programs of each use, failing ones among them."""
    return pairs[:SAMPLE]
