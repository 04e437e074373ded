"""Datasets on their way to another process: `pickle` and `cloudpickle` of a pipeline.

A pickle holds the nodes with their parameters and lines. Functions of Python go as ordinary objects
of the surrounding pickler, traced ones as their graphs, arrays as arrays. What the user's pickler
could not write is refused first, by the variable's name and the stage's line. See docs/travel.md.
"""

from __future__ import annotations

import copyreg
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from spillway import _native
from spillway.guard import travel
from spillway.travel_checks import damaged, sealed

if TYPE_CHECKING:
    from spillway.dataset import Dataset

_NAMED = "named"
_THERE = "another process"
_OF_A_PASS = (
    "its rows are held by a running pass and cannot travel: send the dataset it was made from, or "
    "the elements"
)


# ---- Datasets


def dataset_parts(dataset: Dataset) -> tuple[Any, ...]:
    """What `Dataset.__reduce__` returns."""
    nodes = _native.nodes_below(dataset._node)
    if not _checking.now:
        with _checking:
            for node in nodes:
                _check(node)
    return sealed(_dataset, (type(dataset), nodes, nodes[-1].hash))


def _dataset(cls: type[Dataset], nodes: list[Any], hash: int | None = None) -> Dataset:
    from spillway.dataset import Dataset

    if hash is not None and nodes[-1].hash != hash:  # parts of two kinds were exchanged
        raise damaged()
    made = cls.__new__(cls)
    Dataset.__init__(made, nodes[-1])
    return made


def _node_parts(node: Any) -> tuple[Any, ...]:
    return sealed(_node, _native.node_parts(node))


def _node(op: str, params: list[Any], inputs: list[Any], line: str, name: str) -> Any:
    return _native.node(op, params, inputs, line, name)


# ---- What nodes hold


def _structure_parts(structure: Any) -> tuple[Any, ...]:
    return sealed(_structure, (_plain(structure),))


def _plain(structure: Any) -> tuple[Any, ...]:
    """A structure as tuples; the classes of its namedtuples go along."""
    kind = structure.kind
    if kind == "tensor":
        return kind, structure.dtype, structure.shape
    children = [_plain(child) for child in structure.children]
    if kind == "dict":
        return kind, structure.keys, children
    if kind == _NAMED:
        cls = _native.class_by_name(structure.type)
        return kind, structure.type if cls is None else cls, structure.keys, children
    if kind == "dataset":
        return kind, children, structure.shape
    return kind, children


def _structure(plain: tuple[Any, ...]) -> Any:
    make = _native.Structure
    kind, *rest = plain
    if kind == "tensor":
        return make.tensor(*rest)
    if kind == "dict":
        return make.dict(rest[0], [_structure(child) for child in rest[1]])
    if kind == _NAMED:
        return make.named(rest[0], rest[1], [_structure(child) for child in rest[2]])
    children = [_structure(child) for child in rest[0]]
    inner = children[0] if children else None
    if kind == "dataset":
        return make.dataset(inner, rest[1])
    if kind == "optional":
        return make.optional(inner)
    return make.none() if kind == "none" else make.tuple(children)


def _element_parts(element: Any) -> tuple[Any, ...]:
    return sealed(_element, (element.value(), element.structure))


def _element(nest: Any, structure: Any) -> Any:
    return _native.element(nest, structure, True)


def _function_parts(function: Any) -> tuple[Any, ...]:
    recipe = recipe_of(function)
    if recipe is not None:
        return recipe.make, recipe.args
    return sealed(_function, _native.function_parts(function))


def _function(kind: str, parts: tuple[Any, ...], output: Any, code: str, name: str) -> Any:
    if kind == "python":
        call, numpy, why = parts
        return _native.function(call, output, code, name, numpy, why)
    if kind == "graph":
        graph, captured = parts
        return _native.graph_function_again(graph, captured, output, code, name)
    nodes, holes, given, values = parts
    placed = [(nodes[node], *rest) for node, *rest in holes]
    return _native.template_function(nodes[-1], placed, given, values, output, code, name)


def _object_parts(thing: Any) -> tuple[Any, ...]:
    recipe = recipe_of(thing)
    if recipe is None:
        raise TypeError(_OF_A_PASS)
    if recipe.never:
        raise TypeError(recipe.never)
    return recipe.make, recipe.args


class Recipe:
    """How a function or a source is made again: `make(*args)`.

    `function` and `arguments` are what in `args` is the user's, to be named where it cannot travel.
    `never`: why it cannot in any case. `says`: where it runs, for `explain()`.
    """

    __slots__ = ("args", "arguments", "function", "make", "never", "says")

    def __init__(
        self,
        make: Callable[..., Any],
        args: tuple[Any, ...],
        *,
        function: Any = None,
        arguments: tuple[Any, ...] = (),
        never: str = "",
        says: str = "",
    ) -> None:
        """Nothing is called before it arrives."""
        self.make, self.args, self.never, self.says = make, args, never, says
        self.function, self.arguments = function, arguments

    def saying(self, text: str) -> Recipe:
        """The same, where `explain()` says so."""
        return Recipe(
            self.make,
            self.args,
            function=self.function,
            arguments=self.arguments,
            never=self.never,
            says=text,
        )

    def check(self, where: str) -> None:
        """TypeError by name for what cannot travel; `where` is its stage."""
        if self.never:
            raise TypeError(f"{where}: {self.never}")
        if self.function is not None:
            travel.check(self.function, where, _THERE)
        for value in self.arguments:
            travel.check_argument(value, where, _THERE)


def recipe_of(thing: Any) -> Recipe | None:
    """How a function or a source of the engine's is made again, where it was told."""
    is_function = isinstance(thing, _native.Function)
    found: Any = _native.function_recipe(thing) if is_function else _native.object_recipe(thing)
    return found if isinstance(found, Recipe) else None


# ---- What cannot travel


class _Checking(threading.local):
    """Whether the objects now pickled are only being looked at."""

    now = False

    def __enter__(self) -> None:
        self.now = True

    def __exit__(self, *_: object) -> None:
        self.now = False


_checking = _Checking()


def _check(node: Any) -> None:
    """TypeError by stage, line and variable for what of a node cannot be pickled."""
    op, params, _, line, _ = _native.node_parts(node)
    where = f"{op}, {line}" if line else op
    for value in params:
        if isinstance(value, _native.Function):
            recipe = recipe_of(value)
            if recipe is not None:
                recipe.check(where)
            elif _native.is_python(value):
                call = _native.function_parts(value)[1][0]
                travel.check(getattr(call, "func", call), where, _THERE)
        elif isinstance(value, _native.Object):
            recipe = recipe_of(value)
            if recipe is None:
                raise TypeError(f"{where}: {_OF_A_PASS}")
            recipe.check(where)


copyreg.pickle(_native.Node, _node_parts)
copyreg.pickle(_native.Structure, _structure_parts)
copyreg.pickle(_native.Element, _element_parts)
copyreg.pickle(_native.Function, _function_parts)
copyreg.pickle(_native.Object, _object_parts)
