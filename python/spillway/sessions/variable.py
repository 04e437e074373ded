# ruff: noqa: D105  (magic methods do what Python says)
"""`tf.Variable`: a value that can be set, in a session or at once."""

from __future__ import annotations

import itertools
import weakref
from typing import Any

import numpy as np

from spillway import modes, opaque, tracked
from spillway.dtypes import DType, as_dtype
from spillway.errors import make_error
from spillway.native_ops import call, native
from spillway.sessions import captures, scopes
from spillway.sessions.graph import Graph
from spillway.sessions.operation import Effect, Read, Result
from spillway.shapes import TensorShape
from spillway.symbolic import TraceBreak
from spillway.tensor_convert import refuse, to_tensor

GLOBAL, LOCAL, TRAINABLE = "variables", "local_variables", "trainable_variables"
_serials = itertools.count()


class Variable:
    """A value that stays and can be set.

    Made outside graphs it has its value at once and reads as a tensor. Made inside a graph each
    session has a value of its own, from the moment its initializer has run there.

    >>> v = Variable([1.0, 2.0], name="weights")
    >>> v.assign_add([0.5, 0.5]).numpy().tolist(), (v * 2).numpy().tolist(), v.name
    ([1.5, 2.5], [3.0, 5.0], 'weights:0')
    """

    __array_priority__ = 100

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        import_scope: Any = None,
        constraint: Any = None,
        synchronization: Any = None,
        aggregation: Any = None,
        shape: Any = None,
        experimental_enable_variable_lifting: bool = True,
        *,
        collections: Any = None,
        use_resource: Any = None,
        expected_shape: Any = None,
        _full_name: str | None = None,
    ) -> None:
        """`initial_value`: a value, or a function that makes it. `trainable` is only kept."""
        if initial_value is None:
            raise ValueError("initial_value must be specified.")
        if opaque.tracing():
            raise TraceBreak("makes a variable")
        captures.made_variable()
        self._serial = next(_serials)
        self._trainable = trainable is None or bool(trainable)
        self._constraint = constraint
        self._value: Any = None
        self._shape: Any = TensorShape(None)
        graph = modes.graph()
        self._graph = None if graph is None else weakref.ref(graph)
        if graph is not None:
            graph._may_change()
        full = _unique(graph, name or "Variable", _full_name)
        self._name = f"{full}:0"
        self._tracked = tracked.track("variable", self, Variable._nbytes)
        initial = _first_value(initial_value, full, dtype)
        self._dtype_name: str = initial._dtype_name
        self._shape = initial.shape if shape is None and validate_shape else TensorShape(shape)
        if not self._shape.is_compatible_with(initial.shape):
            raise ValueError(
                f"Initial value's shape ({initial.shape}) is not compatible with the explicitly "
                f"supplied `shape` argument ({self._shape})."
            )
        if graph is None:
            native.compute(initial)
            self._value = initial
        else:
            self._initial = initial
            self._join(graph, collections)

    @property
    def _line(self) -> str:
        return self._tracked.line

    # ---- In a graph

    def _join(self, graph: Graph, collections: Any) -> None:
        name = self._name.partition(":")[0]
        starter = Effect(
            graph, graph._names.unique(f"{name}/Assign"), "Assign", self, self._initial, True
        )
        graph._add(starter)
        self._starter_name = starter.name
        self._read = self._new_read(graph, ())
        for collection in [GLOBAL] if collections is None else list(collections):
            graph.add_to_collection(collection, self)
        if self._trainable:
            graph.add_to_collection(TRAINABLE, self)

    @property
    def _starter(self) -> Effect | None:
        graph = self.graph
        if graph is None:
            return None
        found = graph._operations.get(self._starter_name)
        return found if isinstance(found, Effect) else None

    def _new_read(self, graph: Graph, after: Any, latest: bool = False) -> Any:
        dims = None if self._shape.rank is None else self._shape.as_list()
        tensor = native.parameter(self._dtype_name, dims, True)
        graph._source(Read(tensor, self, after, latest))
        return tensor

    def _graph_for(self) -> Graph | None:
        """The graph that what is done to it belongs to; None: it is done at once."""
        graph = modes.graph()
        found: Graph | None = self.graph if graph is None else graph
        return found

    def _as_tensor(self) -> Any:
        """The value where it is used: at once, in a graph, or in a function that is traced."""
        if opaque.tracing():
            return captures.read(self)
        graph = self._graph_for()
        if graph is None:
            return self._known()
        controls = graph._controls_now()
        if not controls and graph is self.graph:
            return self._read
        return self._new_read(graph, controls)

    def _known(self) -> Any:
        if self._graph is not None:
            raise RuntimeError(
                f"variable {self._name} belongs to a graph that is gone, made at {self._line}"
            )
        return self._value

    def _as_graph_element(self) -> Any:
        return self._as_tensor()

    def _load(self, values: Any) -> Any:
        """Its value for a session; None: it has none there."""
        return self._value if self._graph is None else values.get(self._serial)

    def _store(self, values: Any, value: Any) -> None:
        if self._graph is None:
            self._value = value
        else:
            values[self._serial] = value

    def _nbytes(self) -> int:
        value = self._value
        if value is None or not self._shape.is_fully_defined():
            return 0
        items: int = self._shape.num_elements()
        return items * max(1, self.dtype.size)

    # ---- Setting

    def assign(
        self, value: Any, use_locking: bool = False, name: Any = None, read_value: bool = True
    ) -> Any:
        """Sets it. At once the variable itself is the result; in a graph, the value it then has."""
        return self._set("Assign", value, name, None)

    def assign_add(
        self, delta: Any, use_locking: bool = False, name: Any = None, read_value: bool = True
    ) -> Any:
        """Adds to it."""
        return self._set("AssignAdd", delta, name, "add")

    def assign_sub(
        self, delta: Any, use_locking: bool = False, name: Any = None, read_value: bool = True
    ) -> Any:
        """Subtracts from it."""
        return self._set("AssignSub", delta, name, "subtract")

    def load(self, value: Any, session: Any = None) -> None:
        """Sets it in a session, or the default one."""
        from spillway.sessions.session import session_for

        if self._graph is None:
            self.assign(value)
            return
        self._store(session_for(session, "load", "variable")._values, self._checked(value))

    def _set(self, kind: str, value: Any, name: Any, op: str | None) -> Any:
        if opaque.tracing():
            raise TraceBreak("sets a variable")
        graph = self._graph_for()
        if graph is None:
            new = self._checked(value, broadcast=op is not None)
            if op is not None:
                new = self._checked(call(op, self._known(), new))
            native.compute(new)
            self._value = new
            return self
        graph._may_change()
        if op is None:
            new = self._checked(value)
        else:
            latest = self._new_read(graph, (), True)
            new = self._checked(call(op, latest, self._checked(value, broadcast=True)))
        effect = Effect(graph, graph._new_name(name or kind), kind, self, new)
        effect._controls = graph._controls_now()
        dims = None if self._shape.rank is None else self._shape.as_list()
        effect.result = native.parameter(self._dtype_name, dims, True)
        effect.outputs = (effect.result,)
        graph._source(Result(effect.result, effect))
        graph._add(effect)
        return effect.result

    def _checked(self, value: Any, broadcast: bool = False) -> Any:
        new = _initial(value, self._dtype_name)
        if not broadcast and not self._shape.is_compatible_with(new.shape):
            facts = {
                "kind": "user",
                "code": 3,
                "type": "ValueError",
                "message": f"Cannot assign value to variable '{self._name}': Shape mismatch. The "
                f"variable shape {self._shape}, and the assigned value shape {new.shape} are "
                "incompatible.",
            }
            raise make_error(facts)
        return new

    # ---- Looking

    def read_value(self) -> Any:
        """The value as a tensor: in a graph, after what is written around it has run."""
        return self._as_tensor()

    value = read_value

    def numpy(self) -> Any:
        """The value as an array, or a NumPy scalar."""
        if self._graph is not None:
            raise NotImplementedError(
                f"numpy() is only available when eager execution is enabled: {self._name} was made "
                f"in a graph, at {self._line}; use session.run(variable) or variable.eval(session)"
            )
        return self._value.numpy()

    def eval(self, session: Any = None) -> Any:
        """The value in a session, or the default one."""
        from spillway.sessions.session import session_for

        return session_for(session, "eval", "variable").run(self)

    def initialized_value(self) -> Any:
        """What it starts from, or its value."""
        return self._value if self._graph is None else self._as_tensor()

    def is_initialized(self, name: Any = None) -> Any:
        """Whether it has a value; only outside graphs."""
        return to_tensor(self._value is not None)

    @property
    def initial_value(self) -> Any:
        """What a session starts it from."""
        if self._graph is None:
            raise RuntimeError("This property is not supported when eager execution is enabled.")
        return self._initial

    @property
    def initializer(self) -> Any:
        """The operation that gives it its first value in a session; None outside graphs."""
        return self._starter

    @property
    def op(self) -> Any:
        """The operation of that name in its graph."""
        return self._starter

    @property
    def graph(self) -> Any:
        """The graph it was made in; None outside graphs."""
        return None if self._graph is None else self._graph()

    @property
    def name(self) -> str:
        """Its name, with the scopes it was made in."""
        return self._name

    @property
    def dtype(self) -> DType:
        """The type of its items."""
        return as_dtype(self._dtype_name)

    @property
    def shape(self) -> Any:
        """Its shape."""
        return self._shape

    def get_shape(self) -> Any:
        """The same as ``shape``."""
        return self._shape

    @property
    def trainable(self) -> bool:
        """As it was given: nothing here trains."""
        return self._trainable

    @property
    def device(self) -> str:
        """Where it is."""
        return "/job:localhost/replica:0/task:0/device:CPU:0"

    @property
    def constraint(self) -> Any:
        """As it was given."""
        return self._constraint

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return int(self._shape.rank)

    def set_shape(self, shape: Any) -> None:
        """Refines the shape."""
        self._shape = self._shape.merge_with(shape)

    def ref(self) -> Any:
        """Something that can be a key: equal for the same variable."""
        return Reference(self)

    experimental_ref = ref

    def __hash__(self) -> int:
        if self._graph is None:
            raise TypeError("Variable is unhashable. Instead, use variable.ref() as the key.")
        return id(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self.numpy(), dtype)

    def __len__(self) -> int:
        return len(self._as_tensor())

    def __iter__(self) -> Any:
        return iter(self._as_tensor())

    def __getitem__(self, key: Any) -> Any:
        return self._as_tensor()[key]

    def __bool__(self) -> bool:
        return bool(self._as_tensor())

    def __int__(self) -> int:
        return int(self._as_tensor())

    def __float__(self) -> float:
        return float(self._as_tensor())

    def __complex__(self) -> complex:
        return complex(self._as_tensor())

    def __index__(self) -> int:
        return int(self._as_tensor().__index__())

    def __format__(self, spec: str) -> str:
        return repr(self) if self._graph is not None else format(self._value, spec)

    def __repr__(self) -> str:
        shown = f"<tf.Variable '{self._name}' shape={self._shape} dtype={self.dtype.name}"
        if self._graph is not None:
            return shown + ">"
        return f"{shown}, numpy={np.asarray(self._value.numpy())!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        name = self._name.partition(":")[0]
        return _again, (self.numpy(), self._trainable, name)


