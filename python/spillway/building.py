"""From a method's arguments to a node of the pipeline."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from spillway import (
    _native,
    async_loop,
    functions,
    nest,
    opaque,
    policies,
    templates,
    tracing,
)
from spillway._error_making import note_name
from spillway._operators import definitions
from spillway.config import settings
from spillway.errors import SpillwayError
from spillway.interruptions import pass_on
from spillway.lines import user_line
from spillway.seeds import seed_pair
from spillway.shown import shown
from spillway.specs import DatasetSpec
from spillway.structures import shapes_structure, to_structure
from spillway.symbolic import TraceBreak, stand_in
from spillway.tensor_convert import array_of, is_tensor, refuse, to_tensor, truth

if TYPE_CHECKING:
    from spillway.dataset import Dataset

AUTOTUNE = -1

_RESULTS = {"map_func", "scan_func", "reduce_func", "predicate"}
# Functions that are called with the input's elements.
_OF_ELEMENTS = {
    ("map", "map_func"),
    ("filter", "predicate"),
    ("take_while", "predicate"),
    ("group_by_window", "key_func"),
}
# Functions whose result TensorFlow makes an int64 of, where it is a Python number.
_INT64 = {"key_func", "window_size_func"}
_SANDBOXED = {"map", "filter"}
_DATASET_FUNCTIONS = {("flat_map", "map_func"), ("group_by_window", "reduce_func")}


def apply_operator(
    op: str,
    caller: Dataset | None,
    values: tuple[Any, ...],
    signature: Any,
    name: str | None,
    policy: dict[str, Any],
) -> Dataset:
    """Makes the node of an operator from a method's arguments, converted as it defines them."""
    from spillway.dataset import Dataset

    params: list[Any] = []
    inputs: list[Any] = [] if caller is None else [caller]
    guard = guard_rules(policy)
    if guard.get("sandbox") and op not in _SANDBOXED:
        raise ValueError(f"{op}: sandbox= is for map, filter and from_generator")
    for definition, value in zip(definitions[op]["params"], values, strict=True):
        kind = definition["type"]
        if kind == "dataset":
            if not isinstance(value, Dataset):
                raise TypeError(f"{op}: {definition['name']} must be a Dataset: {shown(value)}")
            inputs.append(value)
            params.append(None)
        elif kind == "datasets":
            inputs.extend(datasets_of(value, op))
            params.append(None)
        elif op == "scan" and kind == "function" and signature is None and caller is not None:
            state = params[0].structure
            made = _finish(value, tracing.trace_scan(value, state, caller._node.structure))
            params.append(_guarded(made, value, guard, op, None, None))
        elif kind == "function" and value is not None:
            if (op, definition["name"]) in _DATASET_FUNCTIONS:
                of = None if caller is None else _argument(op, caller)
                made = dataset_function(value, signature, of, op)
                params.append(kept_here(made, guard, op))
            else:
                declared = signature if definition["name"] in _RESULTS else None
                traced = (op, definition["name"]) in _OF_ELEMENTS and caller is not None
                of = caller._node.structure if traced and caller is not None else None
                if definition["name"] == "window_size_func":
                    of = _native.Structure.tensor("int64", ())  # of keys, whatever elements are
                lenient = any(v is not None for v in policy.values())
                dtype = "int64" if definition["name"] in _INT64 else None
                made = function(value, declared, of, op, lenient=lenient, dtype=dtype)
                named = zip(definitions[op]["params"], values, strict=True)
                parallel = [v for d, v in named if d["name"] == "num_parallel_calls"]
                params.append(_guarded(made, value, guard, op, calls(*parallel or [None]), of))
        elif definition["name"] == "num_parallel_calls" and value is None and guard:
            params.append(guard["num_workers"])
        else:
            params.append(_convert(kind, value, op, definition["name"]))
    return make(op, params, inputs, name, policy)


def datasets_of(value: Any, op: str) -> list[Dataset]:
    """The datasets of a nest, which holds nothing else."""
    from spillway.dataset import Dataset

    found = nest.flatten(value, lists=True)
    for item in found:
        if not isinstance(item, Dataset):
            raise TypeError(f"{op}: datasets must hold Dataset objects only, found {shown(item)}")
    return found


