"""Builds the exception for an error of the engine: `spillway.errors.make_error`."""

from __future__ import annotations

import builtins
import re
import types
from collections.abc import Mapping
from typing import Any

from . import error_bounds, errors
from .interruptions import pass_on
from .lines import in_cells

_BY_NAME: dict[str, type[errors.SpillwayError]] = {
    cls.__name__: cls
    for cls in vars(errors).values()
    if isinstance(cls, type) and issubclass(cls, errors.SpillwayError)
}
_NEVER_MIXED = (StopIteration, StopAsyncIteration, GeneratorExit, KeyboardInterrupt, SystemExit)
_CALLS_USER_CODE = frozenset({"map", "filter", "flat_map", "interleave"})
_named_stages: set[str] = set()
_ENDED = re.compile(r"worker \d+ (.+?)(?:; it (?:held|may hold) | at )")
_PASSED_ON = (GeneratorExit, KeyboardInterrupt, SystemExit)


def make_error(facts: Mapping[str, Any], cause: BaseException | None = None) -> BaseException:
    """The exception for an engine error; `cause` is the user's exception behind it.

    ``facts["type"]`` names one of our classes, or a builtin that TensorFlow raises bare
    ("TypeError"); empty means by code. Facts that are "" or negative are not known.

    >>> e = make_error({"code": 3, "type": "TypeError", "message": "count must be an integer"})
    >>> isinstance(e, TypeError), isinstance(e, errors.InvalidArgumentError), str(e)
    (True, True, 'count must be an integer')
    """
    wanted = str(facts.get("type") or "")
    if cause is not None and (wanted == "Interruption" or isinstance(cause, _PASSED_ON)):
        return cause
    code = int(facts.get("code") or 0)
    named = _BY_NAME.get(wanted)
    mixed: type[BaseException] | None = None
    if named is errors.FileError:
        named = errors.MissingFile if code == errors.NotFoundError.code else errors.FileError
        mixed = PermissionError if code == errors.PermissionDeniedError.code else None
    elif named is None and wanted:
        builtin = getattr(builtins, wanted, None)
        if isinstance(builtin, type) and issubclass(builtin, Exception):
            named, mixed = errors.class_of_code(code), builtin
    if cause is not None and (named is None or named is errors.UserFunctionError):
        named = errors.UserFunctionError
        if isinstance(cause, Exception) and not isinstance(cause, _NEVER_MIXED):
            mixed = error_bounds.class_of(cause)
    if named is None:
        named = errors.class_of_code(code)
    error = _build(named, code, mixed)
    message = in_cells(str(facts.get("message") or "")) + _hint(cause, facts)
    if mixed is not None and isinstance(cause, mixed):
        _copy_attributes(cause, error)
    errors.fill(error, message, facts)
    _add_context(error)
    if isinstance(error, errors.FileError):
        error._fill_os_fields()
    if isinstance(error, errors.WorkerDied) and error.verdict is None:
        error.verdict = _verdict(message)
    error.__cause__ = cause
    return error


def _verdict(message: str) -> str:
    """How a worker ended, without what it held and where it was.

    >>> _verdict("worker 12 crashed (SIGABRT, Aborted); it held 3 MiB when last seen at element 0.")
    'crashed (SIGABRT, Aborted)'
    """
    found = _ENDED.match(message)
    return found[1] if found else message.split("\n", 1)[0]


_AWAITED_BY_HAND = (
    ". asyncio.run closes every async generator it has seen when it ends, so that one awaited item "
    "by item ends after the first; and no coroutine can raise StopIteration. from_generator takes "
    "the async generator function itself: from_generator(async_function, args=...)"
)


_ROWS_OF = {".npy": "from_npy", ".npz": "from_npz", ".parquet": "from_parquet"}


def _hint(cause: BaseException | None, facts: Mapping[str, Any]) -> str:
    """What the message of the user's exception leaves out, where people are known to be stuck."""
    file = str(facts.get("file") or "")
    reader = _ROWS_OF.get(file[file.rfind(".") :])
    if isinstance(cause, MemoryError) and reader:
        return f"\nsw.Dataset.{reader}({file!r}) reads its rows in constant memory"
    ended = isinstance(cause, RuntimeError) and isinstance(cause.__cause__, StopIteration)
    return _AWAITED_BY_HAND if ended and "coroutine" in str(cause) else ""


def note_name(name: str, operator: str) -> None:
    """Says which operator's stage has this name of its own; errors only tell the name."""
    if operator in _CALLS_USER_CODE:
        if len(_named_stages) >= 1024:  # a program that makes up names must not be kept alive
            _named_stages.clear()
        _named_stages.add(name)


