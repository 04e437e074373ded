"""What a fault of the table is: a body that stages it and says in a line what became of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Fault:
    """A row of the table."""

    key: str  # "17" in the study's list, "R3" among the anchors
    title: str
    body: Callable[[], str]
    alone: str  # "": here; else in a process of its own: "process", or with what around it
    best: str  # the best of the other loaders' lines, for an anchor
    soak: bool  # takes minutes


FAULTS: dict[str, Fault] = {}


def fault(
    key: str, title: str, *, alone: str = "", best: str = "", soak: bool = False
) -> Callable[[Callable[[], str]], Callable[[], str]]:
    def add(body: Callable[[], str]) -> Callable[[], str]:
        FAULTS[key] = Fault(key, title, body, alone, best, soak)
        return body

    return add


class Unavailable(Exception):  # noqa: N818 - no error: a reason
    """Why the machine cannot stage a fault."""


def consume(dataset: Iterable[Any]) -> tuple[list[Any], list[BaseException]]:
    """All elements, and the errors between them: a patient consumer asks again after each."""
    got: list[Any] = []
    errors: list[BaseException] = []
    it = iter(dataset)
    while True:
        try:
            got.append(next(it))
        except StopIteration:
            return got, errors
        except Exception as error:
            errors.append(error)
            if len(errors) > 20:
                return got, errors


def said(error: BaseException) -> str:
    """An exception's class and its own words, in one line, without this machine's names."""
    text = getattr(error, "message", "") or str(error)
    name = type(error).__name__
    text = " ".join(text.split())
    text = re.sub(r'File "[^"]*/', 'File "', text)
    text = re.sub(r"\((?:/[^/ )]+)+/", "(", text)
    text = re.sub(r"0x[0-9a-f]+", "0x…", text)
    text = re.sub(r"worker \d+", "worker 4711", text)
    text = re.sub(r"; it held [\d.]+ .?i?B when last seen", "", text)  # not always sampled
    # Whether others were in the same request, and who held bytes at that moment, is chance.
    text = re.sub(r" The \d+ before it that were lost with a worker were run again\.", "", text)
    text = re.sub(r"(Spillway held [^:;]*): [^;]*;", r"\1;", text)
    return f"{name}: {text}"


def named(error: Any, *, index: int) -> str:
    """What an error names: the element, the stage with its line, the user's line."""
    facts = []
    if getattr(error, "index", None) == index:
        facts.append("element")
    if getattr(error, "stage", ""):
        facts.append("stage")
    if getattr(error, "line", ""):
        facts.append("line")
    return "+".join(facts) or "nothing"


NUMBERS = re.compile(
    r"\d+(\.\d+)?(?= ?(?:MiB|GiB|KiB|MB|ms|s\b|elements\b))|(?<=kill of its cgroup )\d+ -> \d+"
    r"|(?<=line )\d+|(?<=by element )\d+|(?<=The )\d+(?= before it)|(?<=about )\d+"
    r"|(?<=at element )\d+(?= of from_generator#0 \(leaking)"
    r"|\d+(?=(?:→|, )[→\d, ]* MiB)"
)


def masked(line: str) -> str:
    """Without what differs from run to run: times, sizes, counters of the machine."""
    return NUMBERS.sub("#", line)
