"""`sw.progress(ds)`: a loop over a dataset that shows how far it is, and what holds it up."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TextIO, TypeVar

from spillway import _native
from spillway.progress_bar import ProgressBar

T = TypeVar("T")

_LOOK_S = 0.02  # about so often the clock is asked, however fast elements come
_MOST_BETWEEN = 4096


class Progress(Generic[T]):
    """An iterable that draws a line while it is iterated over; made by `progress`."""

    def __init__(
        self,
        elements: Iterable[T],
        label: str | None,
        total: int | None,
        unit: str,
        shown: bool | None,
        file: TextIO | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Use `progress`."""
        self._elements = elements
        self._clock = clock
        self._pass: Any = None  # of the engine; None: something else's elements
        known = cardinality(elements) if total is None else total
        self._bar = ProgressBar(label or "", known, unit, shown, file, clock, self._tells)

    def __iter__(self) -> Iterator[T]:
        """The elements. A loop that is left early, or by an error, leaves a finished line."""
        # Where nothing is drawn there is nothing between the loop and the elements.
        return self._drawn() if self._bar.shown else iter(self._elements)

    def _drawn(self) -> Iterator[T]:
        bar, clock = self._bar, self._clock
        it = iter(self._elements)
        self._pass = native_pass(it)
        count = _position(self._pass)
        bar.begin_at(count, 0)
        bar.update(count, 0)
        between, left, looked = 1, 1, clock()
        try:
            for element in it:
                yield element  # counted when the loop asks for the next: it is done with this one
                count += 1
                left -= 1
                if left:
                    continue
                now = clock()
                if now - looked < _LOOK_S / 2:
                    between = min(between * 2, _MOST_BETWEEN)
                elif now - looked > _LOOK_S * 2:
                    between = max(between // 2, 1)
                left, looked = between, now
                bar.update(count, 0)
        finally:
            bar.done = count
            bar.close()
            if self._pass is not None and it is not self._elements:
                self._pass.close()

    def __len__(self) -> int:
        """Of what is iterated over."""
        return len(self._elements)  # type: ignore[arg-type]

    def _tells(self) -> list[str]:
        """Bytes held against the limit, the slowest stage, and what was skipped."""
        if self._pass is None:
            ledger = _native.ledger()
            return [_held(ledger["used"], ledger["effective"])]
        now = self._pass._glance()
        told = [_held(now["held"], now["limit"])]
        passed = max(self._bar.elapsed, 1e-9)
        share = now["busy_s"] / passed
        if share >= 0.01:
            told.append(f"slowest {now['slowest']} {min(share, 1):.0%}")
        for what in ("skipped", "failed"):
            if now[what]:
                told.append(f"{now[what]:,} {what}")
        return told


def progress(
    elements: Iterable[T],
    label: str | None = None,
    total: int | None = None,
    unit: str = "elements",
    shown: bool | None = None,
    file: TextIO | None = None,
) -> Progress[T]:
    """Iterates over `elements`, a dataset or an iterator of ours, and shows how far it is.

    One line on a terminal, drawn over itself, or one output in a notebook: elements a second, how
    many of how many, bytes held against the limit, the slowest stage with its share of the time,
    elements skipped so far. Nothing elsewhere, unless `shown=True`: then the last state is a line.

    >>> import sys, spillway as sw
    >>> for batch in sw.progress(sw.Dataset.range(6).batch(2), "batches", file=sys.stdout,
    ...     shown=True):  # doctest: +ELLIPSIS
    ...     pass
    batches: 100% |████████████████████| 3/3 [00:00<00:00, ... elements/s, ... of ... held...]
    """
    return Progress(elements, label, total, unit, shown, file)


def native_pass(it: Any) -> Any:
    """The engine's pass behind an iterator of either front; None: it is something else.

    >>> import spillway as sw, spillway.tf as tf
    >>> type(native_pass(iter(tf.data.Dataset.range(1)))) is type(iter(sw.Dataset.range(1)))
    True
    """
    found = it if isinstance(it, _native.Iterator) else getattr(it, "_pass", None)
    return found if isinstance(found, _native.Iterator) else None


def cardinality(elements: Any) -> int | None:
    """How many there are, where that is known without looking at any.

    >>> import spillway as sw
    >>> cardinality(sw.Dataset.range(6).batch(4)), cardinality(sw.Dataset.counter())
    (2, None)
    """
    found = native_pass(elements)
    node = getattr(elements, "_node", None) if found is None else found._node
    if isinstance(node, _native.Node):
        return node.cardinality if node.cardinality >= 0 else None
    try:
        return len(elements)
    except TypeError:
        return None


def _position(found: Any) -> int:
    return 0 if found is None else int(found._glance()["position"])


def _held(used: int, limit: int) -> str:
    return f"{_native.format_bytes(used)} of {_native.format_bytes(limit)} held"
