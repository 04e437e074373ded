"""A program: plain JSON data that describes a pipeline, and what can be asked of it.

    {"source": {"op": "range", "args": [10], "dtype": null},
     "steps": [{"op": "map", "fn": {"fn": "add_const", "k": 3}, "parallel": null}, ...],
     "epochs": [null, null],           # how many events to read in each, null for all
     "reduce": {"initial": ..., "fn": ...}}   # instead of epochs

As a step, `zip` joins the dataset with itself, and so does `concatenate` without `other`: one
dataset object is then used twice. Programs nest: as inputs of `zip`, `choose_from_datasets` and
`sample_from_datasets`, as the other side of `concatenate`, and in the body of `flat_map` and
`interleave`, which is a way to make a dataset of an element (`range`, `slices`, `tensors`,
`fixed`, or `windows` to join the datasets of a window again) followed by steps. Tensors are
`[dtype, shape, flat values]`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

Program = dict[str, Any]
Step = dict[str, Any]


def inner_steps(step: Step) -> list[list[Step]]:
    """The lists of steps inside a step."""
    found = []
    if "steps" in step:
        found.append(step["steps"])
    if "body" in step:
        found.append(step["body"]["steps"])
    return found


def inner_programs(step: Step) -> list[Program]:
    """The programs inside a step or source."""
    found: list[Program] = []
    if step["op"] == "zip" and "inputs" in step:
        found += _leaves(step["inputs"])
    elif "inputs" in step:
        found += step["inputs"]
    if "choice" in step:
        found.append(step["choice"])
    if "other" in step:
        found.append(step["other"])
    if "program" in step.get("body", {}):
        found.append(step["body"]["program"])
    return found


def _leaves(inputs: Any) -> list[Program]:
    if "source" in inputs:
        return [inputs]
    parts = inputs.get("tuple") or inputs.get("list") or inputs.get("items")
    if parts is None:
        parts = list(inputs.get("dict", {}).values())
    return [leaf for part in parts for leaf in _leaves(part)]


def chains(program: Program) -> Iterator[list[Step]]:
    """Every chain of operators in the program, the inner ones as well."""
    chain = [program["source"], *program["steps"]]
    if program.get("reduce") is not None:
        chain.append({"op": "reduce", **program["reduce"]})
    yield chain
    yield from _chains_in(chain)


def _chains_in(chain: list[Step]) -> Iterator[list[Step]]:
    for step in chain:
        for inner in inner_programs(step):
            yield from chains(inner)
        for steps in inner_steps(step):
            yield steps
            yield from _chains_in(steps)


def operators(program: Program) -> Iterator[str]:
    for chain in chains(program):
        for step in chain:
            yield step["op"]


def pairs(program: Program) -> Iterator[tuple[str, str]]:
    for chain in chains(program):
        for first, second in itertools.pairwise(chain):
            yield first["op"], second["op"]


def function_kinds(program: Program) -> Iterator[tuple[str, str]]:
    """Each raising function: the operator that calls it and what it raises."""
    for chain in chains(program):
        for step in chain:
            for rule in _rules(step):
                yield step["op"], rule


def _rules(step: Step) -> Iterator[str]:
    for part in [*step.values(), step.get("body", {}).get("fn")]:
        if isinstance(part, dict) and "fn" in part and "raise" in part:
            yield part["raise"]["kind"]
    for item in step.get("items", []):
        if "raise" in item:
            yield item["raise"]


def size(program: Program) -> int:
    return sum(len(chain) for chain in chains(program))


def pretty(program: Program, indent: str = "") -> str:
    """The program, one operator a line."""
    lines = []
    for step in [program["source"], *program["steps"]]:
        lines.append(indent + _one_line(step))
        for inner in inner_programs(step):
            lines.append(pretty(inner, indent + "    "))
        for steps in inner_steps(step):
            lines += [f"{indent}  | {_one_line(each)}" for each in steps]
    if program.get("reduce") is not None:
        lines.append(indent + "reduce " + repr(program["reduce"]))
    if program.get("epochs", [None, None]) != [None, None]:
        lines.append(f"{indent}epochs {program['epochs']}")
    return "\n".join(lines)


def _one_line(step: Step) -> str:
    shown = []
    for name, value in step.items():
        if name in ("op", "steps", "inputs", "other", "choice") or value is None:
            continue
        if name == "body":
            value = {key: part for key, part in value.items() if key not in ("steps", "program")}
        shown.append(f"{name}={value!r}")
    return f"{step['op']}({', '.join(shown)})"
