"""Notebooks that have worked for long: much is made and dropped, again and again."""

from __future__ import annotations

import random

from tests.notebooks.pieces.registry import KIB, MIB, piece, split

_MADE = (
    "np.ones({n} // 8)",
    "['x' * 90 + str(j) for j in range({n} // 150)]",
    "{{j: str(j) for j in range({n} // 110)}}",
    "bytes({n})",
    "np.random.rand({n} // 8).tolist()",
)


@piece()
def kept_and_dropped_again(rng: random.Random, total: int) -> str:
    size, count = split(rng, total, 20 * KIB, 8 * MIB)
    made = rng.choice(_MADE).format(n=size)
    return (
        f"for turn in range({rng.randint(3, 8)}):\n    KEPT = []\n"
        f"    for _ in range({count}):\n        KEPT.append({made})"
    )


@piece()
def a_little_of_each_is_kept(rng: random.Random, total: int) -> str:
    """Holes everywhere: what is freed lies between what stays."""
    size, count = split(rng, total, 2 * KIB, 400 * KIB)
    made = rng.choice(_MADE).format(n=size)
    return (
        f"KEPT = []\nfor turn in range(4):\n    made = [{made} for _ in range({count})]\n"
        f"    KEPT += made[:: {rng.randint(5, 20)}]\n    del made"
    )


@piece()
def errors_that_are_kept(rng: random.Random, total: int) -> str:
    """A traceback refers to the frames, and frames to what filled memory."""
    size, count = split(rng, total, 100 * KIB, 8 * MIB)
    made = rng.choice(_MADE).format(n=size)
    return (
        "KEPT = []\n"
        "def fill():\n    mine = []\n"
        f"    for _ in range({count}):\n        mine.append({made})\n"
        "for attempt in range(4):\n    try:\n        fill()\n"
        "    except MemoryError as error:\n        KEPT.append(error)"
    )


@piece()
def shown_results(rng: random.Random, total: int) -> str:
    """The notebook's own history of results (Out, _) keeps what a cell ends with."""
    made = rng.choice(["np.ones({n} // 8)", "bytes({n} // 4)[:1000] and bytearray({n})[:9]"])
    return f"KEPT = np.ones(10)\n{made.format(n=total // 2)}"


@piece()
def large_outputs(rng: random.Random, total: int) -> str:
    size = min(total // 20, 8 * MIB)
    return f"KEPT = 'x' * {size}\nprint(KEPT)"
