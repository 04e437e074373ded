"""The steps of a graph: operations, what has an effect, and where parameters get their values."""

from __future__ import annotations

import itertools
import weakref
from typing import Any

from spillway import modes
from spillway.lines import user_line

_serials = itertools.count()


class Operation:
    """A step of a graph that makes tensors, or is run for its effect."""

    __slots__ = ("__weakref__", "_controls", "_graph", "_name", "_type", "outputs", "serial")

    def __init__(self, graph: Any, name: str, kind: str, outputs: tuple[Any, ...]) -> None:
        """What `graph` knows as `name`; it does not keep the graph alive."""
        self._graph = weakref.ref(graph)
        self._name = name
        self._type = kind
        self._controls: tuple[Operation, ...] = ()
        self.outputs = outputs
        self.serial = next(_serials)

    @property
    def name(self) -> str:
        """Its name, without a number of an output."""
        return self._name

    @property
    def type(self) -> str:
        """What it does, as TensorFlow calls it."""
        return self._type

    @property
    def graph(self) -> Any:
        """The graph it belongs to; None once that is gone."""
        return self._graph()

    @property
    def control_inputs(self) -> list[Operation]:
        """What runs before it."""
        return list(self._controls)

    @property
    def values(self) -> Any:
        """A function that gives its outputs."""
        return lambda: self.outputs

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        """Runs it in a session, or the default one."""
        from spillway.sessions.session import session_for

        session_for(session, "run", "operation").run(self, feed_dict)

    def needs(self) -> tuple[Operation, ...]:
        """What has to run before it."""
        return self._controls

    def inputs(self) -> tuple[Any, ...]:
        """The tensors that must be computed for it."""
        return self.outputs

    def __repr__(self) -> str:
        """Its name and type, as TensorFlow shows them."""
        return f"<tf.Operation '{self._name}' type={self._type}>"


class Effect(Operation):
    """An operation that sets a variable when it runs.

    value: what is computed for it. `result` is a parameter: the value after it has run.
    """

    __slots__ = ("line", "result", "starts", "value", "variable")

    def __init__(
        self, graph: Any, name: str, kind: str, variable: Any, value: Any, starts: bool = False
    ) -> None:
        """`starts`: gives the variable its first value, so that others may begin from it."""
        super().__init__(graph, name, kind, ())
        self.variable = variable
        self.value = value
        self.starts = starts
        self.line = user_line()
        self.result: Any = None

    def inputs(self) -> tuple[Any, ...]:
        """What it sets the variable to."""
        return (self.value,)


class Called(Operation):
    """A Python function that a run calls with values: `py_function` in a graph."""

    __slots__ = ("_args", "_function")

    def __init__(self, graph: Any, name: str, function: Any, args: tuple[Any, ...]) -> None:
        """`function`: of a list of tensors with values, to a list of tensors."""
        super().__init__(graph, name, "PyFunc", ())
        self._function = function
        self._args = args

    def inputs(self) -> tuple[Any, ...]:
        """What it is called with."""
        return self._args

    def call(self, values: list[Any]) -> list[Any]:
        """Its results for these values."""
        with modes.writing(None):  # what it computes is computed now
            made: list[Any] = self._function(values)
        return made


class Source:
    """Where a parameter of a graph gets its value from when the graph runs."""

    __slots__ = ("line", "tensor")

    def __init__(self, tensor: Any) -> None:
        """The parameter."""
        self.tensor = tensor
        self.line = user_line()


class Fed(Source):
    """A placeholder: the value is fed, or that of `default`."""

    __slots__ = ("default", "name", "serial")

    def __init__(self, tensor: Any, name: str, default: Any = None) -> None:
        """`default`: a tensor, or None."""
        super().__init__(tensor)
        self.name = name
        self.default = default
        self.serial = next(_serials)

    def needs(self) -> tuple[Operation, ...]:
        """Nothing but what computes the default."""
        return ()

    def inputs(self) -> tuple[Any, ...]:
        """The default."""
        return (self.default,)


class Read(Source):
    """A variable: its value when the run began, or after some operations have run."""

    __slots__ = ("after", "latest", "variable")

    def __init__(self, tensor: Any, variable: Any, after: Any = (), latest: bool = False) -> None:
        """`latest`: the value just before what uses it is computed."""
        super().__init__(tensor)
        self.variable = variable
        self.after: tuple[Operation, ...] = tuple(after)
        self.latest = latest


class Result(Source):
    """The value of a variable after an operation has set it."""

    __slots__ = ("effect",)

    def __init__(self, tensor: Any, effect: Effect) -> None:
        """Of `effect`."""
        super().__init__(tensor)
        self.effect = effect


class Made(Source):
    """A result of a Python function."""

    __slots__ = ("at", "call")

    def __init__(self, tensor: Any, call: Called, at: int) -> None:
        """Result number `at` of `call`."""
        super().__init__(tensor)
        self.call = call
        self.at = at
