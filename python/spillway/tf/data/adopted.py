"""The methods of `spillway.Dataset`, for datasets of this front."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import spillway
from spillway import arguments
from spillway.shown import shown
from spillway.tf._front import fronted, has_front_parts, to_front
from spillway.tf.data import debug


def call(
    method: Callable[..., Any], caller: Any, args: tuple[Any, ...], more: dict[str, Any]
) -> Any:
    """A method of `spillway.Dataset`, its functions and its result as this front's."""
    _check_name(more)
    if debug.enabled() or has_front_parts(caller.element_spec) or method in _MAKE_DATASETS:
        args = tuple([fronted(arg) for arg in args])
        more = {key: fronted(value) for key, value in more.items()}
        more = debug.one_by_one(more) if debug.enabled() else more
    return _front(method(caller, *args, **more))


def _check_name(more: dict[str, Any]) -> None:
    name = more.get("name")
    if name and not (isinstance(name, str) and name.isidentifier()):
        raise ValueError(
            "Invalid `name`. The argument `name` needs to be a valid identifier: letters, digits "
            f"and underscores, and no digit first: {shown(name)}"
        )


def _front(value: Any) -> Any:
    return to_front(value) if isinstance(value, spillway.Dataset) else value


# Their functions are handed datasets whatever the elements are.
_MAKE_DATASETS = frozenset({spillway.Dataset.group_by_window, spillway.Dataset.snapshot})


def _adopt(name: str, found: Any) -> Any:
    method: Any = getattr(spillway.Dataset, name)

    @functools.wraps(method)
    def static(*args: Any, **more: Any) -> Any:
        _check_name(more)
        return _front(method(*args, **more))

    @functools.wraps(method)
    def bound(self: Adopted, *args: Any, **more: Any) -> Any:
        return call(method, self, args, more)

    return staticmethod(static) if isinstance(found, staticmethod) else bound


class Adopted(spillway.Dataset):
    """`spillway.Dataset`, whose methods give datasets of this front; adopted.pyi has the types."""

    __slots__ = ()


for _name in dir(spillway.Dataset):
    _found = inspect.getattr_static(spillway.Dataset, _name)
    if _name.startswith("_") or isinstance(_found, property):
        continue
    setattr(Adopted, _name, _adopt(_name, _found))
arguments.name_methods(Adopted)
