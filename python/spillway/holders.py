"""Who holds some objects: asked of the garbage collector, in words, for a few of them.

Nothing found here is kept, changed or compared by its own `==`; no user code runs. Each question
to the collector looks at every container of the process once, so there are at most
`_MOST_QUESTIONS`, and none begins after `_MOST_SECONDS` of this thread's own time: a busy machine
finds no fewer.
"""

from __future__ import annotations

import contextlib
import gc
import os
import re
import sys
import time
from collections import deque
from collections.abc import Iterable
from types import CellType, FrameType, FunctionType, GeneratorType, ModuleType
from typing import Any

from spillway import _native, tracked
from spillway.lines import PACKAGE, _notebook

_MOST_SECONDS = 0.5
_MOST_QUESTIONS = 6
_SAMPLES = 3
_MOST_SHOWN = 3
_MOST_ITEMS = 100_000
_CONTAINERS = (list, tuple, dict, set, frozenset, deque)


def _is(value: Any, kinds: Any) -> bool:
    """As isinstance, which would ask an object for its `__class__`, and so run its code."""
    return issubclass(type(value), kinds)


def holders(key: tracked.Key) -> list[str]:
    """Who holds what a line made: `list 'kept' in train.py (10,000 items)`.

    >>> import spillway as sw
    >>> kept = [sw.Tensor([1.0])]
    >>> who_holds(kept[:])
    ["list 'kept' in holders.py (1 item)"]
    """
    what, file, number = key
    if what == "tensor":
        return who_holds(_native.tensors_at(file, number, _SAMPLES) if file else [])
    if what == "node":
        return []
    return who_holds([thing.obj for thing in tracked.at_line(key)[:_SAMPLES]])


def who_holds(samples: list[Any]) -> list[str]:
    """The same for objects; never raises."""
    try:
        return _Search(samples).found()
    except Exception as error:  # what the user's objects are is anybody's guess
        return [f"unknown ({type(error).__name__} while looking)"]


class _Search:
    def __init__(self, samples: list[Any]) -> None:
        self.samples = samples
        self.asked = 0
        self.until = time.thread_time() + _MOST_SECONDS
        # Lists of our own refer to what is looked for, too.
        self.ours = {id(samples), id(self.__dict__), id(self)}

    def found(self) -> list[str]:
        direct = self.referrers(self.samples)
        texts = dict.fromkeys(self.names(direct, self.samples))
        if not texts:
            texts = dict.fromkeys(_in_locals(self.samples))
        if not texts:
            texts = dict.fromkeys(self.unseen())
        return list(texts)[:_MOST_SHOWN]

    def referrers(self, objects: list[Any]) -> list[Any]:
        """What refers to them, but for our own."""
        if not objects or self.asked == _MOST_QUESTIONS or time.thread_time() > self.until:
            return []
        self.asked += 1
        self.ours.add(id(objects))
        found = gc.get_referrers(*objects)
        self.ours.add(id(found))
        kept = [each for each in found if id(each) not in self.ours and not _is_ours(each)]
        self.ours.add(id(kept))
        return kept

    def names(self, direct: list[Any], samples: list[Any]) -> Iterable[str]:
        nameless = []
        for holder in direct[:20]:
            text = _named(holder, samples)
            if text:
                yield text
            else:
                nameless.append(holder)
        if not nameless:
            return
        self.ours.add(id(nameless))
        seen = 0
        for above in self.referrers(nameless)[:20]:
            text = _named(above, nameless, samples) or self.higher(above, nameless)
            if text:
                seen += 1
                yield text
        if not seen:
            yield from _in_locals(nameless)

    def higher(self, above: Any, below: list[Any]) -> str | None:
        """A container in a container, a closure's cell, an object's dict: one more level."""
        level = [above]
        self.ours.add(id(level))
        for top in self.referrers(level)[:5]:
            if _is(top, FunctionType):
                return f"closure of {top.__qualname__}"
            text = _named(top, level, below)
            if text:
                return text
        return next(iter(_in_locals(level)), None)

    def unseen(self) -> Iterable[str]:
        """Dicts and tuples of tensors alone are no business of the collector's."""
        for module in list(sys.modules.values()):
            if time.thread_time() > self.until or not _is_users(module):
                continue
            for name, value in list(vars(module).items())[:_MOST_ITEMS]:
                if _holds(value, self.samples):
                    yield f"{_kind(value)} '{name}' in {_where(vars(module), name)}{_size(value)}"
                    continue
                for attribute, item in list(_attributes(value).items()):
                    if _holds(item, self.samples):
                        yield (
                            f"attribute '{attribute}' of {type(value).__name__}{_size(item, True)}"
                        )


def _is_ours(holder: Any) -> bool:
    if _is(holder, FrameType):
        return bool(holder.f_code.co_filename.startswith(PACKAGE))
    if _is(holder, GeneratorType):
        return bool(holder.gi_code.co_filename.startswith(PACKAGE))
    return _is(holder, _Search)


