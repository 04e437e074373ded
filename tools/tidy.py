"""Runs clang's warnings and clang-tidy over the sources, in parallel, remembering what was clean.

    python tools/tidy.py BUILD_DIR [--jobs N] [--only SUBSTRING] [--deep]

One look at a file gives both: clang-tidy parses it with its own compile command, so the compiler's
warnings (-Wthread-safety among them) are findings as well, and nothing is compiled for them.

The static analyzer follows each function for at most SEARCH nodes: unbounded (--deep) it takes 25
CPU seconds for the budget alone, bounded 6, and it found nothing more. Tests and the ops of graphs
run without it.

A file that was clean stays so while nothing it depends on changed: its own text, every header of
ours it reaches, its compile command, .clang-tidy and the tool's version. Those are hashed into the
name of an empty file in the user's cache folder, as ccache does, so that the second run looks at
what changed only, in another clone too. System headers are trusted to change with the compiler.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import cache
from pathlib import Path

# Of the environment: it leaves system headers alone, which takes half the time of Debian's 19.
TIDY = str(Path(sys.executable).parent / "clang-tidy")
ROOT = Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
SEARCH = 20000
# Tables of expected values beside ops, some files in one, see the compiler's warnings only.
WARNINGS_ONLY = re.compile(r"/unity_\w+\.cxx$")


def resolve(name: str, beside: Path, build: Path) -> Path | None:
    """The file of ours that `#include "name"` finds, or None."""
    for folder in (beside, ROOT / "src", ROOT / "include", ROOT / "python", build / "gen"):
        if (folder / name).is_file():
            return (folder / name).resolve()
    return None


@cache
def includes(path: Path, build: Path) -> tuple[bytes, frozenset[Path]]:
    """The digest of a file's text, and the files of ours that it includes directly."""
    text = path.read_text()
    targets = (resolve(name, path.parent, build) for name in INCLUDE.findall(text))
    digest = hashlib.sha256(text.replace(str(ROOT), "").encode()).digest()
    return digest, frozenset(t for t in targets if t)


def is_ours(path: Path) -> bool:
    """Whether it is a source of the project, or some of them in one."""
    if WARNINGS_ONLY.search(path.as_posix()):
        return True
    in_venv = any(part.startswith(".venv") for part in path.parts)
    return path.is_relative_to(ROOT) and not path.is_relative_to(ROOT / "build") and not in_venv


def key(path: Path, command: str, salt: bytes, build: Path) -> str:
    """What decides the verdict on `path`, as one digest."""
    reached: set[Path] = set()
    pending = [path]
    while pending:
        current = pending.pop()
        if current not in reached:
            reached.add(current)
            pending.extend(includes(current, build)[1])
    digest = hashlib.sha256(salt + command.replace(str(ROOT), "").encode())
    for file in sorted(reached):
        digest.update(includes(file, build)[0])
    return digest.hexdigest()


def extra(path: Path, deep: bool) -> list[str]:
    """The arguments for this file beside .clang-tidy's."""
    if WARNINGS_ONLY.search(path.as_posix()):
        # One cheap check: with none at all, nothing is parsed.
        return ["--checks=-*,clang-diagnostic-*,cppcoreguidelines-slicing"]
    small_ops = path.parts[-3:-1] == ("graph", "ops")  # dozens of instances of a line each
    if path.stem.endswith("_test") or "testing" in path.parts or small_ops:
        return ["--checks=-clang-analyzer-*"]
    if deep:
        return []
    bound = ("-Xclang", "-analyzer-config", "-Xclang", f"max-nodes={SEARCH}")
    return [f"--extra-arg={argument}" for argument in bound]


def check(path: Path, build: Path, deep: bool) -> tuple[Path, int, str, float]:
    """One run of the tool."""
    began = time.monotonic()
    command = [TIDY, "-p", str(build), "--quiet", *extra(path, deep), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    text = done.stdout
    if done.returncode and not text.strip():
        text = done.stderr
    return path, done.returncode, text.replace(f"{ROOT}/", ""), time.monotonic() - began


def main() -> int:
    """Prints the findings; 1 if there are any."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("build", type=Path)
    arguments.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments.add_argument("--only", default="", help="part of the path")
    arguments.add_argument("--deep", action="store_true", help="do not bound the analyzer")
    options = arguments.parse_args()
    build: Path = options.build.resolve()

    version = subprocess.run([TIDY, "--version"], capture_output=True, check=True).stdout
    salt = version + (ROOT / ".clang-tidy").read_bytes()
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    store = Path(caches) / "spillway-tidy"
    store.mkdir(parents=True, exist_ok=True)
    wanted: dict[Path, str] = {}
    files = 0
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = (Path(entry["directory"]) / entry["file"]).resolve()
        if not is_ours(path) or options.only not in str(path):
            continue
        files += 1
        digest = key(path, f"{entry['command']} {extra(path, options.deep)}", salt, build)
        if not (store / digest).exists():
            wanted[path] = digest

    began, dirty = time.monotonic(), 0
    with ThreadPoolExecutor(options.jobs) as pool:
        # The longest first, so that the last one does not run alone.
        order = sorted(wanted, key=lambda path: -path.stat().st_size)
        running = [pool.submit(check, path, build, options.deep) for path in order]
        for count, done in enumerate(as_completed(running), 1):
            path, code, text, seconds = done.result()
            if code:
                dirty += 1
            else:
                (store / wanted[path]).touch()
            note = "" if code == 0 else "  FINDINGS"
            print(f"[{count}/{len(running)}] {path.relative_to(ROOT)} {seconds:.1f} s{note}")
            if code:
                print(text, flush=True)
    took = time.monotonic() - began
    print(
        f"clang-tidy: {files} files, {len(running)} checked in {took:.0f} s, {dirty} with findings"
    )
    return 1 if dirty else 0


if __name__ == "__main__":
    sys.exit(main())
