"""Which lines hold more and more: what lives of each line, looked at after every step.

A step is a `session.run`, a pass over a dataset that came to its end, or a call of `sw.leaks()`. A
look costs about a microsecond and another for each line of which more or fewer objects live than
before. Bytes are added up only for lines under suspicion, and again when they have grown by a
quarter.
"""

from __future__ import annotations

import gc
import threading
import warnings
from collections.abc import Iterator

from spillway import _native, node_growth, tracked
from spillway.lines import describe_at, with_source

STEPS = 3  # so many samples in a row must have grown
MANY = 1_000  # or so many objects were made and kept without any step: then it warns
LISTED = 100  # and from so many on sw.leaks() lists them
SHARE = 0.01  # of the memory limit: less is listed, not warned of
_REST = 3  # samples without a change that do not end a growth
_KEPT = 3  # of so many that a line makes, one stays: it keeps them

ADVICE = {
    "tensor": "let them go once they were used, or keep only what you need: float(x), x.numpy()",
    "variable": "make it once, before the loop, and change it there: v.assign(...)",
    "session": "write `with tf.compat.v1.Session() as sess:`, or call sess.close()",
    "graph": "make it once, before the loop, or call tf.compat.v1.reset_default_graph()",
    "iterator": "let it go, or close it: it.close(), `with iter(ds) as it:`",
    "node": "build once, before the loop, and feed what changes through a placeholder",
}

_lines: dict[tracked.Key, Line] = {}
_moved: set[tracked.Key] = set()  # changed at a look between steps
_busy = threading.Lock()
_steps = 0


class Line:
    """What a line made and what of it lives, and since when it grows."""

    __slots__ = (
        "_at_step",
        "_changed",
        "_first_step",
        "_kept_before",
        "_made_before",
        "_start",
        "bytes",
        "count",
        "grew",
        "key",
        "made",
        "measured",
        "on_disk",
        "told",
    )

    def __init__(self, key: tracked.Key, step: int) -> None:
        """Nothing yet."""
        self.key = key
        self.count = self.made = self.grew = 0
        self.bytes = self.on_disk = self.measured = self.told = 0
        self._at_step = 0  # the count at the last step that saw a change
        self._kept_before = self._made_before = 0  # when it last let go of some
        self._restart(0, step)

    def _restart(self, count: int, step: int) -> None:
        self.grew, self._start = 0, count
        self._first_step = self._changed = step

    def note(self, count: int, made: int) -> None:
        """What lives now."""
        if count < self.count:
            self._kept_before, self._made_before = count, made
        self.count, self.made = count, made

    def step(self, step: int) -> None:
        """A step ended."""
        if _native.mutant("growth_not_counted"):
            return
        if self.count < self._at_step:
            self._restart(self.count, step)
        elif self.count > self._at_step:
            if step - self._changed > _REST + 1:
                self._restart(self._at_step, step - 1)
            self.grew += 1
            self._changed = step
        self._at_step = self.count

    def grows_by_step(self, step: int) -> bool:
        """Whether it grew from step to step, and not so long ago."""
        took = self._changed - self._first_step
        return self.grew >= STEPS and step - self._changed <= max(10, 2 * took)

    def keeps_all(self, most: int = MANY) -> bool:
        """Whether it makes so many, and they stay."""
        if self.key[0] == "node":
            return False  # a large graph that is built once
        kept = self.count - self._kept_before
        return kept >= most and _KEPT * kept >= self.made - self._made_before

    @property
    def bytes_per_step(self) -> float:
        """What a step adds; where there were no steps, what one object takes."""
        each = (self.bytes + self.on_disk) / max(self.measured, 1)
        if self.grew < STEPS:
            return each
        return each * (self.count - self._start) / max(self._changed - self._first_step, 1)

    @property
    def place(self) -> str:
        """`train.py:12`, `In[5] line 7`."""
        what, file, number = self.key
        if what == "node":
            return file
        return describe_at(file, number) if file else "elsewhere"

    def growth(self) -> str:
        """The same in words."""
        return f"+{_native.format_bytes(round(self.bytes_per_step))} " + (
            "a step" if self.grew >= STEPS else "each"
        )


def step() -> None:
    """A step of the user's program ended.

    >>> before = steps()
    >>> step()
    >>> steps() - before
    1
    """
    look(True)


def steps() -> int:
    """How many steps there were."""
    return _steps


