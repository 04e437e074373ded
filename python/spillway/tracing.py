"""From a Python function to a graph, where that cannot be noticed.

A function without effects (`purity`) is called once with traced tensors. What it computes becomes a
graph that runs on whole chunks without Python. Where the trace needs a value, or does what a graph
cannot, the function runs as Python for every element instead, and `Traced.why` says so.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from spillway import (
    _native,
    async_loop,
    functions,
    nest,
    opaque,
    purity,
    templates,
    traced_arrays,
)
from spillway.errors import SpillwayError
from spillway.interruptions import pass_on
from spillway.lines import PACKAGE, describe, with_source
from spillway.optional import Optional
from spillway.shown import shown
from spillway.specs import DatasetSpec, OptionalSpec, TensorSpec
from spillway.structures import to_structure
from spillway.symbolic import MAKES_DATASETS, TraceBreak
from spillway.tensor_convert import is_tensor, refuse, to_tensor

traced_arrays.install()
# Errors that no value of an element could have avoided.
_CERTAIN = (SpillwayError, KeyError, NameError, AttributeError)
GIVEN_DATASETS = "is given datasets"
ASYNC = "is async: it is awaited on an event loop"
_OF_FORMS = {MAKES_DATASETS, GIVEN_DATASETS}


@dataclass(frozen=True)
class Traced:
    """What became of a function."""

    function: Any  # for the engine; None: runs as Python
    why: str = ""
    line: str = ""
    structure: Any = None  # of its results, where the trace told


def enabled() -> bool:
    """Whether functions are traced at all: SPILLWAY_TRACE=0 runs every one as Python."""
    return os.environ.get("SPILLWAY_TRACE", "1") != "0"


def trace(
    call: Callable[..., Any],
    structure: Any,
    declared: Any = None,
    op: str = "map",
    dtype: str | None = None,
) -> Traced:
    """Traces `call` on elements of `structure`; `declared` is what its result must look like.

    `op` is the method it was passed to, `dtype` what its Python numbers become.
    """
    if not enabled():
        return Traced(None, "tracing is switched off")
    if async_loop.is_async(call):
        return Traced(None, ASYNC)
    if structure is None:
        return Traced(None, "the elements' types are not known before the first one")
    leaves = structure.leaves()
    if any(leaf.kind != "tensor" and not leaf.children for leaf in leaves):
        return Traced(None, "its elements hold Optionals or datasets of unknown types")
    effect = purity.effect(call)
    if effect is not None and not _native.mutant("effect_traced"):
        return Traced(None, effect.why, effect.line)
    mark = _native.next_serial()
    try:
        as_tensor = declared is not None and declared.kind == "tensor"
        take = functools.partial(_taken, op=op, as_tensor=as_tensor, dtype=dtype)
        parameters, values, found, reasons = _call(call, structure, 1, take)
        if MAKES_DATASETS in reasons:  # what differs in a second pass is not known before it runs
            found = found.common(_call(call, structure, 2, take)[2])
    except TraceBreak as broken:
        return Traced(None, str(broken), _line_of(broken))
    except _CERTAIN as error:
        pass_on(error)
        _explain(error, call, structure)
        raise
    except Exception as error:
        pass_on(error)
        if any(leaf.shape is None or None in leaf.shape for leaf in leaves):
            why = f"raises {type(error).__name__} while shapes are not known: {error}"
            return Traced(None, why, _line_of(error))
        _explain(error, call, structure)
        raise
    if declared is not None:
        if not declared.accepts(found):
            return Traced(None, "its result is declared otherwise")
        found = declared
    if reasons:
        form = _form(call, structure) if set(reasons) <= _OF_FORMS else None
        return Traced(form, "" if form else reasons[0], structure=found)
    return Traced(_function(call, structure, parameters, values, found, mark), structure=found)


def _function(
    call: Callable[..., Any], structure: Any, parameters: Any, values: Any, found: Any, mark: int
) -> Any:
    """The graph of what was traced; what it takes from a form around it is written down there."""
    code, name = functions.fingerprint(call), functions.name_of(call)
    form = opaque.form()
    if form is None:
        return _native.graph_function(parameters, values, found, code, name)
    native, captured = _native.closed_function(parameters, values, mark, found, code, name)
    form.note_parts(native, list(enumerate(captured)))
    form.seen.append(repr(structure))
    return native


def _form(call: Callable[..., Any], structure: Any) -> Any:
    """A function that makes a dataset of each element, as a form; None where it cannot be one.

    Two passes with other stand-ins must see the same types everywhere: then no graph inside was
    made for a size that another element does not have.
    """
    mark, around = _native.next_serial(), opaque.form()
    passes = []
    try:
        for size in (1, 2):
            form = templates.Form()
            with opaque.noted(size, form) as reasons, opaque.kept() as checks, _watched():
                parameters = [_parameter(leaf) for leaf in structure.leaves()]
                result = call(*_arguments(structure, parameters))
            if reasons or checks or not _is_dataset(result):
                return None
            form.seen.append(repr(result._node.structure))
            passes.append((form, parameters, result))
    except (TraceBreak, SpillwayError, TypeError, ValueError):
        return None  # a stand-in would not do: each element is left to Python
    (form, parameters, result), (other, *_) = passes
    if form.seen != other.seen or len(form.values) != len(other.values):
        return None
    code, name = functions.fingerprint(call), functions.name_of(call)
    values = None
    if form.values:
        specs = [_native.Structure.tensor(v._dtype_name, v._dims) for v in form.values]
        plain = [p for p in parameters if is_tensor(p)]
        tuple_of = _native.Structure.tuple(specs)
        values, captured = _native.closed_function(plain, form.values, mark, tuple_of, code, name)
        if captured:
            return None  # takes its values from a form around it
    if around is not None:
        around.seen.append(repr(structure))
    output = _native.Structure.dataset(result._node.structure, ())
    return _native.template_function(
        result._node, form.holes, form.given, values, output, code, name
    )


def trace_scan(call: Callable[..., Any], state: Any, element: Any) -> Traced:
    """Traces a function of a state and an element that gives a new state and a result.

    Shapes of the state that change from call to call become unknown.
    """
    if state is None or element is None:
        return Traced(None, "the elements' types are not known before the first one")
    while True:
        found = trace(call, _native.Structure.tuple([state, element]), op="scan")
        if found.structure is None:
            return found
        parts = found.structure.children if found.structure.kind == "tuple" else []
        if len(parts) != 2 or state.accepts(parts[0]):
            return found
        try:
            state = state.common(parts[0])
        except SpillwayError:
            return found  # of another type: the operator refuses it, as one that is no pair


def _call(
    call: Callable[..., Any], structure: Any, size: int, take: Callable[[Any], Any]
) -> tuple[Any, Any, Any, list[str]]:
    """One pass: parameters, the results' tensors and structure, and what only Python can do."""
    with opaque.noted(size) as reasons, opaque.kept() as checks:
        parameters = [_parameter(leaf) for leaf in structure.leaves()]
        with _watched():
            result = call(*_arguments(structure, parameters))
        values, found = take(result)
    return parameters, values + checks, found, reasons


