"""What `from_generator` accepts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Any

from spillway import nest
from spillway.dtypes import as_dtype
from spillway.specs import TensorSpec, as_shape
from spillway.structures import to_structure


def as_callable(generator: Any) -> Callable[..., Iterable[Any]]:
    """A callable that gives an iterable, from a generator function, sync or async, or an iterable.

    >>> list(as_callable([1, 2])())
    [1, 2]
    """
    if callable(generator):
        return _started(generator)
    if hasattr(generator, "__aiter__"):
        return lambda: _drive(generator)
    if isinstance(generator, Iterator):
        return _once(generator)
    if hasattr(generator, "__iter__"):
        return lambda: generator
    raise TypeError("`generator` must be a Python callable.")


def _started(generator: Callable[..., Any]) -> Callable[..., Iterable[Any]]:
    def start(*args: Any) -> Iterable[Any]:
        made = generator(*args)
        if hasattr(made, "__aiter__"):
            return _drive(made)
        if not hasattr(made, "__iter__") and not hasattr(made, "__getitem__"):
            raise TypeError(
                f"from_generator: {generator!r} must return a generator or an iterable: {made!r}"
            )
        return made  # type: ignore[no-any-return]

    return start


def _once(iterator: Iterator[Any]) -> Callable[..., Iterable[Any]]:
    used = False

    def start() -> Iterable[Any]:
        nonlocal used
        if used:
            raise TypeError(
                "from_generator was given a running iterator, which can be read once: hand over "
                "the function that makes it to read it again"
            )
        used = True
        return iterator

    return start


def _drive(source: AsyncIterator[Any]) -> Iterator[Any]:
    """Runs an async generator on an event loop of its own, on the generator's thread."""
    import asyncio

    loop = asyncio.new_event_loop()
    items = source.__aiter__()
    try:
        while True:
            try:
                item = loop.run_until_complete(anext(items))
            except StopAsyncIteration:
                return
            yield item
    finally:
        close = getattr(items, "aclose", None)
        if close is not None:
            loop.run_until_complete(close())
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


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
        raise TypeError(f"Cannot convert value {output_types} to a TensorFlow DType.")
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
    names = nest.fields(like)
    pairs = (
        [(getattr(shapes, n), getattr(like, n)) for n in names]
        if names
        else list(zip(shapes, like, strict=True))
    )
    return [leaf for shape, part in pairs for leaf in _flatten_shapes(shape, part)]
