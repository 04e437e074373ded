"""What a notebook shows of a pass: the line while it runs, and tables before and after."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("ipykernel")
pytest.importorskip("jupyter_client")

from tests.kernel.driver import Kernel, kernel


@pytest.fixture(scope="module")
def notebook() -> Iterator[Kernel]:
    with kernel() as one:
        yield one


def test_progress_is_one_output_that_is_updated(notebook: Kernel) -> None:
    done = notebook.run(
        """
        import itertools
        ds = sw.Dataset.range(3000).map(lambda x: print(end="") or sum(range(2000)) + int(x))
        for x in sw.progress(ds, "rows"):
            pass
        """
    )
    assert done.status == "ok", done
    assert done.text == ""
    kinds = [kind for kind, _ in done.shown]
    assert kinds.count("display_data") == 1
    assert kinds.count("update_display_data") >= 1
    last = done.shown[-1][1]
    assert 'value="3000" max="3000"' in last["text/html"]
    assert "3,000/3,000" in last["text/plain"]
    assert "held, slowest map#1" in last["text/plain"]
    assert notebook.answers()


def test_a_loop_that_is_left_leaves_its_output_and_a_kernel_that_answers(notebook: Kernel) -> None:
    done = notebook.run(
        """
        for x in sw.progress(sw.Dataset.range(10**9)):
            if x == 1000:
                break
        """
    )
    assert done.status == "ok", done
    assert done.shown
    assert "1,000,000,000" in done.shown[-1][1]["text/plain"]
    assert notebook.answers()


@pytest.mark.parametrize("call", ["ds.forecast()", "ds.report()", "sw.memory()"])
def test_a_cells_last_value_is_a_table(notebook: Kernel, call: str) -> None:
    assert notebook.run("ds = sw.Dataset.range(100).batch(5)\nfor _ in ds: pass").status == "ok"
    done = notebook.run(call)
    kind, data = done.shown[-1]
    assert kind == "execute_result"
    assert "<table>" in data["text/html"]
    assert data["text/plain"]
