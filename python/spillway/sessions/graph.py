"""`tf.Graph`: what was written inside it, under which names, and where."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Iterator
from types import CodeType
from typing import Any

from spillway import modes, tracked
from spillway.lines import describe
from spillway.native_ops import native
from spillway.sessions.naming import DEFAULTS, Written, base_of, frames, same_call, type_of
from spillway.sessions.operation import Called, Effect, Operation, Source
from spillway.sessions.scopes import Names, NameScope
from spillway.shown import shown
from spillway.tensor_convert import is_tensor

_NODE_BYTES = 1024  # what a node and its handle take, about
_CHARGED = 512  # nodes between two looks at the ledger


class Graph:
    """Tensors and operations that run in a session.

    What is written inside `with graph.as_default()` belongs to it and has no value before a session
    runs it. Constants stay known. A graph holds what was written into it until it goes itself.

    >>> graph = Graph()
    >>> with graph.as_default():
    ...     from spillway.ops import random
    ...     x = random.normal([2, 3], name="x")
    >>> x.name, x.shape.as_list(), x.graph is graph
    ('x:0', [2, 3], True)
    """

    def __init__(self) -> None:
        """An empty graph."""
        self._names = Names()
        self._lock = threading.RLock()
        self._finalized = False
        self._waiting: list[Written] = []  # for their names
        self._operations: dict[str, Operation] = {}
        self._named: dict[int, Operation] = {}  # by serial of the node
        self._sources: dict[int, Source] = {}  # of parameters, by serial
        self._controls: dict[int, tuple[Operation, ...]] = {}  # of nodes, by serial
        self._control_stack: list[tuple[Operation, ...]] = []
        self._lines: Counter[tuple[CodeType | None, int]] = Counter()
        self._nodes = 0
        self._acting = 0  # operations that do more than compute
        self._collections: dict[str, list[Any]] = {}
        self._variables: dict[str, Any] = {}  # what get_variable made
        self._variable_scope: Any = None
        self.seed: int | None = None
        self._ledger: Any = None  # what its nodes take, once there are many
        tracked.track("graph", self, Graph._nbytes)

    def _nbytes(self) -> int:
        return self._nodes * _NODE_BYTES

    def _charge(self) -> None:
        if self._ledger is None:
            self._ledger = native.Charge("graph")
        self._ledger.set(self._nbytes())

    # ---- Writing

    def as_default(self) -> contextlib.AbstractContextManager[Graph]:
        """What is written inside belongs to this graph."""
        return modes.writing(self)

    def name_scope(self, name: Any) -> NameScope:
        """Names what is written inside; for a graph that is the default one."""
        return NameScope(name)

    def control_dependencies(self, control_inputs: Any) -> contextlib.AbstractContextManager[None]:
        """What is written inside runs after these."""
        return self._after(control_inputs)

    @contextlib.contextmanager
    def _after(self, control_inputs: Any) -> Iterator[None]:
        if control_inputs is None:
            self._control_stack.append(())
            before, self._control_stack = self._control_stack, []
            try:
                yield
            finally:
                self._control_stack = before
                self._control_stack.pop()
            return
        self._control_stack.append(tuple(as_operation(item, self) for item in control_inputs))
        try:
            yield
        finally:
            self._control_stack.pop()

    def _controls_now(self) -> tuple[Operation, ...]:
        """What must have run before what is written here."""
        if not self._control_stack:
            return ()
        return tuple(dict.fromkeys(op for level in self._control_stack for op in level))

    def finalize(self) -> None:
        """From now on nothing may be written into it."""
        self._finalized = True

    @property
    def finalized(self) -> bool:
        """Whether `finalize` was called. A graph never freezes by itself."""
        return self._finalized

    def _may_change(self) -> None:
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")

    def _record(self, made: Any, op: str) -> Any:
        """Takes in what an op made; the caller is given the result."""
        self._may_change()
        outer, user, at = frames()
        with self._lock:
            self._nodes += 1
            if self._nodes % _CHARGED == 0:
                self._charge()
            self._lines[(None, 0) if user is None else (user.f_code, user.f_lineno)] += 1
            tensors = made if isinstance(made, tuple) else (made,)
            name = None if outer is None else outer.f_locals.get("name")
            function = "" if outer is None else outer.f_code.co_name
            controls = self._controls_now()
            if controls:
                # What ops make for themselves stays known: shapes depend on it.
                if function in ("constant", "identity"):
                    tensors = tuple(t if t._symbolic else native.deferred(t) for t in tensors)
                for tensor in tensors:
                    if tensor._symbolic:
                        self._controls[tensor._serial] = controls
            given = isinstance(name, str) and name not in (*DEFAULTS, function)
            if tensors and (given or tensors[0]._symbolic):
                self._wait_for_name(tensors, op, name if given else None, outer, at)
        return tensors if isinstance(made, tuple) else tensors[0]

    def _wait_for_name(
        self, tensors: Any, op: str, name: str | None, outer: Any, at: tuple[int, ...]
    ) -> None:
        written = Written(tensors, op, self._names.scope)
        written.given = name is not None
        function = "" if outer is None else outer.f_code.co_name
        written.base = name or base_of(op, function)
        written.call = 0 if outer is None else id(outer)
        written.at = at
        self._waiting.append(written)

    def _settle(self) -> None:
        """Gives names to what waits for one.

        A call that made several nodes, one after another, names its last one; the others lie in a
        scope of that name.
        """
        with self._lock:
            waiting, self._waiting = self._waiting, []
            start = 0
            while start < len(waiting):
                end = start + 1
                while end < len(waiting) and same_call(waiting[end - 1], waiting[end]):
                    end += 1
                group = waiting[start:end]
                last = group[-1]
                base = last.base
                name = self._names.unique(last.scope + base)
                for each in group[:-1]:
                    inner = self._names.unique(f"{name}/{type_of(each.op)}")
                    self._enter(inner, each)
                self._enter(name, last)
                start = end

    def _enter(self, name: str, written: Written) -> None:
        operation = Operation(self, name, type_of(written.op), tuple(written.held))
        operation._controls = self._controls.get(written.held[0]._serial, ())
        self._add(operation)

    def _add(self, operation: Operation) -> None:
        """Takes in an operation that has its name."""
        self._acting += isinstance(operation, (Called, Effect))
        self._operations[operation.name] = operation
        for tensor in operation.outputs:
            self._named[tensor._serial] = operation

    def _new_name(self, base: str) -> str:
        """A name of its own in the scope that is open, behind all that was written before."""
        self._settle()
        return self._names.unique(self._names.scope + base)

    @contextlib.contextmanager
    def _without_effects(self, what: str) -> Iterator[None]:
        """Refuses what would run whether its branch is taken or not."""
        before = self._acting
        yield
        if self._acting != before:
            raise NotImplementedError(
                f"{what}: in a graph a branch or loop body can neither set a variable nor call a "
                "Python function. Let it give the value, and set the variable outside: "
                "v.assign(tf.cond(...))"
            )

    def _source(self, source: Source) -> None:
        """Takes in a parameter and where its value comes from."""
        self._sources[source.tensor._serial] = source

    # ---- Looking

    def get_operations(self) -> list[Operation]:
        """Everything that has a name, in the order it was written."""
        self._settle()
        return list(self._operations.values())

    def get_operation_by_name(self, name: str) -> Operation:
        """The operation of a name; KeyError if there is none."""
        self._settle()
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name)}.")
        found = self._operations.get(name)
        if found is None:
            raise KeyError(
                f"The name '{name}' refers to an Operation not in the graph."
                + _nearest(name, self._operations)
            )
        return found

    def get_tensor_by_name(self, name: str) -> Any:
        """The tensor of a name such as 'x:0'; KeyError if there is none."""
        operation, colon, output = name.partition(":") if isinstance(name, str) else ("", "", "")
        if not colon or not output.isdigit():
            raise ValueError(
                f"The name '{name}' looks like an (invalid) Operation name, not a Tensor. Tensor "
                'names must be of the form "<op_name>:<output_index>".'
            )
        self._settle()
        found = self._operations.get(operation)
        if found is None or int(output) >= len(found.outputs):
            raise KeyError(
                f"The name '{name}' refers to a Tensor which does not exist. The operation, "
                f"'{operation}', does not exist in the graph."
                + _nearest(operation, self._operations)
            )
        return found.outputs[int(output)]

    def as_graph_element(
        self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Any:
        """The tensor or operation that an object or a name stands for."""
        if isinstance(obj, str):
            return self.get_tensor_by_name(obj) if ":" in obj else self.get_operation_by_name(obj)
        if hasattr(obj, "_as_graph_element"):
            return obj._as_graph_element()
        if is_tensor(obj) or isinstance(obj, Operation):
            return obj
        raise TypeError(f"Can not convert a {type(obj).__name__} into a Tensor or Operation.")

    def nodes_by_line(self) -> dict[str, int]:
        """How many nodes each line has added: one that grows from step to step is in a loop."""
        with self._lock:
            lines = list(self._lines.items())
        found: Counter[str] = Counter()
        for (code, number), count in lines:
            found["" if code is None else describe(code, number)] += count
        return dict(found.most_common())

    @property
    def node_count(self) -> int:
        """How many nodes were ever added."""
        return self._nodes

    # ---- Collections

    def add_to_collection(self, name: str, value: Any) -> None:
        """Adds to one of the lists a graph keeps."""
        self._collections.setdefault(name, []).append(value)

    def get_collection(self, name: str, scope: str | None = None) -> list[Any]:
        """One of the lists a graph keeps; `scope`: only names that begin so."""
        found = list(self._collections.get(name, ()))
        if scope is None:
            return found
        return [item for item in found if str(getattr(item, "name", "")).startswith(scope)]

    def get_collection_ref(self, name: str) -> list[Any]:
        """The list itself."""
        return self._collections.setdefault(name, [])

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """A name of its own inside the scope that is open."""
        return self._new_name(name)

    @property
    def building_function(self) -> bool:
        """Whether it belongs to a function."""
        return False

    def device(self, device_name_or_function: Any) -> Any:
        """A scope without effect: there is one device."""
        return contextlib.nullcontext()

    def __enter__(self) -> Any:
        """Refused, as in TensorFlow."""
        raise TypeError("use 'with graph.as_default():'")

    def __exit__(self, *_: object) -> None:
        """Never reached."""


def _nearest(name: str, known: dict[str, Any]) -> str:
    import difflib

    near = difflib.get_close_matches(name, known, 1, 0.5)
    return f" The nearest is '{near[0]}'." if near else ""


# ---- The default graph

_default: Graph | None = None
_default_lock = threading.Lock()


def global_default() -> Graph:
    """The graph that is written where none is named."""
    global _default
    with _default_lock:
        if _default is None:
            _default = Graph()
        return _default


def get_default_graph() -> Graph:
    """The graph whose scope is open here, or the one for all.

    >>> with Graph().as_default() as mine:
    ...     get_default_graph() is mine
    True
    """
    inner = modes.innermost()
    return global_default() if inner is None else inner


def reset_default_graph() -> None:
    """Begins a new default graph. Sessions of the old one let go of what they hold.

    >>> before = get_default_graph()
    >>> reset_default_graph()
    >>> get_default_graph() is before
    False
    """
    global _default
    if modes.innermost() is not None:
        raise AssertionError(
            "Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared "
            "graph, exit the nesting and create a new graph."
        )
    with _default_lock:
        old, _default = _default, None
    for found in tracked.live("session"):
        session = found.obj
        if session is not None and old is not None and session.graph is old:
            session._let_go()


def has_default_graph() -> bool:
    """Whether anybody has asked for the default graph yet."""
    return _default is not None


def owner_of(tensor: Any) -> Graph | None:
    """The graph a tensor was written into."""
    serial = tensor._serial
    for found in tracked.live("graph"):
        graph = found.obj
        if graph is None:
            continue
        graph._settle()
        if serial in graph._named or serial in graph._sources:
            return graph  # type: ignore[no-any-return]
    return None


def operation_of(tensor: Any) -> Operation:
    """What makes a tensor in its graph; AttributeError for one that was made eagerly."""
    graph = owner_of(tensor)
    if graph is None:
        current = modes.graph()
        if current is None:
            raise AttributeError(
                "Tensor.op is undefined when eager execution is enabled: this tensor was made "
                f"outside any graph, at {tensor._line or 'a line that is not known'}"
            )
        operation = Operation(current, current._new_name("Const"), "Const", (tensor,))
        current._add(operation)
        return operation
    found = graph._named.get(tensor._serial)
    if found is None:  # a variable that is read
        source: Any = graph._sources[tensor._serial]
        base = source.variable.name.partition(":")[0]
        found = Operation(graph, graph._names.unique(f"{base}/Read"), "ReadVariableOp", (tensor,))
        graph._add(found)
    return found


def as_operation(item: Any, graph: Graph) -> Operation:
    """What a control input stands for: an operation, or the one that makes a tensor."""
    if isinstance(item, str):
        item = graph.as_graph_element(item)
    if isinstance(item, Operation):
        return item
    if hasattr(item, "_as_graph_element"):
        item = item._as_graph_element()
    if item is None:
        return Operation(graph, "", "NoOp", ())  # what ran eagerly has run
    if not is_tensor(item):
        raise TypeError(
            f"Control input must be an Operation, a Tensor, or a Variable: {shown(item)}"
        )
    if not item._symbolic:
        return Operation(graph, "", "NoOp", ())
    named = graph._named.get(item._serial)
    if named is None:
        graph._settle()
        named = graph._named.get(item._serial)
    return named or Operation(graph, "", "Identity", (item,))


def _recorder(made: Any, op: str) -> Any:
    graph = modes.graph()
    return made if graph is None else graph._record(made, op)


modes.install(_recorder, global_default)
