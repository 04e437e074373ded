"""Follows the bytecode of one function along all its ways, with labels for values; and its calls.

What it does not know it refuses: an opcode of a later Python, a stack that does not add up.
"""

from __future__ import annotations

import bisect
import builtins
import dis
import functools
import heapq
import sys
import types
from typing import Any

from spillway.labels import NULL, OWN, PLAIN, Inner, Known, State, holding
from spillway.opcodes import GENERATOR, Opcodes

_COROUTINES = 0x80 | 0x200
_DEPTH = 12


@functools.lru_cache(maxsize=256)
def _disassembled(code: types.CodeType) -> tuple[list[Any], list[int], dict[int, int], Any]:
    """Instructions, their lines, where each offset is, and who handles an exception of each."""
    kept: list[dis.Instruction] = []
    lines, line = [], code.co_firstlineno
    at: dict[int, int] = {}
    for instruction in dis.get_instructions(code):
        if instruction.starts_line:
            number = instruction.starts_line  # from 3.13 on: whether it does
            line = number if type(number) is int else getattr(instruction, "line_number", line)
        at[instruction.offset] = len(kept)  # of a prefix: where what follows it is
        if instruction.opname not in ("CACHE", "EXTENDED_ARG"):
            kept.append(instruction)
            lines.append(line or code.co_firstlineno)
    offsets = [instruction.offset for instruction in kept]

    def at_or_after(offset: int) -> int:
        return bisect.bisect_left(offsets, offset)

    entries: Any = dis.Bytecode(code)
    handlers = {
        index: (at[entry.target], entry.depth, 1 + bool(entry.lasti))
        for entry in reversed(entries.exception_entries)
        for index in range(at_or_after(entry.start), at_or_after(entry.end))
    }
    return kept, lines, at, handlers


class Walk(Opcodes):
    """One code object, called with labels."""

    def run(self, arguments: dict[str, Any]) -> Any:
        """The label of what it returns; of an iterator over what it yields."""
        if self.code.co_flags & _COROUTINES:
            self.deny("is a generator or a coroutine")
        if self.depth > _DEPTH:
            self.deny("calls too deeply to be sure")
        instructions, lines, at, handlers = _disassembled(self.code)
        for name in self.code.co_cellvars:
            if name in arguments:
                self.world.assign_cell((self.code, name), arguments[name])
        states: dict[int, State] = {0: State([], dict(arguments))}
        todo = [0]
        while todo:
            index = heapq.heappop(todo)  # the first one: what follows sees all its ways at once
            instruction, self.line = instructions[index], lines[index]
            before = states[index]
            self.world.steps -= 1 + len(before.names) // 16  # which are copied
            if self.world.steps < 0:
                self.deny("is too long to be sure")
            ways: list[tuple[int, State]] = []
            if index in handlers:
                target, depth, pushed = handlers[index]
                stack = before.stack[:depth] + [PLAIN] * pushed
                ways.append((target, State(stack, dict(before.names))))
            self.state, self.jumps = before.copy(), []
            goes_on = self.step(instruction)
            ways += [(at[target], state) for target, state in self.jumps]
            if goes_on:
                ways.append((index + 1, self.state))
            for target, state in ways:
                known = states.get(target)
                if known is None:
                    states[target] = state
                elif len(known.stack) != len(state.stack):
                    self.deny("cannot be followed")
                elif not known.merge(state):
                    continue
                if target not in todo:
                    heapq.heappush(todo, target)
        if self.code.co_flags & GENERATOR:
            return holding([self.result] if self.result is not None else [])
        return OWN if self.result is None else self.result

    # ---- Calls -------------------------------------------------------------------------------

    def _make_function(self, i: dis.Instruction) -> None:
        code = self.pop()
        flags = i.arg if i.arg is not None and sys.version_info < (3, 13) else 0
        extra = self.take(bin(flags & 0x0F).count("1"))
        defaults = tuple(extra[: bin(flags & 0x03).count("1")])
        if not (isinstance(code, Known) and isinstance(code.value, types.CodeType)):
            self.deny("cannot be followed")
        free = tuple((name, self.place(name)) for name in code.value.co_freevars)
        self.push(Inner(code.value, defaults, free, Known(self.globals)))

    def _set_function_attribute(self, i: dis.Instruction) -> None:
        value, function = self.take(2)
        if isinstance(function, Inner) and (i.arg or 0) & 0x03:
            defaults = (*function.defaults, value)
            function = Inner(function.code, defaults, function.free, function.names)
        self.push(function)

    def _load_super_attr(self, i: dis.Instruction) -> None:
        _, kind, instance = self.take(3)
        parent = self.parent(kind, instance)
        method = bool((i.arg or 0) & 1)
        value = self.world.attribute(self, parent, str(i.argval))
        self.push(*([value, NULL] if method else [value]))

    def _import_name(self, i: dis.Instruction) -> None:
        level, names = self.take(2)
        found = sys.modules.get(str(i.argval))
        if names == Known(None):
            found = sys.modules.get(str(i.argval).partition(".")[0]) if found else None
        ordinary = self.lookup("__import__") == Known(builtins.__import__)
        if type(found) is not types.ModuleType or level != Known(0) or not ordinary:
            self.deny("imports a module")  # for the first time: that runs it
        self.push(Known(found))

    def _import_from(self, i: dis.Instruction) -> None:
        self.push(self.world.attribute(self, self.state.stack[-1], str(i.argval)))

    def _kw_names(self, i: dis.Instruction) -> None:
        self.keywords = tuple(i.argval) if isinstance(i.argval, tuple) else ()
        if not self.keywords:
            self.keywords = self.code.co_consts[i.arg or 0]

    def _call(self, i: dis.Instruction) -> None:
        names, self.keywords = self.keywords, ()
        args = self.take(i.arg or 0)
        callee, first = self.callee()
        self.push(self.world.called(self, callee, first + args, names, False))

    def callee(self) -> tuple[Any, list[Any]]:
        """The callable, and a first argument where one lies beside it."""
        real = [label for label in self.take(2) if label != NULL]
        return real[0], real[1:]

    def _call_kw(self, i: dis.Instruction) -> None:
        names = self.pop()
        self.keywords = names.value if isinstance(names, Known) else ()
        self._call(i)

    def _call_function_ex(self, i: dis.Instruction) -> None:
        keywords = [self.pop()] if (i.arg or 0) & 1 or sys.version_info >= (3, 14) else []
        spread = [label for label in [self.pop(), *keywords] if label != NULL]
        for label in spread:
            self.iterates(label)
        args = [self.item(label) for label in spread]
        callee, first = self.callee()
        self.push(self.world.called(self, callee, first + args, (), True))

    def _call_intrinsic_1(self, i: dis.Instruction) -> None:
        if "LIST_TO_TUPLE" in i.argrepr:
            return
        if "UNARY_POSITIVE" in i.argrepr:
            self._unary_positive(i)
            return
        if "STOPITERATION" not in i.argrepr:
            self.deny(f"does what is not known here ({i.argrepr})")
