"""`ds.explain()`: what runs natively, what as Python and why, what is fused, what was shrunk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spillway import _native
from spillway._native import format_bytes
from spillway.audit import StageRow
from spillway.lines import with_source
from spillway.stages import PipelineStage, stages_of
from spillway.traveling import recipe_of


class Explanation:
    """One entry a stage, sources first; prints as text.

    >>> import spillway as sw
    >>> ds = sw.Dataset.range(3).map(lambda x: x + 1)
    >>> [(stage["stage"], stage["native"]) for stage in ds.explain().stages]
    [('range', True), ('map', True)]
    """

    def __init__(self, node: _native.Node, last: Sequence[StageRow] = ()) -> None:
        """Of the pipeline that ends with `node`; `last`: what its stages did in the last pass."""
        pipeline = stages_of(node)
        self.stages: list[dict[str, Any]] = []
        for stage in pipeline:
            functions = [
                {"parameter": parameter, "name": name, "native": native, "why": why}
                for parameter, name, native, why in stage.node.functions()
            ] + _generators(stage.node)
            row = last[stage.number] if stage.number < len(last) else None
            self.stages.append(
                {
                    "stage": stage.op,
                    "line": stage.node.line,
                    "native": all(function["native"] for function in functions),
                    "functions": functions,
                    "notes": [*_how(stage, pipeline), *(_became(stage, row) if row else [])],
                }
            )

    def __str__(self) -> str:
        """A line a stage, one for each function that runs as Python, and what else there is."""
        lines = []
        for stage in self.stages:
            where = f"  ({with_source(stage['line'])})" if stage["line"] else ""
            kinds = {function["native"] for function in stage["functions"]}
            how = "" if not kinds else "native" if kinds == {True} else "Python"
            lines.append(f"{stage['stage']:<18} {how:<7}{where}".rstrip())
            for function in stage["functions"]:
                if not function["native"] and function["why"]:
                    lines.append(f"    {function['name']} runs as Python: {function['why']}")
            lines += [f"    {note}" for note in stage["notes"]]
        return "\n".join(lines)

    __repr__ = __str__


def _how(stage: PipelineStage, pipeline: list[PipelineStage]) -> list[str]:
    """What is decided before it runs: what is one with its input, what goes on side by side."""
    if stage.op == "map":
        return _how_mapped(stage, pipeline)
    if stage.op == "shuffle" and not stage.node.param("seed") and not stage.node.param("seed2"):
        return ["drawn from a new seed in every pass"]
    if stage.op == "prefetch":
        size = stage.param("buffer_size", -1)
        many = f"{size:,} elements" if size >= 0 else "as many elements as help and fit"
        return [f"a thread of its own works ahead: {many}"]
    return []


def _how_mapped(stage: PipelineStage, pipeline: list[PipelineStage]) -> list[str]:
    notes = []
    if stage.node.fused_with_input:
        before = pipeline[stage.inputs[0]]
        notes.append(f"fused with {before.name} before it: both run as one, nothing between them")
    calls = stage.param("num_parallel_calls", 0)
    if stage.node.sequential_map:
        if calls not in (0, 1):
            notes.append("runs on whole chunks and all CPUs: num_parallel_calls changes nothing")
    elif calls > 1:
        notes.append(f"up to {calls:,} calls at a time")
    elif calls < 0:
        notes.append("as many calls at a time as help and fit")
    return notes


def _became(stage: PipelineStage, row: StageRow) -> list[str]:
    """What the last pass made of it."""
    notes = []
    if row.parallelism > 1:
        notes.append(f"last pass: {row.parallelism:,} calls at a time")
    wanted = stage.param("buffer_size", 0) if stage.op == "shuffle" else 0
    if 0 < row.effective < wanted:
        notes.append(f"last pass: shrunk to {row.effective:,} of {wanted:,} elements")
    if row.spilled_bytes:
        notes.append(f"last pass: spilled {format_bytes(row.spilled_bytes)} to disk")
    if row.skipped:
        notes.append(f"last pass: skipped {row.skipped:,}")
    return notes


def _generators(node: _native.Node) -> list[dict[str, Any]]:
    """Generators that have something to tell."""
    if node.op != "from_generator":
        return []
    found = []
    for value in _native.node_parts(node)[1]:
        recipe = recipe_of(value) if isinstance(value, _native.Object) else None
        if recipe is not None and recipe.says:
            name = recipe.args[-1]
            found.append(
                {"parameter": "generator", "name": name, "native": False, "why": recipe.says}
            )
    return found
