"""The flight recorder: what a process that died was doing, told by the next one."""

from __future__ import annotations

import os
import random
import signal
import stat
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import spillway as sw
from spillway import _native, flight_report
from tests.ceiling.harness import MIB, Group

ROOT = Path(__file__).resolve().parents[1]
IMPORT = [sys.executable, "-c", "import spillway"]

KILLED = """\
    import os, signal
    import numpy as np
    import spillway as sw

    def work(x):
        if int(x) == 700:
            kill()
        return int(x)

    def kill():
        import time
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGKILL)

    for batch in sw.Dataset.range(1000).map(work).shuffle(100).batch(10):
        pass
    """


def environment(cache: Path, **more: str) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "python")]),
        "SPILLWAY_CACHE_DIR": str(cache),
        "SPILLWAY_FLIGHT_RECORDER": "1",
        **more,
    }


def run(
    cache: Path, program: str, unguarded: bool = False, **more: Any
) -> subprocess.CompletedProcess[str]:
    script = cache / "train.py"
    script.write_text(textwrap.dedent(program))
    return subprocess.run(
        [sys.executable, str(script)],
        env=environment(cache) | ({"SPILLWAY_GUARD": "0"} if unguarded else {}),
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
        **more,
    )


def imported(cache: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Without a command: the program that ran there is started again, and imports us."""
    script = cache / "train.py"
    if not command and script.exists():
        script.write_text("import spillway\n")
        command = (sys.executable, str(script))
    return subprocess.run(
        command or IMPORT,
        env=environment(cache),
        capture_output=True,
        text=True,
        timeout=500,
        check=True,
    )


def records(cache: Path) -> list[Path]:
    return sorted((cache / "spillway" / "flight").glob("*"))


@pytest.fixture
def dead(tmp_path: Path) -> Path:
    """A cache with the record of a process that was killed in the middle of a map."""
    done = run(tmp_path, KILLED)
    assert done.returncode == -signal.SIGKILL, done.stderr
    return tmp_path


def test_the_next_import_tells_in_three_lines_and_only_once(dead: Path) -> None:
    said = imported(dead).stderr
    lines = said.splitlines()
    assert len(lines) == 3, said
    assert "map#1 (work)" in lines[0]
    assert "train.py:15" in lines[0]
    assert "element 700" in lines[0]
    assert lines[1].startswith("  memory: pipelines held ")
    assert "cause:" in lines[2]
    assert imported(dead).stderr == ""


def test_another_program_is_not_told(dead: Path) -> None:
    assert imported(dead, *IMPORT).stderr == ""
    other = dead / "other"
    other.mkdir()
    (other / "train.py").write_text("import spillway\n")
    assert imported(dead, sys.executable, str(other / "train.py")).stderr == ""
    assert "map#1 (work)" in imported(dead).stderr
    assert imported(dead).stderr == ""


def test_a_death_between_two_elements_names_the_last_one_and_its_file(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text("x\n" * 30)
    done = run(
        tmp_path,
        f"""\
        import os, signal
        import spillway.tf as tf

        files = tf.data.TextLineDataset({[str(tmp_path / f"{name}.txt") for name in "ab"]})
        for i, line in enumerate(files.map(lambda x: x)):
            if i == 41:
                os.kill(os.getpid(), signal.SIGKILL)
        """,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    (first, *_) = imported(tmp_path).stderr.splitlines()
    assert "it was in your own code, after element 41 of map#1" in first
    assert "train.py:5" in first and first.endswith(f"from {tmp_path}/b.txt"), first
    shown = imported(tmp_path, sys.executable, "-m", "spillway", "postmortem").stdout
    assert "what it was at: your own code, after element 41 of map#1" in shown


def test_a_death_behind_a_pass_names_no_element(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        """\
        import os, signal
        import spillway as sw

        open_pass = iter(sw.Dataset.range(3))
        list(sw.Dataset.range(30))
        os.kill(os.getpid(), signal.SIGKILL)
        """,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert "your own code, between two elements" in imported(tmp_path).stderr


def test_the_command_shows_it_whole(dead: Path) -> None:
    command = [sys.executable, "-m", "spillway", "postmortem"]
    first = imported(dead, *command).stdout
    assert imported(dead, *command).stdout == first
    assert "element 700: map#1 (work)" in first
    assert "train.py" in first
    assert "# pipelines" in first
    assert "cause: unknown" in first or "cause: probably" in first


def test_a_clean_exit_leaves_no_file(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        """\
        import os, sys
        import spillway as sw
        from spillway import _native

        it = iter(sw.Dataset.range(10).map(lambda x: print(end="") or x))
        next(it)
        assert os.path.exists(_native.flight_path())
        sys.exit(3)
        """,
    )
    assert done.returncode == 3, done.stderr
    assert records(tmp_path) == []
    assert (
        "no process died"
        in imported(tmp_path, sys.executable, "-m", "spillway", "postmortem").stdout
    )


def test_an_import_alone_makes_no_folder(tmp_path: Path) -> None:
    imported(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_ran_any_more_there_is_nothing_to_tell(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        """\
        import os
        import spillway as sw

        list(sw.Dataset.range(10).map(lambda x: print(end="") or x))
        os._exit(0)
        """,
    )
    assert done.returncode == 0, done.stderr
    assert len(records(tmp_path)) == 1
    assert imported(tmp_path).stderr == ""
    assert records(tmp_path) == []


WAITING = """\
    import sys
    import spillway as sw

    it = iter(sw.Dataset.range(10).map(lambda x: print(end="") or x))
    next(it)
    print("ready", flush=True)
    sys.stdin.read()
    """


def started(cache: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(WAITING)],
        env=environment(cache),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_two_processes_do_not_disturb_one_another(tmp_path: Path) -> None:
    one, two = started(tmp_path), started(tmp_path)
    assert len(records(tmp_path)) == 2
    assert imported(tmp_path).stderr == ""
    one.kill()
    one.communicate()
    said = imported(tmp_path).stderr
    assert f"pid {one.pid}" in said
    assert "your own code" in said  # between two elements
    assert len(records(tmp_path)) == 2  # the other's, and the last
    two.communicate()
    assert two.returncode == 0
    assert [path.name for path in records(tmp_path)] == ["last"]


def test_files_and_folder_are_the_users_alone(dead: Path) -> None:
    assert stat.S_IMODE((dead / "spillway" / "flight").stat().st_mode) == 0o700
    (record,) = records(dead)
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    assert record.stat().st_size <= 256 * 1024


def test_a_forked_child_neither_removes_nor_writes_the_record(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        """\
        import os, sys
        import spillway as sw
        from spillway import _native

        def work(x):
            if int(x) == 3:
                child = os.fork()
                if child == 0:
                    return int(x)
                assert os.waitpid(child, 0)[1] == 0
            if int(x) == 5:
                os.kill(os.getpid(), 9)
            return int(x)

        parent = os.getpid()
        try:
            for x in sw.Dataset.range(10).map(work):
                pass
        except sw.errors.SpillwayError:
            assert os.getpid() != parent
        assert os.getpid() != parent
        _native.end_flight()
        """,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert "element 5" in imported(tmp_path).stderr


def test_a_child_of_multiprocessing_ends_without_a_word(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        """\
        import multiprocessing
        import spillway as sw

        def child():
            it = iter(sw.Dataset.range(10).map(lambda x: print(end="") or x))
            next(it)
            globals()["kept"] = it

        if __name__ == "__main__":
            for method in ("forkserver", "spawn"):
                process = multiprocessing.get_context(method).Process(target=child)
                process.start()
                process.join()
                assert process.exitcode == 0
        """,
    )
    assert done.returncode == 0, done.stderr
    assert records(tmp_path) == []


def test_workers_are_told_of_in_the_notebooks_record(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        """\
        import os, signal
        import spillway as sw

        def work(x):
            import os, signal, time
            if int(x) == 7:
                os.kill(notebook, signal.SIGKILL)
                time.sleep(60)
            return int(x)

        notebook = os.getpid()
        list(sw.Dataset.range(100).map(work, isolate=True))
        """,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    said = imported(tmp_path).stderr
    assert "worker process" in said
    assert "map#1 (work)" in said
    assert len(records(tmp_path)) == 1  # workers leave none of their own


def test_a_stall_that_was_reported_is_in_the_record(tmp_path: Path) -> None:
    script = tmp_path / "hang.py"
    script.write_text(
        textwrap.dedent(
            """\
            import time
            import spillway as sw

            def work(x):
                time.sleep(3600)

            list(sw.Dataset.range(10).map(work))
            """
        )
    )
    with subprocess.Popen(
        [sys.executable, str(script)],
        env=environment(tmp_path, SPILLWAY_REPORT_AFTER="0.2"),
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert "element 0" in process.stderr.readline()
        process.kill()
    shown = imported(tmp_path, sys.executable, "-m", "spillway", "postmortem").stdout
    assert "line 5 in work" in shown
    assert "s before the end:" in shown


def test_a_process_killed_for_memory_names_the_memory(tmp_path: Path) -> None:
    allowed = 400 * MIB
    group = Group.make(allowed)
    if group is None:
        pytest.skip("no memory cgroup to be had here")
    try:
        done = run(
            tmp_path,
            """\
            import numpy as np
            import spillway as sw

            kept = []

            def eat(x):
                import time
                while int(x) == 40:
                    kept.append(np.ones(1 << 19))  # 4 MiB that nobody counts
                    time.sleep(0.02)
                return int(x)

            with sw.configure(memory_limit="64MiB"):
                for x in sw.Dataset.range(10000).map(eat):
                    pass
            """,
            preexec_fn=group.enter,
            unguarded=True,
        )
        kills = group.kills()
    finally:
        group.close()
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert kills == 1
    said = imported(tmp_path).stderr
    assert "probably for want of memory" in said, said
    assert "element 40: map#1 (eat)" in said
    assert "the rest of the process" in said


def test_recording_costs_an_import_next_to_nothing(tmp_path: Path) -> None:
    program = """\
        import time
        import spillway
        from spillway import flight
        begun = time.process_time()  # of this process: a busy machine costs none
        for _ in range(100):
            flight.look()
        print((time.process_time() - begun) / 100)
        """
    done = imported(tmp_path, sys.executable, "-c", textwrap.dedent(program))
    assert float(done.stdout) < 0.001


# ---- Hostile records


def damaged(cache: Path, change: Callable[[bytearray], None]) -> Path:
    (record,) = records(cache)
    content = bytearray(record.read_bytes())
    change(content)
    record.write_bytes(content)
    return record


def fill(begin: int, end: int, byte: int) -> Callable[[bytearray], None]:
    def change(content: bytearray) -> None:
        content[begin:end] = bytes([byte]) * len(content[begin:end])

    return change


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content.__delitem__(slice(5000, None)),
        lambda content: content.extend(b"more"),
        fill(0, 8, 0x41),
        fill(0, 1 << 20, 0x41),
        lambda content: content.clear(),
    ],
    ids=["cut", "longer", "magic", "garbage", "empty"],
)
def test_what_is_no_record_is_removed_in_silence(
    dead: Path, change: Callable[[bytearray], None]
) -> None:
    damaged(dead, change)
    assert imported(dead).stderr == ""
    assert records(dead) == []


@pytest.mark.parametrize("byte", [0x00, 0x7F, 0x80, 0xFF, 0x1B])
def test_numbers_of_any_size_are_only_numbers(dead: Path, byte: int) -> None:
    damaged(dead, fill(16, 1 << 20, byte))
    done = imported(dead, sys.executable, "-m", "spillway", "postmortem")
    assert "\x1b" not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_damage_anywhere_never_ends_in_a_traceback(
    dead: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (record,) = records(dead)
    content = record.read_bytes()
    folder = str(record.parent)
    chance = random.Random(5)
    for _ in range(100):
        bad = bytearray(content)
        for _ in range(300):
            bad[chance.randrange(16, len(bad))] = chance.randrange(256)
        (record.parent / "last").write_bytes(bad)
        found = _native.last_flight(folder)
        assert isinstance(found, dict)
        shown = flight_report.Postmortem(found)
        for text in (repr(shown), shown.three_lines()):
            assert all(c.isprintable() or c == "\n" for c in text)
        assert "<script" not in shown._repr_html_()


def test_texts_are_shown_to_terminals_and_browsers_as_text(dead: Path) -> None:
    def inject(content: bytearray) -> None:
        evil = b"\x1b[2J\x07<script>alert(1)</script>\nmap#1"
        at = content.index(b"map#1 (work)")
        content[at : at + len(evil)] = evil

    record = damaged(dead, inject)
    done = imported(dead)
    assert "\x1b" not in done.stderr
    assert len(done.stderr.splitlines()) == 3
    found = _native.last_flight(str(record.parent))
    assert isinstance(found, dict)
    html = flight_report.Postmortem(found)._repr_html_()
    assert "<script" not in html
    assert "\x1b" not in html


def test_links_are_not_followed_and_nothing_else_is_touched(dead: Path) -> None:
    (record,) = records(dead)
    target = dead / "elsewhere"
    target.write_bytes(record.read_bytes())
    record.unlink()
    record.symlink_to(target)
    (record.parent / "last").symlink_to(target)
    done = imported(dead, sys.executable, "-m", "spillway", "postmortem")
    assert done.stderr == ""
    assert "no process died" in done.stdout
    assert target.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_another_users_record_is_left_alone(dead: Path) -> None:
    (record,) = records(dead)
    os.chown(record, 12345, 12345)
    assert imported(dead).stderr == ""
    assert records(dead) == [record]


def test_recording_can_be_turned_off(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(WAITING)],
        env=environment(tmp_path, SPILLWAY_FLIGHT_RECORDER="0"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=500,
        check=True,
    )
    assert done.stdout == "ready\n"
    assert list(tmp_path.iterdir()) == []


def test_where_no_folder_can_be_written_everything_else_works(tmp_path: Path) -> None:
    cache = tmp_path / "file"
    cache.write_text("no folder")
    program = textwrap.dedent(WAITING).replace("sys.stdin.read()", "print(sw.postmortem())")
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment(cache),
        capture_output=True,
        text=True,
        timeout=500,
        check=True,
    )
    assert done.stdout.startswith("ready\nno process died here")
    assert "not recorded: " in done.stdout


def test_a_recorders_verdict_claims_no_more_than_it_knows() -> None:
    snapshot = {"ago": 0.1, "own": 95, "container_used": 0, "container": 100, "oom_kills": 1}
    facts = {"boot": "b", "cgroup": "/g", "oom_kills": 0, "memory": [snapshot]}
    cause = flight_report._cause
    assert "probably the OOM killer" in cause(facts, ("/g", 2, "b"))
    assert "did not kill" in cause(facts, ("/g", 1, "b"))
    assert "probably for want of memory" in cause(facts, ("/other", 9, "b"))
    assert "machine" in cause(facts, ("/g", 1, "c"))
    growing = [
        {**snapshot, "own": own, "ago": ago} for own, ago in ((20, 0.4), (45, 0.2), (70, 0.0))
    ]
    assert "growing by" in cause({**facts, "memory": growing}, ("/other", 9, "b"))
    roomy = {**facts, "memory": [{**snapshot, "own": 5}]}
    assert cause(roomy, ("/other", 9, "b")).startswith("cause: unknown")


def test_this_process_is_not_recorded_under_test() -> None:
    list(sw.Dataset.range(3))
    assert _native.flight_path() == ""
    assert "turned off" in repr(sw.postmortem())
