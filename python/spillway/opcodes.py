"""What each opcode does to the labels on the stack. One that is not here is refused.

CPython 3.11 to 3.13; a later one's functions run as Python until its opcodes are written down.
"""

from __future__ import annotations

import dis
import sys
import types
from typing import Any, Protocol

from spillway import statics
from spillway.labels import (
    NULL,
    OWN,
    UNKNOWN,
    Bound,
    Items,
    Known,
    OneOf,
    Parent,
    State,
    Value,
    holding,
    item,
    items_of,
    iterable,
    join,
    keys_are_plain,
    may_change,
    readable,
    settle,
)
from spillway.lines import describe

GENERATOR = 0x20


class DeniedError(Exception):
    """Why and where a function may not be traced."""


class World(Protocol):
    """What is known beyond one function."""

    stored: int
    steps: int

    def store(self, label: Any) -> None:
        """Something was put into an object made inside."""

    def cell(self, key: Any) -> Any:
        """A variable that functions share."""

    def assign_cell(self, key: Any, label: Any) -> None:
        """Such a variable may hold this."""

    def called(
        self, walk: Opcodes, callee: Any, args: list[Any], names: tuple[str, ...], spread: bool
    ) -> Any:
        """The result of a call; `names` belong to the last arguments, `spread` to none."""

    def attribute(self, walk: Opcodes, owner: Any, name: str) -> Any:
        """An attribute, or a method to be called."""

    def kept(self, walk: Opcodes, label: Any) -> Any:
        """The label as part of something: a function is called by who gets it."""


