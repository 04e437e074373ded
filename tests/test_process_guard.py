"""What the user's own code allocates ends in a MemoryError at its line, whatever allocates it.

Each program runs in a fresh interpreter behind a memory cgroup, where the kernel kills what goes
beyond.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.ceiling.harness import MIB, ROOT, Group, entrance


def run(
    program: str, limit: int, folder: Path, *, seconds: float = 500, first: str = ""
) -> tuple[int, str, int]:
    """Exit code, what it wrote, and how many processes the kernel killed.

    `first` stands before the program, and before its import of spillway.
    """
    group = Group.make(limit)
    if group is None:
        pytest.skip("no memory cgroup to be had here")
    path = folder / "program.py"
    imports = f"import numpy as np; {first}\nimport spillway as sw\n"
    path.write_text(imports + textwrap.dedent(program))
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
    "shared memory": (
        "import mmap\nkept = [mmap.mmap(-1, 1 << 28) for _ in range(4)]\n"
        "for each in kept:\n    for _ in range(256):\n        each.write(b'x' * (1 << 20))",
        "line 7",
    ),
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
def test_an_error_inside_of_a_generator_is_explained_as_well(tmp_path: Path) -> None:
    program = """\
    kept = []
    def rows():
        while True:
            kept.append(np.frombuffer(bytes(7_712_528), "f4"))
            yield kept[-1]
    ds = sw.Dataset.from_generator(rows, output_signature=sw.TensorSpec((None,), "float32"))
    n = sum(1 for _ in ds.prefetch(2))
    """
    code, said, kills = run(program, 384 * MIB, tmp_path)
    assert (code, kills) == (1, 0), said
    assert "UserFunctionError[MemoryError]" in said, said
    assert "of the 384 MiB that the container allows" in said and "largest: kept (list" in said, (
        said
    )


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
def test_our_cache_makes_room_for_an_array(tmp_path: Path) -> None:
    program = """\
    ds = sw.Dataset.range(80).map(lambda i: np.full(300_000, float(i))).cache()
    for each in ds:
        pass
    held = sw.memory().used
    kept = np.ones((512 - 110) * (1 << 20) // 8)
    print("held before", held > 120 << 20, "kept", kept.nbytes >> 20, sum(1 for _ in ds))
    """
    code, said, kills = run(program, 512 * MIB, tmp_path)
    assert (code, kills) == (0, 0), said
    assert "held before True kept 402 80" in said, said


@pytest.mark.cgroup
def test_work_near_the_limit_does_not_read_every_mapping_again_and_again(tmp_path: Path) -> None:
    program = """\
    import json
    from spillway import _native
    held = []
    while _native.room()["used"] < 0.94 * (768 << 20):  # each is a close look
        held.append(b"x" * 3_000_000)
    before = _native.room()["close_looks"]
    allocations = 0
    for _ in range(300):
        blocks = [bytes(20_000) for _ in range(100)]
        allocations += len(blocks)
    looks = _native.room()["close_looks"] - before
    print("seldom", looks < allocations / 50, looks, allocations)
    """
    code, said, kills = run(program, 768 * MIB, tmp_path)
    assert (code, kills) == (0, 0), said
    assert "seldom True" in said, said


@pytest.mark.cgroup
@pytest.mark.parametrize("size", [300_000, 3_000_000, 30_000_000])
def test_arrays_that_nobody_has_written_to_count_as_allocated(size: int, tmp_path: Path) -> None:
    program = f"""\
    import numpy as np
    import spillway
    held = []
    try:
        while len(held) * {size} < 2 * (512 << 20):
            held.append(np.zeros({size}, np.uint8))
    except MemoryError as error:
        print("refused", len(held) * {size} < (512 << 20), "does not fit" in str(error))
    for array in held:
        array += 1
    print("touched")
    """
    code, said, kills = run(program, 512 * MIB, tmp_path)
    assert (code, kills) == (0, 0), said
    assert "refused True True" in said and "touched" in said, said


@pytest.mark.cgroup
def test_a_full_container_lets_libraries_start_a_thread(tmp_path: Path) -> None:
    """ZeroMQ and OpenMP abort the process where they get none."""
    program = """\
    import ctypes
    libc = ctypes.CDLL(None)
    begin = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(lambda given: None)
    kept = []
    try:
        while True:
            kept.append(bytes(50_000))
    except MemoryError:
        pass
    threads = [ctypes.c_ulong() for _ in range(3)]
    failed = [libc.pthread_create(ctypes.byref(each), None, begin, None) for each in threads]
    for each, code in zip(threads, failed):
        if code == 0:
            libc.pthread_join(each, None)
    print("started", failed)
    """
    code, said, kills = run(program, 768 * MIB, tmp_path)
    assert (code, kills) == (0, 0), said
    assert "started [0, 0, 0]" in said, said


@pytest.mark.cgroup
def test_after_an_error_the_next_lines_have_what_they_need(tmp_path: Path) -> None:
    """What filled memory is kept, so nothing is free but what the guardian keeps."""
    program = """\
    kept = []
    for attempt in range(3):
        try:
            while True:
                kept.append('x' * 1986)
        except MemoryError as error:
            sw._native.error_is_told()
    for i in range(200):
        exec(compile("made = [str(j) for j in range(%d)]" % (100 + i), "<cell>", "exec"))
    print("compiled and ran")
    """
    code, said, kills = run(program, 768 * MIB, tmp_path)
    assert (code, kills) == (0, 0), said
    assert "compiled and ran" in said, said


@pytest.mark.cgroup
def test_what_a_notebook_does_between_two_cells_is_not_refused(tmp_path: Path) -> None:
    """It is code of a library without any of the user's around it, and does not survive that."""
    library = tmp_path / "library"
    library.mkdir()
    (library / "between_cells.py").write_text(
        textwrap.dedent("""\
        import queue, threading
        orders, answers = queue.SimpleQueue(), queue.SimpleQueue()
        def serve():
            while True:
                many = orders.get()
                try:
                    answers.put([str(j) * 10 for j in range(many)][-1])
                except MemoryError as error:
                    answers.put(error)
        threading.Thread(target=serve, daemon=True).start()
        """)
    )
    program = f"""\
    import sys, time, threading
    from spillway import guardian, memory_errors
    sys.path.insert(0, {str(library)!r})
    from between_cells import orders, answers
    libraries, tellers = [{str(library)!r}, threading.__file__], [guardian, memory_errors]
    sw._native.set_library_files(libraries, [each.__file__ for each in tellers])
    kept = []
    def fill():
        while True:
            kept.append("%01900d" % len(kept))
    for attempt in range(40):  # until nothing small is given any more
        try:
            fill()
        except MemoryError:
            time.sleep(0.05)
    try:
        mine = [str(j) * 10 for j in range(30_000)]
    except MemoryError:
        mine = None
    orders.put(30_000)
    answer = None
    while answer is None:
        try:
            answer = answers.get()
        except MemoryError:  # the one who waits may be stopped for it
            continue
    print("mine", mine, "library's", answer)
    """
    code, said, kills = run(program, 256 * MIB, tmp_path)
    assert (code, kills) == (0, 0), said
    assert "mine None library's 29999299992999929999" in said, said


@pytest.mark.cgroup
def test_a_child_that_fills_the_container_is_killed_and_not_its_parent(tmp_path: Path) -> None:
    program = """\
    import subprocess, sys
    kept = np.ones((600 << 20) // 8)  # more than the child will ever hold
    fill = "x = []\\nwhile True: x.append(bytearray(b'x') * 100_000)"
    child = subprocess.run([sys.executable, "-S", "-c", fill])
    print("parent lives, child", child.returncode)
    """
    code, said, kills = run(program, 768 * MIB, tmp_path)
    assert (code, kills) == (0, 1), said
    assert "parent lives, child -9" in said, said


@pytest.mark.cgroup
@pytest.mark.parametrize(("held", "offered"), [(600, True), (100, False)])
def test_a_forked_child_dies_first_from_its_first_moment_on(
    held: int, offered: bool, tmp_path: Path
) -> None:
    """It may fill what is left before anybody looks at it; where much is left nobody has to die."""
    program = f"""\
    import os, time
    kept = np.ones(({held} << 20) // 8)
    def score_of_a_child():
        ends = os.pipe()
        child = os.fork()
        if child == 0:
            with open("/proc/self/oom_score_adj") as file:
                os.write(ends[1], file.read().encode())
            os._exit(0)
        os.waitpid(child, 0)
        return int(os.read(ends[0], 20))
    own = int(open("/proc/self/oom_score_adj").read())
    for attempt in range(500 if {offered} else 20):  # until the guardian has looked
        score = score_of_a_child()
        if score != own:
            break
        time.sleep(0.02)
    print("offered", score == 1000 and own != 1000, "own", own)
    """
    code, said, kills = run(program, 768 * MIB, tmp_path)
    assert (code, kills) == (0, 0), said
    assert f"offered {offered}" in said, said


@pytest.mark.cgroup
def test_work_at_nine_tenths_of_the_container_is_left_alone(tmp_path: Path) -> None:
    program = """\
    import json
    from spillway import _native
    held = []
    while _native.room()["used"] < 0.86 * (768 << 20):  # a close look each: not for every array
        held += [np.ones(100_000) for _ in range(5)]
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


MIXED = """\
import importlib.util, io, json, os, sys, time
from spillway import _native
have = {name: importlib.util.find_spec(name) is not None
        for name in ("pandas", "torch", "sklearn", "tensorflow", "pyarrow")}
if have["pandas"]:
    import pandas as pd
if have["torch"]:
    import torch
    model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 1))
    step = torch.optim.Adam(model.parameters())
