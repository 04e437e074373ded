"""What goes from one process to another: functions on their way out, exceptions on their way back.

Functions are packed by cloudpickle, those of `__main__` and lambdas with their code. Workers are
our own processes and run the user's own code: what comes from them is trusted as that code is.
"""

from __future__ import annotations

import pickle
import random
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

from spillway.interruptions import pass_on
from spillway.lines import in_cells


def pack(function: Callable[..., Any], what: str, of: Any = None) -> bytes:
    """A function as bytes; TypeError that names what of it, or of `of` in it, cannot travel.

    >>> import pickle
    >>> pickle.loads(pack(lambda x: x + 1, "map"))(2)
    3
    """
    try:
        return _dumps(function)
    except Exception as error:
        pass_on(error)
        raise _refusal(function if of is None else of, what, "a worker process", error) from error


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
    import io

    import cloudpickle

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        """The generators that all share stay those of their process, whoever refers to them."""

        def reducer_override(self, obj: Any) -> Any:
            if obj is random._inst:
                return shared_random, ()
            if obj is np.random.mtrand._rand:
                return shared_numpy, ()
            return super().reducer_override(obj)

    with io.BytesIO() as file:
        Pickler(file).dump(value)
        return file.getvalue()


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
    for name, value in named.items():
        try:
            _look_at(value)
        except Exception:
            return name, value
    return None, None


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

    buffers: list[pickle.PickleBuffer] = []
    try:
        text = cloudpickle.dumps(values, protocol=5, buffer_callback=buffers.append)
        return bytes(text), [buffer.raw() for buffer in buffers]
    except Exception as error:
        pass_on(error)
        raise TypeError(f"{what}: a value cannot go to another process: {error}") from error


def unpack_values(text: bytes, buffers: list[Any]) -> Any:
    """The values again; arrays lie where their buffers do."""
    return pickle.loads(text, buffers=buffers)


def pack_exception(error: BaseException) -> bytes:
    """An exception as bytes: its class, arguments, attributes and traceback, as far as they go."""
    text = "".join(traceback.format_exception(error))
    state = {k: v for k, v in vars(error).items() if k != "__notes__" and _packable(v)}
    given: tuple[Any, ...] = error.args
    if isinstance(error, OSError) and type(error).__module__ == "builtins":
        given = tuple(error.__reduce__()[1])  # with the file's name
    args = tuple(a if _packable(a) else repr(a) for a in given)
    for cls in type(error).__mro__:
        if issubclass(cls, BaseException) and _packable(cls):
            return _dumps((cls, args, state, str(error), text))
    return _dumps((Exception, args, state, str(error), text))


def _packable(value: Any) -> bool:
    try:
        _dumps(value)
    except Exception:
        return False
    return True


def unpack_exception(packed: bytes) -> BaseException:
    """The exception, made without calling a user's `__init__`; its note tells where it was raised.

    >>> error = unpack_exception(pack_exception(KeyError("label")))
    >>> type(error), error.args
    (<class 'KeyError'>, ('label',))
    """
    cls, args, state, shown, text = pickle.loads(packed)
    try:
        made = cls(*args) if cls.__module__ == "builtins" else cls.__new__(cls, *args)
    except Exception:
        made = None
    error = made if isinstance(made, BaseException) else RuntimeError(shown)
    if made is error and not error.args:
        error.args = args  # set in their own __init__ by some
    error.__dict__.update(state)
    error.add_note("In the worker:\n" + in_cells(text.rstrip()))
    return error
