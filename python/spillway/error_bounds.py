"""Exceptions of user code, in sizes that a message, a worker's channel and a notebook can take.

An exception may carry 200 MB of text, a million notes or a class name of a megabyte. Whatever is
larger than the bounds here is replaced by a *stand-in*: an exception of the same class whose text,
arguments, notes, frames and causes are cut, and which says how much was left out.
"""

from __future__ import annotations

import reprlib
import traceback
import types
from collections import deque
from typing import Any

from spillway.interruptions import pass_on

MOST_TEXT = 64 * 1024  # characters of one text
MOST_NAME = 200  # of the name of a class
MOST_NOTES = 16
MOST_CHAIN = 16  # exceptions: causes, contexts and members of groups
MOST_FRAMES = 256  # of one traceback

_MOST_BITS = 14_000  # of an integer: Python writes at most 4300 digits

_TEXTS = (str, bytes, bytearray)
_CONTAINERS = (list, tuple, set, frozenset, dict, deque)
_OWN_STR = (BaseException.__str__, KeyError.__str__)
_HEAP_TYPE = 1 << 9  # the type flag of classes that are not written in C

_long = reprlib.Repr()
_long.maxlevel = 6
_long.maxstring = _long.maxother = _long.maxlong = 4096
_long.maxlist = _long.maxtuple = _long.maxdict = _long.maxset = _long.maxfrozenset = 64


def short(text: str, most: int = MOST_TEXT) -> str:
    """A text of at most about `most` characters: its beginning and its end.

    >>> short("x" * 100, 20)
    'xxxxxxxxxxxxxxx ... (80 characters are left out) ... xxxxx'
    """
    if len(text) <= most:
        return text
    head, tail = most - most // 4, most // 4
    return f"{text[:head]} ... ({len(text) - most} characters are left out) ... {text[-tail:]}"


def name_of(cls: type) -> str:
    """The name of a class, of a length that can be shown."""
    return short(cls.__name__, MOST_NAME)


def class_of(error: BaseException) -> type[BaseException]:
    """The class of an exception; of a stand-in, that of the one it stands for."""
    cls = type(error)
    real: type[BaseException] = cls.__bases__[1] if issubclass(cls, _StandIn) else cls
    return real


def is_small(value: Any, room: int = MOST_TEXT) -> bool:
    """Whether the `repr` of a value is surely not much longer than `room`; cheap to ask."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, _TEXTS):
            room -= len(item) + 2
        elif isinstance(item, int):
            if item.bit_length() > _MOST_BITS:
                return False
            room -= item.bit_length() // 3 + 2
        elif isinstance(item, _CONTAINERS):
            room -= 2 * len(item) + 2
            if room >= 0:
                pending += item
                pending += item.values() if isinstance(item, dict) else ()
        else:
            room -= 16
        if room < 0:
            return False
    return True


def shown_long(value: Any) -> str:
    """A `repr` of bounded length, whatever the value's own does."""
    try:
        text = repr(value) if is_small(value) else _long.repr(value)
    except Exception as failed:
        pass_on(failed)
        text = f"a {name_of(type(value))}"
    return short(text)


def text_of(error: BaseException) -> str:
    """What `str(error)` says, bounded; empty where that fails."""
    try:
        if type(error).__str__ in _OWN_STR and not is_small(error.args):
            only = error.args[0] if len(error.args) == 1 else error.args
            return short(only) if isinstance(only, str) else shown_long(only)
        return short(str(error))
    except Exception as failed:
        pass_on(failed)
        return ""


def bounded(error: BaseException) -> BaseException:
    """The exception itself where all of it is of ordinary size, else its stand-in.

    >>> small, large = ValueError("x"), ValueError("x" * 10**6)
    >>> bounded(small) is small, isinstance(bounded(large), ValueError)
    (True, True)
    >>> len(str(bounded(large))) < 10**5
    True
    """
    return error if _fits(error) else _stand_in(error, [MOST_CHAIN], {})


def trace_of(error: BaseException) -> str:
    """The traceback of an exception and its causes as text, bounded."""
    try:
        return short("".join(traceback.format_exception(bounded(error))))
    except Exception as failed:
        pass_on(failed)
        return f"{name_of(type(error))}: {text_of(error)}\n"


def _fits(error: BaseException) -> bool:
    seen: set[int] = set()
    pending = [error]
    while pending:
        one = pending.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if len(seen) > MOST_CHAIN or not _one_fits(one):
            return False
        pending += _linked(one)
    return True


def _linked(error: BaseException) -> list[BaseException]:
    members = error.exceptions[: MOST_CHAIN + 1] if isinstance(error, BaseExceptionGroup) else ()
    linked = (error.__cause__, error.__context__, *members)
    return [one for one in linked if isinstance(one, BaseException)]


