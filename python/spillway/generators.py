"""What `from_generator` accepts."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterable, Callable, Iterable, Iterator
from typing import Any

from spillway import _native, nest
from spillway.dtypes import as_dtype
from spillway.functions import name_of
from spillway.shown import shown
from spillway.specs import TensorSpec, as_shape
from spillway.structures import to_structure
from spillway.traveling import Recipe


def as_callable(generator: Any) -> Callable[..., Iterable[Any]]:
    """A callable that gives an iterable, from a generator function, sync or async, or an iterable.

    >>> list(as_callable([1, 2])())
    [1, 2]
    """
    if callable(generator):
        return _started(generator)
    if hasattr(generator, "__anext__"):
        return _once(generator)
    if hasattr(generator, "__aiter__"):
        return lambda: _items(generator)
    if isinstance(generator, Iterator):
        return _once(generator)
    if hasattr(generator, "__iter__"):
        return lambda: generator
    raise TypeError("`generator` must be a Python callable.")


def native(generator: Any, args: tuple[Any, ...], structure: Any, code: str, name: str) -> Any:
    """The engine's generator of `generator(*args)`, which can be sent to another process."""
    made = _native.generator(as_callable(generator), args, structure, code, name)
    running = not callable(generator) and any(
        hasattr(generator, step) for step in ("__next__", "__anext__")
    )
    never = "a running iterator cannot travel: hand over the function that makes it"
    recipe = Recipe(
        native,
        (generator, args, structure, code, name),
        function=generator,
        arguments=args,
        never=never if running else "",
    )
    return _native.object_with_recipe(made, recipe)


def _started(generator: Callable[..., Any]) -> Callable[..., Iterable[Any]]:
    def start(*args: Any) -> Iterable[Any]:
        made = generator(*args)
        if hasattr(made, "__aiter__"):
            return _items(made)
        if inspect.iscoroutine(made):
            made.close()
            raise TypeError(
                f"from_generator: {name_of(generator)} is an async function without a `yield`, "
                "so it gives one coroutine and no elements: `yield` them, or return them from a "
                "plain function"
            )
        if not hasattr(made, "__iter__") and not hasattr(made, "__getitem__"):
            raise TypeError(
                f"from_generator: {shown(generator)} must return "
                f"a generator or an iterable: {shown(made)}"
            )
        return made  # type: ignore[no-any-return]

    return start


def _once(iterator: Any) -> Callable[..., Iterable[Any]]:
    used = False

    def start() -> Iterable[Any]:
        nonlocal used
        if used:
            raise TypeError(
                "from_generator was given a running iterator, which can be read once: hand over "
                "the function that makes it to read it again"
            )
        used = True
        return iterator if isinstance(iterator, Iterator) else _items(iterator)

    return start


def _items(source: AsyncIterable[Any]) -> Iterable[Any]:
    """The items of an async iterable, on an event loop of the generator's own."""
    from spillway.async_items import AsyncItems

    return AsyncItems(source)


def handed_over(args: Iterable[Any] | None) -> tuple[Any, ...]:
    """A generator's arguments: an async generator among them runs on a loop of its own.

    A plain generator can then await it item by item, each with an `asyncio.run` of its own, which
    would otherwise close the async generator with the first.
    """
    return tuple(_proxy(arg) if inspect.isasyncgen(arg) else arg for arg in args or ())


def _proxy(generator: Any) -> Any:
    from spillway.async_items import AsyncGeneratorProxy

    return AsyncGeneratorProxy(generator)


def slices(args: Any, parallel: int, read_ahead: int | None) -> list[tuple[Any, ...]]:
    """The arguments of each of `parallel` generators: `args[0][i::parallel]` and the rest.

    >>> slices([[1, 2, 3], "x"], 2, None)
    [([1, 3], 'x'), ([2], 'x')]
    """
    if parallel < 1:
        raise ValueError(f"from_generator: parallel must be 1 or more: {parallel}")
    if read_ahead == 0:
        raise ValueError(
            "from_generator: parallel= runs generators ahead of the consumer: it does not go "
            "with read_ahead=0"
        )
    given = tuple(args) if args is not None else ()
    what = f"from_generator: parallel={parallel} gives each generator a slice of args[0]"
    if not given:
        raise ValueError(f"{what}: pass what they share among them as args=[items]")
    if isinstance(given[0], str | bytes):
        raise TypeError(
            f"{what}, which must be a list or an array: {shown(given[0])} is one string"
        )
    try:
        return [(given[0][i::parallel], *given[1:]) for i in range(parallel)]
    except (TypeError, KeyError, IndexError, ValueError) as error:
        found = type(given[0]).__name__
        raise TypeError(
            f"{what}, which must be a list or an array: a {found} cannot be sliced ({error})"
        ) from error


def declared(output_types: Any, output_shapes: Any, output_signature: Any) -> Any:
    """The engine's structure of what was declared, or None; TypeError as TensorFlow has it."""
    if output_signature is not None:
        if output_types is not None or output_shapes is not None:
            raise TypeError(
                "The `output_types` and `output_shapes` arguments cannot be used together with "
                "the `output_signature` argument."
            )
        return to_structure(output_signature)
    if output_types is None:
        if output_shapes is not None:
            raise TypeError("`output_shapes` needs `output_types`")
        return None
    if isinstance(output_types, list):
        raise TypeError(
            f"Cannot convert the argument `type_value`: {output_types} to a TensorFlow DType."
        )
    if output_shapes is None:
        return to_structure(
            nest.map_structure(lambda t: TensorSpec(None, as_dtype(t)), output_types)
        )
    flat_types = nest.flatten(output_types)
    shapes = (
        [output_shapes]
        if not nest.is_nested(output_types)
        else _flatten_shapes(output_shapes, output_types)
    )
    specs = [
        TensorSpec(as_shape(shape), as_dtype(dtype))
        for shape, dtype in zip(shapes, flat_types, strict=True)
    ]
    return to_structure(nest.pack_like(output_types, specs))


def _flatten_shapes(shapes: Any, like: Any) -> list[Any]:
    """Shapes in the nest of `like`: a shape itself may be a tuple or a list."""
    if not nest.is_nested(like):
        return [shapes]
    if isinstance(like, dict):
        return [leaf for key in sorted(like) for leaf in _flatten_shapes(shapes[key], like[key])]
    given = nest.children(shapes) if type(shapes) is type(like) else shapes
    pairs = zip(given, nest.children(like), strict=True)
    return [leaf for shape, part in pairs for leaf in _flatten_shapes(shape, part)]