def look(stepped: bool, warns: bool = True) -> None:
    """Counts, and warns of lines that grow. Threads do not wait here: one looks for all."""
    if not _busy.acquire(blocking=False):
        return
    try:
        due = [line for line in count(stepped) if _due(line)]
        if warns and due and any(_heavy(line) for line in measured(due)):
            gc.collect()  # what is only waiting for that is no leak
            count(False)
            for line in measured(due):
                if _suspect(line) and _heavy(line) and not _is_of_variables(line):
                    _warn(line)
    finally:
        _busy.release()


def count(stepped: bool) -> list[Line]:
    """Notes how many of each line live; gives the lines where that is not what it was."""
    global _steps
    _steps += stepped
    changed = set(_moved) if stepped else set()
    for key, alive, made in _alive():
        line = _lines.get(key)
        if line is None:
            if alive == 0:
                continue
            line = _lines[key] = Line(key, _steps - stepped)
        line.note(alive, made)
        changed.add(key)
    lines = [_lines[key] for key in changed & _lines.keys()]
    if not stepped:
        _moved.update(changed)
        return lines
    _moved.clear()
    for line in lines:
        line.step(_steps)
        if line.count == 0:
            del _lines[line.key]
    return lines


def _alive() -> Iterator[tuple[tracked.Key, int, int]]:
    for file, number, alive, made in _native.changed_tensor_lines():
        yield ("tensor", file, number), alive, made
    for key, alive in tracked.changed():
        yield key, alive, alive
    for key, alive in node_growth.changed():
        yield key, alive, alive


def _suspect(line: Line) -> bool:
    return line.grows_by_step(_steps) or line.keeps_all()


def _due(line: Line) -> bool:
    return (
        _suspect(line)
        and 4 * line.count >= 5 * line.measured
        and (line.told == 0 or line.count >= 2 * line.told)
    )


def _heavy(line: Line) -> bool:
    if line.key[0] == "node":
        return line.count >= MANY  # each makes every further run slower, too
    return bool(line.bytes + line.on_disk > SHARE * _native.memory_limit())


def _is_of_variables(line: Line) -> bool:
    """Whether these are only the values of variables that the same line makes."""
    what, file, number = line.key
    variables = _lines.get(("variable", file, number))
    return what == "tensor" and variables is not None and variables.count >= line.count


def measured(lines: list[Line]) -> list[Line]:
    """The same, with their bytes as of now."""
    found = {}
    if any(line.key[0] == "tensor" for line in lines):
        for file, number, _, _, held, on_disk in _native.measure_tensor_lines():
            found[file, number] = held, on_disk
    for line in lines:
        what, file, number = line.key
        if what == "tensor":
            line.bytes, line.on_disk = found.get((file, number), (0, 0))
        elif what == "node":
            line.bytes = line.count * node_growth.NODE_BYTES
        else:
            line.bytes = sum(thing.nbytes for thing in tracked.at_line(line.key))
        line.measured = line.count
    return lines


def leaking() -> list[Line]:
    """Every line that grows, the one that grows most first, and those that keep all they make.

    >>> all(line.count > 0 for line in leaking())
    True
    """
    suspects = measured(
        [
            line
            for line in list(_lines.values())
            if line.grows_by_step(_steps) or line.keeps_all(LISTED)
        ]
    )
    kept = [line for line in suspects if not _is_of_variables(line)]
    return sorted(kept, key=lambda line: (-line.bytes_per_step, -line.bytes, -line.count))


def _warn(line: Line) -> None:
    from spillway.holders import holders

    line.told = line.count
    what, file, number = line.key
    begin = "adding nodes to a graph in a loop:" if what == "node" else "memory grows at"
    size = _native.format_bytes(line.bytes + line.on_disk)
    part = 100 * (line.bytes + line.on_disk) / _native.memory_limit()
    by = holders(line.key)
    text = (
        f"{begin} {with_source(line.place)}\n"
        f"  {line.count:,} {what}s alive, {size} ({part:.0f} % of the memory limit"
        + (f", {_native.format_bytes(line.on_disk)} on disk" if line.on_disk else "")
        + f"), {line.growth()}\n"
        + (f"  held by {'; '.join(by)}\n" if by else "")
        + f"  {ADVICE[what]}; sw.leaks() lists all"
    )
    warnings.warn_explicit(text, UserWarning, file or "elsewhere", max(number, 1))
