"""One random notebook from a seed."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from tests.notebooks.pieces import MIB, PIECES

LIMITS = (256, 384, 512, 768, 1024, 2048)


@dataclass(frozen=True)
class Notebook:
    """Cells, and the limit that they run under."""

    seed: int
    limit: int
    pieces: tuple[str, ...]
    cells: tuple[str, ...]

    def __str__(self) -> str:
        """To be read, and typed again."""
        text = f"# notebook {self.seed}, {self.limit // MIB} MiB: {', '.join(self.pieces)}\n"
        return text + "\n# --\n".join(self.cells)


def notebook(seed: int, libraries: set[str], only: list[str] | None = None) -> Notebook:
    """The notebook of a seed, from pieces whose libraries are there."""
    rng = random.Random(seed)
    names = [name for name, piece in PIECES.items() if set(piece.needs) <= libraries]
    if only:
        names = [name for name in names if name in only]
    heavy = any("torch" in PIECES[name].needs for name in names)
    limit = rng.choice(LIMITS) * MIB
    chosen = [rng.choice(names) for _ in range(rng.randint(1, 4))]
    if heavy and any("torch" in PIECES[name].needs for name in chosen):
        limit = max(limit, 768 * MIB)  # torch itself takes 250 MiB
    cells = []
    for at, name in enumerate(chosen):
        share = rng.choice([0.1, 0.3, 0.5, 0.8, 0.95, 1.2, 2.0, 4.0])
        cells.append(re.sub(r"\bKEPT\b", f"kept_{at}", PIECES[name].write(rng, int(limit * share))))
        if at and rng.random() < 0.4:
            cells.append(f"globals().pop('kept_{rng.randrange(at + 1)}', None)")
    return Notebook(seed, limit, tuple(chosen), tuple(cells))
