"""Libraries that cannot be refused memory once they run.

What the initializers of a library allocate cannot be refused: C++ ends the process instead. So its
import is. And an allocator that takes a GiB of address space at once, to fill it later without a
word to the kernel, is asked to take it in pieces.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from typing import Any

from spillway import _native, errors
from spillway._native import format_bytes
from spillway.largest import largest
from spillway.lines import describe, users_frame
from spillway.memory_errors import holders_and_advice, in_use

# What an import fills, measured: pandas (17 MB of shared objects) 78 MB, pyarrow (153) 28, torch
# (446) 193, of which a part is pages of files that can be dropped.
_PART = 4
_BESIDE = 24 << 20
_LEAST = 8 << 20  # a package with less than that is not looked at
_asked: set[str] = set()


def let_allocators_ask() -> None:
    """Arrow's allocator, and whatever else is mimalloc, from the next library that is loaded on."""
    os.environ.setdefault("MIMALLOC_ARENA_EAGER_COMMIT", "0")
    arrow: Any = sys.modules.get("pyarrow")
    if arrow is not None and arrow.default_memory_pool().backend_name == "mimalloc":
        arrow.set_memory_pool(arrow.system_memory_pool())


def before_loading(file: str) -> None:
    """Called with the file of an extension module where little is free; raises if it does not fit.

    >>> before_loading("/usr/lib/python3/dist-packages/small.so")
    """
    folder = _package_of(file)
    if not file.endswith((".so", ".dylib")) or folder in _asked:
        return
    size = sum(_sizes(file, folder))
    if size >= _LEAST:
        _refuse_unless_it_fits(os.path.basename(folder), size // _PART + _BESIDE)
    _asked.add(folder)


def _package_of(file: str) -> str:
    """The outermost folder that is a package."""
    folder = os.path.dirname(file)
    while os.path.exists(os.path.join(os.path.dirname(folder), "__init__.py")):
        folder = os.path.dirname(folder)
    return folder


def _sizes(file: str, folder: str) -> Iterator[int]:
    """Of the shared objects where packages keep them."""
    places = {os.path.dirname(file), folder, os.path.join(folder, "lib"), f"{folder}.libs"}
    for place in places:
        if not os.path.isdir(place):
            continue
        with os.scandir(place) as entries:
            yield from (each.stat().st_size for each in entries if ".so" in each.name)


def _refuse_unless_it_fits(name: str, need: int) -> None:
    facts = _native.room()
    if _fits(facts, need):
        return
    gc.collect()
    _native.give_back(need)
    facts = _native.room()
    if _fits(facts, need):
        return
    frame = users_frame(sys._getframe())
    line = describe(frame.f_code, frame.f_lineno) if frame is not None else ""
    text = (
        f"spillway kept the process alive: to load {name} takes about {format_bytes(need)}; "
        f"{in_use(facts)}, and {format_bytes(facts['kept'])} must stay free"
    )
    raise errors.BudgetError(text + holders_and_advice(largest(frame)), kind="resource", line=line)


def _fits(facts: dict[str, int], need: int) -> bool:
    return facts["limit"] - facts["used"] >= need + facts["kept"]
