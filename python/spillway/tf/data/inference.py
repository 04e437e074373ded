"""What a function gives, where that can be known without calling it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spillway import nest
from spillway.tf.data.dataset import Dataset


def result_spec(function: Callable[..., Any], *specs: Any) -> Any:
    """The spec of `function` of elements of these specs; None while it is unknown.

    Asks a pipeline that never runs, so it knows what `map` knows.
    """
    if any(spec is None for spec in specs):
        return None
    signature = specs if len(specs) > 1 else specs[0]
    nothing = Dataset.from_generator(lambda: (), output_signature=signature)
    return nothing.map(function).element_spec


def joined(first: Any, second: Any) -> Any:
    """The narrowest nest of specs that both fit; None if there is none, or one is unknown."""
    if first is None or second is None:
        return None
    nest.assert_same_structure(first, second)
    pairs = zip(nest.flatten(first), nest.flatten(second), strict=True)
    common = [a.most_specific_common_supertype([b]) for a, b in pairs]
    return None if None in common else nest.pack_like(first, common)
