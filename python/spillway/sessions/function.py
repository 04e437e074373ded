"""`tf.function`: a Python function of tensors, traced once for each kind of arguments."""

from __future__ import annotations

import functools
import itertools
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from spillway import modes, nest, opaque
from spillway.errors import OutOfRangeError
from spillway.interruptions import pass_on
from spillway.native_ops import native
from spillway.sessions import captures
from spillway.sessions.arguments import (
    PLAIN,
    argument_of,
    bound_to,
    can_be_weak,
    cast_to,
    is_large,
    is_object,
    is_simple,
    kind_of_call,
    parameter_names,
    result_of,
    spec_of,
)
from spillway.sessions.variable import Variable
from spillway.specs import TensorSpec
from spillway.symbolic import TraceBreak
from spillway.tensor_convert import is_tensor, to_tensor

_MOST_TRACES = 64
_eagerly = False
_calls = itertools.count(1)


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Whether every `tf.function` is called as the Python function it wraps."""
    global _eagerly
    _eagerly = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """Whether `run_functions_eagerly` is on.

    >>> functions_run_eagerly()
    False
    """
    return _eagerly


class Trace:
    """A function for one kind of arguments: a graph of the engine, or the reason there is none."""

    __slots__ = ("alive", "prepared", "result", "run_before", "variables", "why")

    def __init__(self) -> None:
        """Not traced yet."""
        self.prepared: Any = None
        self.result: Any = None  # the nest of results, with a Slot for each tensor
        self.variables: list[Any] = []
        self.alive: list[Any] = []  # weak: the objects among the arguments
        self.why = ""
        self.run_before = False


class Slot:
    """Where a tensor comes in a nest of results."""

    __slots__ = ("at", "spec")

    def __init__(self, at: int, spec: TensorSpec) -> None:
        """The result's number, and what it looks like."""
        self.at = at
        self.spec = spec


class Function:
    """What `function` makes. Calls with arguments of the same kind share one graph.

    A function without effects is traced: variables it uses are read at each call, random numbers
    are drawn anew. One that sets variables, prints or asks for values runs as Python, every time.
    Where a dataset, a graph or another function calls it, it becomes part of that.

    >>> @function
    ... def double(x):
    ...     return {"twice": x * 2}
    >>> double(to_tensor(4))
    {'twice': Tensor(8, shape=(), dtype=int32)}
    >>> double(to_tensor([1, 2]))["twice"].numpy().tolist(), double.experimental_get_tracing_count()
    ([2, 4], 2)
    """

    def __init__(self, python_function: Callable[..., Any], input_signature: Any = None) -> None:
        """Wraps `python_function`."""
        functools.update_wrapper(self, python_function, updated=())
        self.func = python_function
        self.python_function = python_function
        self.input_signature = input_signature
        self._traces: OrderedDict[Any, Trace] = OrderedDict()
        self._lock = threading.Lock()
        self._traced = 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Arguments become tensors, as in TensorFlow; so do the results."""
        args, kwargs = nest.map_structure(argument_of, (args, kwargs), lists=True)
        if self.input_signature is not None:
            args = bound_to(args, tuple(self.input_signature))
        if _eagerly or opaque.tracing() or modes.graph() is not None or native.in_stage():
            return self._as_python(args, kwargs)
        leaves = nest.flatten((args, kwargs), lists=True)
        if any((is_tensor(leaf) and leaf._symbolic) or is_large(leaf) for leaf in leaves):
            return self._as_python(args, kwargs)
        trace = self._trace(args, kwargs, leaves)
        if trace.prepared is None:
            if trace.run_before:
                with captures.called_again():
                    return self._as_python(args, kwargs)
            made = self._as_python(args, kwargs)
            trace.run_before = True
            return made
        return _run(trace, [leaf for leaf in leaves if is_tensor(leaf)])

    def _as_python(self, args: Any, kwargs: Any) -> Any:
        try:
            made = self.func(*args, **kwargs)
        except StopIteration:  # of an iterator: a graph has no other way to end
            raise OutOfRangeError("End of sequence") from None
        return nest.map_structure(result_of, made, lists=True)

    # ---- Traces

    def _trace(self, args: Any, kwargs: Any, leaves: list[Any]) -> Trace:
        specs = None if self.input_signature is None else tuple(self.input_signature)
        key = kind_of_call(args, kwargs, leaves, specs)
        with self._lock:
            found = self._traces.get(key)
            if found is not None and all(ref() is not None for ref in found.alive):
                self._traces.move_to_end(key)
                return found
        trace = self._new_trace(args, kwargs, specs)
        trace.alive = [weakref.ref(leaf) for leaf in leaves if can_be_weak(leaf)]
        with self._lock:
            self._traced += 1
            self._traces[key] = trace
            while len(self._traces) > _MOST_TRACES:
                self._traces.popitem(last=False)
        return trace

    def _new_trace(self, args: Any, kwargs: Any, specs: Any) -> Trace:
        from spillway import async_loop, purity, tracing

        trace = Trace()
        if not tracing.enabled() or async_loop.is_async(self.func):
            trace.why = "tracing is switched off, or the function is async"
            return trace
        subject = self._with_objects(args, kwargs)
        if subject is None:
            trace.why = "is given objects among its tensors"
            return trace
        effect = purity.effect(subject)
        if effect is not None:
            trace.why = f"{effect.why} ({effect.line})" if effect.line else effect.why
            return trace
        try:
            self._fill(trace, args, kwargs, specs)
        except TraceBreak as broken:
            trace.why = str(broken)
        except Exception as error:  # run as Python it says so itself, with the values
            pass_on(error)
            trace.why = f"raises {type(error).__name__}: {error}"
        return trace

    def _with_objects(self, args: Any, kwargs: Any) -> Any:
        """The function with what is neither tensor nor plain; None: that cannot be told apart."""
        objects = {}
        names = list(parameter_names(self.func))
        for i, value in enumerate(args):
            if not is_simple(value):
                if i >= len(names):
                    return None
                objects[names[i]] = value
        objects |= {name: value for name, value in kwargs.items() if not is_simple(value)}
        for value in objects.values():
            inside = nest.flatten(value, lists=True)
            if len(inside) != 1 or inside[0] is not value:
                return None
        return functools.partial(self.func, **objects) if objects else self.func

    def _fill(self, trace: Trace, args: Any, kwargs: Any, specs: Any) -> None:
        from spillway import tracing

        parameters: list[Any] = []
        declared = list(specs) if specs is not None else None

        def parameter(leaf: Any) -> Any:
            if not is_tensor(leaf):
                return leaf
            dims = leaf._dims
            if declared is not None and len(declared) > len(parameters):
                dims = declared[len(parameters)].shape
                dims = None if dims.rank is None else dims.as_list()
            parameters.append(native.parameter(leaf._dtype_name, dims))
            return parameters[-1]

        with opaque.noted() as reasons, opaque.kept() as checks, captures.collected() as reads:
            given, named = nest.map_structure(parameter, (args, kwargs), lists=True)
            with tracing._watched():
                result = self.func(*given, **named)
            values: list[Any] = []
            trace.result = nest.map_structure(lambda leaf: _slot(leaf, values), result, lists=True)
        if reasons:
            trace.why = reasons[0]
            return
        trace.variables = [variable for variable, _ in reads.values()]
        stand_ins = [stand_in for _, stand_in in reads.values()]
        trace.prepared = native.prepare(parameters + stand_ins, values + checks)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The function for arguments of one kind: tensors, or specs that stand for them."""
        return ConcreteFunction(self, args, kwargs)

    def experimental_get_tracing_count(self) -> int:
        """How many kinds of arguments it has met."""
        return self._traced

    def explain(self) -> list[str]:
        """For each kind of arguments: "a graph", or why it runs as Python."""
        with self._lock:
            return [trace.why or "a graph" for trace in self._traces.values()]

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """As a method: bound to its object."""
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        """Its name."""
        return f"<spillway.tf.function {self.func!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Traces are made again where it arrives."""
        return Function, (self.func, self.input_signature)


