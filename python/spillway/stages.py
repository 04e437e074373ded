"""The stages of a pipeline as a run numbers them, and what is known of each before it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spillway import _native


@dataclass(frozen=True)
class StageFunction:
    """A function that a stage calls."""

    parameter: str
    name: str
    native: bool
    why: str  # it runs as Python
    pure: bool
    fallible: bool
    row_by_row: bool
    isolated: bool  # it runs in worker processes


@dataclass(frozen=True)
class PipelineStage:
    """One operator of a pipeline; `inputs` are the numbers of the stages it reads."""

    number: int
    name: str
    node: Any
    inputs: tuple[int, ...]
    functions: tuple[StageFunction, ...]

    @property
    def op(self) -> str:
        """The operator's name."""
        return str(self.node.op)

    @property
    def label(self) -> str:
        """The stage with its function: `map(decode)`."""
        function = self.function_name
        return f"{self.op}({function})" if function else self.name

    @property
    def function_name(self) -> str:
        """Of its function or generator; empty: it has none."""
        name = self.functions[0].name if self.functions else str(self.node.generator)
        return name.rpartition("<locals>.")[2]

    @property
    def native(self) -> bool:
        """Whether no Python runs in it."""
        return self.op != "from_generator" and all(each.native for each in self.functions)

    def param(self, name: str, otherwise: int) -> int:
        """A whole number the stage was given; None of the user's is `otherwise`."""
        value = self.node.param(name)
        return otherwise if value is None else int(value)


def stages_of(root: Any) -> list[PipelineStage]:
    """All of them, sources first: their places and names are those of reports and errors.

    >>> import spillway as sw
    >>> ds = sw.Dataset.range(4).map(lambda x: x + 1, name="plus").batch(2)
    >>> [(stage.name, stage.inputs) for stage in stages_of(ds._node)]
    [('range#0', ()), ('plus', (0,)), ('batch#2', (1,))]
    """
    nodes = _native.nodes_below(root)
    numbers = {id(node): number for number, node in enumerate(nodes)}
    return [
        PipelineStage(
            number,
            node.name or f"{node.op}#{number}",
            node,
            tuple(numbers[id(input)] for input in _native.node_parts(node)[2]),
            _functions(node),
        )
        for number, node in enumerate(nodes)
    ]


def _functions(node: Any) -> tuple[StageFunction, ...]:
    told = {parameter: traits for parameter, *traits in node.function_traits()}
    return tuple(
        StageFunction(parameter, name, native, why, *told[parameter])
        for parameter, name, native, why in node.functions()
    )


def below(stages: list[PipelineStage], number: int) -> set[int]:
    """The stage and all that it is made of.

    >>> import spillway as sw
    >>> a = sw.Dataset.range(4).map(lambda x: x + 1)
    >>> sorted(below(stages_of(sw.Dataset.zip(a, a.batch(1))._node), 1))
    [0, 1]
    """
    found: set[int] = set()
    left = [number]
    while left:
        at = left.pop()
        if at not in found:
            found.add(at)
            left.extend(stages[at].inputs)
    return found
