"""Whether a function may be called with traced tensors: by its bytecode, before any call.

Deny by default. What is stored outside the function, or called without being known to be without
effects, means that the function runs as Python, once an element. `effect(f)` says where and why.

>>> effect(lambda x: x * 2 + len("ab")) is None
True
>>> log = []
>>> effect(lambda x: log.append(x)).why
'calls append of something that was made outside'
"""

from __future__ import annotations

import dis
import functools
import sys
import types
from dataclasses import dataclass
from typing import Any

from spillway import allowed
from spillway.lines import PACKAGE, describe

_DEPTH = 12


@dataclass(frozen=True)
class Effect:
    """What keeps a function from being traced."""

    why: str
    line: str


class _DeniedError(Exception):
    pass


# Labels of values while the bytecode is walked.
@dataclass(frozen=True)
class _Object:
    value: Any  # a Python object that is known: from a global, a cell, a constant, a module


@dataclass(frozen=True)
class _Method:
    owner: Any  # a label
    name: str


@dataclass(frozen=True)
class _Code:
    code: types.CodeType  # a function made inside


_FRESH = "fresh"  # made inside, or handed in for this call only
_UNKNOWN = "unknown"
_NULL = "null"


def effect(function: Any) -> Effect | None:
    """What the function might do beyond computing its result; None: nothing."""
    if isinstance(function, types.FunctionType) and allowed.callable(function):
        file = function.__code__.co_filename
        if file.startswith((PACKAGE, "<spillway")):
            return None  # `map(tf.square)`: an op may be called, so it may be handed in as well
    try:
        _walk_callable(function, set(), 0, fresh=True)
    except _DeniedError as denied:
        why, line = denied.args
        return Effect(why, line)
    return None


def _walk_callable(function: Any, seen: set[Any], depth: int, *, fresh: bool = False) -> None:
    """Walks a callable. `fresh`: nobody else has what it is called with."""
    bound = False
    while isinstance(function, functools.partial) or allowed.wrapper(function):
        function = function.func
    if isinstance(function, types.MethodType):
        function, bound = function.__func__, True
    if not isinstance(function, types.FunctionType):
        call = vars(type(function)).get("__call__")
        if not isinstance(call, types.FunctionType):
            raise _DeniedError(f"is not a Python function: {type(function).__name__}", "")
        function, bound = call, True
    if (function.__code__, fresh) in seen:
        return
    if depth > _DEPTH:
        raise _DeniedError("calls too deeply to be sure", describe(function.__code__, 0))
    seen.add((function.__code__, fresh))
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=False))
    walk = _Walk(function.__code__, function.__globals__, cells, seen, depth)
    walk.run(_FRESH if fresh else _UNKNOWN, bound)


