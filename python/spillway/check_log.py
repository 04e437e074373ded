"""The file a check writes: its problems as they are found, and where it is."""

from __future__ import annotations

import base64
import binascii
import json
import os
import zlib
from dataclasses import dataclass, field
from typing import Any

from spillway.errors import CorruptFile
from spillway.plain_files import open_plain
from spillway.problems import Problem, open_private

_VERSION = 2  # 1: positions without a checksum
_LONGEST = 1 << 27  # a position takes a few kilobytes, at most 64 MiB


@dataclass
class Progress:
    """Where a check is: which of its passes, the position in it, and what is behind it."""

    number: int = 0
    state: bytes | None = None
    checked: int = 0
    problems: int = 0
    complete: bool = False


@dataclass
class Earlier:
    """What a file of an interrupted check tells."""

    progress: Progress = field(default_factory=Progress)
    problems: list[Problem] = field(default_factory=list)


class CheckLog:
    """JSON lines, mode 0600: a problem each, and now and then the position behind all before it."""

    def __init__(self, path: str | os.PathLike[str] | None, append: bool) -> None:
        """Without a path nothing is written."""
        self._file = None if path is None else os.fdopen(open_private(path, append), "ab")

    @property
    def writes(self) -> bool:
        """Whether there is a file."""
        return self._file is not None

    def add(self, problem: Problem) -> None:
        """One line."""
        if self._file is not None:
            self._file.write(problem.to_json().encode() + b"\n")

    def note(self, at: Progress) -> None:
        """From here an interrupted check goes on."""
        if self._file is None:
            return
        state = None if at.state is None else base64.b64encode(at.state).decode()
        line = {
            "spillway_check": _VERSION,
            "pass": at.number,
            "position": state,
            "checked": at.checked,
            "problems": at.problems,
            "complete": at.complete,
        }
        line["crc32"] = _checksum(line)
        self._file.write(json.dumps(line).encode() + b"\n")
        self._file.flush()

    def close(self) -> None:
        """Everything is in the file."""
        if self._file is not None:
            self._file.close()


def read_log(path: str | os.PathLike[str], most: int) -> Earlier:
    """What an earlier check wrote up to its last position; what lies behind that is cut off.

    The file is not trusted: nothing in it is run, and a position is looked at by the engine before
    it is used. At most `most` problems are kept.
    """
    earlier = Earlier()
    if not os.path.exists(path):
        return earlier
    since: list[Problem] = []
    at = end = 0
    with open_plain(path) as file:
        while line := file.readline(_LONGEST):
            at += len(line)
            if len(line) == _LONGEST:
                raise CorruptFile(
                    f"{os.fspath(path)}: not the file of a check: expected lines of less than "
                    f"{_LONGEST} bytes",
                    file=os.fspath(path),
                    offset=at - _LONGEST,
                )
            facts = _facts(line)
            if isinstance(facts, dict) and "spillway_check" in facts:
                earlier.progress = _progress(os.fspath(path), facts)
                earlier.problems += since
                since, end = [], at
                continue
            problem = Problem.from_facts(facts)
            if problem is not None and len(earlier.problems) + len(since) < most:
                since.append(problem)
    os.truncate(path, end)
    return earlier


def _checksum(facts: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(facts, sort_keys=True).encode())


def _facts(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _progress(path: str, facts: dict[str, Any]) -> Progress:
    def corrupt(what: str) -> CorruptFile:
        return CorruptFile(f"{path}: not the file of a check: {what}", file=path)

    version = facts["spillway_check"]
    given = facts.pop("crc32", None)
    if version != 1 and given != _checksum(facts):
        raise corrupt("a position does not have its checksum, the file was changed")
    if version not in (1, _VERSION):
        raise corrupt(f"expected version {_VERSION}, found {version!r}")
    counts = [facts.get(name) for name in ("pass", "checked", "problems")]
    if not all(isinstance(count, int) and count >= 0 for count in counts):
        raise corrupt(f"expected counts, found {counts!r}")
    state = facts.get("position")
    try:
        position = None if state is None else base64.b64decode(state, validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise corrupt("expected a position in base64") from None
    number, checked, problems = (int(count) for count in counts if count is not None)
    return Progress(number, position, checked, problems, facts.get("complete") is True)
