"""What a program does, as data: its construction error, or its type, size and events."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from . import functions
from .build import Builder, ConstructionError
from .spec import Inner, Leaf, Nest, NotApplicableError, Tup, leaves, to_json, unpack
from .values import decode_nest, encode, encode_nest, spec_of

EVENTS = 64
CONSECUTIVE_ERRORS = 8

CODES = {
    1: "CANCELLED",
    2: "UNKNOWN",
    3: "INVALID_ARGUMENT",
    4: "DEADLINE_EXCEEDED",
    5: "NOT_FOUND",
    6: "ALREADY_EXISTS",
    7: "PERMISSION_DENIED",
    8: "RESOURCE_EXHAUSTED",
    9: "FAILED_PRECONDITION",
    10: "ABORTED",
    11: "OUT_OF_RANGE",
    12: "UNIMPLEMENTED",
    13: "INTERNAL",
    14: "UNAVAILABLE",
    15: "DATA_LOSS",
    16: "UNAUTHENTICATED",
}


@dataclass(frozen=True)
class Reading:
    """How one engine's results are read."""

    numpy: Callable[[Any], Any]
    classes: Callable[[Exception], list[str]]
    message: Callable[[Exception], str]
    open: Callable[[Any], Any] = iter


def run(program: dict[str, Any], builder: Builder, reading: Reading) -> dict[str, Any]:
    """The outcome of one program."""
    try:
        ds = builder.program(program)
    except ConstructionError as error:
        if isinstance(error.cause, NotApplicableError):
            return {"not_applicable": str(error.cause)}
        return {
            "construction": {
                "where": error.where,
                "classes": reading.classes(error.cause),
                "message": reading.message(error.cause).replace(builder.directory, "DIR"),
            }
        }
    spec = builder.backend.spec(ds)
    run_of = _Run(builder, reading)
    outcome: dict[str, Any] = {"spec": to_json(spec), "cardinality": int(ds.cardinality())}
    if program.get("reduce") is not None:
        outcome["epochs"] = [run_of.reduced(ds, spec, program["reduce"])]
    else:
        outcome["epochs"] = [
            run_of.epoch(ds, spec, limit, reading.open) for limit in program["epochs"]
        ]
    return outcome


class _Run:
    def __init__(self, builder: Builder, reading: Reading) -> None:
        self.builder = builder
        self.reading = reading

    def epoch(
        self, ds: Any, spec: Nest, limit: int | None, open_: Callable[[Any], Any] = iter
    ) -> list[Any]:
        """The events of one iteration; `"end"` and `"cut"` say how it ended."""
        try:
            iterator = open_(ds)
        except Exception as error:
            return [self.error(error), "no iterator"]
        return list(self.events(iterator, spec, EVENTS if limit is None else limit))

    def events(self, iterator: Any, spec: Nest, limit: int) -> Iterator[Any]:
        failed = 0
        for _ in range(limit):
            try:
                value = next(iterator)
            except StopIteration:
                yield "end"
                return
            except Exception as error:
                failed += 1
                yield self.error(error)
                if failed == CONSECUTIVE_ERRORS:
                    break
            else:
                failed = 0
                yield {"value": self.value(value, spec)}
        yield "cut"

    def error(self, error: Exception) -> dict[str, Any]:
        message = self.reading.message(error).replace(self.builder.directory, "DIR")
        names = self.reading.classes(error)
        event = {"error": names[0], "message": message}
        return event if len(names) == 1 else {**event, "classes": names}

    def value(self, value: Any, spec: Nest) -> Any:
        flat = []
        for leaf, part in zip(leaves(spec), unpack(spec, value), strict=True):
            if isinstance(leaf, Inner):
                flat.append({"events": self.epoch(part, leaf.element, None)})
            else:
                flat.append(self.tensor(part, leaf))
        return encode_nest(spec, flat)

    def tensor(self, part: Any, leaf: Leaf) -> Any:
        encoded = encode(self.reading.numpy(part))
        if leaf.dtype == "string":
            folder = self.builder.directory
            encoded[2] = [text.replace(folder, "DIR") for text in encoded[2]]
        return encoded

    def reduced(self, ds: Any, spec: Nest, step: dict[str, Any]) -> list[Any]:
        initial = spec_of(step["initial"])
        pair = Tup((initial, spec))
        try:
            made = functions.signature(step["fn"], pair)
            declared = self.builder.backend.declare(made)
            if "output_signature" not in inspect.signature(ds.reduce).parameters:
                declared = {}
            function = self.builder.backend.function(step["fn"], pair)
            result = ds.reduce(decode_nest(step["initial"]), function, **declared)
        except Exception as error:
            return [self.error(error)]
        return [{"value": self.value(result, made)}]