class _Walk:
    """One code object. Two passes: the first learns what locals may hold."""

    def __init__(
        self,
        code: types.CodeType,
        names: dict[str, Any],
        cells: dict[str, Any],
        seen: set[Any],
        depth: int,
    ) -> None:
        self.code, self.globals, self.cells = code, names, cells
        self.seen, self.depth = seen, depth
        self.locals: dict[str, Any] = {}
        self.stack: list[Any] = []
        self.keywords = 0
        self.line = code.co_firstlineno

    def run(self, argument: Any, bound: bool = False) -> None:
        """`argument`: what is known of the arguments; the first is an object's own when `bound`."""
        flags = self.code.co_flags
        if flags & (0x20 | 0x80 | 0x200):  # generators, coroutines, async generators
            self.deny("is a generator or a coroutine")
        arguments = self.code.co_argcount + self.code.co_kwonlyargcount
        arguments += bool(flags & 0x04) + bool(flags & 0x08)
        own = dict.fromkeys(self.code.co_varnames[:arguments], argument)
        if bound and arguments:
            own[self.code.co_varnames[0]] = _UNKNOWN
        instructions = list(dis.get_instructions(self.code))
        for judging in (False, True):
            self.locals = self.locals if judging else dict(own)
            self.judging = judging
            self.stack = []
            for instruction in instructions:
                if instruction.starts_line:
                    number = instruction.starts_line  # from 3.13 on: whether it does
                    later = getattr(instruction, "line_number", 0)
                    self.line = number if type(number) is int else later
                if instruction.is_jump_target:
                    self.stack = [_UNKNOWN] * len(self.stack)
                self.step(instruction)

    def deny(self, why: str) -> None:
        raise _DeniedError(why, describe(self.code, self.line))

    # ---- The stack ---------------------------------------------------------------------------

    def pop(self, count: int = 1) -> list[Any]:
        taken = [self.stack.pop() if self.stack else _UNKNOWN for _ in range(count)]
        return taken[::-1]

    def step(self, instruction: dis.Instruction) -> None:
        name = instruction.opname
        handler = getattr(self, "_" + name.lower(), None)
        if handler is not None:
            handler(instruction)
        elif name in _REFUSED:
            self.deny(_REFUSED[name])
        else:
            self.other(instruction)

    def other(self, instruction: dis.Instruction) -> None:
        """Nothing but values moving: the stack keeps its height, results are new."""
        name, argument = instruction.opname, instruction.arg
        change = dis.stack_effect(
            instruction.opcode,
            argument if instruction.opcode >= dis.HAVE_ARGUMENT else None,
            jump=False,
        )
        if name.startswith(("BUILD_", "BINARY_", "UNARY_", "COMPARE_", "CONTAINS_", "IS_OP")):
            used = 1 - change
            self.pop(used)
            self.stack.append(_FRESH)
        elif change < 0:
            self.pop(-change)
        else:
            self.stack += [_UNKNOWN] * change
            if name not in _QUIET and change == 0 and self.stack:
                self.stack[-1] = _UNKNOWN

    def _swap(self, i: dis.Instruction) -> None:
        depth = i.arg or 1
        self.stack = [_UNKNOWN] * (depth - len(self.stack)) + self.stack
        self.stack[-1], self.stack[-depth] = self.stack[-depth], self.stack[-1]

    def _copy(self, i: dis.Instruction) -> None:
        depth = i.arg or 1
        self.stack.append(self.stack[-depth] if depth <= len(self.stack) else _UNKNOWN)

    # ---- Names -------------------------------------------------------------------------------

    def _load_fast(self, i: dis.Instruction) -> None:
        self.stack.append(self.locals.get(str(i.argval), _UNKNOWN))

    _load_fast_check = _load_fast_and_clear = _load_fast_borrow = _load_fast

    def _load_fast_load_fast(self, i: dis.Instruction) -> None:
        self.stack += [self.locals.get(name, _UNKNOWN) for name in i.argval]

    def _store_fast(self, i: dis.Instruction) -> None:
        (value,) = self.pop()
        self.assign(str(i.argval), value)

    def assign(self, name: str, value: Any) -> None:
        old = self.locals.get(name)
        self.locals[name] = value if old is None or old == value else _UNKNOWN

    def _load_const(self, i: dis.Instruction) -> None:
        self.stack.append(_Object(i.argval))

    _return_const = lambda self, i: None  # noqa: E731

    def _load_global(self, i: dis.Instruction) -> None:
        if sys.version_info < (3, 13) and i.arg is not None and i.arg & 1:
            self.stack.append(_NULL)
        name = str(i.argval)
        if name in self.globals:
            self.stack.append(_Object(self.globals[name]))
        else:
            builtins = self.globals.get("__builtins__", {})
            table = builtins if isinstance(builtins, dict) else vars(builtins)
            self.stack.append(_Object(table[name]) if name in table else _UNKNOWN)
        if sys.version_info >= (3, 13) and i.arg is not None and i.arg & 1:
            self.stack.append(_NULL)

    _load_name = _load_global

    def _load_deref(self, i: dis.Instruction) -> None:
        name = str(i.argval)
        cell = self.cells.get(name)
        if cell is not None:
            try:
                self.stack.append(_Object(cell.cell_contents))
            except ValueError:  # not assigned yet
                self.stack.append(_UNKNOWN)
        else:
            self.stack.append(self.locals.get(name, _UNKNOWN))

    _load_classderef = _load_from_dict_or_deref = _load_deref

    def _load_closure(self, i: dis.Instruction) -> None:
        self.stack.append(_UNKNOWN)

    def _store_deref(self, i: dis.Instruction) -> None:
        (value,) = self.pop()
        if str(i.argval) in self.code.co_freevars:
            self.deny(f"assigns to {i.argval}, which was made outside")
        self.assign(str(i.argval), value)

    # ---- Attributes and items ----------------------------------------------------------------

    def _load_attr(self, i: dis.Instruction) -> None:
        (owner,) = self.pop()
        method = sys.version_info >= (3, 12) and i.arg is not None and bool(i.arg & 1)
        value = self.attribute(owner, str(i.argval))
        self.stack += [value, _NULL] if method else [value]

    def _load_method(self, i: dis.Instruction) -> None:
        (owner,) = self.pop()
        self.stack += [_NULL, self.attribute(owner, str(i.argval))]

    def attribute(self, owner: Any, name: str) -> Any:
        if not isinstance(owner, _Object):
            return _Method(owner, name)
        value = owner.value
        if isinstance(value, types.ModuleType):
            if name in vars(value) or allowed.lazy_module(value):
                return _Object(getattr(value, name, None))
            return _UNKNOWN
        if isinstance(value, type):
            return _Object(getattr(value, name, None))
        found = getattr(type(value), name, None)
        if isinstance(found, property) and found.fget is not None and not allowed.ours(type(value)):
            _walk_callable(found.fget, self.seen, self.depth + 1)
            return _UNKNOWN
        if isinstance(found, types.FunctionType):
            return _Method(owner, name)
        if found is None or isinstance(found, types.MemberDescriptorType):
            inside = getattr(value, "__dict__", {})
            if name in inside:
                return _Object(inside[name])
        return _Method(owner, name)

    def _store_attr(self, i: dis.Instruction) -> None:
        owner = self.pop(2)[1]
        if owner != _FRESH:
            self.deny(f"sets the attribute {i.argval} of something that was made outside")

    def _store_subscr(self, i: dis.Instruction) -> None:
        owner = self.pop(3)[1]
        if owner != _FRESH and self.judging:
            self.deny("stores an item into something that was made outside")

    def _delete_subscr(self, i: dis.Instruction) -> None:
        owner = self.pop(2)[0]
        if owner != _FRESH and self.judging:
            self.deny("deletes an item of something that was made outside")

    # ---- Calls -------------------------------------------------------------------------------

    def _make_function(self, i: dis.Instruction) -> None:
        (code,) = self.pop()
        if i.arg is not None and sys.version_info < (3, 13):
            self.pop(bin(i.arg & 0x0F).count("1"))
        known = isinstance(code, _Object) and isinstance(code.value, types.CodeType)
        self.stack.append(_Code(code.value) if known else _UNKNOWN)

    def _kw_names(self, i: dis.Instruction) -> None:
        return

    def _precall(self, i: dis.Instruction) -> None:
        return

    def _push_null(self, i: dis.Instruction) -> None:
        self.stack.append(_NULL)

    def _call(self, i: dis.Instruction) -> None:
        arguments = self.pop(i.arg or 0)
        two = self.pop(2)
        callee = next((label for label in two if label != _NULL), _UNKNOWN)
        self.called(callee, arguments)
        self.stack.append(_FRESH)

    def _call_kw(self, i: dis.Instruction) -> None:
        self.pop()
        self._call(i)

    def _call_function_ex(self, i: dis.Instruction) -> None:
        self.pop((i.arg or 0) & 1)
        self.pop()
        two = self.pop(2)
        callee = next((label for label in two if label != _NULL), _UNKNOWN)
        self.called(callee, [_UNKNOWN])
        self.stack.append(_FRESH)

    def called(self, callee: Any, arguments: list[Any]) -> None:
        if not self.judging:
            return
        if isinstance(callee, _Object) and allowed.keeps_python(callee.value):
            return
        fresh = all(_nobody_elses(label) for label in arguments)
        for argument in arguments:  # map(f, ...), sorted(key=f), cond(p, f, g): f is called too
            if isinstance(argument, _Code):
                self.inner(argument.code, False)
            elif isinstance(argument, _Object) and isinstance(argument.value, types.FunctionType):
                self.known(argument.value, False)
        if isinstance(callee, _Code):
            self.inner(callee.code, fresh)
        elif isinstance(callee, _Object):
            self.known(callee.value, fresh)
        elif isinstance(callee, _Method):
            self.method(callee)
        else:
            self.deny("calls something that cannot be known before it runs")

    def inner(self, code: types.CodeType, fresh: bool) -> None:
        if (code, fresh) in self.seen:
            return
        self.seen.add((code, fresh))
        cells = {name: self.cells[name] for name in code.co_freevars if name in self.cells}
        walk = _Walk(code, self.globals, cells, self.seen, self.depth + 1)
        walk.run(_FRESH if fresh else _UNKNOWN)

    def known(self, value: Any, fresh: bool) -> None:
        wrapped = isinstance(value, functools.partial) or allowed.wrapper(value)
        if not wrapped and allowed.callable(value):
            return
        inner = value.func if wrapped else value
        if allowed.callable(inner):
            return
        python = isinstance(inner, (types.FunctionType, types.MethodType))
        if not python and not isinstance(vars(type(inner)).get("__call__"), types.FunctionType):
            self.deny(f"calls {allowed.name_of(value)}, which may have effects")
        _walk_callable(inner, self.seen, self.depth + 1, fresh=fresh and not wrapped)

    def method(self, callee: _Method) -> None:
        owner, name = callee.owner, callee.name
        if isinstance(owner, _Object):
            found = getattr(type(owner.value), name, None)
            if isinstance(found, types.FunctionType) and not allowed.ours(type(owner.value)):
                _walk_callable(found, self.seen, self.depth + 1)
                return
            if not allowed.method(owner.value, name):
                self.deny(f"calls {name} of something that was made outside")
        elif name in allowed.CHANGING:
            if owner != _FRESH:
                self.deny(f"calls {name} of something that was made outside")
        elif name not in allowed.METHODS:
            self.deny(f"calls the method {name}, which may have effects")


def _nobody_elses(label: Any) -> bool:
    """Whether changing it could not be noticed outside: made inside, or it cannot be changed."""
    if isinstance(label, _Object):
        return isinstance(label.value, (bool, int, float, complex, str, bytes, type(None)))
    return label == _FRESH or isinstance(label, _Code)


_REFUSED = {
    "STORE_GLOBAL": "assigns to a global",
    "DELETE_GLOBAL": "deletes a global",
    "DELETE_ATTR": "deletes an attribute",
    "STORE_NAME": "assigns to a name outside",
    "BEFORE_WITH": "enters a context",
    "BEFORE_ASYNC_WITH": "enters a context",
    "IMPORT_NAME": "imports a module",
    "YIELD_VALUE": "yields",
    "SEND": "waits for another coroutine",
}
_QUIET = {
    "RESUME",
    "NOP",
    "CACHE",
    "MAKE_CELL",
    "COPY_FREE_VARS",
    "GET_ITER",
    "EXTENDED_ARG",
}
