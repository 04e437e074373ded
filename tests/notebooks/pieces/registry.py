"""What a notebook's cell may do with memory: one function a kind of allocation.

Each is given a random generator and about how many bytes it shall take in all, and returns the
cell. A name that it keeps is `kept_N`, so that a later cell can drop it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

KIB, MIB = 1 << 10, 1 << 20


class Piece(NamedTuple):
    """One kind of allocation."""

    write: Callable[[random.Random, int], str]
    needs: tuple[str, ...] = ()  # libraries beside NumPy
    children: bool = False  # it starts processes, which may be killed: they are not the kernel


PIECES: dict[str, Piece] = {}


def piece(
    *needs: str, children: bool = False
) -> Callable[[Callable[[random.Random, int], str]], Callable[[random.Random, int], str]]:
    """Registers a kind of allocation under its function's name."""

    def register(write: Callable[[random.Random, int], str]) -> Callable[[random.Random, int], str]:
        PIECES[write.__name__] = Piece(write, needs, children)
        return write

    return register


def split(rng: random.Random, total: int, least: int, most: int) -> tuple[int, int]:
    """Bytes of one item, and how many there are."""
    size = int(least * (most / least) ** rng.random())
    return size, max(1, total // size)
