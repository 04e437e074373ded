"""Signals at random moments, whose handlers raise."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from random import Random
from typing import Any

MISSING = object()


class TimeIsUpError(Exception):
    """What a time limit raises."""


RAISED = (TimeIsUpError, KeyboardInterrupt, SystemExit)


class Alarm:
    """Interrupts the main thread: as Ctrl-C does, or as a time limit.

    `kind`: what the handler raises. Only inside `with_limit`; a signal that comes later does
    nothing.
    """

    def __init__(self, random: Random, kind: type[BaseException], longest_s: float) -> None:
        self.random, self.kind, self.longest = random, kind, longest_s
        self.inside = False
        self.due = 0.0
        self.raised = 0
        self.in_a_row = 0
        self.latest_ms = 0.0
        self.set = signal.setitimer
        self.before = signal.signal(signal.SIGALRM, self._handle)

    def _handle(self, number: int, frame: Any) -> None:
        if not self.inside:
            return
        self.inside = False
        self.raised += 1
        self.latest_ms = max(self.latest_ms, (time.monotonic() - self.due) * 1000)
        raise self.kind("interrupted")

    def next_delay(self) -> float:
        """Mostly within what an element takes, now and then within none or much.

        0: none, where nothing was done before the last ones: a worker takes its time to start.
        """
        if self.in_a_row == 5:
            self.in_a_row = 0
            return 0.0
        span = self.random.choice((2e-5, 2e-4, 2e-3, self.longest))
        return 1e-6 + self.random.random() * span

    def close(self) -> None:
        self.set(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before)

    def attempt(self, do: Callable[[], Any]) -> tuple[bool, Any]:
        """Calls `do` under a limit. False: the limit was up, or something raised; the exception.

        What `do` gives reaches the variable, or is not taken.
        """
        value: Any = MISSING
        delay = self.next_delay()
        try:
            self.due = time.monotonic() + delay
            self.inside = True
            self.set(signal.ITIMER_REAL, delay)
            value = do()
            self.inside = False
            self.in_a_row = 0
        except BaseException as error:
            self.inside = False
            if value is MISSING:
                self.in_a_row += 1
                return False, error
        return True, value

    def attempt_next(self, it: Any) -> tuple[bool, Any]:
        """The next element of `it`, as a loop takes it: one instruction of the interpreter's.

        A call (`next(it)`) is two for it: it calls, and looks for signals before it stores.
        """
        value: Any = MISSING
        delay = self.next_delay()
        try:
            self.due = time.monotonic() + delay
            self.inside = True
            self.set(signal.ITIMER_REAL, delay)
            for value in it:  # noqa: B007
                break
            self.inside = False
            self.in_a_row = 0
        except BaseException as error:
            self.inside = False
            if value is MISSING:
                self.in_a_row += 1
                return False, error
        return (False, StopIteration()) if value is MISSING else (True, value)
