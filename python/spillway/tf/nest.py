"""`tf.nest`: trees of lists, tuples, dicts, namedtuples, dataclasses and attrs objects.

Unlike in a dataset's elements, a list is a branch here.

>>> import spillway.tf as tf
>>> tf.nest.flatten([1, {"b": 2, "a": (3,)}])
[1, 3, 2]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from spillway import nest as _nest
from spillway.shown import shown
from spillway.tf import _names

__all__ = ["assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as"]


def is_nested(structure: Any) -> bool:
    """Whether `structure` is a branch rather than a leaf.

    >>> is_nested([1]), is_nested("a"), is_nested({})
    (True, False, True)
    """
    return _nest.is_nested(structure, lists=True)


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves in order; a dict's by its sorted keys."""
    return _nest.flatten(structure, lists=True)


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """The tree of `structure` with other leaves.

    >>> pack_sequence_as({"b": 0, "a": [0]}, [1, 2])
    {'b': 2, 'a': [1]}
    """
    if not is_nested(flat_sequence):
        raise TypeError(
            f"Attempted to pack value:\n  {flat_sequence}\ninto a structure, but found "
            f"incompatible type `{type(flat_sequence)}` instead."
        )
    return _nest.pack_like(structure, flatten_once(flat_sequence), lists=True)


def flatten_once(sequence: Any) -> list[Any]:
    """The items of a sequence, or a dict's values by its sorted keys."""
    return [sequence[k] for k in sorted(sequence)] if hasattr(sequence, "keys") else list(sequence)


def map_structure(
    func: Callable[..., Any],
    *structure: Any,
    check_types: bool = True,
    expand_composites: bool = False,
) -> Any:
    """`func` of the leaves of trees of the same form, as a tree like the first.

    >>> map_structure(lambda a, b: a + b, [1, (2,)], [3, (4,)])
    [4, (6,)]
    """
    if not callable(func):
        raise TypeError(f"func must be callable, got: {shown(func)}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types)
    rows = zip(*(flatten(one) for one in structure), strict=True)
    return _nest.pack_like(structure[0], [func(*row) for row in rows], lists=True)


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raise unless the trees have the same form: TypeError for another class, else ValueError.

    >>> assert_same_structure([1], (1,), check_types=False)
    """
    if check_types:
        _same_classes(nest1, nest2)
    else:
        nest1, nest2 = _plain(nest1), _plain(nest2)
    _nest.assert_same_structure(nest1, nest2, lists=True)


def _plain(value: Any, depth: int = 0) -> Any:
    """Branches of any class as lists."""
    if depth > _nest.MOST_NESTED:
        _nest.too_deep()
    return [_plain(item, depth + 1) for item in _below(value)] if is_nested(value) else value


def _same_classes(a: Any, b: Any, depth: int = 0) -> None:
    if not is_nested(a) or not is_nested(b):
        return
    if depth > _nest.MOST_NESTED:
        _nest.too_deep()
    if _class_of(a) != _class_of(b):
        raise TypeError(
            "The two structures don't have the same sequence type. First structure has type "
            f"{type(a).__name__}, while second structure has type {type(b).__name__}."
        )
    for x, y in zip(_below(a), _below(b), strict=False):
        _same_classes(x, y, depth + 1)


def _class_of(value: Any) -> Any:
    """What must be the same: all dicts count as one, and so do classes of the same fields."""
    if isinstance(value, Mapping):
        return Mapping
    return _nest.form_of(value) or (list if isinstance(value, list) else tuple)


def _below(value: Any) -> list[Any]:
    return _nest.children(value, lists=True)


def __getattr__(name: str) -> Any:
    raise _names.missing(__name__, name)
