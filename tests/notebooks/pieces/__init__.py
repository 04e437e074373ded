"""What a notebook's cell may do with memory: one function a kind of allocation."""

from tests.notebooks.pieces import (  # noqa: F401 (each registers its pieces)
    arrays,
    buffers,
    libraries,
    objects,
    pipelines,
    processes,
    tired,
)
from tests.notebooks.pieces.registry import KIB, MIB, PIECES, Piece

__all__ = ["KIB", "MIB", "PIECES", "Piece"]
