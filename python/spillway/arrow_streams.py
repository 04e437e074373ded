"""`Dataset.from_arrow`: rows of anything that has Arrow's C stream interface."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from spillway import _native, errors
from spillway.building import make
from spillway.traveling import Recipe

if TYPE_CHECKING:
    from spillway.dataset import Dataset

# (part, rows that may be left out) -> what has the stream, and how many it begins behind
Ask = Callable[[int, int], tuple[Any, int]]


def rows(source: Any, nulls: str, name: str | None, policy: dict[str, Any]) -> Dataset:
    """See `Dataset.from_arrow`."""
    if not hasattr(source, "__arrow_c_stream__") and not callable(source):
        raise TypeError(
            "from_arrow: `source` must have __arrow_c_stream__, or be a function that returns "
            f"what has: {type(source).__name__}"
        )
    return streamed(_Asked(source), [""], type(source).__name__, nulls, name, policy)


def streamed(
    ask: Ask, files: list[str], what: str, nulls: str, name: str | None, policy: dict[str, Any]
) -> Dataset:
    """A dataset of streams, one for each of `files`."""
    source, structure = native(ask, files, what)
    return make("from_arrow", [source, structure, nulls, "\n".join(files)], [], name, policy)


def native(ask: Ask, files: list[str], what: str) -> tuple[Any, Any]:
    """The engine's source, which can be sent to another process, and what its rows are."""
    source, structure = _native.arrow_source(ask, files, what)
    never = getattr(ask, "never_travels", "")
    recipe = Recipe(_source, (ask, files, what), function=ask, never=never)
    return _native.object_with_recipe(source, recipe), structure


def _source(ask: Ask, files: list[str], what: str) -> Any:
    return native(ask, files, what)[0]


class _Asked:
    """Asks one object, or what a function returns, for its stream in every pass."""

    def __init__(self, source: Any) -> None:
        self._source = source
        self._asked = False

    @property
    def never_travels(self) -> str:
        """Why it cannot go to another process, if it cannot."""
        kind = type(self._source)
        if not hasattr(kind, "__next__"):
            return ""
        return (
            f"a {kind.__name__} cannot travel, it is read only once: give from_arrow a function "
            "that opens it"
        )

    def __call__(self, part: int, skip: int) -> tuple[Any, int]:
        source = self._source
        if not hasattr(source, "__arrow_c_stream__"):
            return self._opened(source()), 0
        # An iterator is used up by its first reader; what it would give then looks like an end.
        if self._asked and hasattr(type(source), "__next__"):
            raise errors.GeneratorNotReplayable(
                f"from_arrow: a {type(source).__name__} can be read only once, and was: give "
                "from_arrow a function that opens it anew, or cache() its rows"
            )
        self._asked = True
        return source, 0

    def _opened(self, made: Any) -> Any:
        if not hasattr(made, "__arrow_c_stream__"):
            raise TypeError(
                "from_arrow: the function must return what has __arrow_c_stream__: "
                f"{type(made).__name__}"
            )
        return made
