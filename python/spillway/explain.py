"""`ds.explain()`: what runs natively, what as Python and why."""

from __future__ import annotations

from typing import Any

from spillway import _native
from spillway.lines import with_source
from spillway.traveling import recipe_of


class Explanation:
    """One entry a stage, sources first; prints as text.

    >>> import spillway as sw
    >>> ds = sw.Dataset.range(3).map(lambda x: x + 1)
    >>> [(stage["stage"], stage["native"]) for stage in ds.explain().stages]
    [('range', True), ('map', True)]
    """

    def __init__(self, node: _native.Node) -> None:
        """Of the pipeline that ends with `node`."""
        self.stages: list[dict[str, Any]] = []
        seen: list[Any] = []
        self._visit(node, seen)

    def _visit(self, node: _native.Node, seen: list[Any]) -> None:
        for inner in node.inputs:
            self._visit(inner, seen)
        functions = [
            {"parameter": parameter, "name": name, "native": native, "why": why}
            for parameter, name, native, why in node.functions()
        ] + _generators(node)
        self.stages.append(
            {
                "stage": node.op,
                "line": node.line,
                "native": all(function["native"] for function in functions),
                "functions": functions,
            }
        )

    def __str__(self) -> str:
        """A line a stage, and one for each function that runs as Python."""
        lines = []
        for stage in self.stages:
            where = f"  ({with_source(stage['line'])})" if stage["line"] else ""
            kinds = {function["native"] for function in stage["functions"]}
            how = "" if not kinds else "native" if kinds == {True} else "Python"
            lines.append(f"{stage['stage']:<18} {how:<7}{where}".rstrip())
            for function in stage["functions"]:
                if not function["native"] and function["why"]:
                    lines.append(f"    {function['name']} runs as Python: {function['why']}")
        return "\n".join(lines)

    __repr__ = __str__


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
