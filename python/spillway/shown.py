"""Values in error messages: short, and shown whatever their `repr` does."""

from __future__ import annotations

import reprlib
from typing import Any

_short = reprlib.Repr()
_short.maxlevel = 4
_short.maxstring = _short.maxother = 120
_short.maxlong = 60
_short.maxlist = _short.maxtuple = _short.maxdict = 8


def shown(value: Any) -> str:
    """A short `repr`, also of what is very deep, very long or contains itself.

    >>> shown("3"), shown(list(range(1000))), shown(10**30)
    ("'3'", '[0, 1, 2, 3, 4, 5, 6, 7, ...]', '1000000000000000000000000000000')
    """
    try:
        return _short.repr(value)
    except Exception:  # a __repr__ of the user's
        return f"a {type(value).__name__}"
