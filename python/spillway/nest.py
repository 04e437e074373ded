"""Elements as trees: tuples, dicts, namedtuples, dataclasses and attrs classes of leaves.

The rules are tf.data's: a dict's values are taken in the order of its sorted keys, and a list is
a leaf (it becomes one tensor) unless ``lists=True``, as in ``tf.nest``. None is a leaf. An object
with ``__tf_flatten__`` and ``__tf_unflatten__`` says itself what its children are.

>>> flatten({"b": 1, "a": (2, [3, 4])})
[2, [3, 4], 1]
"""

from __future__ import annotations

import hashlib
import inspect
import pickle
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

from spillway.shown import shown

MOST_NESTED = 256  # levels; the engine's own bound


def too_deep() -> NoReturn:
    """Refuse what is deeper than any element, or contains itself."""
    raise ValueError(
        f"a nest must be at most {MOST_NESTED} levels deep, and must not contain itself"
    )


def is_nested(value: Any, *, lists: bool = False) -> bool:
    """Whether `value` is a branch rather than a leaf.

    >>> is_nested((1, 2)), is_nested([1, 2]), is_nested(3)
    (True, False, False)
    """
    return _children(value, lists) is not None


def flatten(nest: Any, *, lists: bool = False) -> list[Any]:
    """The leaves, in order.

    >>> flatten((1, {"y": 2, "x": None}))
    [1, None, 2]
    """
    out: list[Any] = []
    _collect(nest, lists, out)
    return out


def pack_like(structure: Any, flat: Iterable[Any], *, lists: bool = False) -> Any:
    """The tree of `structure` with its leaves replaced by `flat`, in order.

    >>> pack_like({"b": 0, "a": (0, 0)}, [1, 2, 3])
    {'b': 3, 'a': (1, 2)}
    """
    values = list(flat)
    count = len(flatten(structure, lists=lists))
    if count != len(values):
        raise ValueError(
            f"Could not pack sequence. Argument `structure` had {count} elements, but argument "
            f"`flat_sequence` had {len(values)} elements. Received structure: "
            f"{shown(structure)}, flat_sequence: {shown(values)}."
        )
    leaves = iter(values)
    return _rebuild(structure, lists, lambda _: next(leaves))


def map_structure(fn: Callable[..., Any], *nests: Any, lists: bool = False) -> Any:
    """`fn` of the leaves of trees of the same form, as a tree like the first.

    >>> map_structure(lambda a, b: a + b, {"x": 1}, {"x": 10})
    {'x': 11}
    """
    if not nests:
        raise ValueError("map_structure needs at least one structure")
    first, others = nests[0], nests[1:]
    if not others:
        return _rebuild(first, lists, fn)
    for other in others:
        assert_same_structure(first, other, lists=lists)
    rows = zip(*(flatten(nest, lists=lists) for nest in nests), strict=True)
    return pack_like(first, [fn(*row) for row in rows], lists=lists)


def assert_same_structure(first: Any, second: Any, *, lists: bool = False) -> None:
    """Raise, naming the first difference, unless the trees have the same form.

    Another number of leaves or other keys is a ValueError, another class a TypeError.

    >>> assert_same_structure((1, 2), (3, 4))
    """
    error = _difference(first, second, lists)
    if error is not None:
        kind, why = error
        raise kind(
            "The two structures don't have the same nested structure.\n\n"
            f"First structure: {_show(first)}\n\nSecond structure: {_show(second)}\n\n"
            f"More specifically: {why}"
        )


def _show(value: Any) -> str:
    return f"type={type(value).__name__} str={_text(value)}"


def _text(value: Any) -> str:
    try:
        return str(value)
    except RecursionError:
        return shown(value)


def _difference(a: Any, b: Any, lists: bool, depth: int = 0) -> tuple[type[Exception], str] | None:
    if depth > MOST_NESTED:
        too_deep()
    inside_a, inside_b = _children(a, lists), _children(b, lists)
    if inside_a is None and inside_b is None:
        return None
    if inside_a is None or inside_b is None:
        branch, leaf = (a, b) if inside_b is None else (b, a)
        return ValueError, (
            f'Substructure "{_show(branch)}" is a sequence, while substructure "{_show(leaf)}" '
            "is not"
        )
    if isinstance(a, Mapping) != isinstance(b, Mapping) or form_of(a) != form_of(b):
        return TypeError, (
            "The two structures don't have the same sequence type. First structure has type "
            f"{type(a).__name__}, while second structure has type {type(b).__name__}."
        )
    if isinstance(a, Mapping) and set(a) != set(b):
        return ValueError, (
            "The two dictionaries don't have the same set of keys. First structure has keys "
            f"{list(a)}, while second structure has keys {list(b)}"
        )
    if len(inside_a) != len(inside_b):
        return ValueError, (
            f"The two structures don't have the same number of elements: {_show(a)}, {_show(b)}"
        )
    for x, y in zip(inside_a, inside_b, strict=True):
        found = _difference(x, y, lists, depth + 1)
        if found is not None:
            return found
    return None