def _is_users(module: Any) -> bool:
    if not _is(module, ModuleType):
        return False
    file = vars(module).get("__file__") or ""
    if vars(module).get("__name__") == "__main__":
        return True
    shipped = (os.path.dirname(os.__file__), sys.prefix, PACKAGE)
    return _is(file, str) and file != "" and not str(file).startswith(shipped)


def _holds(container: Any, items: list[Any]) -> bool:
    if not _is(container, _CONTAINERS) or len(container) > _MOST_ITEMS:
        return False
    inside = list(container.values()) if _is(container, dict) else list(container)
    wanted = {id(item) for item in items}
    return any(id(each) in wanted for each in inside)


def _kind(value: Any) -> str:
    return type(value).__name__


def _size(value: Any, kind: bool = False) -> str:
    if not _is(value, _CONTAINERS):
        return ""
    items = f"{len(value):,} item{'' if len(value) == 1 else 's'}"
    return f" ({_kind(value)}, {items})" if kind else f" ({items})"


def _key_of(names: Any, items: list[Any]) -> tuple[str, Any] | None:
    for name, value in list(names.items()):
        if _is(name, str) and any(value is item for item in items):
            return name, value
    return None


def _named(holder: Any, items: list[Any], below: list[Any] | None = None) -> str | None:
    """In words, where the holder itself gives a name to what it holds; None: look who holds it.

    An object's own dict may be among the items: then `below` is what that one holds.
    """
    if _is(holder, dict):
        module = sys.modules.get(str(dict.get(holder, "__name__", "")))
        is_globals = "__builtins__" in holder or getattr(module, "__dict__", None) is holder
        entry = _key_of(holder, items) if is_globals else None
        if entry is None:
            return None
        name, value = entry
        return f"{_kind(value)} '{name}' in {_where(holder, name)}{_size(value)}"
    if _is(holder, FrameType):
        entry = _key_of(holder.f_locals, items)
        return entry and f"local '{entry[0]}' of {holder.f_code.co_qualname}{_size(entry[1])}"
    if _is(holder, GeneratorType):
        entry = _key_of(holder.gi_frame.f_locals, items) if holder.gi_frame else None
        name = holder.gi_code.co_qualname
        return f"local '{entry[0]}' of generator {name}" if entry else f"generator {name}"
    if _is(holder, FunctionType):
        return f"defaults of {holder.__qualname__}"
    if _is(holder, (*_CONTAINERS, CellType, ModuleType, type)):
        return None
    return _attribute(holder, items, below or [])


def _attribute(holder: Any, items: list[Any], below: list[Any]) -> str | None:
    kind = type(holder).__name__
    if type(holder).__module__.partition(".")[0] == "spillway":
        return None  # part of what is looked for: whoever holds it is the answer
    entry = _key_of(_attributes(holder), [*items, *below])
    if entry is None:
        return f"{kind} object"
    return f"attribute '{entry[0]}' of {kind}{_size(entry[1], True)}"


def _attributes(holder: Any) -> dict[str, Any]:
    """What an object has in its dict and its slots, without asking the object."""
    if _is(holder, (ModuleType, type, FunctionType)):
        return {}
    values: dict[str, Any] = {}
    with contextlib.suppress(AttributeError):
        values.update(object.__getattribute__(holder, "__dict__"))
    for slot in _slots(type(holder)):
        with contextlib.suppress(AttributeError):
            values[slot] = object.__getattribute__(holder, slot)
    return values


def _slots(kind: type) -> Iterable[str]:
    for base in kind.__mro__:
        slots = base.__dict__.get("__slots__", ())
        yield from (slots,) if _is(slots, str) else tuple(slots or ())


def _in_locals(items: list[Any]) -> Iterable[str]:
    """Local variables of functions that are running: the collector does not know them."""
    for frame in list(sys._current_frames().values()):
        here: FrameType | None = frame
        for _ in range(200):
            if here is None:
                break
            code = here.f_code
            if not code.co_filename.startswith(PACKAGE) and code.co_flags & 1:  # a function's
                entry = _key_of(here.f_locals, items)
                if entry is not None:
                    yield (
                        f"{_kind(entry[1])} '{entry[0]}' of {code.co_qualname}(){_size(entry[1])}"
                    )
            here = here.f_back


def _where(names: dict[str, Any], name: str) -> str:
    """The module's file, or the cell that last gave the name a value."""
    cells: Any = names.get("In") if _notebook() else None
    if _is(cells, list):
        gives = re.compile(rf"^[ \t]*(?:[\w, \t]*,[ \t]*)?{re.escape(name)}\b[^=\n]*=(?!=)", re.M)
        for number in range(len(cells) - 1, 0, -1):
            if _is(cells[number], str) and gives.search(cells[number]):
                return f"In[{number}]"
        return "the notebook"
    file: Any = names.get("__file__")
    return os.path.basename(file) if _is(file, str) else str(names.get("__name__"))