if have["sklearn"]:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
if have["tensorflow"]:
    import tensorflow as tensorflow
rng = np.random.default_rng(1)

def with_numpy():
    parts = [rng.random(100_000) for _ in range(20)]
    return np.sort(np.concatenate(parts))[::1000].sum()

def with_python():
    rows = [{"id": i, "name": str(i)} for i in range(20_000)]
    return len(json.loads(json.dumps(rows)))

def with_pandas():
    left = pd.DataFrame({"k": rng.integers(0, 500, 40_000), "x": rng.random(40_000)})
    right = pd.DataFrame({"k": np.arange(500), "y": [f"text {i}" for i in range(500)]})
    both = left.merge(right, on="k").groupby("y").x.mean()
    return pd.read_csv(io.StringIO(both.to_csv())).x.sum()

def with_torch():
    for _ in range(10):
        x = torch.randn(512, 64)
        loss = ((model(x)[:, 0] - x.sum(1)) ** 2).mean()
        step.zero_grad()
        loss.backward()
        step.step()
    return float(loss)

def with_sklearn():
    x = rng.random((2000, 10))
    y = x.sum(1) > 5
    trees, line = RandomForestClassifier(10).fit(x, y), LogisticRegression().fit(x, y)
    return trees.score(x, y) + line.score(x, y)