def _add_context(error: errors.SpillwayError) -> None:
    """In TensorFlow's words, which people search for: the stage whose function failed."""
    stage = error.stage or ""
    calls = stage.partition("#")[0] in _CALLS_USER_CODE or stage in _named_stages
    if calls and error.kind in ("user", "data"):
        error.__dict__["_context"] = (
            f"Error in user-defined function passed to {error.stage} transformation with "
            f"iterator: Iterator::Root::{error.stage}"
        )


def _build(
    named: type[errors.SpillwayError], code: int, mixed: type[BaseException] | None
) -> errors.SpillwayError:
    """A bare instance: no ``__init__`` runs, the user's neither."""
    if mixed is not None:
        try:
            return _new(_compose(named, code, mixed))
        except Exception as error:
            pass_on(error)
            # Layouts conflict, or the user's metaclass refuses: the cause alone tells its class.
            pass
    return _new(_compose(named, code, None))


def _new(cls: type[errors.SpillwayError]) -> errors.SpillwayError:
    refused: TypeError | None = None
    for base in cls.__mro__:
        if not base.__flags__ & (1 << 9):  # not a heap type: one written in C
            try:
                make: Any = base.__new__
                error: errors.SpillwayError = make(cls)
                return error
            except TypeError as e:
                refused = e
    raise refused or TypeError(f"{cls.__name__} cannot be built")


def _compose(
    named: type[errors.SpillwayError], code: int, mixed: type[BaseException] | None
) -> type[errors.SpillwayError]:
    key = (named, code, mixed)
    found = _composed.get(key)
    if found is None:
        if len(_composed) >= 256:  # a notebook that redefines its classes must not pin them all
            _composed.clear()
        found = _composed[key] = _derive(named, code, mixed)
    return found


_composed: dict[tuple[Any, ...], type[errors.SpillwayError]] = {}


def _derive(
    named: type[errors.SpillwayError], code: int, mixed: type[BaseException] | None
) -> type[errors.SpillwayError]:
    coded = errors.BY_CODE.get(code)
    parts: list[type[BaseException]] = [named]
    if mixed is not None and issubclass(mixed, errors.SpillwayError):
        if issubclass(mixed, named):
            return mixed
        # A coded class raised by the user's code keeps its own code's class only.
        parts.append(mixed)
        if coded and not issubclass(mixed, coded):
            parts.append(coded)
    else:
        if coded and not issubclass(named, coded):
            parts.append(coded)
        if mixed is not None and not issubclass(named, mixed):
            parts.append(mixed)
    if len(parts) == 1:
        return named
    label = named.__name__ if mixed is None else f"{named.__name__}[{error_bounds.name_of(mixed)}]"
    body = {
        "__module__": errors.__name__,
        "__qualname__": label,
        "__doc__": named.__doc__,
        "_named": named,
        "_mixed": mixed,
    }
    cls = types.new_class(label, (_Composed, *parts), {}, lambda namespace: namespace.update(body))
    return cls


class _Composed:
    """Goes first in a composed class: keeps the user's hooks out and his attributes readable."""

    def __init_subclass__(cls, **_: Any) -> None:
        """Keep a registering ``__init_subclass__`` of the user's class from running."""

    def __getattr__(self, name: str) -> Any:
        cause = None if name.startswith("__") else getattr(self, "__cause__", None)
        if cause is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(cause, name)


def _copy_attributes(source: BaseException, target: BaseException) -> None:
    """What the user's class keeps in C fields, slots and the instance: a shallow copy."""
    for cls in type(source).__mro__:
        for name, field in list(vars(cls).items()):
            if name.startswith("__") or name == "args":
                continue
            if isinstance(field, (types.MemberDescriptorType, types.GetSetDescriptorType)):
                try:
                    field.__set__(target, field.__get__(source))
                except (AttributeError, TypeError):
                    continue  # unset, read-only, or a field the target has not
    attributes = {key: value for key, value in vars(source).items() if not key.startswith("__")}
    target.__dict__.update(attributes)


def restore(
    named: type[errors.SpillwayError],
    code: int | None,
    mixed: type[BaseException] | None,
    state: dict[str, Any],
) -> errors.SpillwayError:
    """Unpickle an error; its cause is left behind, but for its one line."""
    error = _new(named) if code is None else _build(named, code, mixed)
    error.__dict__.update(state)
    error.args = (error.message,)
    if isinstance(error, errors.FileError):
        error._fill_os_fields()
    return error
