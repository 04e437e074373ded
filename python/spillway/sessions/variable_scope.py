"""`tf.compat.v1.get_variable` and `variable_scope`: variables that are shared by name."""

from __future__ import annotations

from typing import Any

from spillway import modes
from spillway.dtypes import as_dtype
from spillway.sessions import initializers
from spillway.sessions.graph import get_default_graph
from spillway.sessions.operation import Operation
from spillway.sessions.scopes import NameScope
from spillway.sessions.variable import GLOBAL, LOCAL, TRAINABLE, Variable
from spillway.shapes import TensorShape
from spillway.tensor_convert import is_tensor


class _Reuse:
    """TensorFlow's AUTO_REUSE: a variable that is there, or a new one."""

    def __repr__(self) -> str:
        return "<tf.AUTO_REUSE>"


AUTO_REUSE = _Reuse()


class VariableScope:
    """What `variable_scope` gives: the prefix of names, and whether variables must exist."""

    def __init__(self, name: str, reuse: Any, initializer: Any = None, dtype: Any = None) -> None:
        """`name`: the whole prefix, without a slash at its end."""
        self.name = name
        self.reuse = reuse
        self.initializer = initializer
        self.dtype = dtype
        self.original_name_scope = name + "/" if name else ""

    def reuse_variables(self) -> None:
        """From here on variables of these names must exist."""
        self.reuse = True

    def set_initializer(self, initializer: Any) -> None:
        """What variables start from where none is given."""
        self.initializer = initializer


_eager_scope = VariableScope("", False)


def get_variable_scope() -> VariableScope:
    """The scope that is open here."""
    graph = modes.graph()
    if graph is None:
        return _eager_scope
    if graph._variable_scope is None:
        graph._variable_scope = VariableScope("", False)
    found: VariableScope = graph._variable_scope
    return found


class variable_scope:  # noqa: N801  (TensorFlow's own name)
    """Puts a prefix before the names that `get_variable` gives; `reuse`: they must exist.

    >>> from spillway.sessions.graph import Graph
    >>> with Graph().as_default():
    ...     with variable_scope("layer"):
    ...         a = get_variable("w", [2])
    ...     with variable_scope("layer", reuse=True):
    ...         b = get_variable("w", [2])
    >>> a is b, a.name
    (True, 'layer/w:0')
    """

    def __init__(
        self,
        name_or_scope: Any,
        default_name: Any = None,
        values: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        custom_getter: Any = None,
        reuse: Any = None,
        dtype: Any = None,
        use_resource: Any = None,
        constraint: Any = None,
        auxiliary_name_scope: bool = True,
    ) -> None:
        """Opens nothing yet."""
        if name_or_scope is None and default_name is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if custom_getter is not None or partitioner is not None:
            raise NotImplementedError("variable_scope: custom_getter and partitioner are not here")
        self._wanted = name_or_scope
        self._default_name = default_name
        self._reuse = reuse
        self._initializer = initializer
        self._dtype = dtype
        self._with_names = auxiliary_name_scope
        self._open: list[Any] = []

    def __enter__(self) -> VariableScope:
        """Opens it."""
        graph = modes.graph()
        outer = get_variable_scope()
        wanted = self._wanted
        if isinstance(wanted, VariableScope):
            full, last = wanted.name, wanted.name.rpartition("/")[2]
            inherited = wanted
        else:
            last = self._default_name if wanted is None else str(wanted)
            full = f"{outer.name}/{last}" if outer.name else last
            if wanted is None and graph is not None:
                full = _unused(graph, full)
                last = full.rpartition("/")[2]
            inherited = outer
        reuse = self._reuse if self._reuse is not None else inherited.reuse or outer.reuse
        if self._reuse is None and self._wanted is not None and outer.reuse:
            reuse = outer.reuse
        scope = VariableScope(
            full,
            reuse,
            inherited.initializer if self._initializer is None else self._initializer,
            inherited.dtype if self._dtype is None else self._dtype,
        )
        names = NameScope(last) if self._with_names and last else None
        if names is not None:
            scope.original_name_scope = names.__enter__()
        self._open.append((graph, outer, names))
        self._set(graph, scope)
        return scope

    def __exit__(self, *_: object) -> None:
        """Closes it."""
        graph, outer, names = self._open.pop()
        if names is not None:
            names.__exit__()
        self._set(graph, outer)

    @staticmethod
    def _set(graph: Any, scope: VariableScope) -> None:
        global _eager_scope
        if graph is None:
            _eager_scope = scope
        else:
            graph._variable_scope = scope


def _unused(graph: Any, name: str) -> str:
    """The first of name, name_1 ... that no variable begins with."""
    taken = {key.rpartition("/")[0] for key in graph._variables}
    found, number = name, 0
    while found in taken:
        number += 1
        found = f"{name}_{number}"
    return found


