"""Programs of ops in Spillway: called at once, in a traced map, in a map that runs as Python."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any

import spillway.tf as tf
from spillway import native_ops

from ..run_spillway import classes
from . import running
from .running import Data, Engine

ENGINE = Engine(tf, classes, str)


@contextlib.contextmanager
def tracing(on: bool) -> Iterator[None]:
    """Functions are traced, or run as Python."""
    before = os.environ.get("SPILLWAY_TRACE")
    os.environ["SPILLWAY_TRACE"] = "1" if on else "0"
    try:
        yield
    finally:
        if before is None:
            del os.environ["SPILLWAY_TRACE"]
        else:
            os.environ["SPILLWAY_TRACE"] = before


def mapped(program: Data) -> Data:
    function = running.op_function(ENGINE, program)
    try:
        ds = running.source(ENGINE, program).map(function)
        out: Data = {"spec": ENGINE.spec(ds)}
        told = ds.explain().stages[-1]["functions"]
    except Exception as error:
        return {"refused": ENGINE.failed(error)}
    out["events"] = list(ENGINE.events(ds))
    out["native"], out["why"] = told[0]["native"], told[0]["why"]
    return out


@contextlib.contextmanager
def noting(used: set[str]) -> Iterator[None]:
    """Collects the names of the ops that are applied meanwhile."""
    names = {op["index"]: name for name, op in native_ops.definitions.items()}
    apply, call = native_ops.apply, native_ops.call

    def noted_apply(index: int, *parameters: Any) -> Any:
        used.add(names[index])
        return apply(index, *parameters)

    def noted_call(name: str, *parameters: Any) -> Any:
        used.add(name)
        return call(name, *parameters)

    spaces = [vars(module) for name, module in list(sys.modules.items())
              if name.startswith("spillway.") and hasattr(module, "__dict__")]  # fmt: skip
    spaces += [function.__globals__ for function in native_ops.functions.values()]
    by = {id(apply): noted_apply, id(call): noted_call}
    changed = []
    for space in spaces:
        for name, value in list(space.items()):
            if id(value) in by and space is not vars(native_ops):
                changed.append((space, name, value))
                space[name] = by[id(value)]
    try:
        yield
    finally:
        for space, name, value in changed:
            space[name] = value


def outcome(program: Data, note: bool = False) -> Data:
    """What Spillway does with a program, each of three ways."""
    used: set[str] = set()
    in_graphs: set[str] = set()
    with noting(used) if note else contextlib.nullcontext():
        rows = running.eager(ENGINE, program)
    with tracing(True), noting(in_graphs) if note else contextlib.nullcontext():
        traced = mapped(program)
    with tracing(False):
        python = mapped(program)
    # Only ops that led to a value count as met.
    met = used if any("value" in row for row in rows) else set()
    if any("value" in event for event in traced.get("events", ())):
        met |= in_graphs
    return {"rows": rows, "traced": traced, "python": python, "used": sorted(met)}


def main() -> None:
    from .serving import serve

    serve(lambda program: outcome(program, note=True))


if __name__ == "__main__":
    main()
