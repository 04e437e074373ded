"""What runs before what: `tf.control_dependencies`, `tf.group`, `tf.no_op`, `tf.tuple`."""

from __future__ import annotations

import contextlib
from typing import Any

from spillway import modes, nest
from spillway.native_ops import native
from spillway.sessions.graph import as_operation
from spillway.sessions.operation import Called, Made, Operation
from spillway.sessions.scopes import NameScope
from spillway.tensor_convert import to_tensor


def control_dependencies(control_inputs: Any) -> contextlib.AbstractContextManager[None]:
    """In a graph, what is written inside runs after these. Elsewhere they have run.

    >>> with control_dependencies([]):
    ...     pass
    """
    graph = modes.graph()
    if graph is None:
        return contextlib.nullcontext()
    found: contextlib.AbstractContextManager[None] = graph.control_dependencies(control_inputs)
    return found


def name_scope(name: Any = None, default_name: Any = None, values: Any = None) -> NameScope:
    """Names what is made inside.

    >>> with name_scope("block") as scope:
    ...     print(scope)
    block/
    """
    return NameScope(name, default_name, values)


def group(*inputs: Any, **kwargs: Any) -> Any:
    """An operation that has run when all of these have; None outside graphs, where they have.

    >>> group(1, 2)
    """
    graph = modes.graph()
    if graph is None:
        return None
    items = [item for given in inputs for item in nest.flatten(given, lists=True)]
    return _no_op(graph, kwargs.get("name") or "group_deps", items)


def no_op(name: Any = None) -> Any:
    """An operation that does nothing but run after what is written around it; None outside graphs.

    >>> no_op()
    """
    graph = modes.graph()
    return None if graph is None else _no_op(graph, name or "NoOp", [])


def _no_op(graph: Any, name: str, after: list[Any]) -> Operation:
    operation = Operation(graph, graph._new_name(name), "NoOp", ())
    operation._controls = (*graph._controls_now(), *(as_operation(item, graph) for item in after))
    graph._add(operation)
    return operation


def called(graph: Any, function: Any, args: list[Any], types: list[Any], name: str) -> list[Any]:
    """What a Python function gives for `args` when the graph runs.

    function: of tensors with values, to a list of tensors; `types`: dtype and shape of each.
    """
    call = Called(graph, graph._new_name(name), function, tuple(to_tensor(arg) for arg in args))
    call._controls = graph._controls_now()
    call.outputs = tuple(native.parameter(dtype, shape, True) for dtype, shape in types)
    for at, tensor in enumerate(call.outputs):
        graph._source(Made(tensor, call, at))
    graph._add(call)
    return list(call.outputs)


def tuple_of(tensors: Any, name: Any = None, control_inputs: Any = None) -> list[Any]:
    """The tensors, each of which is there when all of them are.

    >>> [int(x) for x in tuple_of([1, 2])]
    [1, 2]
    """
    graph = modes.graph()
    if graph is None:
        return [to_tensor(x) for x in tensors]
    with graph.control_dependencies([*tensors, *(control_inputs or ())]):
        return [graph._record(native.deferred(to_tensor(x)), "identity") for x in tensors]
