"""Checks that no two files define a type of the same full name.

Two such types link without a word, and one's destructor may run on the other: the linker takes any
of the inline functions. A sanitizer found a pair of them here after months. Types in unnamed
namespaces are each file's own; `struct Outer::Inner {` defines what its header declares.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

NAMESPACE = re.compile(r"\s*(?:inline )?namespace\s*([\w:]*)\s*\{")
TYPE = re.compile(
    r"(?:template <[^;{]*> )?(?:class|struct|union|enum class)\s+(?:SW_\w+(?:\([^)]*\))?\s+)?"
    r"(?:alignas\([^)]*\)\s+)?(\w+)(?:\s+final)?\s*(?::[^:;][^;]*)?\{"
)
STRING = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])+\'')
UNNAMED = ""


def types_in(text: str) -> Iterator[tuple[str, int]]:
    """Full names of the types that `text` defines at namespace level, with their lines."""
    open_spaces: list[tuple[str, int]] = []  # and the depth outside of each
    depth = 0
    for number, line in enumerate(text.splitlines(), 1):
        code = STRING.sub('""', line).partition("//")[0]
        if space := NAMESPACE.match(code):
            open_spaces.append((space[1] or UNNAMED, depth))
        elif depth == len(open_spaces) and (found := TYPE.match(code)):
            spaces = [name for name, _ in open_spaces]
            if UNNAMED not in spaces:
                yield "::".join([*spaces, found[1]]), number
        depth += code.count("{") - code.count("}")
        while open_spaces and depth <= open_spaces[-1][1]:
            open_spaces.pop()


def faults(root: Path) -> Iterator[str]:
    """All names that more than one file defines, one line each."""
    places: defaultdict[str, list[str]] = defaultdict(list)
    for top in ("src", "include", "python/native", "apps"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in {".h", ".cc"}:
                for name, line in types_in(path.read_text()):
                    places[name].append(f"{path.relative_to(root)}:{line}")
    for name, where in sorted(places.items()):
        if len(where) > 1:
            yield f"{name} is defined more than once: {', '.join(where)}"


def main() -> int:
    """Prints the faults; 1 if there are any."""
    found = list(faults(Path(__file__).resolve().parent.parent))
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