def with_tensorflow():
    x = tensorflow.random.normal([200, 200])
    return float(tensorflow.reduce_sum(tensorflow.linalg.matmul(x, x)))

def with_spillway():
    ds = sw.Dataset.range(200).map(lambda i: np.full(20_000, float(i))).shuffle(50, seed=1).batch(8)
    return sum(float(each.mean()) for each in ds.prefetch(2))

work = [with_numpy, with_python, with_spillway]
for name, one in (("pandas", with_pandas), ("torch", with_torch), ("sklearn", with_sklearn),
                  ("tensorflow", with_tensorflow)):
    if have[name]:
        work.append(one)
for one in work:
    one()  # what each needs is there from now on
limit = _native.room()["limit"]
held = []
while _native.room()["used"] < SHARE * limit:  # a close look each: not for every array
    held += [np.ones(100_000) for _ in range(10)]
began, rounds = time.monotonic(), 0
while rounds < ROUNDS or time.monotonic() - began < SECONDS:
    for one in work:
        one()
    rounds += 1
print("used", round(_native.room()["used"] / limit, 3), "rounds", rounds, "with", have)
print("alarms", _native.room()["alarms"])
"""


def mixed(share: float, rounds: int, seconds: float) -> str:
    """The program that works with everything that is installed."""
    text = MIXED.replace("SHARE", str(share)).replace("ROUNDS", str(rounds))
    return text.replace("SECONDS", str(seconds))


@pytest.mark.cgroup
def test_mixed_work_near_the_limit_raises_nothing(tmp_path: Path) -> None:
    code, said, kills = run(mixed(0.86, 2, 0), 2048 * MIB, tmp_path)
    assert (code, kills) == (0, 0), said
    assert "alarms 0" in said, said


@pytest.mark.soak
@pytest.mark.cgroup
@pytest.mark.timeout(4000)
def test_an_hour_of_mixed_work_at_nine_tenths_raises_nothing(tmp_path: Path) -> None:
    seconds = float(os.environ.get("SPILLWAY_SOAK_MIXED", "3600"))
    code, said, kills = run(mixed(0.88, 2, seconds), 2048 * MIB, tmp_path, seconds=seconds + 300)
    print(said)
    assert (code, kills) == (0, 0), said
    assert "alarms 0" in said, said


def test_what_arrays_hold_is_counted_whatever_becomes_of_them() -> None:
    """Within what is counted at once: the guardian is not told of each small array."""
    program = """\
    import random
    import numpy as np
    import spillway as sw
    chance = random.Random(7)
    before = sw._native.room()["arrays"]
    kept = []
    for _ in range(20_000):
        size = int(2 ** chance.uniform(0, 21))
        what = chance.choice((np.empty, np.zeros, "resize", "drop", "drop"))
        if callable(what):
            kept.append(what(size, np.uint8))
        elif kept and what == "drop":
            kept.pop(chance.randrange(len(kept)))
        elif kept:
            kept[chance.randrange(len(kept))].resize(size, refcheck=False)
    print(sum(each.nbytes for each in kept), sw._native.room()["arrays"] - before)
    kept.clear()
    print(0, sw._native.room()["arrays"] - before)
    """
    said = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env={"PYTHONPATH": str(ROOT / "python"), "PATH": "/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    for line in said.stdout.splitlines():
        held, counted = map(int, line.split())
        assert held - 512 * 1024 <= counted <= 1.01 * held + 512 * 1024, line


def test_without_the_guard_nothing_is_installed() -> None:
    program = """\
    import resource
    import numpy as np
    import spillway as sw
    sw.configure(threads=1)
    kept = np.ones(1 << 20)
    print(resource.getrlimit(resource.RLIMIT_DATA)[0], sw._native.room()["arrays"])
    """
    environment = {"PYTHONPATH": str(ROOT / "python"), "SPILLWAY_GUARD": "0", "PATH": "/bin"}
    said = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.split() == ["-1", "0"], said.stdout


def test_a_started_program_does_not_inherit_the_limit() -> None:
    program = """\
    import resource, subprocess, sys, time
    import spillway
    until = time.monotonic() + 300
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
        timeout=500,
    )
    assert said.stdout.split() == ["-1"], said.stdout + said.stderr
