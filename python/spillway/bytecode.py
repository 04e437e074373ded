"""Follows the bytecode of one function along all its ways, with labels for values.

What it does not know it refuses: an opcode of a later Python, a stack that does not add up.
"""

from __future__ import annotations

import dis
import functools
import types
from typing import Any

from spillway.labels import OWN, PLAIN, holding
from spillway.opcodes import GENERATOR, Opcodes, State

_COROUTINES = 0x80 | 0x200
_DEPTH = 12


@functools.lru_cache(maxsize=256)
def _disassembled(code: types.CodeType) -> tuple[list[Any], list[int], dict[int, int], Any]:
    """Instructions, their lines, where each offset is, and who handles exceptions."""
    kept, lines, line = [], [], code.co_firstlineno
    for instruction in dis.get_instructions(code):
        if instruction.starts_line:
            number = instruction.starts_line  # from 3.13 on: whether it does
            line = number if type(number) is int else getattr(instruction, "line_number", line)
        if instruction.opname not in ("CACHE", "EXTENDED_ARG"):
            kept.append(instruction)
            lines.append(line or code.co_firstlineno)
    at: dict[int, int] = {}
    for index in reversed(range(len(kept))):
        at[kept[index].offset] = index
    handlers: Any = dis.Bytecode(code)
    return kept, lines, at, handlers.exception_entries


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
            index = todo.pop()
            instruction, self.line = instructions[index], lines[index]
            before = states[index]
            ways: list[tuple[int, State]] = []
            for entry in handlers:
                if entry.start <= instruction.offset < entry.end:
                    pushed = [PLAIN] * (1 + bool(entry.lasti))
                    stack = before.stack[: entry.depth] + pushed
                    ways.append((at[entry.target], State(stack, dict(before.names))))
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
                    todo.append(target)
        if self.code.co_flags & GENERATOR:
            return holding([self.result] if self.result is not None else [])
        return OWN if self.result is None else self.result
