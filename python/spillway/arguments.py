"""Errors about arguments: each names the function, what it was given, and the user's line.

`name_errors` gives the public functions of a module a thin cover. It costs about 0.1 us a call and
does nothing but this: an error that does not yet say whose argument it is about is told so, and one
of Python's or NumPy's own becomes an `InvalidArgumentError` that is also a TypeError or a
ValueError. What the user's own code raises goes through as it is, and so do errors of memory.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
import sysconfig
import traceback
import types
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _native
from .errors import InvalidArgumentError, SpillwayError, make_error
from .lines import PACKAGE, user_line
from .opaque import tracing
from .shown import shown

# What says that an argument is wrong, in Python's words or NumPy's.
WRONG = (TypeError, ValueError, ArithmeticError, LookupError, AttributeError, RecursionError)
_SAID = (TypeError, ValueError, RecursionError)  # whose text says it all
COVERS = __file__  # of the frames between the user and what he called
_LONGEST = 60  # characters of an argument
_MOST = 12  # arguments
_NAMED = re.compile(r"(\w+): ")
_OURS = (PACKAGE, "<spillway", "<frozen", *(f"{path}/" for path in np.__path__))
_PATHS = sysconfig.get_paths()
_INSTALLED = (_PATHS["purelib"], _PATHS["platlib"])
_covers: dict[types.FunctionType, Any] = {}


def named(function: types.FunctionType) -> Any:
    """The function with errors that name it; the same cover each time.

    >>> def half(x):
    ...     return x / 2
    >>> named(half)(4)
    2.0
    """
    found = _covers.get(function)
    if found is not None:
        return found

    @functools.wraps(function)
    def cover(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (SpillwayError, *WRONG) as error:
            if sys._getframe(1).f_code.co_filename.startswith(PACKAGE):
                raise  # the function that the user called says it
            if tracing() and not isinstance(error, SpillwayError):
                raise  # decides whether the user's function runs as Python
            told = of_call(error, function, args, kwargs)
            if told is error:
                raise
            raise told from (None if isinstance(error, _SAID) else error)

    _covers[function] = cover
    return cover


def name_errors(module: str, of: str) -> None:
    """Covers the public functions of one of our modules, also where they are defined.

    `of`: the package whose functions are meant, of all that the module shows.
    """
    space = vars(sys.modules[module])
    for name in space["__all__"]:
        function: Any = space[name]
        if not isinstance(function, types.FunctionType) or function in _covers.values():
            continue
        home = sys.modules.get(function.__module__)
        if home is None or not function.__module__.startswith(of):
            continue
        space[name] = named(function)
        own = str(function.__name__)
        if vars(home).get(own) is function:
            setattr(home, own, space[name])


def name_methods(cls: Any) -> Any:
    """Covers the public methods of a class, and how it is made; for use as a decorator."""
    for name, found in list(vars(cls).items()):
        if name.startswith("_") and name != "__init__":
            continue
        if isinstance(found, types.FunctionType):
            setattr(cls, name, named(found))
        elif isinstance(found, (staticmethod, classmethod)):
            inner: Any = found.__func__
            setattr(cls, name, type(found)(named(inner)))
    return cls


def uncovered(function: Any) -> Any:
    """What a cover covers; any other function itself."""
    inner = getattr(function, "__wrapped__", None)
    return inner if isinstance(inner, types.FunctionType) and inner in _covers else function


def of_call(
    error: Exception,
    function: types.FunctionType,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> Exception:
    """The error of a call, as one that says whose it is."""
    names = list(inspect.signature(function).parameters)
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    given.pop("self", None)
    name = function.__name__
    return told(error, function.__qualname__.split(".")[0] if name == "__init__" else name, given)


def of_operand(error: Exception, op: str, parameter: str) -> Exception:
    """The error of an operand that could not become a tensor, with its op and its name."""
    if not _is_about_arguments(error):
        return error
    return _with(error, f"{op}: {parameter}: {_message(error)}")


def of_operator(error: Exception, symbol: str, x: Any, other: Any, swapped: bool) -> Exception:
    """The error of what stands beside a tensor and could not become one of its dtype."""
    if not _is_about_arguments(error) or (tracing() and not isinstance(error, SpillwayError)):
        return error
    names = ["Tensor", type(other).__name__]
    left, right = reversed(names) if swapped else names
    made = f", made at {x._line}" if x._line else ""
    tensor = f"  operand {int(swapped)}: {x._dtype_name} {x.shape}{made}"
    return _with(error, f"{left} {symbol} {right}: {_message(error)}\n{tensor}")


def told(error: Exception, name: str, given: Mapping[str, Any]) -> Exception:
    """The error with the name of the function and what it was given, unless it says so."""
    if not _is_about_arguments(error):
        return error
    message = _message(error)
    if isinstance(error, SpillwayError) and _is_named(message, name) and error.line:
        return error
    first, _, rest = message.partition("\n")
    if not _is_named(first, name):
        first = f"{name}: {first}"
    if "operand 0" not in rest and not any(_says(first, name, each) for each in given):
        shown_ = [f"{key}={brief(value)}" for key, value in list(given.items())[:_MOST]]
        first += f"\n  given {', '.join(shown_)}"
    return _with(error, f"{first}\n{rest}" if rest else first)


def _says(message: str, name: str, parameter: str) -> bool:
    """Whether it begins with the function and the parameter."""
    return re.match(rf"{re.escape(name)}: `?{re.escape(parameter)}\b", message) is not None


def _is_named(message: str, name: str) -> bool:
    found = _NAMED.match(message)
    return found is not None and (found[1] == name or found[1] in _ops())


@functools.cache
def _ops() -> frozenset[str]:
    return frozenset(op["name"] for op in (*_native.ops(), *_native.operators()))


def brief(value: Any) -> str:
    """An argument in a message: a tensor by its type and shape, anything else by a short repr.

    >>> brief(np.zeros((2, 3))), brief("a")
    ('float64 array (2, 3)', "'a'")
    """
    if isinstance(value, _native.Tensor):
        return f"{value._dtype_name} {value.shape}"  # type: ignore[attr-defined]
    if isinstance(value, np.ndarray) and value.ndim:
        return f"{value.dtype} array {value.shape}"
    text = shown(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def _is_about_arguments(error: Exception) -> bool:
    """Whether it is for us to tell: none of the user's code, of a stage, of memory or a file."""
    if isinstance(error, SpillwayError):
        wrong = isinstance(error, InvalidArgumentError) and error.kind in ("user", "bug")
        return wrong and error.stage is None and error.file is None
    return isinstance(error, WRONG) and not _of_user(error)


