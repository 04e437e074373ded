"""Seed pairs, as TensorFlow derives them, so that seeded orders are its own."""

from __future__ import annotations

import random

_DEFAULT = 87654321
_MODULUS = 2**31 - 1
_global: int | None = None
_draws = random.Random()


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
    _global = seed
    _draws.seed(seed)


def seed_pair(seed: int | None) -> tuple[int, int]:
    """The two seeds of an operator; (0, 0) means: draw them."""
    if _global is not None:
        if seed is None:
            seed = _draws.randint(0, _MODULUS)
        pair = (_global, int(seed))
    elif seed is not None:
        pair = (_DEFAULT, int(seed))
    else:
        return (0, 0)
    reduced = (pair[0] % _MODULUS, pair[1] % _MODULUS)
    return (0, _MODULUS) if reduced == (0, 0) else reduced