def _arguments(structure: Any, parameters: list[Any]) -> tuple[Any, ...]:
    element = structure.give(parameters)
    return tuple(element) if structure.kind == "tuple" else (element,)


def _parameter(leaf: Any) -> Any:
    if leaf.kind == "tensor":
        return _native.parameter(leaf.dtype, leaf.shape)
    from spillway.dataset import Dataset
    from spillway.structures import from_structure

    spec = from_structure(leaf.children[0])
    if leaf.kind == "optional":
        opaque.note("is given Optionals")
        return Optional.unknown(spec)
    stands_for = Dataset.from_generator(tuple, output_signature=spec)
    form = opaque.form()
    if form is None:
        opaque.note(GIVEN_DATASETS)
    elif leaf.shape:
        raise TraceBreak("is given batches of datasets")
    else:
        form.given.append(stands_for._node)
    if not leaf.shape:
        return stands_for
    batch = np.empty([opaque.size() if size is None else size for size in leaf.shape], object)
    batch.fill(stands_for)
    return batch


def placeholder(structure: Any) -> Any:
    """What an element will look like, inside a trace that cannot have it."""
    if structure is None:
        raise TraceBreak("needs an element of a dataset")
    opaque.note("needs an element of a dataset")
    return structure.give([_parameter(leaf) for leaf in structure.leaves()])


