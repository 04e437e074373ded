"""What a set of programs and their outcomes has touched, and what it has missed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from . import program as programs
from .build import OPERATORS
from .functions import CATALOGUE, KINDS
from .spec import DTYPES, Nest, dense_leaves, from_json, has_inner, leaves, structure_name

CODES = ("INVALID_ARGUMENT", "UNKNOWN", "RESOURCE_EXHAUSTED", "UNIMPLEMENTED", "DATA_LOSS")
CLASSES = ("INVALID_ARGUMENT", "TypeError", "ValueError")
STRUCTURES = (
    "leaf",
    "tuple",
    "nested tuple",
    "dict",
    "nested dict",
    "namedtuple",
    "nested namedtuple",
    "dataset",
)


def _functions(data: Any) -> Iterator[str]:
    if isinstance(data, dict):
        if isinstance(data.get("fn"), str):
            yield data["fn"]
        for part in data.values():
            yield from _functions(part)
    elif isinstance(data, list):
        for part in data:
            if isinstance(part, dict):
                yield from _functions(part)


def _ranks(spec: Nest) -> Iterator[str]:
    if has_inner(spec):
        return
    for leaf in dense_leaves(spec):
        if leaf.shape is None:
            yield "unknown"
        else:
            yield f"{len(leaf.shape)}{' open' if None in leaf.shape else ''}"


class Coverage:
    """Counts of everything that occurred."""

    def __init__(self) -> None:
        self.programs = 0
        self.tables: dict[str, Counter[str]] = {}

    def _count(self, table: str, item: str) -> None:
        self.tables.setdefault(table, Counter())[item] += 1

    def add(self, program: dict[str, Any], outcome: dict[str, Any]) -> None:
        self.programs += 1
        for table, item in features(program, outcome):
            self._count(table, item)

    def missing(self) -> list[str]:
        """What is registered and never occurred."""
        wanted = {
            "operator": OPERATORS,
            "dtype": DTYPES,
            "structure": STRUCTURES,
            "function": tuple(CATALOGUE),
            "raised": tuple(KINDS),
            "error code": CODES,
            "construction error": CLASSES,
        }
        return [
            f"{table} {item}"
            for table, items in wanted.items()
            for item in items
            if not self.tables.get(table, Counter())[item]
        ]

    def report(self) -> str:
        lines = [f"{self.programs} programs"]
        for table, counts in sorted(self.tables.items()):
            if len(counts) > 60:
                possible = len(OPERATORS) ** 2
                often = ", ".join(f"{item} {n}" for item, n in counts.most_common(8))
                lines.append(f"{table}: {len(counts)} of at most {possible}, such as {often}")
            else:
                shown = ", ".join(f"{item} {n}" for item, n in counts.most_common())
                lines.append(f"{table} ({len(counts)}): {shown}")
        return "\n".join(lines)


def features(program: dict[str, Any], outcome: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Everything countable that one program and its outcome show."""
    for op in programs.operators(program):
        yield "operator", op
    for first, second in programs.pairs(program):
        yield "pair", f"{first}>{second}"
    for name in _functions(program):
        yield "function", name
    for _, kind in programs.function_kinds(program):
        yield "raised", kind
    if "construction" in outcome:
        where = outcome["construction"]["where"].split(":")[-1]
        yield "construction error", outcome["construction"]["classes"][0]
        yield "refused at", program["source"]["op"] if where == "source" else where
        return
    spec = from_json(outcome["spec"])
    yield "structure", structure_name(spec)
    for rank in _ranks(spec):
        yield "rank", rank
    if any(leaf for leaf in leaves(spec)) and not has_inner(spec):
        for leaf in dense_leaves(spec):
            yield "dtype", leaf.dtype
    cardinality = outcome["cardinality"]
    yield "cardinality", {-1: "infinite", -2: "unknown"}.get(cardinality, "known")
    for epoch in outcome["epochs"]:
        for event in epoch:
            if isinstance(event, dict) and "error" in event:
                yield "error code", event["error"]
