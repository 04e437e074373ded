"""The largest values that a program's variables refer to, found in a few milliseconds.

Nothing of the user's is called: sizes come from types that are known, everything else is
`sys.getsizeof` of its instance's parts. A container is sampled, so its size is an estimate.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from types import FrameType, FunctionType, ModuleType
from typing import Any, NamedTuple

from spillway import _native
from spillway.lines import PACKAGE

_SAMPLES = 32
_DEPTH = 4
_SECONDS = 0.1  # of this thread's own time: a busy machine finds no fewer
_MOST_NAMES = 2000
_CONTAINERS = (list, tuple, set, frozenset, deque)
# Types of these packages have an `nbytes` that is arithmetic.
_KNOWN = ("numpy", "torch", "pyarrow", "tensorflow", "jax", "jaxlib", "scipy", "polars", "spillway")


class Holder(NamedTuple):
    """A variable and about how much it leads to."""

    name: str
    what: str
    bytes: int

    def __str__(self) -> str:
        """As a message has it."""
        return f"{self.name} ({self.what}, about {_native.format_bytes(self.bytes)})"


def largest(frame: FrameType | None, most: int = 5) -> list[Holder]:
    """The largest values of the variables around `frame`, and of the program's globals.

    >>> table = [bytes(10_000) for _ in range(200)]
    >>> found = largest(sys._getframe())[0]
    >>> found.name, found.what, found.bytes > 1_900_000
    ('table', 'list of 200 items', True)
    """
    end = time.thread_time() + _SECONDS
    seen: dict[int, Holder] = {}
    for name, value in _variables(frame):
        if id(value) in seen or isinstance(value, ModuleType | type | FunctionType):
            continue
        seen[id(value)] = Holder(name, _describe(value), size_of(value, end))
        if time.thread_time() > end:
            break
    found = sorted(seen.values(), key=lambda holder: -holder.bytes)
    return [holder for holder in found if holder.bytes >= 1 << 20][:most]


def _variables(frame: FrameType | None) -> Iterator[tuple[str, Any]]:
    main = sys.modules.get("__main__")
    spaces: list[tuple[str, dict[str, Any]]] = []
    while frame is not None and len(spaces) < 50:
        if frame.f_locals is not frame.f_globals and not _is_machinery(frame):
            spaces.append((f" in {frame.f_code.co_name}()", frame.f_locals))
        elif not _is_machinery(frame):
            spaces.append(("", frame.f_globals))
        frame = frame.f_back
    if main is not None:
        spaces.append(("", vars(main)))
    hidden = _names_of_the_notebook()
    for where, space in spaces:
        for name, value in islice(list(space.items()), _MOST_NAMES):
            if not name.startswith("_") and not (name in hidden and name != "Out"):
                yield f"{name}{where}", value


def _names_of_the_notebook() -> set[str]:
    """Names that IPython has put beside the user's, like `exit`: each leads to everything."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return set(getattr(shell, "user_ns_hidden", ()))


def _is_machinery(frame: FrameType) -> bool:
    file = frame.f_code.co_filename
    return file.startswith((PACKAGE, "<frozen")) or "site-packages" in file


def _describe(value: Any) -> str:
    kind = type(value)
    name = kind.__name__
    if issubclass(kind, dict):
        return f"{name} of {len(value):,} entries"
    if issubclass(kind, _CONTAINERS):
        return f"{name} of {len(value):,} items"
    if kind.__module__.partition(".")[0] in (*_KNOWN, "pandas"):
        shape = getattr(value, "shape", None)
        return f"{name} {tuple(shape)}" if isinstance(shape, tuple | list) else name
    return name


def size_of(value: Any, end: float = float("inf"), depth: int = _DEPTH) -> int:
    """About how many bytes a value leads to.

    >>> size_of({"a": bytes(1000), "b": [bytes(500)] * 3}) > 2000
    True
    """
    kind = type(value)
    package = kind.__module__.partition(".")[0]
    if package == "pandas":
        return _size_of_pandas(value, end, depth)
    if package in _KNOWN:
        return _size_of_array(value)
    own = sys.getsizeof(value, 64) if kind.__flags__ & (1 << 9) == 0 else object.__sizeof__(value)
    if depth == 0 or time.thread_time() > end:
        return own
    if issubclass(kind, dict):
        keys = _mean(islice(value.keys(), _SAMPLES), end, depth)
        return own + int(len(value) * (keys + _mean(_spread(value.values()), end, depth)))
    if issubclass(kind, _CONTAINERS):
        return own + int(len(value) * _mean(_spread(value), end, depth))
    parts = getattr(value, "__dict__", None) if kind.__flags__ & (1 << 9) else None
    if isinstance(parts, dict):
        own += sum(size_of(part, end, depth - 1) for part in islice(parts.values(), _SAMPLES))
    return own


def _spread(values: Any) -> Iterable[Any]:
    """Some of them from all over where that is quick."""
    count = len(values)
    if isinstance(values, list | tuple) and count > _SAMPLES:
        return [values[i * (count - 1) // (_SAMPLES - 1)] for i in range(_SAMPLES)]
    return list(islice(values, _SAMPLES))


def _mean(values: Iterable[Any], end: float, depth: int) -> float:
    sizes = [size_of(value, end, depth - 1) for value in values]
    return sum(sizes) / len(sizes) if sizes else 0.0


def _size_of_array(value: Any) -> int:
    base = value
    while type(getattr(base, "base", None)).__module__ == "numpy":
        base = base.base
    size = getattr(base, "nbytes", None)
    return int(size) if isinstance(size, int) else sys.getsizeof(value, 64)


def _size_of_pandas(value: Any, end: float, depth: int) -> int:
    usage = getattr(value, "memory_usage", None)
    if usage is None:
        return sys.getsizeof(object())
    found = usage(index=True)
    size = int(found if isinstance(found, int) else found.sum())
    columns = [value] if type(value).__name__ == "Series" else _object_columns(value)
    for column in columns:
        if column.dtype == object and depth > 0:
            items = column.iloc[:_SAMPLES].tolist()
            size += int(len(column) * _mean(items, end, depth))
    return size


def _object_columns(frame: Any) -> list[Any]:
    if type(frame).__name__ != "DataFrame":
        return []
    kinds = list(frame.dtypes)[:_MOST_NAMES]
    return [frame.iloc[:, i] for i, kind in enumerate(kinds) if str(kind) == "object"]
