"""`tf.compat.v1.Session`: runs what a graph describes."""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict
from typing import Any

from spillway import growth, modes, nest, tracked
from spillway.lines import user_line
from spillway.native_ops import native
from spillway.sessions.dataset_iterator import give_back, taken
from spillway.sessions.graph import Graph, get_default_graph, owner_of
from spillway.sessions.operation import Fed, Operation
from spillway.sessions.program import Program
from spillway.sessions.refusals import check_fed
from spillway.sessions.variable import Variable
from spillway.tensor_convert import is_tensor

_MOST_PROGRAMS = 64


class _Sessions(threading.local):
    def __init__(self) -> None:
        self.stack: list[Any] = []


_sessions = _Sessions()


class Session:
    """Runs tensors and operations of a graph, and holds the values of its variables.

    >>> with Graph().as_default(), Session() as session:
    ...     x = placeholder("float32", [2])
    ...     session.run({"double": x * 2}, {x: [1, 2]})
    {'double': array([2., 4.], dtype=float32)}
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        """Of the default graph, unless one is given. `target` and `config` are only kept."""
        if graph is not None and not isinstance(graph, Graph):
            raise TypeError(f"graph must be a tf.Graph, but got {type(graph)}")
        self.graph = get_default_graph() if graph is None else graph
        self.sess_str = target
        self._config = config
        self._values: dict[int, Any] = {}  # of the graph's variables, by their serial
        self._programs: OrderedDict[Any, Program] = OrderedDict()
        self._runs = 0
        self._closed = ""  # the line that closed it
        self._open: list[contextlib.ExitStack] = []
        self._lock = threading.RLock()
        tracked.track("session", self, Session._nbytes)

    def _nbytes(self) -> int:
        """What its variables hold."""
        total = 0
        for value in list(self._values.values()):
            total += value.shape.num_elements() * max(1, value.dtype.size)
        return total

    def _let_go(self) -> None:
        """Drops what it holds."""
        with self._lock:
            self._values.clear()
            self._programs.clear()

    def drop_plans(self) -> int:
        """Lets go of plans, which are made again; how many there were."""
        return sum(program.drop_plans() for program in list(self._programs.values()))

    # ---- Running

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """The values of `fetches`, any nest of tensors, operations, variables and names.

        Tensors become arrays, operations None. `feed_dict` gives placeholders their values.
        """
        if self._closed:
            raise RuntimeError(
                f"Attempted to use a closed Session: it was closed at {self._closed}"
            )
        flat = nest.flatten(fetches, lists=True)
        elements = [self._element(item) for item in flat]
        fed = self._feeds(feed_dict)
        tensors = [e for e in elements if is_tensor(e) and e._symbolic]
        operations = [e for e in elements if isinstance(e, Operation)]
        outer = taken.elements
        mine: list[tuple[Any, Any]] = []
        taken.elements = mine
        try:
            made = self._run(tensors, operations, fed)
            values = nest.pack_like(fetches, self._results(elements, made), lists=True)
            growth.step()
        except BaseException as error:
            give_back(mine, error)
            raise
        finally:
            taken.elements = outer
        return values

    def _results(self, elements: list[Any], made: list[Any]) -> list[Any]:
        out: list[Any] = []
        for element in elements:
            if isinstance(element, Operation):
                out.append(None)
            elif not element._symbolic:
                out.append(_known_array(element))
            else:
                out.append(native.take_array(made.pop(0)))
        return out

    def _run(self, tensors: list[Any], operations: list[Any], fed: list[Any]) -> list[Any]:
        if not tensors and not operations:
            return []
        with self._lock:
            self.graph._settle()
            key = (
                tuple((t._serial, t._output) for t in tensors),
                tuple(operation.serial for operation in operations),
                tuple(tensor._serial for tensor, _ in fed),
            )
            program = self._programs.get(key)
            if program is None:
                for tensor in tensors:
                    self._own(tensor)
                program = Program(self.graph, tensors, operations, [tensor for tensor, _ in fed])
                self._programs[key] = program
                if len(self._programs) > _MOST_PROGRAMS:
                    self._programs.popitem(last=False)
            else:
                self._programs.move_to_end(key)
            self._runs += 1
            return program.run(self._values, [value for _, value in fed], self._runs)

    def _own(self, tensor: Any) -> None:
        graph = self.graph
        if tensor._serial in graph._named or tensor._serial in graph._sources:
            return
        owner = owner_of(tensor)
        if owner is not None and owner is not graph:
            raise ValueError(
                f"Fetch argument {tensor!r} cannot be interpreted as a Tensor. (Tensor {tensor!r} "
                f"is not an element of this graph.) It was made at {tensor._line}; "
                "use Session(graph=tensor.graph)"
            )

    def _element(self, item: Any) -> Any:
        """What a fetch stands for: a tensor or an operation."""
        if is_tensor(item) or isinstance(item, Operation):
            return item
        if isinstance(item, Variable):
            return item._read if item._graph is not None else item._value
        if isinstance(item, str):
            try:
                return self.graph.as_graph_element(item)
            except (KeyError, ValueError) as error:
                raise ValueError(
                    f"Fetch argument {item!r} cannot be interpreted as a Tensor. ({error.args[0]})"
                ) from None
        if item is None:
            raise TypeError(
                "Fetch argument None has invalid type <class 'NoneType'>: what was run eagerly "
                "is no part of a graph"
            )
        raise TypeError(
            f"Fetch argument {item!r} has invalid type {type(item)}, must be a string or Tensor. "
            f"(Can not convert a {type(item).__name__} into a Tensor or Operation.)"
        )

    def _feeds(self, feed_dict: Any) -> list[tuple[Any, Any]]:
        """Tensors that are fed, each with its value as a tensor; in the order they were made."""
        found: dict[int, tuple[Any, Any]] = {}
        for key, value in (feed_dict or {}).items():
            tensor = self._fed_tensor(key)
            source = self.graph._sources.get(tensor._serial)
            name = source.name if isinstance(source, Fed) else _shown(tensor)
            with modes.writing(None):  # a value that is fed is no part of the graph
                found[tensor._serial] = (tensor, check_fed(tensor, value, f"'{name}:0'"))
        return [found[serial] for serial in sorted(found)]

    def _fed_tensor(self, key: Any) -> Any:
        if isinstance(key, str):
            try:
                key = self.graph.as_graph_element(key)
            except (KeyError, ValueError) as error:
                raise TypeError(
                    f"Cannot interpret feed_dict key as Tensor: {error.args[0]}"
                ) from None
        if isinstance(key, Variable):
            key = key._as_tensor()
        if not is_tensor(key):
            raise TypeError(
                f"Cannot interpret feed_dict key as Tensor: Can not convert a "
                f"{type(key).__name__} into a Tensor."
            )
        if not key._symbolic:
            raise ValueError(
                f"Tensor made at {key._line} may not be fed: its value was known when the graph "
                "was written. Make it a tf.compat.v1.placeholder_with_default to feed it"
            )
        return key

    def make_callable(
        self, fetches: Any, feed_list: Any = None, accept_options: bool = False
    ) -> Any:
        """A function of the values in `feed_list` that gives `fetches`."""
        keys = list(feed_list or ())

        def run(*values: Any) -> Any:
            return self.run(fetches, dict(zip(keys, values, strict=True)))

        return run

    def partial_run(self, *args: Any) -> Any:
        """Not here."""
        raise NotImplementedError("partial_run: run the fetches in one Session.run instead")

    def list_devices(self) -> list[Any]:
        """The one device."""
        from spillway.sessions.devices import logical_devices

        return list(logical_devices("CPU"))

    # ---- Its life

    def close(self) -> None:
        """Lets go of everything it holds; it cannot run any more."""
        if not self._closed:
            self._closed = user_line() or "an unknown line"
            self._let_go()
            tracked.untrack(self)

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return bool(self._closed)

    @property
    def graph_def(self) -> Any:
        """Not here."""
        raise NotImplementedError("graph_def: graphs are not written as protocol buffers")

    def as_default(self) -> contextlib.AbstractContextManager[Session]:
        """The session that `eval()` and `run()` use inside. It stays open."""
        return _default(self)

    def __enter__(self) -> Session:
        """Makes it and its graph the default ones."""
        stack = contextlib.ExitStack()
        stack.enter_context(self.graph.as_default())
        stack.enter_context(_default(self))
        self._open.append(stack)
        return self

    def __exit__(self, *error: Any) -> None:
        """Closes it."""
        self._open.pop().__exit__(None, None, None)
        self.close()

    def __repr__(self) -> str:
        """Its state."""
        return f"<tf.compat.v1.Session {'closed' if self._closed else 'open'}>"


class InteractiveSession(Session):
    """A session that is the default one from its making until it is closed.

    >>> session = InteractiveSession(graph=Graph())
    >>> get_default_session() is session
    True
    >>> session.close()
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        """Becomes the default session; its graph, if one is given, the default one."""
        super().__init__(target, graph, config)
        self._scopes = contextlib.ExitStack()
        if graph is not None:
            self._scopes.enter_context(modes.writing(graph))
        _sessions.stack.append(self)

    def close(self) -> None:
        """Lets go of everything, and of its place as the default."""
        if not self._closed:
            super().close()
            if self in _sessions.stack:
                _sessions.stack.remove(self)
            self._scopes.close()

    def __enter__(self) -> InteractiveSession:
        """As it is."""
        return self

    def __exit__(self, *error: Any) -> None:
        """Closes it."""
        self.close()