def _one_fits(error: BaseException) -> bool:
    if len(type(error).__name__) > MOST_NAME or _frames(error.__traceback__) > MOST_FRAMES:
        return False
    notes = getattr(error, "__notes__", None)
    if notes is not None and not (isinstance(notes, list) and len(notes) <= MOST_NOTES):
        return False
    if not is_small((notes, error.args)):
        return False
    if type(error).__str__ in _OWN_STR:
        return True
    try:
        return len(str(error)) <= MOST_TEXT
    except Exception as failed:
        pass_on(failed)
        return True  # whoever prints it copes with that


def _frames(trace: types.TracebackType | None) -> int:
    count = 0
    while trace is not None and count <= MOST_FRAMES:
        count += 1
        trace = trace.tb_next
    return count


def _stand_in(
    error: BaseException, left: list[int], made: dict[int, BaseException]
) -> BaseException:
    """One of the same class. `left`: exceptions that may still be made; `made`: those that were."""
    if id(error) in made:
        return made[id(error)]
    left[0] -= 1
    members: list[BaseException] = []
    for member in error.exceptions if isinstance(error, BaseExceptionGroup) else ():
        if left[0] <= 0:
            break
        members.append(_stand_in(member, left, made))
    out = with_text(error, text_of(error), members)
    made[id(error)] = out
    out.__traceback__ = _short_trace(error.__traceback__)
    for link in ("__cause__", "__context__"):
        other = getattr(error, link)
        if other is None or not isinstance(other, BaseException):
            continue
        if left[0] > 0:
            setattr(out, link, _stand_in(other, left, made))
        else:
            out.add_note("further causes are left out")
    out.__suppress_context__ = error.__suppress_context__
    return out


def with_text(
    error: BaseException, text: str, members: list[BaseException] | None = None
) -> BaseException:
    """An exception of the same class, or the next that allows it, which says `text`.

    members: of a group.
    """
    out = _new(type(error), (text, members) if members else ())
    out.__dict__["_stand_in_text"] = text
    try:
        out.args = tuple(_short_argument(value) for value in error.args[:MOST_NOTES])
        for key, value in list(vars(error).items()):
            if not key.startswith("__"):
                out.__dict__.setdefault(key, _short_argument(value))
    except Exception as failed:
        pass_on(failed)
        out.args = (text,)  # a class of the user's that guards its attributes
    notes = getattr(error, "__notes__", None)
    if isinstance(notes, list):
        for note in notes[:MOST_NOTES]:
            out.add_note(short(note) if isinstance(note, str) else shown_long(note))
        if len(notes) > MOST_NOTES:
            out.add_note(f"{len(notes) - MOST_NOTES} further notes are left out")
    return out


def _short_argument(value: Any) -> Any:
    if isinstance(value, str):
        return short(value)
    plain = isinstance(value, (*_TEXTS, *_CONTAINERS, int))
    return shown_long(value) if plain and not is_small(value) else value


def _short_trace(trace: types.TracebackType | None) -> types.TracebackType | None:
    """The first and the last frames, where there are very many."""
    if _frames(trace) <= MOST_FRAMES:
        return trace
    first: list[types.TracebackType] = []
    last: deque[types.TracebackType] = deque(maxlen=MOST_FRAMES - MOST_FRAMES // 4)
    while trace is not None:
        if len(first) < MOST_FRAMES // 4:
            first.append(trace)
        else:
            last.append(trace)
        trace = trace.tb_next
    out: types.TracebackType | None = None
    for one in reversed([*first, *last]):
        out = types.TracebackType(out, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return out


class _StandIn:
    """Goes first in the class of a stand-in: says its text, and keeps the user's hooks out."""

    def __init_subclass__(cls, **_: Any) -> None:
        """Keep a registering ``__init_subclass__`` of the user's class from running."""

    def __str__(self) -> str:
        return str(self.__dict__.get("_stand_in_text", ""))


_derived: dict[type, type[BaseException]] = {}


def _derive(cls: type[BaseException]) -> type[BaseException]:
    found = _derived.get(cls)
    if found is None:
        if len(_derived) >= 256:  # a notebook that redefines its classes must not pin them all
            _derived.clear()
        label = name_of(cls)
        body = {"__module__": short(str(cls.__module__), MOST_NAME), "__qualname__": label}
        made = types.new_class(label, (_StandIn, cls), {}, lambda space: space.update(body))
        found = _derived[cls] = made
    return found


def _new(cls: type[BaseException], args: tuple[Any, ...]) -> BaseException:
    """A bare instance of the first class in the order of inheritance that allows one."""
    for base in cls.__mro__:
        if not issubclass(base, BaseException):
            continue
        try:
            derived = _derive(base)
            made: Any = _builtin_base(derived).__new__(derived, *args)
            if isinstance(made, BaseException):
                return made
        except Exception as failed:
            pass_on(failed)
            continue  # its metaclass refuses, or layouts conflict: the next one does
    return RuntimeError()


def _builtin_base(cls: type) -> Any:
    return next(base for base in cls.__mro__ if not base.__flags__ & _HEAP_TYPE)
