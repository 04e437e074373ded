"""Control flow: the branch that is taken runs, the other does not.

Where the condition is known, this is Python's own `if` and `while`. On traced values the branches
become graphs of their own.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from spillway import nest, opaque
from spillway.native_ops import call
from spillway.symbolic import TraceBreak
from spillway.tensor_convert import is_tensor, refuse, to_tensor


def _needs_value(*values: Any) -> None:
    if any(is_tensor(value) and value._symbolic for value in values):
        raise TraceBreak("branches on a traced value")


def cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: Any = None) -> Any:
    """`true_fn()` if the predicate holds, else `false_fn()`.

    >>> cond(True, lambda: 1, lambda: 2)
    1
    """
    if not callable(true_fn) or not callable(false_fn):
        raise TypeError("cond: true_fn and false_fn must be callable")
    _needs_value(pred)
    return true_fn() if bool(pred) else false_fn()


def case(pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, strict: bool = False,
         name: Any = "case") -> Any:
    """The first function whose predicate holds.

    >>> case([(False, lambda: 1), (True, lambda: 2)])
    2
    """
    pairs = list(pred_fn_pairs.items()) if isinstance(pred_fn_pairs, dict) else list(pred_fn_pairs)
    _needs_value(*(predicate for predicate, _ in pairs))
    held = [function for predicate, function in pairs if bool(predicate)]
    if exclusive and len(held) > 1:
        refuse("ValueError", f"case: exclusive, but {len(held)} predicates hold")
    if held:
        return held[0]()
    if default is None:
        refuse("ValueError", "case: no predicate holds and there is no default")
    return default()


def switch_case(branch_index: Any, branch_fns: Any, default: Any = None,
                name: Any = "switch_case") -> Any:
    """The function of an index; the last, or the default, for any other index.

    >>> switch_case(1, [lambda: "a", lambda: "b"])
    'b'
    """
    _needs_value(branch_index)
    items = branch_fns.items() if isinstance(branch_fns, dict) else enumerate(branch_fns)
    functions = dict(item if isinstance(item, tuple) else item for item in items)
    last = functions[max(functions)] if default is None else default
    return functions.get(int(branch_index), last)()


def while_loop(cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any,
               shape_invariants: Any = None, parallel_iterations: int = 10, back_prop: bool = True,
               swap_memory: bool = False, maximum_iterations: Any = None, name: Any = None) -> Any:
    """Runs the body while the condition holds.

    >>> while_loop(lambda i: i < 3, lambda i: i + 1, [to_tensor(0)])
    [Tensor(3, shape=(), dtype=int32)]
    """
    values = nest.map_structure(to_tensor, list(loop_vars), lists=True)
    count = 0
    while maximum_iterations is None or count < int(maximum_iterations):
        test = cond(*values)
        _needs_value(test)
        if not bool(test):
            break
        result = body(*values)
        values = list(result) if isinstance(result, (list, tuple)) else [result]
        count += 1
    return values if isinstance(loop_vars, list) else type(loop_vars)(values)


def map_fn(fn: Callable[..., Any], elems: Any, dtype: Any = None, parallel_iterations: Any = None,
           back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True,
           name: Any = None, fn_output_signature: Any = None) -> Any:
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
    """Raises InvalidArgumentError unless the condition holds.

    >>> Assert(True, ["fine"])
    """
    holds = call("reduce_all", to_tensor(condition), None, False)
    check(holds, [to_tensor(item) for item in data], "", summarize)


def check(holds: Any, data: list[Any], text: str, summarize: Any) -> None:
    """Fails with the data and the text unless it holds."""
    call("assert_true", holds, data, text, 3 if summarize is None else summarize)
    if holds._symbolic:  # nothing of a graph's results depends on it: it would never run
        opaque.note("asserts something of its element")


def group(*inputs: Any, **kwargs: Any) -> None:
    """Nothing: what is written has run.

    >>> group(1, 2)
    """


def no_op(name: Any = None) -> None:
    """Nothing.

    >>> no_op()
    """


@contextlib.contextmanager
def _scope() -> Iterator[None]:
    yield


def control_dependencies(control_inputs: Any) -> Any:
    """A scope without effect: ops run in the order they are written.

    >>> with control_dependencies([]):
    ...     pass
    """
    return _scope()


def name_scope(name: Any) -> Any:
    """A scope that names nothing yet.

    >>> with name_scope("block"):
    ...     pass
    """
    return _scope()


def device(device_name: Any) -> Any:
    """A scope without effect: there is one device.

    >>> with device("CPU:0"):
    ...     pass
    """
    return _scope()


def init_scope() -> Any:
    """A scope without effect.

    >>> with init_scope():
    ...     pass
    """
    return _scope()
