"""What a pipeline will hold, told before it runs, and whether the engine then agrees."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf
from spillway import __main__ as cli
from spillway import _native

ROOT = Path(__file__).resolve().parent.parent
MIB = 1 << 20
BLOCK = sw.TensorSpec((256, 1024), "float32")  # 1 MiB


def _blocks(count: int = 1000) -> Any:
    """Elements of a MiB that nothing can make out of order."""

    def make() -> Any:
        raise AssertionError("a forecast runs nothing")
        yield

    return sw.Dataset.from_generator(make, output_signature=BLOCK).apply(lambda ds: ds.take(count))


def _of(forecast: Any, op: str) -> Any:
    return next(stage for stage in forecast.stages if stage.name.startswith(op))


def _zeros(count: int) -> Any:
    def make() -> Any:
        for _ in range(count):
            yield np.zeros((256, 1024), "float32")

    return sw.Dataset.from_generator(make, output_signature=BLOCK)


def test_a_small_pipeline_fits() -> None:
    made = sw.Dataset.range(100).map(lambda x: x + 1).batch(10).forecast()
    assert made.fits is True
    assert made.outcome == "fits"
    assert 0 < made.bytes < made.limit
    assert not made.unknown
    assert made.suggestions == []
    assert ": fits" in str(made)


def test_nothing_is_run_and_nothing_is_read() -> None:
    calls = []

    def count(x: Any) -> Any:
        calls.append(x)
        return x

    ds = _blocks().map(count).shuffle(10).batch(2).prefetch(3)
    str(ds.forecast()), ds.forecast()._repr_html_()
    assert calls == []


def test_a_shuffle_holds_its_buffer_and_spills_what_does_not_fit() -> None:
    with sw.configure(memory_limit="256MiB"):
        made = _blocks().shuffle(500, seed=1).forecast()
    assert made.fits is False
    assert made.outcome == "spills"
    stage = _of(made, "shuffle")
    assert 500 * MIB < stage.bytes < 501 * MIB
    assert stage.short == "goes to disk"
    assert stage.what == "500 elements"
    fitting = next(s for s in made.suggestions if s.startswith("shuffle("))
    rows = int(fitting.split("(")[1].split(")")[0])
    with sw.configure(memory_limit="256MiB"):
        assert _blocks().shuffle(rows, seed=1).forecast().outcome == "shrinks"
        assert _blocks().shuffle(rows, seed=1).forecast().fits is True
        assert _blocks().shuffle(rows + 8, seed=1).forecast().fits is False


def test_a_shuffle_over_what_can_be_made_out_of_order_holds_places_only() -> None:
    made = sw.Dataset.range(10**6).shuffle(10**6).forecast()
    assert _of(made, "shuffle").bytes == 4 * 10**6
    assert "places of 1,000,000 elements" in _of(made, "shuffle").what


def test_a_cache_holds_everything() -> None:
    made = _blocks(100).apply(
        lambda ds: ds.apply(lambda d: d.take(100)).assert_cardinality(100).cache()
    )
    stage = _of(made.forecast(), "cache")
    assert 100 * MIB < stage.bytes < 101 * MIB
    assert stage.what == "all 100 elements"


def test_a_cache_of_an_unknown_number_is_unknown() -> None:
    made = _blocks().filter(lambda x: x[0, 0] > 0).cache().forecast()
    assert _of(made, "cache").bytes is None
    assert made.fits is None
    assert made.outcome == "unknown"
    assert "at least" in made.summary()


def test_strings_and_open_shapes_are_said_to_be_unknown() -> None:
    texts = sw.Dataset.from_tensor_slices(["a", "bb"]).forecast()
    assert texts.fits is None
    assert "strings have any length" in texts.stages[0].what
    spec = sw.TensorSpec((None, 3), "float32")
    shapes = sw.Dataset.from_generator(lambda: [], output_signature=spec).forecast()
    assert "shape (?, 3)" in shapes.stages[0].what


def test_a_python_function_without_a_signature_is_unknown() -> None:
    def f(x: Any) -> Any:
        print(end="")
        return x

    made = sw.Dataset.range(3).map(f).forecast()
    assert _of(made, "map").bytes is None
    assert "output_signature=" in _of(made, "map").what


def test_a_batch_and_what_follows_it_are_sized_by_its_number() -> None:
    made = _blocks().batch(32).map(lambda x: x * 2).prefetch(2).forecast()
    assert _of(made, "batch").guaranteed > 32 * MIB
    assert _of(made, "map").guaranteed > 32 * MIB
    assert _of(made, "prefetch").bytes == 64 * MIB


def test_parallel_calls_hold_inputs_and_results() -> None:
    def f(x: Any) -> Any:
        print(end="")
        return x

    made = _blocks().map(f, num_parallel_calls=8, output_signature=BLOCK).forecast()
    assert _of(made, "map").bytes == 16 * MIB
    assert _of(made, "map").what == "8 calls, each with input"


LIMITS = [8, 20, 40, 60, 80, 100, 160]


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("batch", [4, 16, 32])
def test_it_is_refused_exactly_where_the_engine_refuses(limit: int, batch: int) -> None:
    with sw.configure(memory_limit=limit * MIB):
        ds = _zeros(64).batch(batch, drop_remainder=True).map(lambda x: x + 1)
        made = ds.forecast()
        try:
            with iter(ds) as it:
                next(it)
            ran = True
        except sw.errors.BudgetError:
            ran = False
    assert (made.outcome != "refused") == ran, made


def test_the_batch_that_is_suggested_runs_and_is_the_largest() -> None:
    """In a process that holds nothing else: there is no room for anything beside it."""
    program = "from tests import test_forecast\ntest_forecast.run_the_suggested_batch()"
    command = [sys.executable, "-c", program]
    folder = Path(__file__).resolve().parents[1]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def run_the_suggested_batch() -> None:
    with sw.configure(memory_limit="40MiB"):
        made = _zeros(64).batch(64, drop_remainder=True).map(lambda x: x + 1).forecast()
        assert made.outcome == "refused"
        said = next(s for s in made.suggestions if s.startswith("batch("))
        size = int(said.split("(")[1].split(")")[0])
        fits = _zeros(64).batch(size, drop_remainder=True).map(lambda x: x + 1)
        assert fits.forecast().outcome != "refused"
        next(iter(fits))
        larger = _zeros(64).batch(size + 1, drop_remainder=True).map(lambda x: x + 1)
        assert larger.forecast().outcome == "refused"


def test_the_limit_that_is_suggested_is_enough() -> None:
    with sw.configure(memory_limit="40MiB"):
        ds = _zeros(64).batch(64, drop_remainder=True)
        said = ds.forecast().suggestions[-1]
    with sw.configure(memory_limit=said.split('"')[1]):
        assert ds.forecast().outcome != "refused"
        next(iter(ds))


PIPELINES: dict[str, Any] = {
    "batch": lambda: _zeros(40).batch(8),
    "shuffle": lambda: _zeros(60).shuffle(30, seed=1).batch(4),
    "prefetch": lambda: _zeros(40).batch(4).prefetch(3),
    "cache": lambda: _zeros(20).apply(lambda ds: ds.assert_cardinality(20)).cache().repeat(2),
    "window": lambda: _zeros(20).window(5).flat_map(lambda w: w),
    "scalars": lambda: sw.Dataset.range(200_000).map(lambda x: x * 2).shuffle(1000).batch(64),
    "calls": lambda: _zeros(40).map(
        lambda x: print(end="") or x, num_parallel_calls=4, output_signature=BLOCK
    ),
}


@pytest.mark.parametrize("name", list(PIPELINES))
def test_no_more_is_held_than_was_forecast(name: str) -> None:
    with sw.configure(memory_limit="1GiB"):
        ds = PIPELINES[name]()
        made = ds.forecast()
        for _ in ds:
            pass
        peak = ds.report().run.peak_bytes
    known = not made.unknown or name == "window"
    assert known, made
    assert peak <= made.bytes + 2 * MIB, (peak, made)


def test_what_is_held_already_counts() -> None:
    before = sw.Dataset.range(10).forecast()
    kept = sw.Tensor(np.ones((4, MIB), "float32")) + 1
    kept.numpy()
    after = sw.Dataset.range(10).forecast()
    assert after.held >= before.held
    assert after.held <= after.limit


def test_the_table_is_escaped_in_a_notebook() -> None:
    page = sw.Dataset.range(3, name="<img src=x>").forecast()._repr_html_()
    assert "<img" not in page
    assert "&lt;img" in page


def test_the_tf_front_and_the_function_give_the_same() -> None:
    ds = tf.data.Dataset.range(10).batch(2)
    assert sw.forecast(ds).bytes == ds.forecast().bytes


TOLD = [(640_000_000, "float32 (40000, 4000)", "random_normal", "train.py:7")]


@pytest.mark.parametrize(
    ("told", "outcome", "words"),
    [
        ((4000, 64 * MIB, True, "whole", []), "fits", "3.91 KiB of 64.0 MiB: fits"),
        ((40 * MIB, 64 * MIB, True, "tiled", []), "parts", "is computed in parts (tiled)"),
        ((1 << 30, 64 * MIB, False, "refused", TOLD), "refused", "refused before it runs"),
    ],
)
def test_tensors_are_told_of_as_the_graph_tells(
    told: Any, outcome: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def tell(given: Any) -> Any:
        asked.append(given)
        return told

    monkeypatch.setattr(_native, "forecast_tensors", tell, raising=False)
    x = tf.constant([1.0])
    made = sw.forecast([x, x])
    assert len(asked[0]) == 2
    assert (made.outcome, made.fits, made.limit) == (outcome, told[2], 64 * MIB)
    assert words in str(made)
    if outcome == "refused":
        for part in ("random_normal", "610 MiB", "float32 (40000, 4000)", "train.py:7"):
            assert part in str(made)


@pytest.mark.skipif(not hasattr(_native, "forecast_tensors"), reason="the graph does not tell yet")
def test_a_tensor_that_cannot_fit_is_refused_before_it_is_computed() -> None:
    with sw.configure(memory_limit="64MiB"):
        small = sw.forecast(tf.random.normal([100, 100]) + 1.0)
        large = sw.forecast(tf.random.normal([40000, 4000]) * 2.0)
    assert small.fits
    assert large.outcome == "refused"
    assert "test_forecast.py" in str(large)


def test_something_else_is_refused_with_what_can_be_forecast() -> None:
    with pytest.raises(TypeError, match="dataset, a tensor or a list of tensors: str"):
        sw.forecast("x")


# ---- The command


def test_the_command_prints_it_and_says_by_its_code_whether_it_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "told_before.py").write_text(
        "import spillway as sw\n"
        "small = sw.Dataset.range(10).batch(2)\n"
        "def large():\n"
        "    spec = sw.TensorSpec((1 << 20,), 'float32')\n"
        "    return sw.Dataset.from_generator(lambda: [], output_signature=spec).shuffle(10**6)\n"
        "number = 3\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert cli.main(["forecast", "told_before:small"]) == 0
    assert "batch#1" in capsys.readouterr().out
    with sw.configure():
        assert cli.main(["forecast", "told_before:large", "--memory-limit", "64MiB"]) == 1
    assert "shuffle#1" in capsys.readouterr().out
    for wrong in ("told_before", "told_before:nothing", "told_before:number", "no_such:x"):
        assert cli.main(["forecast", wrong]) == 2, wrong
        assert "spillway forecast: " in capsys.readouterr().err


def test_the_command_finds_modules_of_the_folder_it_is_called_in(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import spillway as sw\nds = sw.Dataset.range(4)\n")
    done = subprocess.run(
        [sys.executable, "-m", "spillway", "forecast", "mine:ds"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT / "python"), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "range#0" in done.stdout


# ---- In words


def test_an_explanation_tells_what_is_fused_and_what_runs_side_by_side() -> None:
    def f(x: Any) -> Any:
        print(end="")
        return x

    ds = sw.Dataset.range(9).map(lambda x: x + 1).map(lambda x: x * 2)
    assert "fused with map#1 before it" in str(ds.explain())
    told = str(ds.map(f, num_parallel_calls=4).prefetch(2).explain())
    assert "up to 4 calls at a time" in told
    assert "a thread of its own works ahead: 2 elements" in told
    whole = sw.Dataset.range(9).map(lambda x: x + 1, num_parallel_calls=4)
    assert "num_parallel_calls changes nothing" in str(whole.explain())


def test_maps_that_can_fail_are_not_said_to_be_fused() -> None:
    ds = sw.Dataset.range(9).map(lambda x: 12 // x).map(lambda x: x * 2)
    assert "fused" not in str(ds.explain())


def test_an_explanation_tells_what_the_last_pass_spilled_and_skipped() -> None:
    with sw.configure(memory_limit="24MiB"):
        ds = _zeros(40).shuffle(40, seed=1)
        assert "last pass" not in str(ds.explain())
        assert sum(1 for _ in ds) == 40
        assert "last pass: spilled " in str(ds.explain())
    ds = sw.Dataset.range(9).map(lambda x: 12 // x, on_error="skip")
    list(ds)
    assert "last pass: skipped 1" in str(ds.explain())