def guard_rules(policy: dict[str, Any]) -> dict[str, Any]:
    """Takes `isolate=` and its companions out of a method's keywords."""
    given = {name: policy.pop(name, None) for name in policies.GUARD_NAMES}
    if all(value is None for value in given.values()) and not settings.isolate:
        return {}
    from spillway.guard import rules

    return rules.take(given)


def _guarded(
    made: Any,
    call: Callable[..., Any],
    guard: dict[str, Any],
    op: str,
    at_a_time: int | None,
    of: Any,
) -> Any:
    """A function that runs as Python, or any in a sandbox, in workers where that was asked for."""
    if not guard or not (guard.get("sandbox") or _native.is_python(made)):
        return made
    from spillway.guard import rules

    return rules.isolated(made, call, guard, op, at_a_time, of)


def kept_here(made: Any, guard: dict[str, Any], op: str) -> Any:
    """A function that makes datasets: it stays in this process, and says so."""
    if not guard or not _native.is_python(made):
        return made
    from spillway.guard import where

    if guard["by_hand"]:
        raise ValueError(
            f"{op}: a function that makes datasets cannot run in a worker process: give "
            "isolate=True to the sources and stages inside of it"
        )
    return where.staying(made, "makes datasets")


def guarded_generator(
    native: Any, generator: Any, args: Any, structure: Any, guard: dict[str, Any]
) -> Any:
    """A generator, in a worker where that was asked for."""
    if not guard:
        return native
    from spillway.guard import rules

    return rules.isolated_generator(native, generator, args, structure, guard)


def _argument(op: str, caller: Dataset) -> Any:
    """The structure of what an operator's function of datasets is called with."""
    structure = caller._node.structure
    if op != "group_by_window" or structure is None:
        return structure
    key = _native.Structure.tensor("int64", ())
    return _native.Structure.tuple([key, _native.Structure.dataset(structure, ())])


def _convert(kind: str, value: Any, op: str, name: str) -> Any:
    if value is None:
        return None
    if kind == "int":
        if name == "num_parallel_calls":
            return calls(value)
        return templates.size(value, op, name)
    if kind == "float":
        try:
            return policies.seconds(value)
        except (TypeError, ValueError, OverflowError):
            raise TypeError(f"{op}: {name} must be a number, found {shown(value)}") from None
    if kind == "bool":
        return truth(value, f"{op}: {name}")
    if kind == "str":
        return _text(value, f"{op}: {name}")
    if kind in ("element", "slices"):
        return element(value, kind == "slices", rows=kind == "slices")
    if kind == "signature":
        return to_structure(value, lists=True)
    if kind == "shapes":
        return shapes_structure(value)
    if kind == "ints":
        flat = array_of(value).ravel().tolist()
        return [templates.size(v, op, name) for v in flat]
    return value


def _text(value: Any, what: str) -> str:
    """A path, or a scalar string tensor, as `str`."""
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if is_tensor(value):
        value = value.numpy()
    if isinstance(value, bytes):
        return value.decode()
    if not isinstance(value, str):
        refuse("TypeError", f"{what} must be text, found {shown(value)}")
    return value


def element(value: Any, adopt: bool, *, rows: bool = False) -> Any:
    """A nest of values as a constant of the engine's; inside a trace, one of the same types.

    `adopt`: arrays are not copied. `rows`: their first dimensions are counted out as elements.
    """
    if not opaque.tracing():
        try:
            return _native.element(value, None, adopt)
        except TypeError:
            _refuse_what_is_no_tensor(value)
            raise
    lists = nest.map_structure(
        lambda leaf: to_tensor(leaf) if isinstance(leaf, list) else leaf, value
    )
    form = opaque.form()
    if form is None:
        return _native.element(nest.map_structure(stand_in, lists), None, adopt)
    parts = templates.element_parts(lists, rows)
    made = _native.element(nest.map_structure(templates.stand_in_for, lists), None, adopt)
    form.note_parts(made, parts)
    return made


