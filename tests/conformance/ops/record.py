"""A sample of programs with TensorFlow's outcomes, replayed by the tests without TensorFlow."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

Record = tuple[dict[str, Any], dict[str, Any]]
PATH = Path(__file__).with_name("recorded.jsonl.gz")
LIMIT = 300_000
EACH = 7  # programs a function
LONGEST = 2_000  # characters: a longer program is taken where there is no other


def sample(pairs: list[Record]) -> list[Record]:
    """A few of each function, as small a text as may be."""
    taken: dict[str, list[Record]] = {}
    lengths = [(len(json.dumps(pair)), pair) for pair in pairs]
    for length, pair in sorted(lengths, key=lambda each: each[0] > LONGEST):
        some = taken.setdefault(pair[0]["path"], [])
        if len(some) < (EACH if length <= LONGEST else 1):
            some.append(pair)
    return [pair for some in taken.values() for pair in some]


def save(pairs: list[Record], path: Path) -> None:
    text = "".join(json.dumps(pair, separators=(",", ":"), sort_keys=True) + "\n" for pair in pairs)
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{len(pairs)} programs, {path.stat().st_size} bytes")


def load(path: Path = PATH) -> list[Record]:
    return [(line[0], line[1]) for line in map(json.loads, gzip.open(path, "rt", encoding="utf-8"))]