def get_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool | None = None,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: Any = None,
    custom_getter: Any = None,
    constraint: Any = None,
    synchronization: Any = None,
    aggregation: Any = None,
) -> Variable:
    """The variable of a name in the scope that is open: a new one, or the one that is there.

    Outside graphs it is always a new one, as in TensorFlow.
    """
    scope = get_variable_scope()
    full = f"{scope.name}/{name}" if scope.name else name
    graph = modes.graph()
    known = None if graph is None else graph._variables.get(full)
    if known is not None:
        return _existing(known, full, scope, shape, dtype)
    if scope.reuse is True and graph is not None:
        raise ValueError(
            f"Variable {full} does not exist, or was not created with tf.get_variable(). Did you "
            "mean to set reuse=tf.AUTO_REUSE in VarScope?"
        )
    dtype = scope.dtype if dtype is None else dtype
    initializer = scope.initializer if initializer is None else initializer
    made = Variable(
        _start(full, shape, dtype, initializer),
        trainable,
        validate_shape,
        dtype=dtype,
        constraint=constraint,
        collections=collections,
        _full_name=full,
    )
    if graph is not None:
        graph._variables[full] = made
    return made


def _existing(known: Any, full: str, scope: VariableScope, shape: Any, dtype: Any) -> Variable:
    if not scope.reuse:
        raise ValueError(
            f"Variable {full} already exists, disallowed. Did you mean to set reuse=True or "
            f"reuse=tf.AUTO_REUSE in VarScope? Originally defined at: {known._line}"
        )
    if shape is not None and not TensorShape(shape).is_compatible_with(known.shape):
        raise ValueError(
            f"Trying to share variable {full}, but specified shape {TensorShape(shape)} and found "
            f"shape {known.shape}."
        )
    if dtype is not None and as_dtype(dtype) != known.dtype:
        raise ValueError(
            f"Trying to share variable {full}, but specified dtype {as_dtype(dtype).name} and "
            f"found dtype {known.dtype.name}."
        )
    found: Variable = known
    return found


def _start(full: str, shape: Any, dtype: Any, initializer: Any) -> Any:
    """What a variable starts from: a function, so that its ops lie in the variable's own scope."""
    wanted = as_dtype("float32" if dtype is None else dtype)
    if initializer is None:
        if wanted.is_floating:
            initializer = initializers.GlorotUniform()
        elif wanted.is_integer or wanted.is_bool:
            initializer = initializers.Zeros()
        else:
            raise ValueError(f"An initializer for variable {full} of {wanted} is required")
    if isinstance(initializer, type):
        initializer = initializer()
    if is_tensor(initializer) or not callable(initializer):
        return initializer
    if shape is None:
        raise ValueError(
            f"Shape of a new variable ({full}) must be fully defined, but instead was <unknown>."
        )
    known = TensorShape(shape)
    if not known.is_fully_defined():
        raise ValueError(
            f"Shape of a new variable ({full}) must be fully defined, but instead was {known}."
        )
    dims = known.as_list()
    if isinstance(initializer, initializers.Initializer):
        return lambda: initializer(dims, wanted)
    try:
        return _called(initializer, dims, wanted)
    except TypeError:
        return initializer


def _called(initializer: Any, dims: list[Any], dtype: Any) -> Any:
    """A function of the user's: of a shape, with or without a dtype."""
    import inspect

    if not inspect.signature(initializer).parameters:
        return initializer
    if "dtype" in inspect.signature(initializer).parameters:
        return lambda: initializer(dims, dtype=dtype)
    return lambda: initializer(dims)


# ---- Variables of a graph, together


def global_variables(scope: str | None = None) -> list[Any]:
    """The variables of the default graph."""
    return get_default_graph().get_collection(GLOBAL, scope)


def local_variables(scope: str | None = None) -> list[Any]:
    """Those that were made with `collections=["local_variables"]`."""
    return get_default_graph().get_collection(LOCAL, scope)


def trainable_variables(scope: str | None = None) -> list[Any]:
    """Those that were not made with `trainable=False`."""
    return get_default_graph().get_collection(TRAINABLE, scope)


def variables_initializer(var_list: Any, name: str = "init") -> Any:
    """An operation that gives each variable its first value."""
    graph = modes.graph()
    if graph is None:
        graph = next((v.graph for v in var_list if v.graph is not None), None)
    target = get_default_graph() if graph is None else graph
    operation = Operation(target, target._new_name(name), "NoOp", ())
    starters = [variable.initializer for variable in var_list]
    operation._controls = tuple(op for op in starters if op is not None)
    target._add(operation)
    return operation


def global_variables_initializer() -> Any:
    """An operation that gives every variable of the default graph its first value.

    Variables that were made outside graphs have theirs.
    """
    return variables_initializer(global_variables())


def local_variables_initializer() -> Any:
    """The same for local variables."""
    return variables_initializer(local_variables())


def report_uninitialized_variables(var_list: Any = None, name: str = "report") -> Any:
    """Not here: a variable without a value is named by the error of what reads it."""
    raise NotImplementedError(
        "report_uninitialized_variables: run what you need; an error names the variable and line"
    )


def assign(
    ref: Any, value: Any, validate_shape: Any = None, use_locking: Any = None, name: Any = None
) -> Any:
    """The same as `ref.assign(value)`."""
    return ref.assign(value, name=name)


def assign_add(ref: Any, value: Any, use_locking: Any = None, name: Any = None) -> Any:
    """The same as `ref.assign_add(value)`."""
    return ref.assign_add(value, name=name)


def assign_sub(ref: Any, value: Any, use_locking: Any = None, name: Any = None) -> Any:
    """The same as `ref.assign_sub(value)`."""
    return ref.assign_sub(value, name=name)
