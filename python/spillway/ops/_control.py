# ruff: noqa: N802  (TensorFlow's own names)
"""Control flow: the branch that is taken runs, the other does not.

Where the condition is known, this is Python's own `if` and `while`. On traced values the branches
become graphs of their own.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from spillway import modes, nest, opaque
from spillway.native_ops import call, native
from spillway.shown import shown
from spillway.symbolic import TraceBreak
from spillway.tensor_convert import integer, is_tensor, refuse, to_tensor


def _no_effects(what: str) -> Any:
    """Inside, a graph that is written gets nothing that would run in any case."""
    graph = modes.graph()
    return _scope() if graph is None else graph._without_effects(what)


def _give_up(why: str) -> NoReturn:
    """A traced function runs as Python instead; a graph cannot."""
    if opaque.tracing():
        raise TraceBreak(why)
    raise NotImplementedError(f"{why}, which a graph cannot do")


def _traced(*values: Any) -> bool:
    return any(is_tensor(value) and value._symbolic for value in values)


def _switch(index: Any, functions: list[Callable[[], Any]]) -> Any:
    """One of the functions, as graphs: each is traced, one runs."""
    mark = native.next_serial()
    with opaque.kept() as checks, _no_effects("a branch"):
        results = [function() for function in functions]
    if checks:
        _give_up("asserts something in a branch")
    flat = [[to_tensor(leaf) for leaf in nest.flatten(result, lists=True)] for result in results]
    for result in results[1:]:
        nest.assert_same_structure(results[0], result, lists=True)
    if any(len(leaves) == 0 for leaves in flat):
        _give_up("branches without a result")
    made = native.switch_case(index, flat, mark)
    return nest.pack_like(results[0], list(made), lists=True)


def cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: Any = None) -> Any:
    """`true_fn()` if the predicate holds, else `false_fn()`.

    >>> cond(True, lambda: 1, lambda: 2)
    1
    """
    if not callable(true_fn) or not callable(false_fn):
        raise TypeError("cond: true_fn and false_fn must be callable")
    if _traced(pred):
        return _switch(call("cast", call("logical_not", pred), "int32"), [true_fn, false_fn])
    holds = pred if isinstance(pred, (bool, np.bool_)) else to_tensor(pred)
    return true_fn() if bool(holds) else false_fn()


def case(
    pred_fn_pairs: Any,
    default: Any = None,
    exclusive: bool = False,
    strict: bool = False,
    name: Any = "case",
) -> Any:
    """The first function whose predicate holds.

    >>> case([(False, lambda: 1), (True, lambda: 2)])
    2
    """
    pairs = list(pred_fn_pairs.items()) if isinstance(pred_fn_pairs, dict) else list(pred_fn_pairs)
    if _traced(*(predicate for predicate, _ in pairs)):
        if default is None:
            predicates = [to_tensor(predicate) for predicate, _ in pairs]
            holds = call("reduce_any", to_tensor(predicates), None, False)
            check(holds, predicates, "case: no predicate holds and there is no default", None)
        return _first_of(pairs, default)
    held = [function for predicate, function in pairs if bool(predicate)]
    if exclusive and len(held) > 1:
        refuse("ValueError", f"case: exclusive, but {len(held)} predicates hold")
    if held:
        return held[0]()
    if default is None:
        refuse("ValueError", "case: no predicate holds and there is no default")
    return default()


def _first_of(pairs: list[Any], default: Any) -> Any:
    if not pairs:
        if default is None:
            _give_up("a case without a default, on traced values")
        return default()
    (predicate, function), *rest = pairs
    if default is None and not rest:
        return function()  # as TensorFlow: nothing else is left
    return cond(predicate, function, lambda: _first_of(rest, default))


def switch_case(
    branch_index: Any, branch_fns: Any, default: Any = None, name: Any = "switch_case"
) -> Any:
    """The function of an index; the last, or the default, for any other index.

    >>> switch_case(1, [lambda: "a", lambda: "b"])
    'b'
    """
    items = branch_fns.items() if isinstance(branch_fns, dict) else enumerate(branch_fns)
    functions = dict(items)
    last = functions[max(functions)] if default is None else default
    if _traced(branch_index):
        branches = [functions.get(i, last) for i in range(max(functions) + 1)]
        index = call("cast", branch_index, "int32")
        return _switch(index, branches if default is None else [*branches, default])
    return functions.get(integer(branch_index, "branch_index"), last)()


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: Any = None,
    name: Any = None,
) -> Any:
    """Runs the body while the condition holds.

    >>> while_loop(lambda i: i < 3, lambda i: i + 1, [to_tensor(0)])
    [Tensor(3, shape=(), dtype=int32)]
    """
    values = nest.map_structure(to_tensor, list(loop_vars), lists=True)
    tensors = nest.flatten(values, lists=True)
    if modes.deferring() and _loops_on_traced(cond, values):
        return _while(cond, body, loop_vars, values, tensors, maximum_iterations)
    most = None
    if maximum_iterations is not None:
        most = integer(maximum_iterations, "maximum_iterations")
    count = 0
    while most is None or count < most:
        found = cond(*values)
        if isinstance(found, (list, tuple, dict, str, bytes)):
            refuse("TypeError", f"cond must return a boolean scalar, found {shown(found)}")
        if not bool(found):
            break
        result = body(*values)
        values = list(result) if isinstance(result, (list, tuple)) else [result]
        count += 1
    return values if isinstance(loop_vars, list) else type(loop_vars)(values)


def _loops_on_traced(cond: Callable[..., Any], values: list[Any]) -> bool:
    return _traced(cond(*values))


def _while(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    values: list[Any],
    tensors: list[Any],
    most: Any,
) -> Any:
    """The loop as two graphs: the state's shapes must stay, or become unknown."""
    shapes = [tensor._dims for tensor in tensors]
    for _ in range(3):
        mark = native.next_serial()
        parameters = [
            native.parameter(tensor._dtype_name, shape)
            for tensor, shape in zip(tensors, shapes, strict=True)
        ]
        state = nest.pack_like(values, parameters, lists=True)
        with opaque.kept() as checks, _no_effects("while_loop"):
            test = to_tensor(cond(*state))
            result = body(*state)
        if checks:
            _give_up("asserts something in a loop")
        result = list(result) if isinstance(result, (list, tuple)) else [result]
        after = [to_tensor(leaf) for leaf in nest.flatten(result, lists=True)]
        wider = [_common(shape, tensor._dims) for shape, tensor in zip(shapes, after, strict=True)]
        if wider == shapes:
            break
        shapes = wider
    bound = -1 if most is None else integer(most, "maximum_iterations")
    made = native.while_loop(tensors, parameters, test, after, bound, mark)
    packed = nest.pack_like(values, list(made), lists=True)
    return packed if isinstance(loop_vars, list) else type(loop_vars)(packed)


