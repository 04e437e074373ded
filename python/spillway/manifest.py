"""Files that say how large other files are and what their sums are."""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from typing import Any

from spillway.errors import CorruptFile
from spillway.plain_files import open_plain

_PIECE = 1 << 20
_LARGEST = 1 << 28  # a manifest of a few million files; it is read whole
_LINE = re.compile(r"(\\?)([0-9a-fA-F]{64}) [ *](.+)")
_ESCAPES = {"\\n": "\n", "\\r": "\r", "\\\\": "\\"}


@dataclass(frozen=True)
class Expected:
    """What a file must be; None: not said."""

    path: str
    size: int | None = None
    sha256: str | None = None


def read_manifest(path: str | os.PathLike[str]) -> list[Expected]:
    """Reads `sha256sum`'s lines, or JSON: {path: {"size": ..., "sha256": ...}}.

    A path that is not there is looked for beside the manifest too. What is neither format is a
    CorruptFile error with its line.
    """
    name = os.fspath(path)
    with open_plain(name) as file:
        size = os.fstat(file.fileno()).st_size
        if size > _LARGEST:
            raise _corrupt(name, "too large", f"at most {_LARGEST} bytes", f"{size} bytes")
        text = file.read(_LARGEST).decode("utf-8", "surrogateescape")
    found = _from_json(name, text) if text.lstrip().startswith("{") else _from_lines(name, text)
    folder = os.path.dirname(name)
    return [Expected(_place(each.path, folder), each.size, each.sha256) for each in found]


def _place(path: str, folder: str) -> str:
    beside = os.path.join(folder, path)
    return beside if not os.path.lexists(path) and os.path.lexists(beside) else path


def _corrupt(name: str, where: str, expected: str, found: str) -> CorruptFile:
    text = f"{name}: {where}: expected {expected}, found {found[:80]!r}"
    return CorruptFile(text, file=name)


def _from_lines(name: str, text: str) -> list[Expected]:
    out = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise _corrupt(name, f"line {number}", "a SHA-256 sum, two spaces and a path", line)
        escaped, digest, path = match.groups()
        if escaped:
            path = re.sub(r"\\[nr\\]", lambda m: _ESCAPES[m.group()], path)
        out.append(Expected(path, None, digest.lower()))
    return out


def _from_json(name: str, text: str) -> list[Expected]:
    try:
        entries: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _corrupt(name, "not JSON", "an object", str(error)) from None
    if not isinstance(entries, dict):
        raise _corrupt(name, "not JSON", "an object", text)
    out = []
    for path, facts in entries.items():
        size = facts.get("size") if isinstance(facts, dict) else None
        digest = facts.get("sha256") if isinstance(facts, dict) else None
        if not isinstance(facts, dict) or not _fits(size, digest):
            wanted = '{"size": bytes, "sha256": 64 hexadecimal digits} with at least one'
            raise _corrupt(name, repr(path), wanted, repr(facts))
        out.append(Expected(path, size, None if digest is None else digest.lower()))
    return out


def _fits(size: Any, digest: Any) -> bool:
    good_size = size is None or (isinstance(size, int) and size >= 0)
    good_digest = digest is None or (
        isinstance(digest, str) and re.fullmatch(r"[0-9a-fA-F]{64}", digest) is not None
    )
    return good_size and good_digest and not (size is None and digest is None)


def compare(expected: Expected) -> None:
    """Raises CorruptFile where the file is not as it must be; OSError where it cannot be read."""
    path = expected.path
    with open_plain(path, "rb", buffering=0) as file:
        found = os.fstat(file.fileno()).st_size
        if expected.size is not None and found != expected.size:
            text = f"{path}: the size differs: expected {expected.size} bytes, found {found}"
            offset = min(found, expected.size)
            raise CorruptFile(text, file=path, offset=offset)
        if expected.sha256 is None:
            return
        digest = hashlib.sha256()
        while piece := file.read(_PIECE):
            digest.update(piece)
    if digest.hexdigest() != expected.sha256:
        text = (
            f"{path}: the SHA-256 sum differs: expected {expected.sha256}, "
            f"found {digest.hexdigest()}"
        )
        raise CorruptFile(text, file=path)
