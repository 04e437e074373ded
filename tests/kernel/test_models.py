"""Real models under `sw.guarded` in a real kernel: a Keras model and a torch module.

Needs TensorFlow and torch: `./run kernels` makes an environment that has them.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

import pytest

pytest.importorskip("ipykernel")
pytest.importorskip("jupyter_client")

from tests.kernel.driver import Kernel, kernel

KERAS = """
def make():
    import os
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import keras
    import numpy as np

    keras.utils.set_random_seed(7)
    model = keras.Sequential([
        keras.Input((32,)),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(10, activation="softmax"),
    ])

    def predict(batch):
        if batch.shape[0] == 13:
            os.abort()  # the batch that breaks the runtime
        return np.asarray(model.predict(batch, verbose=0))

    return predict
"""
TORCH = """
def make():
    import numpy as np
    import os
    import torch

    torch.manual_seed(7)
    torch.set_num_threads(1)
    model = torch.nn.Sequential(
        torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10), torch.nn.Softmax(-1))

    def predict(batch):
        if batch.shape[0] == 13:
            os.abort()  # the batch that breaks the runtime
        with torch.no_grad():
            return model(torch.from_numpy(np.array(batch))).numpy()

    return predict
"""
MODELS = {"keras": ("tensorflow", KERAS), "torch": ("torch", TORCH)}


@pytest.fixture(scope="module", params=list(MODELS))
def notebook(request: pytest.FixtureRequest) -> Iterator[Kernel]:
    library, cell = MODELS[request.param]
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed here: ./run kernels has it")
    with kernel() as one:
        assert one.run(cell).status == "ok"
        made = one.run(
            'call = sw.guarded(factory=make, memory_limit="1GiB")\n'
            "call(np.zeros((2, 32), np.float32)).shape",
            timeout=600,
        )
        assert made.text == "(2, 10)", made
        yield one


def test_a_hundred_warm_calls_are_right(notebook: Kernel) -> None:
    done = notebook.run(
        """
        import time
        chance = np.random.default_rng(1)
        batches = [chance.random((16, 32), np.float32) for _ in range(100)]
        begun = time.monotonic()
        guarded = [call(batch) for batch in batches]
        took = time.monotonic() - begun
        direct = make()
        begun = time.monotonic()
        here = [direct(batch) for batch in batches]
        there = time.monotonic() - begun
        assert all(np.allclose(a, b, rtol=1e-5, atol=1e-7) for a, b in zip(guarded, here))
        print(f"100 right, {took * 10:.2f} ms a call, {there * 10:.2f} ms without the guard")
        """,
        timeout=600,
    )
    assert done.status == "ok", done
    print(done.text)
    assert done.text.startswith("100 right")


def test_a_batch_beyond_the_limit_costs_the_call_only(notebook: Kernel) -> None:
    # 400 MB go in and come through shared memory; the layer's 800 MB and more do not fit.
    done = notebook.run("call(np.zeros((12_000_000, 32), np.float32))", timeout=600)
    assert done.status == "error", done
    print(done.error[:600])
    assert notebook.answers()
    assert notebook.run("call(np.zeros((2, 32), np.float32)).shape", timeout=600).text == "(2, 10)"


def test_an_abort_costs_the_call_only_and_names_the_line(notebook: Kernel) -> None:
    done = notebook.run("call(np.zeros((13, 32), np.float32))", timeout=600)
    assert done.error.startswith("WorkerDied"), done
    for words in ("SIGABRT", "in predict", "this call"):
        assert words in done.error, done.error
    print(done.error[:600])
    assert notebook.answers()
    assert notebook.run("call(np.zeros((2, 32), np.float32)).shape", timeout=600).text == "(2, 10)"
