"""Names: scopes, and what makes a name the only one of its kind."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from typing import Any

from spillway import modes

_VALID = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$")


class _Eager(threading.local):
    scope = ""  # where no graph is written; ends in "/" unless it is empty


_eager = _Eager()


class Names:
    """The names of one graph: each is given once, later ones get a number.

    >>> names = Names()
    >>> names.unique("a"), names.unique("a"), names.unique("a_1")
    ('a', 'a_1', 'a_1_1')
    """

    def __init__(self) -> None:
        """No name is taken."""
        self.scope = ""
        self._taken: dict[str, int] = {}

    def unique(self, name: str) -> str:
        """`name`, or `name` with the first number that is free. Case does not tell names apart."""
        key = name.lower()
        count = self._taken.get(key, 0)
        self._taken[key] = count + 1
        if not count:
            return name
        while True:
            found = f"{name}_{count}"
            count += 1
            if found.lower() not in self._taken:
                self._taken[key] = count
                self._taken[found.lower()] = 1
                return found


def current() -> str:
    """The scope that is open here, with its slash; empty at the top."""
    graph = modes.graph()
    scope: str = _eager.scope if graph is None else graph._names.scope
    return scope


def prefixed(name: str) -> str:
    """A name inside the scope that is open here."""
    return current() + name


class NameScope:
    """Names what is made inside. As a context manager it gives the scope's name.

    >>> with NameScope("block") as scope, NameScope("inner"):
    ...     print(scope, prefixed("x"))
    block/ block/inner/x
    """

    def __init__(self, name: Any = None, default_name: Any = None, values: Any = None) -> None:
        """Opens nothing yet. A name with a slash at its end is taken as it is; None closes all."""
        wanted = default_name if name is None else name
        if wanted is not None and not isinstance(wanted, str):
            raise ValueError("name for name_scope must be a string.")
        self._name: str = wanted or ""
        self._before: list[tuple[Any, str]] = []

    @property
    def name(self) -> str:
        """As it was given."""
        return self._name

    def __enter__(self) -> str:
        """Opens it."""
        graph = modes.graph()
        target: Any = _eager if graph is None else graph._names
        before: str = target.scope
        self._before.append((target, before))
        if self._name and not before and not self._name.endswith("/"):
            _check(self._name)
        if not self._name or self._name.endswith("/"):
            scope = self._name
        elif graph is None:
            scope = f"{before}{self._name}/"
        else:
            scope = graph._names.unique(before + self._name) + "/"
        target.scope = scope
        return scope

    def __exit__(self, *_: object) -> None:
        """Closes it."""
        target, before = self._before.pop()
        target.scope = before


def _check(name: str) -> None:
    if not _VALID.match(name):
        raise ValueError(f"'{name}' is not a valid root scope name")


def words(text: str) -> Iterator[str]:
    """The parts of an op's name with capitals: `random_normal` is RandomNormal.

    >>> "".join(words("random_normal"))
    'RandomNormal'
    """
    return (part.capitalize() for part in text.split("_"))
