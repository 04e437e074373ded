"""Functions that make datasets, as forms: a pipeline with holes for what comes with an element.

While such a function is traced, a value nobody has yet may become a size (`Hole`), a tensor a
source starts from, or something an inner function uses. A stand-in takes its place and the hole is
written down here; the engine fills it for every element, without Python.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from spillway import nest, opaque
from spillway.dtypes import int64
from spillway.shown import shown
from spillway.symbolic import TraceBreak, stand_in
from spillway.tensor import Tensor
from spillway.tensor_convert import is_variable, kind_of, refuse, to_array


class Hole:
    """A size that comes with an element. Whoever has to look at it ends the trace."""

    def __init__(self, tensor: Any) -> None:
        """`tensor` will have the value."""
        self.tensor = tensor

    def _look(self, *_: Any) -> NoReturn:
        raise TraceBreak("needs the value of a traced tensor")

    __index__ = __int__ = __bool__ = __lt__ = __le__ = __gt__ = __ge__ = _look
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __neg__ = __mod__ = _look


class Form:
    """What one pass over a function that makes a dataset has found."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.holes: list[tuple[Any, int, int, int]] = []  # node, parameter, part, value
        self.values: list[Any] = []  # the tensors that go into them
        self.given: list[Any] = []  # nodes that stand for datasets of the element
        self.seen: list[str] = []  # what its functions are called with
        self._parts: dict[int, tuple[Any, list[tuple[int, Any]]]] = {}  # by id, kept alive

    def note_parts(self, value: Any, parts: list[tuple[int, Any]]) -> None:
        """Components of an element, or values of a function, that are not known yet."""
        self._parts[id(value)] = (value, parts)

    def stand_ins(self, params: list[Any]) -> list[Any]:
        """Parameters the engine can make a node of."""
        return [opaque.size() if isinstance(p, Hole) else p for p in params]

    def place(self, node: Any, params: list[Any]) -> None:
        """Writes down where in a node values are missing."""
        for at, param in enumerate(params):
            parts = [(0, param.tensor)] if isinstance(param, Hole) else []
            if id(param) in self._parts:
                parts = self._parts[id(param)][1]
            for part, tensor in parts:
                self.holes.append((node, at, part, len(self.values)))
                self.values.append(tensor)


def size(value: Any, op: str, name: str) -> Any:
    """An integer, taken where TensorFlow makes an int64 of it, or the hole it leaves in a form.

    Tensors of other integer types are taken, too. `op` and `name` say in an error whose it is.
    """
    if isinstance(value, Hole):
        return value
    if is_traced(value) and opaque.form() is not None:
        return Hole(value)
    if is_variable(value) and opaque.form() is not None:
        raise TraceBreak("makes datasets of the value of a variable")
    must = f"{op}: {name} must be an integer: cannot convert {shown(value)} to int64"
    if isinstance(value, Tensor):
        if not value.dtype.is_integer or value.shape.rank not in (None, 0):
            refuse("ValueError", must)
        return value.__index__()
    try:
        # NumPy's numbers are cut to integers, as in TensorFlow: those that have none are refused.
        if isinstance(value, (np.ndarray, np.generic)) and kind_of(value.dtype) not in "ifb":
            refuse("TypeError", must)
        numeric = isinstance(value, (np.ndarray, np.generic)) and kind_of(value.dtype) in "if"
        if numeric and not bool(np.all(np.abs(value.astype(np.float64)) < 2.0**63)):
            refuse("ValueError", must)
        made = to_array(value, int64)
    except (TypeError, ValueError) as error:
        refuse("TypeError" if isinstance(error, TypeError) else "ValueError", must)
    return int(made) if made.ndim == 0 else refuse("TypeError", must)


def is_traced(value: Any) -> bool:
    """Whether a value only comes with an element."""
    return isinstance(value, Tensor) and bool(value._symbolic)


def element_parts(value: Any, rows: bool) -> list[tuple[int, Any]]:
    """The traced leaves of a source's nest; their types must be known but for the rows."""
    leaves = [leaf for leaf in nest.flatten(value) if leaf is not None]  # None is no component
    if any(hasattr(leaf, "element_spec") for leaf in leaves):
        raise TraceBreak(
            "makes datasets of datasets"
        )  # one given would have to be put in its place
    if any(is_variable(leaf) for leaf in leaves) and opaque.form() is not None:
        raise TraceBreak("makes datasets of the value of a variable")
    parts = [(i, leaf) for i, leaf in enumerate(leaves) if is_traced(leaf)]
    for _, leaf in parts:
        dims = leaf._dims
        if dims is None or None in (dims[1:] if rows else dims):
            raise TraceBreak("makes datasets of tensors whose shape is not known")
    return parts


def stand_in_for(value: Any) -> Any:
    """`stand_in`, without saying that only Python can do it."""
    with opaque.noted(opaque.size()):
        return stand_in(value)
