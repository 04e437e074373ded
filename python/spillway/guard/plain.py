"""What comes back from a sandboxed worker, read without trusting it.

Whoever took over the worker could write any pickle, and reading a pickle runs it. So from there
come only arrays, numbers, text and containers of them; exceptions come as facts, and are made here
of classes that this process has loaded already.
"""

from __future__ import annotations

import functools
import io
import json
import math
import pickle
import re
import sys
import types
from typing import Any

import numpy as np

from spillway import error_bounds
from spillway.error_bounds import short
from spillway.guard import cargo

_MOST_CLASSES = 32
_MOST_OWN = 16  # of those: of the user's
_MOST_ARGS = 16
_MOST_ARG = 32 * 1024  # characters
_DTYPES = re.compile(r"[<>|=]([biufcSU]\d{1,9}|[mM]8(\[\d*[a-zA-Zμ]{1,2}\])?)")
_BUILTINS = {"complex": complex, "bytearray": bytearray, "set": set, "frozenset": frozenset}
_BUILTINS |= {"range": range, "slice": slice}


def pack_exception(error: BaseException) -> bytes:
    """An exception as facts: its classes by name, arguments as far as they are plain, its text."""
    bases = [c for c in type(error).__mro__ if c is not object]
    known = [c for c in bases[_MOST_OWN:] if c.__module__ == "builtins"]
    classes = [*bases[:_MOST_OWN], *known][:_MOST_CLASSES]
    facts = {
        "classes": [[short(str(c.__module__)), short(c.__qualname__)] for c in classes],
        "args": [_plain(a) for a in error.args[:_MOST_ARGS]],
        "shown": error_bounds.text_of(error_bounds.bounded(error)),
        "trace": error_bounds.trace_of(error),
    }
    return json.dumps(facts).encode()


def _plain(value: Any) -> Any:
    plain = value is None or isinstance(value, str | bool | int | float)
    return value if plain and error_bounds.is_small(value, _MOST_ARG) else shown_arg(value)


def shown_arg(value: Any) -> str:
    """An argument of an exception as text."""
    return short(value if isinstance(value, str) else error_bounds.shown_long(value), _MOST_ARG)


def unpack_exception(packed: bytes) -> BaseException:
    """The exception, of the first of its classes that is known here and is made without our help.

    >>> error = unpack_exception(pack_exception(KeyError("label")))
    >>> type(error), error.args
    (<class 'KeyError'>, ('label',))
    """
    try:
        facts = json.loads(packed)
        args = tuple(_plain(a) for a in facts["args"][:_MOST_ARGS])
        names = [(str(module), str(name)) for module, name in facts["classes"][:_MOST_CLASSES]]
        shown, trace = short(str(facts["shown"])), short(str(facts["trace"]))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return RuntimeError("an exception of a sandboxed worker arrived damaged")
    error: BaseException = RuntimeError(shown)
    for module, name in names:
        found = _exception_class(module, name)
        if found is not None:
            error = found.__new__(found, *args)
            if isinstance(found.__str__, types.FunctionType):  # may need what was left behind
                error = error_bounds.with_text(error, shown)
            break
    error.add_note("In the worker:\n" + trace.rstrip())
    return error


def _exception_class(module: str, name: str) -> type[Exception] | None:
    """One that is loaded already and whose objects are made by C, without its `__init__`."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = vars(found).get(part) if isinstance(found, types.ModuleType | type) else None
    if not isinstance(found, type) or not issubclass(found, Exception):
        return None
    return found if type(found.__new__) is types.BuiltinMethodType else None


class _Pickler(pickle.Pickler):
    """Writes what the other side will read, and says what it would not."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, np.ndarray | np.generic):
            made = np.asarray(value)
            if not _DTYPES.fullmatch(made.dtype.str):
                raise TypeError(f"arrays of {made.dtype}")
            data: Any = (
                np.ascontiguousarray(made).view(np.uint8) if made.size and made.ndim else made
            )
            raw: Any = pickle.PickleBuffer(data) if made.size and made.ndim else made.tobytes()
            return array, (made.dtype.str, made.shape, raw, isinstance(value, np.generic))
        if value is array or type(value) in _BUILTINS.values() or value in _BUILTINS.values():
            return NotImplemented
        if hasattr(value, "numpy") and hasattr(value, "dtype"):
            return self.reducer_override(np.asarray(value.numpy()))
        raise TypeError(f"{type(value).__qualname__}")


def pack_values(values: Any, what: str) -> tuple[bytes, list[Any]]:
    """Values as bytes, and the buffers of their arrays beside them."""
    parts: list[Any] = []
    aside = functools.partial(cargo.goes_along, parts=parts)
    with io.BytesIO() as file:
        try:
            _Pickler(file, protocol=5, buffer_callback=aside).dump(values)
        except TypeError as error:
            raise TypeError(
                f"{what}: a sandboxed call may give back arrays, numbers, text and containers of "
                f"them, not {error}"
            ) from error
        return file.getvalue(), parts


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == (__name__, "array"):
            return array
        if module == "builtins" and name in _BUILTINS:
            return _BUILTINS[name]
        raise pickle.UnpicklingError(f"a sandboxed worker sent {module}.{name}")


def unpack_values(text: bytes, buffers: list[Any]) -> Any:
    """The values again, copied out of the memory that the worker can still write to."""
    if not len(text):  # a long one is the first of the buffers
        text, buffers = bytes(buffers[0]), buffers[1:]
    return _Unpickler(io.BytesIO(text), buffers=buffers).load()


def array(dtype: str, shape: tuple[int, ...], data: Any, scalar: bool) -> Any:
    """An array of what lies in `data`; ValueError where that does not fit.

    >>> array("<i4", (2,), b"\\x01\\x00\\x00\\x00\\x02\\x00\\x00\\x00", False)
    array([1, 2], dtype=int32)
    """
    if not isinstance(dtype, str) or not _DTYPES.fullmatch(dtype):
        raise ValueError(f"no dtype of plain values: {dtype!r}")
    kind, view = np.dtype(dtype), memoryview(data)
    dims = tuple(int(dim) for dim in shape)
    if min(dims, default=0) < 0 or view.nbytes != math.prod(dims) * kind.itemsize:
        raise ValueError(f"{view.nbytes} bytes are no array of {dtype} with shape {dims}")
    made = np.empty(dims, kind)
    if view.nbytes:
        made.reshape(-1).view(np.uint8)[:] = np.frombuffer(view, np.uint8)
    return made[()] if scalar else made
