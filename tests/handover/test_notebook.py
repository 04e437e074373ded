"""Elements handed over in a real notebook: what a cell says, and the stop button."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.handover.frameworks import missing

pytest.importorskip("ipykernel", reason="ipykernel is not installed here: ./run kernels has it")
pytest.importorskip(
    "jupyter_client", reason="jupyter_client is not installed here: ./run kernels has it"
)

from tests.kernel.driver import Kernel, kernel

SETUP = """
import gc, os, signal, threading
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

def decode(number):
    if int(number) == 7:
        raise KeyError(f"no label for {int(number)}")
    x = np.full(3, int(number), np.float32)
    return x, x[:1]

spec = (sw.TensorSpec((3,), "float32"), sw.TensorSpec((1,), "float32"))
ds = sw.Dataset.range(40).map(decode, output_signature=spec)

gate, ended = threading.Event(), threading.Semaphore(0)

def slow():
    try:
        yield from ((np.ones(3, np.float32), np.ones(1, np.float32)) for _ in range(4))
        os.kill(os.getpid(), signal.SIGINT)  # what the notebook's stop button does
        gate.wait()  # for what does not come
    finally:
        ended.release()

forever = sw.Dataset.from_generator(slow, output_signature=spec)

def descriptors():
    return len(os.listdir("/proc/self/fd"))
"""
KERAS = """
import keras
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss="mse")
def run(ds):
    model.fit(ds.batch(2).to_tf(), epochs=2, verbose=0)
"""
LOOP = """
def run(ds):
    for x, y in ds.batch(2).{method}():
        pass
run(ds.take(4))
"""
CELLS = {
    "tensorflow": KERAS,
    "torch": LOOP.format(method="to_torch"),
    "jax": LOOP.format(method="to_jax"),
}


@pytest.fixture(scope="module", params=list(CELLS))
def notebook(request: pytest.FixtureRequest) -> Iterator[Kernel]:
    if missing(request.param):
        pytest.skip(f"{request.param} is not installed here: ./run kernels has it")
    with kernel() as one:
        for cell in (SETUP, CELLS[request.param]):
            done = one.run(cell, timeout=300)
            assert done.status == "ok", done
        yield one


def test_an_error_in_element_7_reaches_the_cell_with_our_text(notebook: Kernel) -> None:
    done = notebook.run("run(ds)", timeout=300)
    assert done.status == "error", done
    for words in ("no label for 7", "in stage map#1, written at In[", "element 7"):
        assert words in done.error, done.error
    print(done.error)
    assert "raise KeyError" in done.traceback
    assert notebook.answers()


def test_the_stop_button_works_while_a_source_is_waited_for(notebook: Kernel) -> None:
    found = []
    for _ in range(8):
        done = notebook.run("run(forever)", timeout=300)
        assert done.error.startswith("KeyboardInterrupt"), done
        assert notebook.answers()
        # The generator, which nobody can interrupt, ends when it gets on.
        done = notebook.run(
            "gate.set(); ended.acquire(); gate.clear(); gc.collect(); descriptors()"
        )
        assert done.status == "ok", done
        found.append(int(done.text))
    # One of each round would be six; threads that are just ending still have some.
    assert found[7] - found[1] < 6, found
