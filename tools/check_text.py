"""Checks the text of every file git would commit for what must not leave one machine.

Absolute paths of a developer's machine, addresses of private package registries, and notes left
for later. Patterns are written so that this file does not match itself.
"""

import re
import subprocess
import sys
from pathlib import Path

RULES = (
    (r"(?<![\w.)}])/(?:wor[k]|far[m]|roo[t]|home/\w+)/", "a path of one machine"),
    (r"file://[/]opt|(?:extra-)?index-ur[l]\b|find-link[s]\b", "a package registry"),
    (r"https?://(?:localhos[t]|127\.0\.0\.[1]|10\.\d+\.\d+\.\d+|[\w.-]+\.(?:interna[l]|loca[l]))\b",
     "a private address"),
    (r"\b(?:TOD[O]|FIXM[E]|XX[X]|HAC[K])\b", "a note left for later"),
    (r"(?i)\b(?:claud[e]|anthropi[c]|chatgp[t]|openai code[x]|copilo[t])\b", "not about Spillway"),
)  # fmt: skip
BAD_NAME = re.compile(r"^(?:util[s]?|commo[n]|helper[s]?|manage[r]|mis[c])$")
BINARY = {".gz", ".npy", ".npz", ".png", ".jpg", ".ico", ".zst"}


def tracked(root: Path) -> list[Path]:
    """Files in the index, and new ones that are not ignored."""
    command = ["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "-z"]
    names = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [Path(name) for name in sorted(set(names.split("\0"))) if name]


def main() -> int:
    """Prints `file:line: what` for each finding; 1 if there are any."""
    root = Path(__file__).resolve().parent.parent
    rules = [(re.compile(pattern), why) for pattern, why in RULES]
    found = []
    for path in tracked(root):
        if BAD_NAME.match(path.stem):
            found.append(f"{path}: a name that says nothing; name the concept")
        if path.suffix in BINARY or not (root / path).is_file():
            continue
        try:
            text = (root / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            found.append(f"{path}: not UTF-8, and not a known binary suffix")
            continue
        for number, line in enumerate(text.splitlines(), 1):
            for pattern, why in rules:
                if match := pattern.search(line):
                    found.append(f"{path}:{number}: {why}: {match[0]}")
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
