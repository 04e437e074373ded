"""Where user code runs that no stage said anything about: `sw.configure(isolate=)`."""

from __future__ import annotations

from typing import Any

from spillway import _native, opaque
from spillway.guard import captures, travel
from spillway.traveling import recipe_of

_STAYS = "stays in this process"


def chosen() -> bool | str:
    """What `configure` chose: False, True or "auto"."""
    from spillway.config import settings

    return False if opaque.tracing() else settings.isolate


def stays(function: Any, args: tuple[Any, ...] = ()) -> str:
    """Why a function, or a generator with its arguments, is not isolated by itself; or nothing."""
    if not callable(function) and hasattr(function, "__next__"):
        return "a running iterator cannot go to another process"
    effect = captures.changes(function)
    if effect is not None:
        return f"{effect.line}: {effect.why}" if effect.line else effect.why
    try:
        travel.check(function, "", "a worker process")
        for value in args:
            travel.check_argument(value, "")
    except TypeError as error:
        return str(error).removeprefix(": ")
    return ""


def staying(function: Any, why: str) -> Any:
    """The engine's Python function, which tells where it runs and why."""
    _, (call, numpy, before), output, code, name = _native.function_parts(function)
    told = f"{before}; " if before else ""
    return _native.function(call, output, code, name, numpy, f"{told}{_STAYS}: {why}")


def staying_generator(native: Any, why: str) -> Any:
    """The same for a generator."""
    recipe = recipe_of(native)
    assert recipe is not None  # every generator has one
    return _native.object_with_recipe(native, recipe.saying(f"{_STAYS}: {why}"))
