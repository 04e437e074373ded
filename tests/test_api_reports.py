"""Spellings of our API beyond tf.data's: what is watched, forecast and found to leak."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw
from spillway import __main__ as cli

# ds.report().save("report.html"), .save("trace.json") for Perfetto


def test_a_report_is_saved_as_one_html_file(tmp_path: Path) -> None:
    ds = sw.Dataset.range(10).map(lambda x: x + 1).batch(2)
    list(ds)
    path = tmp_path / "report.html"
    ds.report().save(str(path))
    text = path.read_text()
    assert "<html" in text and "map" in text
    assert 'src="http' not in text and 'href="http' not in text


def test_a_report_is_saved_as_a_trace(tmp_path: Path) -> None:
    ds = sw.Dataset.range(10).map(lambda x: x + 1).batch(2)
    list(ds)
    path = tmp_path / "trace.json"
    ds.report().save(path)
    trace = json.loads(path.read_text())
    assert trace["traceEvents"]


# ds.forecast(); sw.forecast(tensor) -> Forecast(bytes, limit, fits, stages); prints as a table


def test_a_dataset_is_forecast_before_it_runs() -> None:
    called = []

    def fn(x: Any) -> Any:
        called.append(x)
        return x

    ds = sw.Dataset.range(8).map(fn).batch(2)
    found = ds.forecast()
    assert not called
    assert found.fits is None and found.bytes <= found.limit  # a Python function tells no sizes
    assert sw.Dataset.range(8).batch(2).forecast().fits is True
    assert any("batch" in str(stage) for stage in found.stages)
    assert "batch" in str(found)


def test_a_tensor_is_forecast_before_it_is_computed() -> None:
    from spillway import tf

    found = sw.forecast(tf.random.normal([1000, 1000]) @ tf.random.normal([1000, 1000]))
    assert isinstance(found.bytes, int) and found.bytes > 0
    assert isinstance(found.limit, int) and found.fits is True
    assert found.stages and str(found)


# sw.progress(ds): wraps any iterable of ours, as tqdm does


def test_progress_hands_on_every_element() -> None:
    assert [int(x) for x in sw.progress(sw.Dataset.range(5))] == [0, 1, 2, 3, 4]
    ds = sw.Dataset.range(5).batch(2)
    assert [x.tolist() for x in sw.progress(ds)] == [[0, 1], [2, 3], [4]]


# sw.leaks() -> [Leak(what, line, count, bytes, bytes_per_step, holders)]


def test_leaks_name_line_count_and_bytes() -> None:
    from spillway import tf

    kept: list[Any] = []
    for _ in range(4):
        for i in range(50):
            kept.append(tf.constant(np.full(4096, i)))
        sw.leaks()  # counts as a step
    found = [leak for leak in sw.leaks() if Path(__file__).name in leak.line]
    assert found
    (leak,) = found[:1]
    assert leak.what and leak.count >= 100 and leak.bytes >= 100 * 4096
    assert leak.bytes_per_step >= 0 and leak.holders is not None


# sw.open_sessions() -> [OpenSession(line, bytes)]


def test_open_sessions_are_listed_with_their_line() -> None:
    from spillway import tf

    session = tf.compat.v1.Session()
    found = [one for one in sw.open_sessions() if Path(__file__).name in one.line]
    assert len(found) == 1 and found[0].bytes >= 0
    session.close()
    assert not [one for one in sw.open_sessions() if Path(__file__).name in one.line]


# spillway forecast


def test_the_command_line_forecasts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "some_pipeline.py").write_text(
        "import spillway as sw\n\nds = sw.Dataset.range(8).batch(2)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    out = io.StringIO()
    monkeypatch.setattr("sys.stdout", out)
    assert cli.main(["forecast", "some_pipeline:ds"]) == 0
    assert "batch" in out.getvalue()