def _of_user(error: Exception) -> bool:
    """Whether code that is neither ours, NumPy's nor Python's took part."""
    frames = traceback.walk_tb(error.__traceback__)
    return not all(_is_ours(frame.f_code.co_filename) for frame, _ in frames)


def _is_ours(file: str) -> bool:
    of_python = file.startswith(_PATHS["stdlib"]) and not file.startswith(_INSTALLED)
    return of_python or file.startswith(_OURS)


def _message(error: Exception) -> str:
    if isinstance(error, SpillwayError):
        return error.message
    try:
        text = str(error)
    except Exception:  # a message made of the user's object
        text = ""
    if "incompatible function arguments" in text:  # the binding's words
        text = "an argument is not of a type that is taken here"
    if isinstance(error, RecursionError):
        text = "an argument is too deeply nested, or contains itself"
    return text or type(error).__name__


def _with(error: Exception, message: str) -> Exception:
    """The error with another message and the user's line."""
    if isinstance(error, SpillwayError):
        error.message = message
        error.args = (message,)
        error.line = error.line or user_line()
        return error
    kinds = (kind.__name__ for kind in (TypeError, AttributeError) if isinstance(error, kind))
    kind = next(kinds, "ValueError")
    facts = {"kind": "user", "code": 3, "type": kind, "message": message, "line": user_line()}
    made = make_error(facts)
    assert isinstance(made, Exception)
    return made
