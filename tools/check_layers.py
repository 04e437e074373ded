"""Checks that every #include points downwards in the house's layers.

    base <- observe <- memory <- tensor <- io, guard <- graph <- pipeline <- front
         <- public, python, apps

A file may include its own room and rooms further left; rooms of one step do not see each other.
`public` is include/spillway: headers that are installed, so they include nothing but each other
and what is installed with them (INSTALLED). `front` implements them.
Only tests include `testing`.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

LAYERS = (
    ("base",),
    ("observe",),
    ("memory",),
    ("tensor",),
    ("io", "guard"),
    ("graph",),
    ("pipeline",),
    ("front",),
    ("public", "python", "apps"),
)
STEP = {room: step for step, rooms in enumerate(LAYERS) for room in rooms}
# The top rooms are built on what is installed as well.
ALLOWED_BESIDE = {("python", "public"), ("apps", "public"), ("front", "public")}
# As cmake/SpillwayInstall.cmake has it.
INSTALLED = {"spillway/base/status.h"}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def room_of(path: Path) -> str:
    """The room a source file lives in, by its path from the project's root."""
    parts = path.parts
    if parts[:2] == ("src", "spillway") and len(parts) > 3:
        return parts[2]
    if parts[:2] == ("include", "spillway"):
        return "public"
    return parts[0]


def room_of_include(target: str, root: Path) -> str | None:
    """The room an include names; None for what is not ours (generated tables)."""
    parts = target.split("/")
    if parts[0] == "spillway" and len(parts) == 2 and (root / "include" / target).exists():
        return "public"
    if parts[0] == "spillway" and len(parts) > 2:
        return parts[1]
    return None


def is_test(path: Path) -> bool:
    """Tests, benchmarks and fuzz targets may use the room `testing`."""
    return path.stem.endswith(("_test", "_bench", "_fuzz")) or path.parts[0] in {"tests", "bench"}


def fault(path: Path, target: str, root: Path) -> str | None:
    """Why `path` must not include `target`, or None."""
    if target.startswith("."):
        return "is relative; write it from the source root"
    here, there = room_of(path), room_of_include(target, root)
    if there is None or here == there or here == "examples":
        return None
    if there == "testing":
        return None if is_test(path) else "belongs to the tests"
    if here == "testing":
        return None
    if there not in STEP:
        return f"names a room without a layer: '{there}' (add it to tools/check_layers.py)"
    if here not in STEP:
        return f"is included by a room without a layer: '{here}' (add it to tools/check_layers.py)"
    if here == "public":
        return None if target in INSTALLED else "is not installed, the header that includes it is"
    if STEP[there] < STEP[here] or (here, there) in ALLOWED_BESIDE:
        return None
    return f"points upwards: '{here}' must not know '{there}'"


def faults(root: Path) -> Iterator[str]:
    """All faults of the tree, one line each."""
    for top in ("src", "include", "python/native", "apps", "examples"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in {".h", ".cc"}:
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                match = INCLUDE.match(line)
                short = path.relative_to(root)
                why = fault(short, match[1], root) if match else None
                if match and why:
                    yield f'{short}:{number}: #include "{match[1]}" {why}'


def main() -> int:
    """Prints the faults; 1 if there are any."""
    found = list(faults(Path(__file__).resolve().parent.parent))
    print(*found, sep="\n", end="\n" if found else "")
    if found:
        print("layers: " + " <- ".join(", ".join(rooms) for rooms in LAYERS))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
