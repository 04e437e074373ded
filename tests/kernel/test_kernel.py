"""In a real Jupyter kernel: user code crashes, leaks and hangs, and the next cell answers."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

pytest.importorskip("ipykernel")
pytest.importorskip("jupyter_client")

from tests.kernel.driver import Kernel, kernel

SEGFAULTS = """
import ctypes

def decode(x):
    if int(x) == 500:
        ctypes.string_at(0)  # the extension's bug
    return np.int64(int(x) * 2)
"""


@pytest.fixture(scope="module")
def notebook() -> Iterator[Kernel]:
    with kernel() as one:
        assert one.run(SEGFAULTS).status == "ok"
        yield one


def test_a_segfault_is_raised_at_its_element_and_names_the_line(notebook: Kernel) -> None:
    done = notebook.run(
        """
        got = []
        for x in sw.Dataset.range(1000).map(decode, isolate=True):
            got.append(int(x))
        """
    )
    assert done.status == "error"
    assert done.error.startswith("WorkerDied"), done.error
    place = "map#1, written at In[3] line 2"
    for words in ("SIGSEGV", "element 500", "In[2] line 5 in decode", place):
        assert words in done.error, done.error
    assert notebook.run("got == [2 * i for i in range(500)]").text == "True"
    assert notebook.answers()


POLICIES = {
    "skip": ('on_error="skip"', "999 left out 1 kept []"),
    "retry": ('on_error="retry", retries=2, backoff=0', "WorkerDied at 500, then 999"),
    "quarantine": (
        'on_error="quarantine", quarantine=folder + "/bad.jsonl"',
        "999 left out 1 kept [500]",
    ),
}


@pytest.mark.parametrize("policy", list(POLICIES))
def test_each_policy_settles_a_segfault(notebook: Kernel, policy: str) -> None:
    keywords, said = POLICIES[policy]
    done = notebook.run(
        f"""
        import os, tempfile
        folder = tempfile.mkdtemp()
        ds = sw.Dataset.range(1000).map(decode, isolate=True, {keywords})
        got, errors, it = [], [], iter(ds)
        while True:
            try:
                got.append(int(next(it)))
            except StopIteration:
                break
            except sw.errors.WorkerDied as error:
                errors.append(error.index)
        assert got == [2 * i for i in range(1000) if i != 500]
        kept = []
        if os.path.exists(folder + "/bad.jsonl"):
            kept = [int(x) for x in sw.Dataset.from_quarantine(folder + "/bad.jsonl")]
        if errors:
            print(f"WorkerDied at {{errors[0]}}, then {{len(got)}}")
        else:
            print(f"{{len(got)}} left out {{it.audit().skipped}} kept {{kept}}")
        """
    )
    assert done.status == "ok", done
    assert done.text.strip() == said
    assert notebook.answers()


def test_allocating_without_end_costs_the_worker_only(notebook: Kernel) -> None:
    done = notebook.run(
        """
        def hoard(forever):
            held = []
            while forever:
                held.append(bytearray(16 << 20))
            return "fine"

        call = sw.guarded(hoard, memory_limit="1GiB")
        call(True)
        """,
        timeout=500,
    )
    assert done.status == "error"
    assert done.error.startswith(("MemoryError", "WorkerDied")), done.error
    assert "memory_limit is 1.00 GiB" in done.error, done.error
    assert "held.append" in done.traceback
    assert notebook.run("call(False)").text == "'fine'"
    assert notebook.answers()


HANGS_IN_C = """
import ctypes

def stuck():
    library, lock = ctypes.PyDLL(None), ctypes.create_string_buffer(64)
    for i in range(10):
        if i == 5:
            library.pthread_mutex_lock(lock)
            library.pthread_mutex_lock(lock)  # for ever, in C, and with the interpreter's lock
        yield np.int64(i)

ds = sw.Dataset.from_generator(
    stuck, output_signature=sw.TensorSpec((), "int64"), isolate=True, {more})
"""


def test_a_generator_that_hangs_in_c_is_ended_and_says_where(notebook: Kernel) -> None:
    assert notebook.run(HANGS_IN_C.format(more="timeout=2, restarts=0")).status == "ok"
    done = notebook.run("seen = []\nfor x in ds:\n    seen.append(int(x))")
    assert done.error.startswith("StallError"), done
    for words in ("element 5", "deadline of 2 s", "in stuck"):
        assert words in done.error, done.error
    assert notebook.run("seen").text == "[0, 1, 2, 3, 4]"
    assert notebook.answers()


@pytest.mark.parametrize(
    "cell",
    [
        "def slow(x):\n    import time\n    print(end='')\n    time.sleep(0.01)\n    return x\n"
        "for x in sw.Dataset.range(10**6).map(slow, isolate=True, num_parallel_calls=2):\n"
        "    if int(x) == 5: print('under way', flush=True)",
        HANGS_IN_C.format(more="")
        + "for x in ds:\n    if int(x) == 0: print('under way', flush=True)",
    ],
    ids=["an isolated map", "a generator that hangs in C"],
)
def test_the_stop_button_is_answered(notebook: Kernel, cell: str) -> None:
    sent = notebook.begin(cell)
    notebook.wait_for_text(sent, "under way")
    time.sleep(0.2)  # well inside
    begun = time.monotonic()
    notebook.interrupt()
    done = notebook.end(sent)
    print(f"stopped after {(time.monotonic() - begun) * 1000:.0f} ms")
    assert done.status == "error", done
    assert done.error.startswith("KeyboardInterrupt"), done.error
    assert notebook.answers()
    again = "sum(int(x) for x in sw.Dataset.range(10).map(decode, isolate=True))"
    assert notebook.run(again).text == "90"
