"""Tar archives for tests."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def archive(path: Path, members: Iterable[tuple[str, bytes]], mode: str = "w", **more: Any) -> str:
    """Writes members in their order."""
    with tarfile.open(path, mode, **more) as out:  # type: ignore[call-overload]
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            out.addfile(info, io.BytesIO(content))
    return str(path)


def shard(path: Path, begin: int, count: int, mode: str = "w") -> str:
    """Samples "00007" with a cls and a bin that say their number."""
    members = []
    for i in range(begin, begin + count):
        members += [
            (f"{i:05}.cls", str(i).encode()),
            (f"{i:05}.bin", bytes([i % 256]) * (i % 7) * 500),
        ]
    return archive(path, members, mode)
