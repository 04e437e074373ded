"""In a real Jupyter kernel: a leak is told by its cell, and by the cell that holds it."""

from __future__ import annotations

import pytest

pytest.importorskip("ipykernel")
pytest.importorskip("jupyter_client")

from tests.kernel.driver import kernel

BEGIN = """import spillway.tf as tf
limit = sw.configure(memory_limit="512MiB")
tensor_list = []"""
LOOP = """for i in range(1200):
    tensor_list.append(tf.constant(np.random.rand(100, 100)))"""


def test_a_list_of_constants_is_named_by_its_cells_and_growth() -> None:
    with kernel() as notebook:
        begun = notebook.run(BEGIN)
        assert begun.status == "ok", begun.error
        told = notebook.run(LOOP)
        assert told.status == "ok", told.error
        line = "In[3] line 2: tensor_list.append(tf.constant(np.random.rand(100, 100)))"
        assert f"memory grows at {line}" in told.text, told.text
        assert "held by list 'tensor_list' in In[2] (1,02" in told.text, told.text
        report = notebook.run("print(sw.leaks())")
        for words in (
            "tensor created 1,200 x at In[3] line 2 (93.",
            "+80.0 KiB each)",
            "held by list 'tensor_list' in In[2] (1,200 items)",
        ):
            assert words in report.text, report.text
        # The same cell again counts on: it is the same line.
        again = notebook.run(LOOP)
        assert "memory grows at In[5] line 2" in again.text, again.text
        assert "2,04" in again.text, again.text
        gone = notebook.run("tensor_list.clear()\nprint(sw.leaks())")
        assert "no line holds more and more" in gone.text, gone.text
        assert notebook.answers()