def _refuse_what_is_no_tensor(value: Any) -> None:
    """ValueError where a leaf cannot become a tensor, as `convert_to_tensor` has it.

    Of a dict, such as the columns of a DataFrame, with the name of the part.
    """
    named = value.items() if isinstance(value, Mapping) else [(None, value)]
    for name, part in named:
        for leaf in nest.flatten(part):
            holds_more = isinstance(leaf, list | np.ndarray) or hasattr(leaf, "element_spec")
            if leaf is None or holds_more:
                continue
            try:
                to_tensor(leaf)
            except SpillwayError as error:
                if name is not None:
                    error.message = f"in {shown(name)}: {error.message}"
                raise


def calls(value: Any) -> Any:
    """`num_parallel_calls` as an integer."""
    return None if value is None else templates.size(value, "parallel stage", "num_parallel_calls")


def seeds(value: Any, op: str) -> tuple[int, int]:
    """The pair of seeds of an operator."""
    return seed_pair(None if value is None else templates.size(value, op, "seed"))


def function(
    call: Callable[..., Any],
    signature: Any,
    of: Any = None,
    op: str = "map",
    *,
    lenient: bool = False,
    result: Any = None,
    dtype: str | None = None,
) -> Any:
    """A callable behind the engine's seam: traced to a graph where that cannot be noticed.

    `signature` declares its result, `of` is the structure of what it is called with, `op` the
    method it was passed to. `lenient`: a stage that has a policy for errors gets those of its
    function element by element. `result`: what it must give to be traced, without being declared.
    `dtype`: that of the scalar it gives, where Python's numbers become one.
    """
    if not callable(call):
        raise TypeError(f"expected a function, found {shown(call)}")
    output = None if signature is None else to_structure(signature, lists=True)
    if of is not None:
        try:
            found = tracing.trace(call, of, output if result is None else result, op, dtype)
        except Exception as error:
            pass_on(error)
            if not lenient:
                raise
            found = tracing.Traced(None, "fails for every element")
        if dtype is not None and found.structure is None:
            output = _native.Structure.tensor(dtype, ())
        return _finish(call, found, output)
    why = tracing.ASYNC if async_loop.is_async(call) else ""
    return _finish(call, tracing.Traced(None, why), output)


def _finish(call: Callable[..., Any], found: tracing.Traced, output: Any = None) -> Any:
    """The traced function, or the Python one with the reason why."""
    if found.function is not None:
        return found.function
    if opaque.form() is not None:
        raise TraceBreak("has a function inside that runs as Python")
    output = found.structure if output is None else output
    why = f"{found.line}: {found.why}" if found.line else found.why
    code, name = functions.fingerprint(call), functions.name_of(call)
    return _native.function(call, output, code, name, False, why)


def dataset_function(
    call: Callable[..., Any], signature: Any, of: Any = None, op: str = "interleave"
) -> Any:
    """The same for one that returns datasets; `signature` declares their elements."""
    if signature is None:
        return function(call, None, of, op)
    spec = signature if isinstance(signature, DatasetSpec) else DatasetSpec(signature)
    return function(call, spec)


def folding_function(call: Callable[..., Any], signature: Any, state: Any, of: Any) -> Any:
    """A function of a state and an element that gives a new state: `reduce`."""
    if signature is not None or of is None or state is None:
        return function(call, signature)
    return function(call, None, _native.Structure.tuple([state, of]), "reduce", result=state)


def cycle_length(num_parallel_calls: int | None) -> int:
    """What TensorFlow takes when none is given."""
    cpus = len(os.sched_getaffinity(0))
    if num_parallel_calls is None:
        return cpus
    if num_parallel_calls == AUTOTUNE:
        return -(-cpus // 3)
    wanted: int = calls(num_parallel_calls)
    return min(wanted, cpus)


def make(
    op: str,
    params: list[Any],
    inputs: list[Any],
    name: str | None,
    policy: dict[str, Any] | None = None,
) -> Dataset:
    """A dataset that ends with this node."""
    from spillway.dataset import Dataset

    nodes = [dataset._node for dataset in inputs]
    if policy:
        params = params + policies.params(policy)
    if name:
        note_name(name, op)
    form = opaque.form()
    if form is None:
        return Dataset(_native.node(op, params, nodes, user_line(), name or ""))
    node = _native.node(op, form.stand_ins(params), nodes, user_line(), name or "")
    form.place(node, params)
    return Dataset(node)