def _common(a: Any, b: Any) -> Any:
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(x if x == y else None for x, y in zip(a, b, strict=True))


def map_fn(
    fn: Callable[..., Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: Any = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: Any = None,
    fn_output_signature: Any = None,
) -> Any:
    """`fn` of each slice along the first axis, stacked.

    >>> map_fn(lambda x: x * 2, to_tensor([1, 2]))
    Tensor([2 4], shape=(2,), dtype=int32)
    """
    flat = [to_tensor(leaf) for leaf in nest.flatten(elems, lists=True)]
    slices = [list(leaf) for leaf in flat]
    results = [
        fn(nest.pack_like(elems, [part[i] for part in slices], lists=True))
        for i in range(len(slices[0]))
    ]
    return nest.map_structure(lambda *parts: to_tensor(list(parts)), *results)


def Assert(condition: Any, data: Any, summarize: Any = None, name: Any = None) -> Any:
    """Raises InvalidArgumentError unless the condition holds; in a graph, where it runs.

    >>> Assert(True, ["fine"])
    """
    holds = call("reduce_all", to_tensor(condition), None, False)
    made = check(holds, [to_tensor(item) for item in data], "", summarize)
    return made.op if made._symbolic and modes.graph() is not None else None


def check(holds: Any, data: list[Any], text: str, summarize: Any) -> Any:
    """Fails with the data and the text unless it holds."""
    made = call("assert_true", holds, data, text, 3 if summarize is None else summarize)
    if made._symbolic:  # nothing of a graph's results depends on it: kept by itself
        opaque.keep(made)
    return made


@contextlib.contextmanager
def _scope() -> Iterator[None]:
    yield


def device(device_name: Any) -> Any:
    """A scope without effect: there is one device.

    >>> with device("CPU:0"):
    ...     pass
    """
    return _scope()


def init_scope() -> Any:
    """A scope without effect: a graph that is written stays the one that is written.

    >>> with init_scope():
    ...     pass
    """
    return _scope()