def fields(value: Any) -> tuple[str, ...] | None:
    """The field names of a namedtuple, dataclass or attrs object; None for anything else."""
    cls = type(value)
    if isinstance(value, tuple):
        return getattr(cls, "_fields", None)
    if is_self_described(value):
        return None
    found = getattr(cls, "__dataclass_fields__", None)
    if found is not None:
        return tuple(found)
    attributes = getattr(cls, "__attrs_attrs__", None)
    return None if attributes is None else tuple(attribute.name for attribute in attributes)


def form_of(value: Any) -> Any:
    """What must be the same for branches to match: the fields, or the class of a Remade."""
    return type(value) if is_self_described(value) else fields(value)


def is_self_described(value: Any) -> bool:
    """Whether `value` has TensorFlow's protocol for nests; tuples and dicts are always their own.

    >>> is_self_described((1, 2))
    False
    """
    cls = type(value)
    return (
        hasattr(cls, "__tf_flatten__")
        and hasattr(cls, "__tf_unflatten__")
        and not isinstance(value, (tuple, Mapping, type))
    )


class Remade:
    """Makes objects of a class with `__tf_flatten__` from their components.

    The engine knows it by its name, as it knows the class of a namedtuple. The name tells apart
    objects of one class with different metadata.
    """

    def __init__(self, cls: type, metadata: Any) -> None:
        """Of the class, with what `__tf_flatten__` gave beside the components."""
        self.cls, self.metadata = cls, metadata
        self.__module__ = cls.__module__
        self.__qualname__ = f"{cls.__qualname__}@{_digest(metadata)}"

    def __call__(self, *components: Any) -> Any:
        """An object of these components."""
        return _maker(self.cls)(self.metadata, components)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travels as the class and the metadata."""
        return Remade, (self.cls, self.metadata)


def _maker(cls: Any) -> Any:
    """`__tf_unflatten__`: of an object without content where it is no class method.

    TensorFlow calls it on the object that was taken apart, whose tensors would live on with it.
    """
    found = inspect.getattr_static(cls, "__tf_unflatten__")
    bound = isinstance(found, (classmethod, staticmethod))
    return (cls if bound else object.__new__(cls)).__tf_unflatten__


def _digest(metadata: Any) -> str:
    try:
        code = pickle.dumps(metadata, protocol=4)
    except (pickle.PicklingError, AttributeError, TypeError):
        code = repr(metadata).encode()
    return hashlib.blake2b(code, digest_size=6).hexdigest()


def take_apart(value: Any) -> tuple[Remade, list[Any]]:
    """What remakes an object that describes itself, and its components."""
    metadata, components = _flattened(value)
    return Remade(type(value), metadata), components


def _flattened(value: Any) -> tuple[Any, list[Any]]:
    made = value.__tf_flatten__()
    if not isinstance(made, tuple) or len(made) != 2 or not isinstance(made[1], (tuple, list)):
        raise TypeError(
            f"{type(value).__name__}.__tf_flatten__ must return (metadata, components), the second "
            f"a tuple or a list, found {type(made).__name__}"
        )
    return made[0], list(made[1])


def children(value: Any, *, lists: bool = False) -> list[Any]:
    """The branches below in TensorFlow's order; none of a leaf.

    >>> children({"b": 1, "a": (2, 3)})
    [(2, 3), 1]
    """
    return _children(value, lists) or []


def _children(value: Any, lists: bool) -> list[Any] | None:
    """The branches below in TensorFlow's order; None for a leaf."""
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Mapping):
        return [value[key] for key in sorted(value)]
    if isinstance(value, list):
        return list(value) if lists else None
    if isinstance(value, type):
        return None
    if is_self_described(value):
        return _flattened(value)[1]
    names = fields(value)
    return None if names is None else [getattr(value, name) for name in names]


def _collect(value: Any, lists: bool, out: list[Any], depth: int = 0) -> None:
    below = _children(value, lists)
    if below is None:
        out.append(value)
        return
    if depth > MOST_NESTED:
        too_deep()
    for child in below:
        _collect(child, lists, out, depth + 1)


def _rebuild(value: Any, lists: bool, leaf: Callable[[Any], Any], depth: int = 0) -> Any:
    if depth > MOST_NESTED:
        too_deep()
    if is_self_described(value):
        remade, components = take_apart(value)
        return remade(*[_rebuild(child, lists, leaf, depth + 1) for child in components])
    below = _children(value, lists)
    if below is None:
        return leaf(value)
    built = [_rebuild(child, lists, leaf, depth + 1) for child in below]
    cls = type(value)
    if isinstance(value, Mapping):
        by_key = dict(zip(sorted(value), built, strict=True))
        ordered = {key: by_key[key] for key in value}
        if cls is dict:
            return ordered
        factory = getattr(value, "default_factory", None)
        return cls(ordered) if factory is None else cls(factory, ordered)
    names = fields(value)
    if isinstance(value, (tuple, list)):
        return cls(built) if names is None else cls(*built)
    return _replace(value, dict(zip(names or (), built, strict=True)))


def _replace(value: Any, changes: dict[str, Any]) -> Any:
    """A copy of a dataclass or attrs object with every field set; its ``__init__`` is not run."""
    copy = object.__new__(type(value))
    for name, field in changes.items():
        object.__setattr__(copy, name, field)
    return copy