class ConcreteFunction:
    """A function for arguments of one kind.

    >>> concrete = function(lambda x: x + 1).get_concrete_function(TensorSpec([None], "int32"))
    >>> concrete(to_tensor([1, 2])).numpy().tolist(), concrete.structured_input_signature[0]
    ([2, 3], (TensorSpec(shape=(None,), dtype=tf.int32, name=None),))
    """

    def __init__(self, function: Function, args: Any, kwargs: Any) -> None:
        """Of `function`, for these arguments or their specs."""
        self._function = function
        self.func = function.func
        self.name = getattr(function, "__name__", "function")
        if not args and not kwargs and function.input_signature is not None:
            args = tuple(function.input_signature)
        self.structured_input_signature = nest.map_structure(spec_of, (args, kwargs), lists=True)
        specs = [
            leaf
            for leaf in nest.flatten(self.structured_input_signature, lists=True)
            if isinstance(leaf, TensorSpec)
        ]
        self._specs = specs

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls it; TypeError for tensors of another kind."""
        args, kwargs = nest.map_structure(argument_of, (args, kwargs), lists=True)
        given = [leaf for leaf in nest.flatten((args, kwargs), lists=True) if not is_object(leaf)]
        if len(given) == len(self._specs):
            for value, spec in zip(given, self._specs, strict=True):
                cast_to(value, spec)
        return self._function(*args, **kwargs)

    @property
    def inputs(self) -> list[Any]:
        """What its tensors look like."""
        return list(self._specs)

    def __repr__(self) -> str:
        """Its name and what it takes."""
        return f"<ConcreteFunction {self.name} {self.structured_input_signature}>"


def _run(trace: Trace, tensors: list[Any]) -> Any:
    values = [variable._load(None) for variable in trace.variables]
    made = trace.prepared.run(tensors + values, next(_calls))
    return nest.map_structure(
        lambda leaf: made[leaf.at] if isinstance(leaf, Slot) else leaf, trace.result, lists=True
    )


def _slot(leaf: Any, values: list[Any]) -> Any:
    if leaf is None:
        return None
    if isinstance(leaf, Variable):
        leaf = leaf._as_tensor()
    if not is_tensor(leaf):
        if not isinstance(leaf, (*PLAIN, np.ndarray, np.generic)):
            raise TraceBreak(f"returns a {type(leaf).__name__}")
        leaf = to_tensor(leaf)
    values.append(leaf)
    return Slot(len(values) - 1, TensorSpec(leaf._dims, leaf.dtype))


def function(
    func: Any = None,
    input_signature: Any = None,
    autograph: bool = True,
    jit_compile: Any = None,
    reduce_retracing: bool = False,
    experimental_implements: Any = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Any = None,
    experimental_relax_shapes: Any = None,
    experimental_compile: Any = None,
    experimental_follow_type_hints: Any = None,
) -> Any:
    """A function of tensors, as a decorator or called.

    >>> @function
    ... def double(x):
    ...     return x * 2
    >>> double(to_tensor(4))
    Tensor(8, shape=(), dtype=int32)
    """
    if func is None:
        return lambda inner: Function(inner, input_signature)
    return Function(func, input_signature)
