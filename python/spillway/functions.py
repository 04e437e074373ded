"""User functions on their way into the engine."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from types import CodeType
from typing import Any

from .arguments import uncovered


def _add_code(digest: Any, code: CodeType) -> None:
    digest.update(code.co_code)
    digest.update(repr(code.co_names).encode())
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _add_code(digest, constant)
        elif isinstance(constant, frozenset):  # whose order is another in every process
            digest.update(repr(sorted(map(repr, constant))).encode())
        else:
            digest.update(repr(constant).encode())


def fingerprint(function: Callable[..., Any]) -> str:
    """Identifies a function by its code: not by its line, its name or what it closes over.

    >>> fingerprint(lambda x: x + 1) == fingerprint(lambda x: x + 1)
    True
    >>> fingerprint(lambda x: x + 1) == fingerprint(lambda x: x + 2)
    False
    """
    digest = hashlib.sha1(usedforsecurity=False)
    inner = getattr(function, "func", function)  # functools.partial
    inner = uncovered(getattr(inner, "__func__", inner))  # bound methods; functions of ours
    code = getattr(inner, "__code__", None)
    if isinstance(code, CodeType):
        _add_code(digest, code)
        digest.update(repr(getattr(inner, "__defaults__", None)).encode())
    else:
        digest.update(name_of(inner).encode())
    return digest.hexdigest()


def name_of(function: Any) -> str:
    """A name for messages: the function's own, or its class's."""
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    return str(name) if name else type(function).__qualname__