@contextlib.contextmanager
def _default(session: Session) -> Any:
    _sessions.stack.append(session)
    try:
        yield session
    finally:
        _sessions.stack.remove(session)


def get_default_session() -> Any:
    """The session whose scope is open on this thread, or None."""
    stack = _sessions.stack
    return stack[-1] if stack else None


def session_for(session: Any, what: str, of: str) -> Session:
    """The session given, or the default one; ValueError if there is none."""
    found = get_default_session() if session is None else session
    if found is None:
        raise ValueError(
            f"Cannot {what} {of} using `{what}()`: No default session is registered. Use "
            f"`with sess.as_default()` or pass an explicit session to `{what}(session=sess)`"
        )
    return found  # type: ignore[no-any-return]


def evaluated(tensor: Any, feed_dict: Any = None, session: Any = None) -> Any:
    """The value of a tensor in a session; one that was made eagerly needs none."""
    if session is None and get_default_session() is None and not tensor._symbolic:
        return tensor.numpy()
    return session_for(session, "eval", "tensor").run(tensor, feed_dict)


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Any:
    """A tensor whose value is fed to `Session.run`.

    >>> with Graph().as_default():
    ...     placeholder("float32", [None, 3], name="x")
    Tensor("x:0", shape=(None, 3), dtype=float32)
    """
    return _placeholder(dtype, shape, name or "Placeholder", None)