class Reference:
    """Stands for a variable where a key is needed.

    >>> v = Variable(1)
    >>> {v.ref(): "mine"}[v.ref()], v.ref().deref() is v
    ('mine', True)
    """

    __slots__ = ("_variable",)

    def __init__(self, variable: Any) -> None:
        """Of `variable`."""
        self._variable = variable

    def deref(self) -> Any:
        """The variable."""
        return self._variable

    def __hash__(self) -> int:
        return id(self._variable)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and other._variable is self._variable


def _again(value: Any, trainable: bool, name: str) -> Variable:
    return Variable(value, trainable=trainable, _full_name=name)


def _unique(graph: Any, base: str, full: str | None) -> str:
    """The name of a variable, with its scopes. Outside graphs several may have the same."""
    if graph is None:
        return full or scopes.prefixed(base)
    if full is None:
        name: str = graph._new_name(base)
        return name
    graph._settle()
    unique: str = graph._names.unique(full)
    return unique


def _first_value(given: Any, name: str, dtype: Any) -> Any:
    """What a variable starts from; what a function makes it of lies in the variable's scope."""
    if callable(given):
        with scopes.NameScope(f"{name}/Initializer/"):
            given = given()
    return _initial(given, None if dtype is None else as_dtype(dtype).name)


def _initial(value: Any, dtype: str | None) -> Any:
    """A value to start from or to set, as a tensor; variables are read."""
    if isinstance(value, Variable):
        value = value._as_tensor()
    if dtype is not None and getattr(value, "_dtype_name", dtype) != dtype:
        refuse("ValueError", f"a value of dtype {value.dtype} cannot be set where {dtype} is held")
    return to_tensor(value, dtype)


def _operator(name: str) -> Any:
    def method(self: Any, *args: Any) -> Any:
        return getattr(self._as_tensor(), name)(*args)

    method.__name__ = name
    method.__doc__ = "As the tensor of its value does."
    return method


_OPERATORS = """
abs add and eq floordiv ge gt invert le lt matmul mod mul ne neg or pow radd rand rfloordiv rmatmul
rmod rmul ror rpow rsub rtruediv rxor sub truediv xor
"""
for _name in _OPERATORS.split():
    setattr(Variable, f"__{_name}__", _operator(f"__{_name}__"))
