"""What goes from one process to another: functions on their way out, exceptions on their way back.

Functions are packed by cloudpickle, those of `__main__` and lambdas with their code. Workers are
our own processes and run the user's own code: what comes from them is trusted as that code is.
"""

from __future__ import annotations

import functools
import io
import pickle
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from spillway import _native, error_bounds, errors
from spillway.guard import cargo
from spillway.interruptions import pass_on
from spillway.lines import in_cells


def pack(function: Callable[..., Any], what: str, of: Any = None) -> _native.Cargo:
    """A function on its way to workers; TypeError that names what of it, or of `of`, cannot travel.

    What it captured goes along. Where there is no room for that, it is a BudgetError that names the
    largest variable and its size.

    >>> loads(*pack(lambda x: x + 1, "map").open())(2)
    3
    """
    try:
        return cargo.packed(function, dump)
    except (errors.BudgetError, MemoryError) as error:
        raise _too_large(function if of is None else of, what, error) from error
    except Exception as error:
        pass_on(error)
        raise _refusal(function if of is None else of, what, "a worker process", error) from error


def _too_large(shown: Any, what: str, error: Exception) -> errors.BudgetError:
    """Names what of `shown` takes the most there."""
    sizes = {name: cargo.size_of(value, dump) for name, value in _captured(shown).items()}
    name = max(sizes, key=sizes.__getitem__, default="")
    size = _native.format_bytes
    because = ""
    if name:
        value = _captured(shown)[name]
        because = f" because of `{name}`, {_kind(value)} of {size(sizes[name])}"
    reason = error.message if isinstance(error, errors.BudgetError) else str(error)
    reason = reason or "memory ran out while it was packed"
    return errors.BudgetError(
        f"{what}: {name_of(shown)} has no room on its way to worker processes{because}. Load it "
        f"inside the function (then each worker has its own), or keep the function in this "
        f"process.\n{reason}"
    )


def loads(text: Any, parts: list[Any]) -> Any:
    """What was packed: its arrays lie where the parts do. A long text is the first of those."""
    if not len(text):
        text, *parts = parts
    return pickle.loads(text, buffers=parts)


def _refusal(shown: Any, what: str, where: str, error: Exception) -> TypeError:
    """Names what of `shown` cannot go there."""
    name, value = _culprit(shown)
    if name is None:
        return TypeError(f"{what}: {name_of(shown)} cannot go to {where}: {error}")
    return TypeError(
        f"{what}: {name_of(shown)} cannot go to {where}, because of `{name}`, "
        f"{_kind(value)}: make it inside the function, or keep the function in this process"
    )


def check(value: Any, what: str, where: str) -> None:
    """TypeError that names what of `value` cannot go to `where`; nothing large is copied."""
    try:
        _look_at(value)
    except Exception as error:
        pass_on(error)
        raise _refusal(value, what, where, error) from error


class _Nowhere:
    """A file that keeps nothing."""

    def write(self, data: Any) -> int:
        return len(data)


def _look_at(value: Any) -> None:
    import cloudpickle

    cloudpickle.CloudPickler(_Nowhere(), protocol=5, buffer_callback=lambda _: None).dump(value)


def _dumps(value: Any) -> bytes:
    with io.BytesIO() as file:
        dump(value, file)
        return file.getvalue()


def dump(value: Any, file: Any, **how: Any) -> None:
    """Writes a value to a file as cloudpickle does."""
    _pickler()(file, **how).dump(value)


@functools.cache
def _pickler() -> Any:
    import cloudpickle

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        """The generators that all share stay those of their process, whoever refers to them."""

        def reducer_override(self, obj: Any) -> Any:
            if obj is random._inst:
                return shared_random, ()
            if obj is np.random.mtrand._rand:
                return shared_numpy, ()
            return super().reducer_override(obj)

    return Pickler


def shared_random() -> Any:
    """The generator behind the functions of `random`."""
    return random._inst


def shared_numpy() -> Any:
    """The generator behind those of `np.random`."""
    return np.random.mtrand._rand


def name_of(function: Any) -> str:
    """A function's name for messages."""
    return str(getattr(function, "__qualname__", None) or type(function).__qualname__)


def _kind(value: Any) -> str:
    name = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


def _culprit(function: Any) -> tuple[str | None, Any]:
    """The first variable that cannot be packed by itself."""
    for name, value in _captured(function).items():
        try:
            _look_at(value)
        except Exception:
            return name, value
    return None, None


def _captured(function: Any) -> dict[str, Any]:
    """The variables that travel with a function, or with an object that is called."""
    inner = getattr(function, "__func__", function)
    code = getattr(inner, "__code__", None)
    named: dict[str, Any] = {}
    owner = getattr(function, "__self__", None)
    if owner is not None:
        named["self"] = owner
    if code is not None:
        for name, cell in zip(code.co_freevars, inner.__closure__ or (), strict=False):
            try:
                named[name] = cell.cell_contents
            except ValueError:
                continue  # not set yet
        named |= {n: inner.__globals__[n] for n in code.co_names if n in inner.__globals__}
        named |= dict(_defaults(inner))
    else:
        named |= getattr(inner, "__dict__", {})
    return named


