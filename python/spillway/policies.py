"""What becomes of elements that fail in a stage, as `on_error=` and its companions say it."""

from __future__ import annotations

import operator
import os
from dataclasses import astuple, dataclass
from typing import Any

from spillway.shown import shown

_NUMBERS: dict[str, type] = {
    "retries": int,
    "backoff": float,
    "max_errors": int,
    "max_error_rate": float,
}


@dataclass(frozen=True, slots=True)
class OnError:
    """A policy as a value, for several stages: `ds.map(f, on_error=policy).batch(8)`.

    action: "raise", "skip", "retry" (then raise) or "quarantine" (skip, and keep the input in a
    file that `Dataset.from_quarantine` reads). max_errors and max_error_rate count one pass; an
    iterator that was restored from a saved state counts from there on. A source that failed and
    gives no more, as a generator that raised, is SourceEndedEarly under "skip" and "quarantine",
    unless early_end is True.

    >>> import spillway as sw
    >>> policy = sw.OnError("skip", retries=1, backoff=0, max_errors=2)
    >>> [int(x) for x in sw.Dataset.range(4).map(lambda x: 12 // x, on_error=policy)]
    [12, 6, 4]
    """

    action: str = "raise"
    retries: int | None = None
    backoff: float | None = None
    max_errors: int | None = None
    max_error_rate: float | None = None
    quarantine: str | os.PathLike[str] | None = None
    early_end: bool | None = None


NAMES = (
    *("on_error", "retries", "backoff", "max_errors", "max_error_rate", "quarantine"),
    "early_end",
)
# Of stages with functions; see guard.rules.
GUARD_NAMES = ("isolate", "num_workers", "timeout", "restarts", "memory_limit", "sandbox")


def params(given: dict[str, Any]) -> list[Any]:
    """The parameters the engine reads, from a method's keywords."""
    unknown = sorted(set(given) - set(NAMES))
    if unknown:
        raise TypeError(f"unexpected keyword argument {unknown[0]!r}")
    on_error, *rest = (given.get(name) for name in NAMES)
    if isinstance(on_error, OnError):
        if any(value is not None for value in rest):
            raise ValueError("on_error is a whole policy already: give retries and limits in it")
        on_error, *rest = astuple(on_error)
    out = [on_error]
    for name, value in zip(NAMES[1:], rest, strict=True):
        out.append(_checked(name, value))
    return out


def seconds(value: Any) -> float:
    """A number that may have a fraction; text, of which Python would make one, is none.

    >>> seconds(1), seconds(0.5)
    (1.0, 0.5)
    """
    if isinstance(value, (str, bytes, bytearray)):
        raise TypeError("text is no number")
    return float(value)


def _checked(name: str, value: Any) -> Any:
    if value is None:
        return None
    if name == "quarantine":
        return os.fspath(value)
    if name == "early_end":
        if not isinstance(value, bool):
            raise TypeError(f"early_end must be True or False: {shown(value)}")
        return value
    kind = _NUMBERS[name]
    try:
        number = operator.index(value) if kind is int else seconds(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"{name} must be {kind.__name__}: {shown(value)}") from error
    if not 0 <= number < 2**63:  # a NaN neither
        raise ValueError(f"{name} must not be negative, nor beyond 64 bits: {shown(value)}")
    return number
