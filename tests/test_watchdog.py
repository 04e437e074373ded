"""User code that hangs in this process: reported while it lasts, with its exact line."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def environment(cache: Path, **more: str) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "python")]),
        "SPILLWAY_CACHE_DIR": str(cache),
        **more,
    }


def stalled(tmp_path: Path, program: str, wanted: list[str], times: int = 2) -> str:
    """Standard error of a program that hangs, once every text was seen so often in it."""
    script = tmp_path / "hang.py"
    script.write_text(textwrap.dedent(program))
    begun = time.monotonic()
    with subprocess.Popen(
        [sys.executable, str(script)],
        env=environment(tmp_path, SPILLWAY_REPORT_AFTER="0.2"),
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stderr is not None
        said = ""
        try:
            for line in process.stderr:
                said += line
                if all(said.count(text) >= times for text in wanted):
                    return said
                assert time.monotonic() - begun < 500, said
        finally:
            process.kill()
    raise AssertionError(f"it ended:\n{said}")


HANGS = {
    "sleep": "time.sleep(3600)",
    "loop": "while True: pass",
    "c_code_with_the_gil": "ctypes.PyDLL(None).sleep(3600)",
    "lock": "lock.acquire()",
    "read": "os.read(pipe, 1)",
}


@pytest.mark.parametrize("name", list(HANGS))
def test_a_generator_that_hangs_is_reported_with_its_line_again_and_again(
    tmp_path: Path, name: str
) -> None:
    program = f"""\
        import ctypes, os, threading, time
        import spillway as sw

        lock = threading.Lock()
        lock.acquire()
        pipe = os.pipe()[0]

        def numbers():
            for i in range(10):
                if i == 3:
                    {HANGS[name]}
                yield i

        for x in sw.Dataset.from_generator(numbers):
            pass
        """
    said = stalled(tmp_path, program, ["on element 3", "line 11 in numbers", "hang.py:14"])
    assert "from_generator#0" in said


def test_an_async_generator_that_hangs_is_reported_with_the_await_it_is_in(tmp_path: Path) -> None:
    program = """\
        import asyncio
        import spillway as sw

        async def answer():
            await asyncio.get_running_loop().create_future()

        async def numbers():
            yield 0
            yield await answer()

        for x in sw.Dataset.from_generator(numbers):
            pass
        """
    stalled(
        tmp_path,
        program,
        ["on element 1", "line 5 in answer: await", "line 9 in numbers: yield await answer()"],
    )


def test_a_function_that_hangs_is_reported_with_its_element(tmp_path: Path) -> None:
    program = """\
        import time
        import spillway as sw

        def slow(x):
            if int(x) == 37:
                time.sleep(3600)
            return int(x)

        list(sw.Dataset.range(100).map(slow))
        """
    said = stalled(tmp_path, program, ["map#1 (slow)", "element 37", "line 6 in slow"])
    assert "time.sleep(3600)" in said
    assert "hang.py:9" in said


def test_calls_that_hang_side_by_side_are_one_report(tmp_path: Path) -> None:
    program = """\
        import threading
        import spillway as sw

        never = threading.Event()

        def slow(x):
            if int(x) >= 3:
                never.wait()
            return int(x)

        list(sw.Dataset.range(100).map(slow, num_parallel_calls=4))
        """
    stalled(tmp_path, program, ["map#1 (slow)", "line 8 in slow", "more calls"])


STORE = """\
import threading
import fsspec
import spillway.tf as tf

class Stuck(fsspec.AbstractFileSystem):
    protocol = "stuck"

    def info(self, path, **kwargs):
        if path.endswith("lost.txt"):
            threading.Event().wait()
        return {"name": path, "size": 100, "type": "file"}

    def cat_file(self, path, **kwargs):
        threading.Event().wait()

fsspec.register_implementation("stuck", Stuck)
"""


def test_a_read_that_does_not_come_back_names_the_file(tmp_path: Path) -> None:
    program = STORE + 'list(tf.data.TextLineDataset("stuck://store/slow.txt"))'
    said = stalled(tmp_path, program, ["a read of stuck://store/slow.txt at byte 0", "hang.py"])
    assert "in cat_file" in said


def test_a_consumer_for_whom_nothing_moves_is_told_how_far_the_stages_are(tmp_path: Path) -> None:
    program = STORE + 'list(tf.data.TextLineDataset("stuck://store/lost.txt").batch(2))'
    said = stalled(tmp_path, program, ["nothing moves", "rows so far", "in info"])
    assert "batch#1: 0 in, 0 out" in said


def test_the_reports_of_a_worker_are_not_doubled(tmp_path: Path) -> None:
    program = """\
        import spillway as sw

        def slow(x):
            import time
            time.sleep(3600)

        list(sw.Dataset.range(10).map(slow, isolate=True))
        """
    said = stalled(tmp_path, program, ["has worked on element 0"])
    assert "your code has worked" not in said


def test_what_comes_back_is_not_reported(tmp_path: Path) -> None:
    script = tmp_path / "fine.py"
    script.write_text(
        textwrap.dedent(
            """\
            import time
            import spillway as sw

            def slow(x):
                time.sleep(0.05)
                return int(x)

            assert len(list(sw.Dataset.range(100).map(slow).batch(100))) == 1
            """
        )
    )
    done = subprocess.run(
        [sys.executable, str(script)],
        env=environment(tmp_path, SPILLWAY_REPORT_AFTER="4"),
        capture_output=True,
        text=True,
        check=True,
        timeout=500,
    )
    assert done.stderr == ""


def test_the_watchdogs_thread_ends_when_nothing_runs(tmp_path: Path) -> None:
    program = """\
        import os, time
        import spillway as sw

        list(sw.Dataset.range(10).map(lambda x: print(end="") or x))
        end = time.monotonic() + 300
        while len(os.listdir("/proc/self/task")) > before and time.monotonic() < end:
            time.sleep(0.05)
        assert len(os.listdir("/proc/self/task")) <= before
        """
    program = program.replace(
        "import spillway as sw\n",
        "import spillway as sw\n        before = len(os.listdir('/proc/self/task'))\n",
    )
    subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env=environment(tmp_path),
        check=True,
        timeout=500,
    )