def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> Any:
    """A tensor whose value may be fed to `Session.run`, and is that of `input` if it is not.

    >>> with Graph().as_default(), Session() as session:
    ...     x = placeholder_with_default([1, 2], [None])
    ...     session.run(x + 1), session.run(x + 1, {x: [5]})
    (array([2, 3], dtype=int32), array([6], dtype=int32))
    """
    from spillway.tensor_convert import to_tensor

    default = to_tensor(input._as_tensor() if isinstance(input, Variable) else input)
    return _placeholder(default.dtype, shape, name or "PlaceholderWithDefault", default)


def _placeholder(dtype: Any, shape: Any, name: str, default: Any) -> Any:
    from spillway.dtypes import as_dtype
    from spillway.shapes import TensorShape

    graph = modes.graph()
    if graph is None:
        raise RuntimeError(
            "tf.placeholder() is not compatible with eager execution: write it inside `with "
            "tf.Graph().as_default():`, or call tf.compat.v1.disable_eager_execution() first"
        )
    graph._may_change()
    known = TensorShape(shape)
    dims = None if known.rank is None else known.as_list()
    tensor = native.parameter(as_dtype(dtype).name, dims, True)
    named = graph._new_name(name)
    graph._source(Fed(tensor, named, default))
    kind = "Placeholder" if default is None else "PlaceholderWithDefault"
    graph._add(Operation(graph, named, kind, (tensor,)))
    return tensor


def _known_array(tensor: Any) -> Any:
    """The value of a tensor that was made eagerly, as an array of the caller's own.

    Where there is no room for a copy, the tensor's own bytes, which cannot be written to.
    """
    try:
        return tensor.numpy()
    except MemoryError:
        if not tensor._known:
            raise
        return tensor._view()


def _shown(tensor: Any) -> str:
    owner = owner_of(tensor)
    if owner is None or tensor._serial not in owner._named:
        return "a tensor"
    return owner._named[tensor._serial].name
