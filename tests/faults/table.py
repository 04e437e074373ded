"""`python -m tests.faults.table [KEY...]`: stages faults and writes docs/faults.md.

`test_table` stages each again and compares what became of it with the page, times and sizes aside.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.ceiling.harness import Group
from tests.faults import anchors, cases
from tests.faults.fault import FAULTS, Fault, Unavailable
from tests.faults.processes import ROOT

PAGE = ROOT / "docs" / "faults.md"
SECONDS = 500.0
UNAVAILABLE = 77  # exit code of a process that could not stage its fault
BASE = 110 << 20  # the interpreter, NumPy, the module and what starts workers, twice
CLOCK = r"""
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static long asked;
int clock_gettime(clockid_t id, struct timespec* out) {
  int failed = (int)syscall(SYS_clock_gettime, id, out);
  if (!failed && id == CLOCK_REALTIME) {
    out->tv_sec += __atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED) / 50 % 2 ? 3600 : -3600;
  }
  return failed;
}
"""
HEAD = """# Faults of user code in processes, and what becomes of them

Each row is staged by a test (`tests/faults`), which keeps this page: `test_table.py` compares the
text, times and sizes aside; `python -m tests.faults.table` writes it. The first table follows the
list of faults that the design began with; the second has the same faults and sizes as the other
loaders were measured with, and the best of their lines beside ours.

Kills at random (row 15) and at every step of the protocol (row 16) are `tests/faults/test_soak.py`
and `test_steps.py`: nothing lost, nothing doubled, order and values those of the fault-free run.
`./run soak` does it 100,000 times over 5 million elements, and 100 times at every step.

"""


def verdict(fault: Fault) -> str:
    """What became of it, in a line. Raises `Unavailable` where it cannot be staged."""
    if not fault.alone:
        return fault.body()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "verdict"
        report.touch()
        command = [sys.executable, "-m", "tests.faults.table", "--one", fault.key, str(report)]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "python")]),
        }
        group = prepare(fault, command, environment, Path(folder))
        try:
            done = subprocess.run(
                command,
                cwd=ROOT,
                env=environment,
                preexec_fn=group.enter if group else None,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=None if fault.soak else SECONDS,
                check=False,
            )
        finally:
            if group:
                group.close()
        text = report.read_text()
        if done.returncode == UNAVAILABLE:
            raise Unavailable(text)
        if done.returncode or not text:
            raise AssertionError(f"exit code {done.returncode}: {done.stdout[-4000:]}")
        return text


def prepare(
    fault: Fault, command: list[str], environment: dict[str, str], folder: Path
) -> Group | None:
    """Puts around the command what the fault needs."""
    around = fault.alone
    if around == "cgroup":
        group = Group.make(BASE + (512 << 20))
        if group is None:
            raise Unavailable("no memory cgroup can be made here")
        return group
    if around in ("small shm", "no shm"):
        mount = "mount -t tmpfs -o size=64m none /dev/shm"
        if around == "no shm":
            mount = "mount -t tmpfs none /dev && mknod -m 666 /dev/null c 1 3"
        wrapped = ["unshare", "-m", "sh", "-c", f'{mount} && exec "$@"', "sh"]
        able = subprocess.run(
            [*wrapped, "true"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
        if able.returncode:
            raise Unavailable(f"no mounts of its own here: {able.stdout.decode().strip()}")
        command[:0] = wrapped
    if around == "clock":
        source, library = folder / "clock.c", folder / "clock.so"
        source.write_text(CLOCK)
        subprocess.run(
            ["cc", "-shared", "-fPIC", "-O1", str(source), "-o", str(library)], check=True
        )
        environment["LD_PRELOAD"] = str(library)
    return None


def line_of(fault: Fault, text: str) -> str:
    cells = [fault.key, fault.title, text.replace("|", "\\|")]
    if fault.best:
        cells.append(fault.best)
    return "| " + " | ".join(cells) + " |\n"


def lines_of(page: str) -> dict[str, str]:
    """What the page says of each fault."""
    out = {}
    for line in page.splitlines():
        cells = line.replace("\\|", "\0").split(" | ")
        key = cells[0].removeprefix("| ")
        if key in FAULTS:
            out[key] = cells[2].removesuffix(" |").replace("\0", "|")
    return out


def page_of(lines: dict[str, str]) -> str:
    rows = [line_of(f, lines[f.key]) for f in FAULTS.values() if not f.best and f.key in lines]
    ours = [line_of(f, lines[f.key]) for f in FAULTS.values() if f.best and f.key in lines]
    about = (anchors.__doc__ or "").split("\n", 2)[2].strip()
    list_head = "## The list\n\n| row | fault | what becomes of it |\n|---|---|---|\n"
    peers_head = (
        f"\n## Beside the other loaders\n\n{about}\n\n"
        "| | fault | Spillway | the best of the others |\n|---|---|---|---|\n"
    )
    return HEAD + list_head + "".join(rows) + peers_head + "".join(ours)


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--one"]:
        key, report = arguments[1:]
        try:
            Path(report).write_text(FAULTS[key].body())
        except Unavailable as reason:
            Path(report).write_text(str(reason))
            return UNAVAILABLE
        return 0
    lines: dict[str, str] = {}
    failed = 0
    for key, fault in FAULTS.items():
        if arguments and key not in arguments:
            continue
        try:
            lines[key] = verdict(fault)
            print(line_of(fault, lines[key]), end="", flush=True)
        except Unavailable as reason:
            print(f"{key}: not staged: {reason}", flush=True)
        except Exception as error:
            failed += 1
            print(f"{key}: {type(error).__name__}: {error}", flush=True)
    written = lines_of(PAGE.read_text()) if PAGE.exists() else {}
    PAGE.write_text(page_of(written | lines))
    return 1 if failed else 0


if __name__ == "__main__":
    assert cases
    sys.exit(main(sys.argv[1:]))
