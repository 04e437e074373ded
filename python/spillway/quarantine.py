"""Reading back what `on_error="quarantine"` put aside. Nothing in the file is ever executed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spillway import _native

if TYPE_CHECKING:
    from spillway.dataset import Dataset


def dataset(path: str) -> Dataset:
    """The stage's inputs, in the order they were put aside."""
    from spillway.dataset import Dataset

    elements = _native.read_quarantine(path)
    if not elements:
        return Dataset.range(0)
    structure: Any = elements[0].structure
    values = [element.value() for element in elements]

    def replay() -> Any:
        yield from values

    relaxed = _native.relax(structure)
    from spillway.structures import from_structure

    return Dataset.from_generator(replay, output_signature=from_structure(relaxed))
