"""What the user's own code allocates ends in a MemoryError at its line, whatever allocates it.

Each program runs in a fresh interpreter behind a memory cgroup, where the kernel kills what goes
beyond.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.ceiling.harness import MIB, ROOT, Group, entrance


def run(program: str, limit: int, folder: Path, *, seconds: float = 100) -> tuple[int, str, int]:
    """Exit code, what it wrote, and how many processes the kernel killed."""
    group = Group.make(limit)
    if group is None:
        pytest.skip("no memory cgroup to be had here")
    path = folder / "program.py"
    path.write_text("import numpy as np\nimport spillway as sw\n" + textwrap.dedent(program))
    try:
        done = subprocess.run(
            [sys.executable, str(path)],
            cwd=folder,
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT / "python"), "HOME": str(folder)},
            preexec_fn=entrance(group, limit),
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr, group.kills()
    finally:
        group.close()


# What each program must be told: its line, and what it grew by.
GROWING = {
    "arrays in a list": ("kept = []\nwhile True:\n    kept.append(np.ones(250_000))", "line 5"),
    "small arrays in a list": ("kept = [np.ones(900) for _ in range(10**7)]", "line 3"),
    "arrays touched late": (
        "a = np.zeros(50_000_000)\nb = np.zeros(50_000_000)\na += 1\nb += 1",
        "line 4",
    ),
    "strings in a list": (
        "kept = []\nfor i in range(10**9):\n    kept.append('%d is a row of text' % i)",
        "line 5",
    ),
    "a loop inside of C code": ("kept = ('ab ' * 50_000_000).split()", "line 3"),
    "a string that doubles": ("kept = 'x' * 1000\nwhile True:\n    kept += kept", "line 5"),
    "one object that is too large": ("kept = bytearray(10**12)", "line 3"),
    "a dictionary": ("kept = {}\nfor i in range(10**9):\n    kept[i] = (i, i)", "line 5"),
    "a recursion that keeps": (
        "def grow(n):\n    kept = np.ones(1_000_000)\n    return grow(n + 1) + kept\n"
        "import sys\nsys.setrecursionlimit(10**6)\ngrow(0)",
        "line 4",
    ),
}


@pytest.mark.cgroup
@pytest.mark.parametrize("name", list(GROWING))
def test_what_grows_beyond_the_container_ends_at_its_line(name: str, tmp_path: Path) -> None:
    program, line = GROWING[name]
    code, said, kills = run(program, 768 * MIB, tmp_path)
    assert (code, kills) == (1, 0), said
    assert "MemoryError" in said or "BudgetError" in said, said
    assert line in said, said
    assert "768 MiB" in said and "allows" in said, said


@pytest.mark.cgroup
def test_frames_of_pandas_that_are_kept_end_at_their_line(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    program = """\
    import pandas as pd
    kept = []
    while True:
        kept.append(pd.DataFrame({"a": np.arange(130_000), "b": 1.5, "c": 2}))
    """
    code, said, kills = run(program, 768 * MIB, tmp_path)
    assert (code, kills) == (1, 0), said
    assert "line 6" in said and "kept (list of" in said, said


@pytest.mark.cgroup
def test_after_an_error_the_memory_is_there_again(tmp_path: Path) -> None:
    program = """\
    for attempt in range(4):
        kept = []
        try:
            while True:
                kept.append(['row %d' % i for i in range(1000)])
        except MemoryError as error:
            del kept
    kept = np.ones(50_000_000)
    print("in the end", kept.sum())
    """
    code, said, kills = run(program, 768 * MIB, tmp_path)
    assert (code, kills) == (0, 0), said
    assert "in the end 50000000.0" in said


@pytest.mark.cgroup
def test_a_thread_that_grows_is_the_one_that_is_stopped(tmp_path: Path) -> None:
    program = """\
    import threading
    ended = []
    def fill():
        kept = []
        try:
            while True:
                kept.append('x' * 500)
        except MemoryError as error:
            ended.append(str(error))
    worker = threading.Thread(target=fill)
    worker.start()
    worker.join()
    print("stopped", len(ended), "main goes on")
    """
    code, said, kills = run(program, 512 * MIB, tmp_path)
    assert (code, kills) == (0, 0), said
    assert "stopped 1 main goes on" in said


@pytest.mark.cgroup
def test_our_idle_memory_makes_room_for_an_array(tmp_path: Path) -> None:
    program = """\
    from spillway import _native
    ds = sw.Dataset.range(60).map(lambda i: np.full(600_000, float(i)))
    for batch in ds.batch(12):
        pass
    del batch
    idle = sum(row["held"] for row in sw.memory().rows if row["name"] == "idle slabs")
    kept = np.ones((512 - 110) * (1 << 20) // 8)
    print("idle before", idle > 0, "kept", kept.nbytes >> 20)
    """
    code, said, kills = run(program, 512 * MIB, tmp_path)
    assert (code, kills) == (0, 0), said
    assert "idle before True kept 402" in said, said


@pytest.mark.cgroup
def test_work_at_nine_tenths_of_the_container_is_left_alone(tmp_path: Path) -> None:
    program = """\
    import json
    from spillway import _native
    held = []
    while _native.room()["used"] < 0.86 * (768 << 20):
        held.append(np.ones(100_000))
    for _ in range(60):
        rows = [{"id": i, "name": str(i)} for i in range(20_000)]
        text = json.dumps(rows)
        assert json.loads(text) == rows
        parts = [np.random.rand(50_000) for _ in range(20)]
        total = sum(part.sum() for part in parts)
    print("alarms", _native.room()["alarms"])
    """
    code, said, kills = run(program, 768 * MIB, tmp_path)
    assert (code, kills) == (0, 0), said
    assert "alarms 0" in said


def test_without_the_guard_nothing_is_installed() -> None:
    program = "import spillway, resource; print(resource.getrlimit(resource.RLIMIT_DATA)[0])"
    environment = {"PYTHONPATH": str(ROOT / "python"), "SPILLWAY_GUARD": "0", "PATH": "/bin"}
    said = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert int(said.stdout) == -1, said.stdout


def test_a_started_program_does_not_inherit_the_limit() -> None:
    program = """\
    import resource, subprocess, sys, time
    import spillway
    until = time.monotonic() + 10
    while resource.getrlimit(resource.RLIMIT_DATA)[0] == -1:
        assert time.monotonic() < until, "the guardian never set it"
    ask = "import resource; print(resource.getrlimit(resource.RLIMIT_DATA)[0])"
    print(subprocess.run([sys.executable, "-S", "-c", ask], capture_output=True, text=True).stdout)
    """
    environment = {"PYTHONPATH": str(ROOT / "python"), "PATH": "/usr/bin:/bin"}
    said = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert said.stdout.split() == ["-1"], said.stdout + said.stderr