def _taken(result: Any, *, op: str, as_tensor: bool, dtype: str | None) -> tuple[list[Any], Any]:
    """The tensors of a result, and its structure; a list is a tuple unless it must be a tensor."""
    values = []
    whole = result
    if isinstance(result, list) and not as_tensor:
        result = tuple(result)

    def leaf(value: Any) -> Any:
        if value is None:
            return None
        if _is_dataset(value):
            if not hasattr(value, "element_spec") or value.element_spec is None:
                raise TraceBreak("returns datasets of unknown types")
            opaque.note(MAKES_DATASETS)
            return DatasetSpec(value.element_spec)
        if _is_batch_of_datasets(value):
            opaque.note(MAKES_DATASETS)
            return DatasetSpec(value.flat[0].element_spec, value.shape)
        if isinstance(value, Optional):
            opaque.note("makes Optionals")
            return OptionalSpec(value.element_spec)
        try:
            tensor = value if is_tensor(value) else to_tensor(value, dtype)
        except (TypeError, ValueError) as error:
            unsupported = (
                f"Unsupported return value from function passed to Dataset.{op}(): {shown(whole)}."
            )
            refuse("TypeError", f"{unsupported} {error}")
        values.append(tensor)
        return TensorSpec(tensor._dims, tensor.dtype)

    return values, to_structure(nest.map_structure(leaf, result))


def _is_dataset(value: Any) -> bool:
    from spillway.dataset import Dataset

    return isinstance(value, Dataset)


def _is_batch_of_datasets(value: Any) -> bool:
    batch = isinstance(value, np.ndarray) and value.dtype == object and value.size > 0
    return batch and _is_dataset(value.flat[0])


def _explain(error: BaseException, call: Callable[..., Any], structure: Any) -> None:
    """Adds to an error of a trace what was traced, and for which elements."""
    line = _line_of(error)
    where = f", {with_source(line)}" if line else ""
    error.add_note(f"in {functions.name_of(call)}{where}\n  its elements: {structure!r}")


def _line_of(error: BaseException) -> str:
    """The deepest line of the user's own code an error came through."""
    found = ""
    for frame, number in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        if not file.startswith(PACKAGE) and not file.startswith("<spillway"):
            found = describe(frame.f_code, number)
    return found


@contextlib.contextmanager
def _watched() -> Iterator[None]:
    """A second net under the trace: what should not happen in it is cut off before it does."""
    before = sys.getprofile()
    random = _random_states()

    def watch(frame: Any, event: str, argument: Any) -> None:
        if event == "c_call" and argument in _WATCHED:
            sys.setprofile(before)
            raise TraceBreak(f"calls {argument.__name__}")

    # What the collector calls (finalizers, callbacks of others) is none of the function's doing.
    collects = gc.isenabled()
    gc.disable()
    sys.setprofile(watch)
    try:
        yield
    finally:
        sys.setprofile(before)
        if collects:
            gc.enable()
    if _random_states() != random:
        raise TraceBreak("draws from a random generator")


def _random_states() -> list[Any]:
    import random

    import numpy.random  # here: NumPy loads it when first used, which a trace may be

    state: Any = numpy.random.get_state(legacy=False)
    mersenne = state["state"]
    return [hash(random.getstate()), (mersenne["key"].tobytes(), mersenne["pos"])]


def _watched_functions() -> set[Any]:
    import builtins
    import io
    import os
    import time

    found: set[Any] = {builtins.print, builtins.input, io.open, os.system, os.read, os.write}
    return found | {time.sleep, time.time, time.perf_counter, time.monotonic, time.process_time}


_WATCHED = _watched_functions()
