"""Seed pairs, as TensorFlow derives them, so that seeded orders are its own."""

from __future__ import annotations

_DEFAULT = 87654321
_MODULUS = 2**31 - 1
_global: int | None = None
_drawn = 0


def set_seed(seed: int | None) -> None:
    """Sets the global seed: every later unseeded operator gets a seed derived from it.

    >>> import spillway as sw
    >>> sw.set_seed(1)
    >>> sw.set_seed(None)
    """
    global _global, _drawn
    _global, _drawn = seed, 0


def seed_pair(seed: int | None) -> tuple[int, int]:
    """The two seeds of an operator; (0, 0) means: draw them."""
    global _drawn
    if _global is not None:
        if seed is None:
            seed = _drawn
            _drawn += 1
        pair = (_global, int(seed))
    elif seed is not None:
        pair = (_DEFAULT, int(seed))
    else:
        return (0, 0)
    reduced = (pair[0] % _MODULUS, pair[1] % _MODULUS)
    return (0, _MODULUS) if reduced == (0, 0) else reduced
