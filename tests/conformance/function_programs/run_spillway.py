"""Programs of functions in Spillway: traced, and as Python."""

from __future__ import annotations

from typing import Any

from ..ops.run_spillway import ENGINE, tracing
from ..ops.serving import serve
from . import running

Data = dict[str, Any]


def one(program: Data, traced: bool) -> Data:
    with tracing(traced):
        made, ds = running.outcome(ENGINE, program)
    if ds is not None:
        told = next(stage["functions"][0] for stage in ds.explain().stages
                    if stage["stage"] == program["use"])  # fmt: skip
        made["native"], made["why"] = told["native"], told["why"]
    return made


def outcome(program: Data) -> Data:
    """What Spillway does with a program, both ways."""
    return {"traced": one(program, True), "python": one(program, False)}


def main() -> None:
    serve(outcome)


if __name__ == "__main__":
    main()