class Opcodes:
    """One code object, called with labels, at one instruction."""

    def __init__(
        self,
        world: World,
        code: types.CodeType,
        names: dict[str, Any],
        free: dict[str, Any],
        depth: int,
    ) -> None:
        """`free`: where the variables of functions around it live."""
        self.world, self.code, self.globals, self.free = world, code, names, free
        self.depth = depth
        self.line = code.co_firstlineno
        self.keywords: tuple[str, ...] = ()
        self.state = State([], {})
        self.result: Any = None
        self.jumps: list[tuple[int, State]] = []

    def deny(self, why: str) -> Any:
        """Ends the walk: the function runs as Python."""
        raise DeniedError(why, describe(self.code, self.line))

    def parent(self, kind: Any, instance: Any) -> Any:
        """`super()`."""
        if not (isinstance(kind, Known) and isinstance(instance, Known)):
            self.deny("calls super of something that cannot be known before it runs")
        return Parent(kind, instance)

    # ---- The stack ---------------------------------------------------------------------------

    def pop(self) -> Any:
        """The topmost label."""
        if not self.state.stack:
            self.deny("cannot be followed")
        return self.state.stack.pop()

    def take(self, count: int) -> list[Any]:
        """The topmost labels, the last one last."""
        return [self.pop() for _ in range(count)][::-1]

    def push(self, *labels: Any) -> None:
        """Puts labels on top."""
        self.state.stack += labels

    def step(self, i: dis.Instruction) -> bool:
        """Runs an instruction. Whether the next one may follow it."""
        name = i.opname
        if name in _REFUSED:
            self.deny(_REFUSED[name])
        if name in _NOTHING:
            return True
        handler = getattr(self, "_" + name.lower(), None)
        if handler is None:
            self.deny(f"does what is not known here ({name})")
        return handler(i) is not False  # type: ignore[misc]

    def jump(self, i: dis.Instruction) -> None:
        """Another way goes on at the target."""
        self.jumps.append((i.argval, self.state.copy()))

    def item(self, label: Any) -> Any:
        """What comes out of it."""
        return item(label, self.world.stored)

    def reads(self, label: Any, what: str = "uses") -> None:
        """Refuses what might run code that nobody has looked at."""
        if not readable(label, self.world.stored):
            self.deny(f"{what} {_noun(label)}")

    def iterates(self, label: Any) -> None:
        """Refuses what going through might change."""
        if not iterable(label):
            self.deny(f"goes through {_noun(label)}")

    def _pop_top(self, i: dis.Instruction) -> None:
        self.pop()

    _pop_iter = _pop_top

    def _end_for(self, i: dis.Instruction) -> None:
        self.take(2 if sys.version_info < (3, 13) else 1)

    def _swap(self, i: dis.Instruction) -> None:
        stack, depth = self.state.stack, i.arg or 1
        stack[-1], stack[-depth] = stack[-depth], stack[-1]

    def _copy(self, i: dis.Instruction) -> None:
        self.push(self.state.stack[-(i.arg or 1)])

    def _push_null(self, i: dis.Instruction) -> None:
        self.push(NULL)

    # ---- Names -------------------------------------------------------------------------------

    def local(self, name: str) -> Any:
        """A local variable."""
        return self.state.names.get(name, UNKNOWN)

    def _load_fast(self, i: dis.Instruction) -> None:
        self.push(self.local(str(i.argval)))

    _load_fast_check = _load_fast_borrow = _load_fast

    def _load_fast_and_clear(self, i: dis.Instruction) -> None:
        self.push(self.state.names.pop(str(i.argval), OWN))

    def _load_fast_load_fast(self, i: dis.Instruction) -> None:
        self.push(*[self.local(name) for name in i.argval])

    _load_fast_borrow_load_fast_borrow = _load_fast_load_fast

    def _store_fast(self, i: dis.Instruction) -> None:
        self.state.names[str(i.argval)] = self.pop()

    def _store_fast_store_fast(self, i: dis.Instruction) -> None:
        for name in i.argval:
            self.state.names[name] = self.pop()

    def _store_fast_load_fast(self, i: dis.Instruction) -> None:
        stored, loaded = i.argval
        self.state.names[stored] = self.pop()
        self.push(self.local(loaded))

    def _delete_fast(self, i: dis.Instruction) -> None:
        self.state.names.pop(str(i.argval), None)

    def _load_const(self, i: dis.Instruction) -> None:
        self.push(Known(i.argval))

    _load_small_int = _load_const

    def _load_global(self, i: dis.Instruction) -> None:
        null = i.arg is not None and bool(i.arg & 1)
        if null and sys.version_info < (3, 13):
            self.push(NULL)
        self.push(self.lookup(str(i.argval)))
        if null and sys.version_info >= (3, 13):
            self.push(NULL)

    def _load_name(self, i: dis.Instruction) -> None:
        self.push(self.lookup(str(i.argval)))

    def lookup(self, name: str) -> Any:
        """A global or a builtin."""
        if name in self.globals and type(self.globals) is dict:
            return Known(self.globals[name])
        builtins = self.globals.get("__builtins__", {})
        table = vars(builtins) if type(builtins) is types.ModuleType else builtins
        if type(table) is not dict or type(self.globals) is not dict:
            self.deny(f"looks {name} up in what is not a dict")
        return Known(table[name]) if name in table else OWN  # nothing gets past a NameError

    def place(self, name: str) -> Any:
        """Where a variable shared with inner functions lives: a key of the world's, or a cell."""
        return (self.code, name) if name in self.code.co_cellvars else self.free.get(name)

    def _load_deref(self, i: dis.Instruction) -> None:
        self.push(self.world.cell(self.place(str(i.argval))))

    _load_classderef = _load_deref

    def _store_deref(self, i: dis.Instruction) -> None:
        place = self.place(str(i.argval))
        if isinstance(place, Known):
            self.deny(f"assigns to {i.argval}, which was made outside")
        self.world.assign_cell(place, self.pop())

    def _delete_deref(self, i: dis.Instruction) -> None:
        if str(i.argval) in self.code.co_freevars:
            self.deny(f"deletes {i.argval}, which was made outside")

    def _load_closure(self, i: dis.Instruction) -> None:
        self.push(OWN)  # make_function finds it by name

    # ---- Attributes and items ----------------------------------------------------------------

    def _load_attr(self, i: dis.Instruction) -> None:
        method = sys.version_info >= (3, 12) and i.arg is not None and bool(i.arg & 1)
        value = self.world.attribute(self, self.pop(), str(i.argval))
        self.push(*([value, NULL] if method else [value]))

    def _load_method(self, i: dis.Instruction) -> None:
        self.push(NULL, self.world.attribute(self, self.pop(), str(i.argval)))

    def changes(self, owner: Any, stored: Any, why: str) -> None:
        """Refuses to change what was made outside."""
        if not isinstance(owner, Known) and settle(owner).mine:
            self.world.store(stored)
        else:
            self.deny(f"{why} something that was made outside")

    def _store_attr(self, i: dis.Instruction) -> None:
        value, owner = self.take(2)
        self.changes(owner, self.keeps(value), f"sets the attribute {i.argval} of")

    def _store_subscr(self, i: dis.Instruction) -> None:
        value, owner, key = self.take(3)
        self.reads(key)
        self.changes(owner, self.keeps(value, key), "stores an item into")

    def _store_slice(self, i: dis.Instruction) -> None:
        value, owner, *_ = self.take(4)
        self.changes(owner, item(value), "stores an item into")

    def _delete_subscr(self, i: dis.Instruction) -> None:
        owner, _ = self.take(2)
        self.changes(owner, OWN, "deletes an item of")

    def _binary_subscr(self, i: dis.Instruction) -> None:
        owner, key = self.take(2)
        self.push(self.subscript(owner, key))

    def subscript(self, owner: Any, key: Any) -> Any:
        """`owner[key]`."""
        if isinstance(owner, Known) and statics.kind_of(owner.value) in (list, tuple, dict):
            if type(owner.value) is dict and not keys_are_plain(owner.value):
                self.deny("looks up an item among keys whose == may have effects")
            if isinstance(key, Known) and statics.kind_of(key.value) in (int, str, bytes, bool):
                try:
                    return Known(owner.value[key.value])
                except (LookupError, TypeError):
                    return OWN  # raises: there is none
            self.reads(key)
            return self.item(owner)
        if isinstance(owner, Known) and statics.is_a(owner.value, type):
            self.deny("looks up an item of a class")
        self.reads(key)
        self.reads(owner)
        return self.item(owner)

    def _binary_slice(self, i: dis.Instruction) -> None:
        owner, *bounds = self.take(3)
        for label in [owner, *bounds]:
            self.reads(label)
        self.push(self.item(owner))

    # ---- Operators ---------------------------------------------------------------------------

    def _binary_op(self, i: dis.Instruction) -> None:
        left, right = self.take(2)
        symbol = i.argrepr
        if symbol == "[]":  # from 3.14 on
            self.push(self.subscript(left, right))
            return
        self.reads(left)
        self.reads(right)
        if symbol.endswith("="):
            if may_change(left):
                self.deny("changes something in place that was made outside")
            self.world.store(item(right))
        self.push(holding([left, right]))

    def _compare_op(self, i: dis.Instruction) -> None:
        for label in self.take(2):
            self.reads(label)
        self.push(OWN)

    _contains_op = _compare_op

    def _is_op(self, i: dis.Instruction) -> None:
        self.take(2)
        self.push(OWN)

    def _unary_negative(self, i: dis.Instruction) -> None:
        operand = self.pop()
        self.reads(operand)
        self.push(holding([operand]))

    _unary_positive = _unary_invert = _unary_negative

    def truth(self, label: Any) -> None:
        """Refuses to ask for a truth that runs code."""
        if isinstance(label, Known):
            kind = type(label.value)
            if statics.find(kind, "__bool__") is statics.find(kind, "__len__"):
                return  # neither is there
        if not settle(label).mine:  # a container's own length asks nothing of what is in it
            self.reads(label, "asks for the truth of")

    def _unary_not(self, i: dis.Instruction) -> None:
        self.truth(self.pop())
        self.push(OWN)

    def _to_bool(self, i: dis.Instruction) -> None:
        self.truth(self.pop())
        self.push(OWN)

    def _format_value(self, i: dis.Instruction) -> None:
        if (i.arg or 0) & 0x04:
            self.reads(self.pop())
        self.reads(self.pop(), "formats")
        self.push(OWN)

    def _format_simple(self, i: dis.Instruction) -> None:
        self.reads(self.pop(), "formats")
        self.push(OWN)

    _convert_value = _format_simple

    def _format_with_spec(self, i: dis.Instruction) -> None:
        for label in self.take(2):
            self.reads(label, "formats")
        self.push(OWN)

    # ---- Making things -----------------------------------------------------------------------

    def keeps(self, *labels: Any) -> Value:
        """A new object that holds these. Who gets it may call the functions in it."""
        return holding(self.world.kept(self, label) for label in labels)

    def _build_tuple(self, i: dis.Instruction) -> None:
        self.push(self.keeps(*self.take(i.arg or 0)))

    _build_list = _build_string = _build_slice = _build_tuple

    def _build_set(self, i: dis.Instruction) -> None:
        items = self.take(i.arg or 0)
        for label in items:
            self.reads(label, "puts into a set")
        self.push(self.keeps(*items))

    def _build_map(self, i: dis.Instruction) -> None:
        pairs = self.take(2 * (i.arg or 0))
        for label in pairs[::2]:
            self.reads(label, "has as a key")
        self.push(self.keeps(*pairs))

    def _build_const_key_map(self, i: dis.Instruction) -> None:
        self.push(self.keeps(*self.take((i.arg or 0) + 1)))

    def _list_append(self, i: dis.Instruction) -> None:
        value = self.pop()
        at = -(i.arg or 1)
        self.state.stack[at] = self.keeps(self.state.stack[at], value)

    def _set_add(self, i: dis.Instruction) -> None:
        self.reads(self.state.stack[-1], "puts into a set")
        self._list_append(i)

    def _map_add(self, i: dis.Instruction) -> None:
        pair = self.take(2)
        self.reads(pair[0], "has as a key")
        at = -(i.arg or 1)
        self.state.stack[at] = self.keeps(self.state.stack[at], *pair)

    def _list_extend(self, i: dis.Instruction) -> None:
        more = self.pop()
        self.iterates(more)
        at = -(i.arg or 1)
        self.state.stack[at] = holding([self.state.stack[at], self.item(more)])

    def _set_update(self, i: dis.Instruction) -> None:
        self.reads(self.state.stack[-1], "puts into a set")
        self._list_extend(i)

    def _dict_update(self, i: dis.Instruction) -> None:
        more = self.state.stack[-1]
        if isinstance(more, Known) and type(more.value) is dict:
            if not keys_are_plain(more.value):
                self.deny("has keys whose == may have effects")
        elif not settle(more).mine:
            self.reads(more, "has as keys those of")
        self._list_extend(i)

    _dict_merge = _dict_update

    def _list_to_tuple(self, i: dis.Instruction) -> None:
        return

    def _unpack_sequence(self, i: dis.Instruction) -> None:
        whole = self.pop()
        count = i.arg or 0
        each = whole.labels if isinstance(whole, OneOf) else (whole,)
        parts = [items_of(label) for label in each]
        if isinstance(whole, OneOf) and all(p and len(p.labels) == count for p in parts):
            columns = zip(*(p.labels for p in parts), strict=True)
            self.push(*[OneOf(column) for column in columns][::-1])
            return
        known = isinstance(whole, Known) and statics.kind_of(whole.value) in (tuple, list)
        if known and len(whole.value) == count:
            self.push(*[Known(part) for part in reversed(whole.value)])
            return
        self.iterates(whole)
        self.push(*[self.item(whole)] * count)

    def _unpack_ex(self, i: dis.Instruction) -> None:
        whole = self.pop()
        self.iterates(whole)
        before, after = (i.arg or 0) & 0xFF, (i.arg or 0) >> 8
        part = self.item(whole)
        self.push(*[part] * after, holding([part]), *[part] * before)

    def _get_iter(self, i: dis.Instruction) -> None:
        whole = self.pop()
        few = whole if isinstance(whole, Items) else items_of(whole)
        if few is not None and not readable(whole):
            self.push(few)
            return
        self.iterates(whole)
        self.push(holding([self.item(whole)]))

    def _for_iter(self, i: dis.Instruction) -> None:
        over = self.state.stack[-1]
        after = self.state.copy()
        if sys.version_info < (3, 12):
            after.stack.pop()
        else:
            after.stack.append(OWN)  # END_FOR takes it and the iterator
        self.jumps.append((i.argval, after))
        self.push(OneOf(over.labels) if isinstance(over, Items) else self.item(over))

    # ---- Ways --------------------------------------------------------------------------------

    def _jump_forward(self, i: dis.Instruction) -> bool:
        self.jump(i)
        return False

    _jump_backward = _jump_backward_no_interrupt = _jump_forward

    def _pop_jump_forward_if_true(self, i: dis.Instruction) -> None:
        self.truth(self.pop())
        self.jump(i)

    _pop_jump_forward_if_false = _pop_jump_backward_if_true = _pop_jump_forward_if_true
    _pop_jump_backward_if_false = _pop_jump_if_true = _pop_jump_forward_if_true
    _pop_jump_if_false = _pop_jump_forward_if_true

    def _pop_jump_if_none(self, i: dis.Instruction) -> None:
        self.pop()
        self.jump(i)

    _pop_jump_if_not_none = _pop_jump_forward_if_none = _pop_jump_if_none
    _pop_jump_forward_if_not_none = _pop_jump_backward_if_none = _pop_jump_if_none
    _pop_jump_backward_if_not_none = _pop_jump_if_none

    def _jump_if_true_or_pop(self, i: dis.Instruction) -> None:
        self.truth(self.state.stack[-1])
        self.jump(i)
        self.pop()

    _jump_if_false_or_pop = _jump_if_true_or_pop

    def _return_value(self, i: dis.Instruction) -> bool:
        self.returns(self.pop())
        return False

    def _return_const(self, i: dis.Instruction) -> bool:
        self.returns(Known(i.argval))
        return False

    def returns(self, label: Any) -> None:
        """One of the results."""
        if not self.code.co_flags & GENERATOR:
            self.result = label if self.result is None else join(self.result, label)

    def _yield_value(self, i: dis.Instruction) -> None:
        label = self.pop()
        self.result = label if self.result is None else join(self.result, label)
        self.push(Known(None))

    def _return_generator(self, i: dis.Instruction) -> None:
        self.push(OWN)

    def _raise_varargs(self, i: dis.Instruction) -> bool:
        for label in self.take(i.arg or 0):
            if isinstance(label, Known) and statics.is_a(label.value, type):
                self.world.called(self, label, [], (), False)
            elif isinstance(label, (Known, Bound)) or settle(label) == UNKNOWN:
                self.deny(f"raises {_noun(label)}")
        return False

    def _reraise(self, i: dis.Instruction) -> bool:
        return False

    def _push_exc_info(self, i: dis.Instruction) -> None:
        error = self.pop()
        self.push(OWN, error)

    def _check_exc_match(self, i: dis.Instruction) -> None:
        self.pop()
        self.push(OWN)

    def _pop_except(self, i: dis.Instruction) -> None:
        self.pop()

    def _load_assertion_error(self, i: dis.Instruction) -> None:
        self.push(Known(AssertionError))

    def _load_common_constant(self, i: dis.Instruction) -> None:
        self.push(OWN if i.argval is not AssertionError else Known(AssertionError))


def _noun(label: Any) -> str:
    if isinstance(label, Known):
        return f"a {statics.name(type(label.value))}, which may have effects"
    return "something that cannot be known before it runs"


_NOTHING = ("RESUME", "NOP", "MAKE_CELL", "COPY_FREE_VARS", "PRECALL", "NOT_TAKEN")
_REFUSED = {
    "STORE_GLOBAL": "assigns to a global",
    "DELETE_GLOBAL": "deletes a global",
    "DELETE_ATTR": "deletes an attribute",
    "STORE_NAME": "assigns to a name outside",
    "BEFORE_WITH": "enters a context",
    "BEFORE_ASYNC_WITH": "enters a context",
    "LOAD_SPECIAL": "enters a context",
    "SEND": "waits for another coroutine",
    "LOAD_BUILD_CLASS": "makes a class",
    "MATCH_CLASS": "matches classes",
}
