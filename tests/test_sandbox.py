"""`sandbox=True`: decoders of strangers' files in a worker that can compute and read, no more."""

from __future__ import annotations

import os
import pickle
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw
from spillway import _native, tf
from spillway.guard import plain

pytestmark = pytest.mark.skipif(
    bool(_native.sandbox_refusal(False)), reason=_native.sandbox_refusal(False) or "possible"
)


# ---- Decoding


def jpeg(seed: int, size: int = 96) -> bytes:
    pixels = np.random.default_rng(seed).integers(0, 255, (size, size + 8, 3)).astype("uint8")
    return bytes(tf.io.encode_jpeg(pixels).numpy())


@pytest.fixture
def images(tmp_path: Path) -> list[str]:
    """Good ones, one cut short, one of noise, one whose header promises 65,500 x 65,500."""
    made = [jpeg(i) for i in range(6)]
    made[2] = made[2][: len(made[2]) // 3]
    made[3] = bytes(np.random.default_rng(9).integers(0, 255, 500).astype("uint8"))
    bomb = bytearray(made[4])
    at = bomb.index(b"\xff\xc0")
    bomb[at + 5 : at + 9] = b"\xff\xdc\xff\xdc"
    made[4] = bytes(bomb)
    paths = []
    for i, content in enumerate(made):
        path = tmp_path / f"{i}.jpg"
        path.write_bytes(content)
        paths.append(str(path))
    return paths


def decode(path: Any) -> Any:
    image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    return tf.image.resize(image, [32, 40])


def decode_as_python(path: Any) -> Any:
    import os

    os.getpid()
    return decode(path)


def outcomes(ds: sw.Dataset) -> list[Any]:
    """Each element as an array, or the class and kind of its error."""
    out: list[Any] = []
    it = iter(ds)
    while True:
        try:
            out.append(np.asarray(next(it)))
        except StopIteration:
            return out
        except sw.errors.SpillwayError as error:
            out.append((error.code, error.kind, error.index))


@pytest.mark.parametrize("function", [decode, decode_as_python])
@pytest.mark.parametrize("calls", [None, 2])
def test_good_damaged_and_forged_files_come_out_as_in_this_process(
    images: list[str], function: Any, calls: Any
) -> None:
    _native.end_idle_workers()
    before = _native.workers()["started"]
    ds = sw.Dataset.from_tensor_slices(np.array(images * 3, dtype=object))
    here = outcomes(ds.map(function, num_parallel_calls=calls))
    there = outcomes(ds.map(function, num_parallel_calls=calls, sandbox=True))
    assert _native.workers()["started"] > before
    assert len(here) == len(there) == 18
    assert sum(isinstance(x, tuple) for x in here) >= 6
    for mine, theirs in zip(here, there, strict=True):
        if isinstance(mine, tuple):
            assert theirs == mine
        else:
            assert mine.dtype == theirs.dtype
            assert (mine == theirs).all()


@pytest.mark.parametrize("calls", [None, 2])
def test_rows_of_any_size_travel_together(calls: int | None) -> None:
    def grow(x: Any) -> Any:
        return np.full(20_000 if int(x) % 97 == 0 else 1, int(x), np.int64), str(int(x))

    got = list(sw.Dataset.range(500).map(grow, num_parallel_calls=calls, sandbox=True))
    assert [int(row[0][0]) for row in got] == list(range(500))
    assert [len(row[0]) for row in got] == [20_000 if i % 97 == 0 else 1 for i in range(500)]
    assert [bytes(row[1]) for row in got] == [str(i).encode() for i in range(500)]


def test_a_traced_function_runs_in_the_worker_too() -> None:
    _native.end_idle_workers()
    before = _native.workers()["started"]
    ds = sw.Dataset.range(10).map(lambda x: x * 2 + 1, sandbox=True)
    assert ds.element_spec == sw.TensorSpec((), "int64")
    assert [int(x) for x in ds] == [2 * i + 1 for i in range(10)]
    assert _native.workers()["started"] > before
    assert "sandbox" in str(ds.explain())


def test_filters_and_generators_have_it_too(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_text("1\n2\n3\n")

    def lines() -> Any:
        with open(path) as file:
            for line in file:
                yield np.int64(int(line))

    spec = sw.TensorSpec((), "int64")
    ds = sw.Dataset.from_generator(lines, output_signature=spec, sandbox=True)
    assert [int(x) for x in ds.filter(lambda x: x > 1, sandbox=True)] == [2, 3]


# ---- Attacks: each must fail at its element, with the line, and the rest goes on


def write_a_file(path: str) -> None:
    with open(path, "w") as file:
        file.write("was here")


def remove_a_file(path: str) -> None:
    import os

    os.unlink(path)


def connect(path: str) -> None:
    import socket

    socket.create_connection(("127.0.0.1", 9))


def run_a_program(path: str) -> None:
    import os

    os.execv("/bin/true", ["true"])


def start_a_program(path: str) -> None:
    import subprocess

    subprocess.run(["/bin/true"], check=True)


def fork(path: str) -> None:
    import os

    os.fork()


def kill_its_parent(path: str) -> None:
    import os
    import signal

    os.kill(os.getppid(), signal.SIGKILL)


def look_into_the_notebook(path: str) -> None:
    with open(path, "rb") as file:
        assert file.read(1)


def at_three(attack: Any, path: str) -> Any:
    def work(x: Any) -> Any:
        if int(x) == 3:
            attack(path)
        return np.int64(int(x) * 2)

    return work


def attacked(attack: Any, path: str) -> sw.errors.SpillwayError:
    """The one error of a pipeline in which element 3 attacks; all others arrive."""
    ds = sw.Dataset.range(6).map(at_three(attack, path), sandbox=True)
    got, errors = [], []
    it = iter(ds)
    while True:
        try:
            got.append(int(next(it)))
        except StopIteration:
            break
        except sw.errors.SpillwayError as error:
            errors.append(error)
    assert got == [0, 2, 4, 8, 10]
    (found,) = errors
    assert found.index == 3
    assert "test_sandbox.py" in str(found)
    return found


@pytest.mark.parametrize("attack", [write_a_file, remove_a_file])
def test_files_stay_as_they_are(tmp_path: Path, attack: Any) -> None:
    path = tmp_path / "kept"
    path.write_text("as it was")
    error = attacked(attack, str(path))
    assert isinstance(error, PermissionError)
    notes = "".join(getattr(error.__cause__, "__notes__", []))
    assert attack.__name__ in notes
    assert path.read_text() == "as it was"


@pytest.mark.parametrize(
    ("attack", "call"),
    [
        (connect, "socket (41)"),
        (run_a_program, "execve (59)"),
        (fork, "clone (56)|fork (57)"),
        (kill_its_parent, "kill (62)"),
    ],
)
def test_what_only_intruders_do_ends_the_worker(tmp_path: Path, attack: Any, call: str) -> None:
    error = attacked(attack, "")
    assert isinstance(error, sw.errors.WorkerDied)
    assert any(f"was ended by its sandbox: it called {c}" in str(error) for c in call.split("|"))
    assert f"in {attack.__name__}" in str(error)


def test_starting_a_program_ends_the_worker_too() -> None:
    # Signals are blocked around it: nobody can tell which call it was.
    error = attacked(start_a_program, "")
    assert isinstance(error, sw.errors.WorkerDied)
    assert "was ended by its sandbox: it called what is not allowed there" in str(error)


@pytest.mark.skipif(bool(_native.sandbox_refusal(True)), reason="no Landlock here")
def test_the_notebooks_memory_and_environment_stay_its_own() -> None:
    for name in ("environ", "mem", "maps"):
        error = attacked(look_into_the_notebook, f"/proc/{os.getpid()}/{name}")
        assert isinstance(error, PermissionError)


def test_an_exception_cannot_bring_code_along() -> None:
    class Evil:
        def __reduce__(self) -> Any:
            return os.kill, (os.getpid(), signal.SIGKILL)

    class EvilError(Exception):
        pass

    def work(x: Any) -> Any:
        raise EvilError(Evil())

    with pytest.raises(sw.errors.UserFunctionError) as caught:
        list(sw.Dataset.range(1).map(work, sandbox=True))
    assert "Evil" in str(caught.value.__cause__)
    with pytest.raises(pickle.UnpicklingError, match="sandboxed worker sent"):
        plain.unpack_values(pickle.dumps(Evil()), [])


def test_facts_of_an_exception_are_not_believed() -> None:
    for packed in (b"", b"{}", b"[]", b'{"args": 1, "classes": 2, "shown": 3, "trace": 4}'):
        assert isinstance(plain.unpack_exception(packed), RuntimeError)
    facts = b'{"classes": [["os", "system"], ["builtins", "SystemExit"], ["builtins", "OSError"]],'
    facts += b' "args": [1, "x"], "shown": "", "trace": ""}'
    assert isinstance(plain.unpack_exception(facts), OSError)


@pytest.mark.parametrize(
    ("dtype", "shape", "data"),
    [
        ("O", (1,), b"x" * 8),
        ("<f4", (1 << 40, 1 << 40), b"1234"),
        ("<f4", (-1,), b""),
        ("<f4", (2,), b"1234"),
        ("<i4,<i4", (1,), b"x" * 8),
    ],
)
def test_arrays_that_do_not_fit_their_bytes_are_refused(dtype: str, shape: Any, data: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        plain.array(dtype, shape, data, False)


def test_guarded_callables_can_be_sandboxed() -> None:
    def work(x: Any, path: str = "") -> Any:
        if path:
            write_a_file(path)
        return {"twice": x * 2, "text": "abc", "list": [1, 2.5, None]}

    with sw.guarded(work, sandbox=True) as call:
        out = call(np.arange(100_000.0))
        assert (out["twice"] == np.arange(100_000.0) * 2).all()
        assert out["text"] == "abc"
        assert out["list"] == [1, 2.5, None]
        with pytest.raises(PermissionError):
            call(1, "/tmp/never-written")
        assert call(2)["twice"] == 4

    refused = pytest.raises(TypeError, match="arrays, numbers, text and containers")
    with sw.guarded(lambda: object(), sandbox=True) as odd, refused:
        odd()


# ---- Kinds of workers


def pid(x: Any) -> Any:
    import os

    return np.int64(os.getpid())


def test_sandboxed_workers_do_nothing_else_and_others_never_become_one() -> None:
    def pids(**how: Any) -> set[int]:
        return {int(x) for x in sw.Dataset.range(3).map(pid, **how)}

    free, boxed = pids(isolate=True), pids(sandbox=True)
    assert not free & boxed
    assert pids(isolate=True) == free
    assert pids(sandbox=True) == boxed


@pytest.mark.skipif(bool(_native.sandbox_refusal(True)), reason="no Landlock here")
def test_with_folders_only_those_are_read(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (inside / "a").write_bytes(b"data")
    (outside / "b").write_bytes(b"secret")
    (inside / "link").symlink_to(outside / "b")
    paths = [str(inside / "a"), str(outside / "b"), str(inside / "link"), "/etc/passwd"]
    ds = sw.Dataset.from_tensor_slices(np.array(paths, dtype=object))
    got = outcomes(ds.map(tf.io.read_file, sandbox=str(inside)))
    assert bytes(got[0].item() if hasattr(got[0], "item") else got[0]) == b"data"
    assert all(isinstance(x, tuple) for x in got[1:])
    # Modules can still be loaded.
    assert [int(x) for x in sw.Dataset.range(2).map(imports_late, sandbox=[inside])] == [0, 1]


def imports_late(x: Any) -> Any:
    import colorsys
    import wave

    assert colorsys
    assert wave
    return np.int64(int(x))


def test_what_it_cannot_apply_to_is_refused() -> None:
    with pytest.raises(ValueError, match=r"sandbox=.*runs in a worker"):
        sw.Dataset.range(2).map(lambda x: x, isolate=False, sandbox=True)
    with pytest.raises(ValueError, match="sandbox= is for map, filter and from_generator"):
        sw.Dataset.range(2).flat_map(lambda x: sw.Dataset.range(x), sandbox=True)
    with pytest.raises(ValueError, match="no such folder"):
        sw.Dataset.range(2).map(lambda x: x, sandbox="/no/such/folder")
