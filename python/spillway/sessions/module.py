"""`tf.Module`: an object whose variables can be listed and saved."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any

from spillway.sessions.scopes import NameScope
from spillway.sessions.variable import Variable
from spillway.shown import shown


class Module:
    """Holds variables, other modules, and lists and dicts of them.

    >>> class Dense(Module):
    ...     def __init__(self):
    ...         super().__init__(name="dense")
    ...         self.w = Variable([1.0], name="w")
    >>> [v.name for v in Dense().trainable_variables]
    ['w:0']
    """

    def __init__(self, name: str | None = None) -> None:
        """`name`: that of the class in small letters where none is given."""
        found = name or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type(self).__name__).lower()
        if not found.isidentifier():
            raise ValueError(
                f"{shown(found)} is not a valid module name. Module names must be valid "
                "Python identifiers (e.g. a valid class name)."
            )
        self._name = found

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @property
    def name_scope(self) -> NameScope:
        """A scope of its name."""
        return NameScope(self._name)

    @property
    def variables(self) -> tuple[Any, ...]:
        """Every variable it leads to, once."""
        return tuple(_found(self, lambda value: isinstance(value, Variable)))

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """Those that are trainable."""
        return tuple(variable for variable in self.variables if variable.trainable)

    @property
    def non_trainable_variables(self) -> tuple[Any, ...]:
        """Those that are not."""
        return tuple(variable for variable in self.variables if not variable.trainable)

    @property
    def submodules(self) -> tuple[Any, ...]:
        """Every module it leads to, once."""
        return tuple(m for m in _found(self, lambda v: isinstance(v, Module)) if m is not self)

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """A method inside the scope of its module's name."""

        @functools.wraps(method)
        def scoped(self: Any, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped

    def _trackable_children(self) -> dict[str, Any]:
        """What a checkpoint saves of it."""
        return {
            name: value
            for name, value in sorted(vars(self).items())
            if not name.startswith("_") and any(True for _ in _found(value, _is_state))
        }


def _is_state(value: Any) -> bool:
    return isinstance(value, Variable)


def _found(root: Any, wanted: Callable[[Any], bool]) -> Iterator[Any]:
    """What is wanted below, in the order of names, each once."""
    seen: set[int] = set()
    stack = [root]
    while stack:
        value = stack.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if wanted(value):
            yield value
        if isinstance(value, Module):
            stack.extend(v for _, v in sorted(vars(value).items(), reverse=True))
        elif isinstance(value, dict):
            stack.extend(value[key] for key in reversed(list(value)))
        elif isinstance(value, (list, tuple)):
            stack.extend(reversed(value))
