"""Seed pairs, as TensorFlow derives them, so that seeded orders are its own."""

from __future__ import annotations

import random

from spillway.tensor_convert import integer

_DEFAULT = 87654321
_MODULUS = 2**31 - 1
_global: int | None = None
_draws = random.Random()
_element: list[int] | None = None  # in a worker: the number of the element, and the draws for it


def set_seed(seed: int | None) -> None:
    """Sets the global seed: every later unseeded operator gets a seed drawn from it.

    The draws are those of TensorFlow in eager mode, so the orders are, too.

    >>> import spillway as sw
    >>> sw.set_seed(1)
    >>> [int(x) for x in sw.Dataset.range(4).shuffle(4)]
    [2, 1, 0, 3]
    >>> sw.set_seed(None)
    """
    global _global
    seed = None if seed is None else integer(seed, "set_seed: seed")
    _global = seed
    _draws.seed(seed)


def given() -> int | None:
    """The global seed as 64 bits, where one was set."""
    return None if _global is None else _global & (2**64 - 1)


def begin_element(number: int) -> None:
    """In a worker: what is drawn without a seed follows from this number until the next."""
    global _element
    _element = [number, 0]


def _drawn_for_element(element: list[int]) -> int:
    element[1] += 1
    mixed = (element[0] + element[1] * 0x9E3779B97F4A7C15) & (2**64 - 1)
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & (2**64 - 1)
    return (mixed >> 31) % _MODULUS


def seed_pair(seed: int | None) -> tuple[int, int]:
    """The two seeds of an operator; (0, 0) means: draw them."""
    if seed is None and _element is not None:
        seed = _drawn_for_element(_element)
    if _global is not None:
        if seed is None:
            seed = _draws.randint(0, _MODULUS)
        pair = (_global, integer(seed, "seed"))
    elif seed is not None:
        pair = (_DEFAULT, integer(seed, "seed"))
    else:
        return (0, 0)
    reduced = (pair[0] % _MODULUS, pair[1] % _MODULUS)
    return (0, _MODULUS) if reduced == (0, 0) else reduced