def _defaults(function: Any) -> list[tuple[str, Any]]:
    """The parameters that have defaults, with them."""
    defaults = function.__defaults__ or ()
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return list(zip(names[len(names) - len(defaults) :], defaults, strict=True))


def check_argument(value: Any, what: str, where: str = "a worker process") -> None:
    """TypeError that names an argument which cannot travel."""
    try:
        _look_at(value)
    except Exception as error:
        pass_on(error)
        raise TypeError(
            f"{what}: an argument cannot go to {where}, {_kind(value)}: make it inside "
            "the generator, or keep the generator in this process"
        ) from error


def pack_state(stateful: Any) -> bytes:
    """What `state_dict()` says now, for `load_state` in another worker."""
    return _dumps(stateful.state_dict())


def load_state(stateful: Any, packed: bytes) -> None:
    """Puts it where another one was."""
    stateful.load_state_dict(pickle.loads(packed))


def pack_values(values: Any, what: str) -> tuple[bytes, list[Any]]:
    """Values as bytes, and the buffers of their arrays beside them."""
    import cloudpickle

    parts: list[Any] = []
    aside = functools.partial(cargo.goes_along, parts=parts)
    try:
        text = cloudpickle.dumps(values, protocol=5, buffer_callback=aside)
        return bytes(text), parts
    except Exception as error:
        pass_on(error)
        raise TypeError(f"{what}: a value cannot go to another process: {error}") from error


def unpack_values(text: bytes, buffers: list[Any]) -> Any:
    """The values again; arrays lie where their buffers do."""
    return loads(text, buffers)


_MOST_PACKED = 1 << 20  # bytes of an exception's class, arguments and attributes


class _TooLargeError(Exception):
    """More was written than is allowed."""


class _Bounded(io.BytesIO):
    """A file that takes so many bytes and no more."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def write(self, data: Any, /) -> int:
        self.most -= memoryview(data).nbytes
        if self.most < 0:
            raise _TooLargeError
        return super().write(data)


def pack_exception(error: BaseException) -> bytes:
    """An exception as bytes: its class, arguments, attributes and traceback, as far as they go.

    What does not fit in a megabyte, or cannot travel, goes as its shortened `repr`.
    """
    trace = error_bounds.trace_of(error)
    small = error_bounds.bounded(error)
    cut = small is not error
    shown = error_bounds.text_of(small)
    given: tuple[Any, ...] = error.args
    if isinstance(error, OSError) and type(error).__module__ == "builtins":
        given = tuple(error.__reduce__()[1])  # with the file's name
    room = [_MOST_PACKED]
    args = tuple(_as_far_as(value, room) for value in given[:_MOST_ARGS])
    state = {}
    for key, value in list(vars(error).items())[:_MOST_ARGS]:
        if key != "__notes__" and _packable(value, room):
            state[key] = value
    cls: type[BaseException] = Exception
    for one in type(error).__mro__[:_MOST_ARGS]:
        if issubclass(one, BaseException) and _packable(one, [_MOST_PACKED]):
            cls = one
            break
    return _dumps((cls, args, state, shown, trace, cut))


_MOST_ARGS = 64  # arguments and attributes of an exception, and classes that it derives from


def _as_far_as(value: Any, room: list[int]) -> Any:
    plain = error_bounds.is_small(value) if isinstance(value, str | bytes | int) else True
    return value if plain and _packable(value, room) else error_bounds.shown_long(value)


def _packable(value: Any, room: list[int]) -> bool:
    """Whether it can be packed into what is left of `room`, which becomes less by that."""
    file = _Bounded(room[0])
    try:
        dump(value, file)
    except Exception:
        return False
    room[0] = file.most
    return True


def unpack_exception(packed: bytes) -> BaseException:
    """The exception, made without calling a user's `__init__`; its note tells where it was raised.

    >>> error = unpack_exception(pack_exception(KeyError("label")))
    >>> type(error), error.args
    (<class 'KeyError'>, ('label',))
    """
    cls, args, state, shown, text, cut = pickle.loads(packed)
    try:
        made = cls(*args) if cls.__module__ == "builtins" else cls.__new__(cls, *args)
    except Exception:
        made = None
    error = made if isinstance(made, BaseException) else RuntimeError(shown)
    if made is error and not error.args:
        error.args = args  # set in their own __init__ by some
    error.__dict__.update(state)
    if cut:
        error = error_bounds.with_text(error, shown)
    error.add_note("In the worker:\n" + in_cells(text.rstrip()))
    return error
