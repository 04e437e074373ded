"""`spillway check PATH...`: reads and decodes files whole, and names the bad ones."""

from __future__ import annotations

import argparse
import glob
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence

from spillway import _native
from spillway.building import AUTOTUNE
from spillway.check import Checking, file_pass, manifest_pass
from spillway.errors import SpillwayError
from spillway.manifest import Expected, read_manifest
from spillway.problems import Problem, Problems, printable
from spillway.progress_bar import ProgressBar, rate, seconds

GOOD, PROBLEMS, USAGE, INTERRUPTED = 0, 1, 2, 130


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command to the tool's."""
    parser = commands.add_parser(
        "check",
        help="Reads and decodes files whole, and names the bad ones.",
        description="Reads and decodes files on all cores: images, TFRecord, .npy, text, by name "
        "or else by content. Exit code 0: all are good, 1: there are problems, 2: wrong usage.",
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files, folders, glob patterns")
    parser.add_argument(
        "--text", metavar="ENCODING", help="look at text files too; utf-8 is the one there is"
    )
    parser.add_argument(
        "--manifest", metavar="FILE", help="sizes or sums: sha256sum's lines or JSON"
    )
    parser.add_argument(
        "--format", choices=_native.file_formats(), help="read all files as this format"
    )
    parser.add_argument("--output", metavar="FILE", help="write problems there as JSON lines")
    parser.add_argument(
        "--resume", action="store_true", help="go on where the check that wrote --output was"
    )
    parser.add_argument("--jobs", type=int, metavar="N", help="threads; as many as CPUs by default")
    parser.add_argument("--json", action="store_true", help="print problems as JSON lines")
    parser.add_argument(
        "--progress",
        action=argparse.BooleanOptionalAction,
        help="the bar; on a terminal by default",
    )


def run(given: argparse.Namespace) -> int:
    """The command; its exit code."""
    try:
        return _check(given)
    except KeyboardInterrupt:
        hint = f"; go on with --output {given.output} --resume" if given.output else ""
        print(f"spillway check: interrupted{hint}", file=sys.stderr)
        return INTERRUPTED
    except (SpillwayError, OSError, ValueError) as error:
        print(f"spillway check: {printable(str(error))}", file=sys.stderr)
        return USAGE


def _check(given: argparse.Namespace) -> int:
    if not given.paths and not given.manifest:
        raise ValueError("name at least one PATH, or a --manifest")
    if given.text not in (None, "utf-8"):
        raise ValueError(f"--text must be utf-8: {given.text}")
    own = {os.path.realpath(path) for path in (given.output, given.manifest) if path}
    files = [path for path in expand(given.paths) if os.path.realpath(path) not in own]
    expected = read_manifest(given.manifest) if given.manifest else []
    if not files and not expected:
        raise ValueError(f"no files: {' '.join(given.paths)}")
    formats: Counter[str] = Counter()
    bar = ProgressBar("check", None, "files", given.progress)
    jobs = AUTOTUNE if given.jobs is None else given.jobs
    passes = [file_pass(files, given.text, given.format, jobs)]
    if given.manifest:
        passes.append(manifest_pass(expected, jobs))
    checking = Checking(passes, bar, given.output, given.resume)
    checking.names[1] = [each.path for each in expected]
    found = checking.run(lambda element: formats.update([_format_of(element)]))
    for problem in found:
        print(problem.to_json() if given.json else line_of(problem))
    print(_summary(found, formats, files, expected), file=sys.stderr if given.json else sys.stdout)
    return PROBLEMS if found.total else GOOD


def _format_of(element: object) -> str:
    if not isinstance(element, tuple):
        return "in the manifest"
    return bytes(element[0]).decode() or "unknown"


def expand(paths: Sequence[str]) -> Iterator[str]:
    """The files that arguments name, each once: folders with all in them, patterns as the shell's.

    What is not there stays, to be reported.

    >>> list(expand(["/nowhere/x"]))
    ['/nowhere/x']
    """
    seen: set[str] = set()
    for path in paths:
        found = [path] if os.path.lexists(path) else sorted(glob.glob(path, recursive=True))
        for each in found or [path]:
            for file in _below(each):
                if file not in seen:
                    seen.add(file)
                    yield file


def _below(path: str) -> Iterator[str]:
    if not os.path.isdir(path):
        yield path
        return
    for folder, folders, files in os.walk(path):
        folders.sort()
        for file in sorted(files):
            yield os.path.join(folder, file)


def line_of(problem: Problem) -> str:
    """One problem as a line.

    >>> line_of(Problem("a.txt", "a.txt: the file is empty", 0))
    'a.txt: byte 0: the file is empty'
    """
    reason = problem.reason
    for begin in (f"{problem.file}: ", f"{problem.file}; "):
        reason = reason.removeprefix(begin)
    where = "" if problem.offset is None else f"byte {problem.offset}: "
    return printable(f"{problem.file}: {where}{reason}")


def _summary(
    found: Problems, formats: Counter[str], files: Sequence[str], expected: Sequence[Expected]
) -> str:
    told = ", ".join(f"{count:,} {name}" for name, count in sorted(formats.items()) if name)
    good = f" (good: {told})" if told else ""
    speed = rate(found.checked / max(found.elapsed, 1e-9), "files")
    lines = [f"{found.summary()}{good} in {seconds(found.elapsed)}, {speed}"]
    if formats["unknown"]:
        lines.append(f"{formats['unknown']:,} files are of no format known here: only opened")
    if expected:
        listed = {os.path.realpath(each.path) for each in expected}
        beside = sum(os.path.realpath(path) not in listed for path in files)
        if beside:
            lines.append(f"{beside:,} files are not in the manifest")
    if found.unlisted:
        lines.append(f"{found.unlisted:,} problems are not shown; --output keeps them all")
    return "\n".join(lines)
