"""The line that says how far a loop is: on a terminal, in a notebook, and nowhere else."""

from __future__ import annotations

import gc
import io
import os
import re
from collections.abc import Iterator
from typing import Any

import pytest

import spillway as sw
import spillway.tf as tf
from spillway.progress import Progress
from spillway.progress_bar import ProgressBar


class Terminal(io.StringIO):
    """What was written, as a screen that is written over line by line shows it."""

    def isatty(self) -> bool:
        return True

    @property
    def lines(self) -> list[str]:
        return [line.split("\r")[-1].rstrip() for line in self.getvalue().split("\n")]


def _ticking() -> Any:
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += 0.05
        return now

    return clock


def _progress(elements: Any, stream: Any, shown: bool | None = None) -> Progress[Any]:
    return Progress(elements, "rows", None, "rows", shown, stream, _ticking())


def test_the_line_tells_counts_rate_bytes_and_the_slowest_stage(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    screen = Terminal()
    ds = sw.Dataset.range(500).map(lambda x: print(end="") or sum(range(3000)) + int(x))
    shown = Progress(ds, "rows", None, "rows", None, screen)
    assert len(list(shown)) == 500
    last = screen.lines[0]
    assert re.search(r"rows: 100% \|█+\| 500/500 \[00:0\d<00:00, [\d.,]+ rows/s, ", last), last
    assert re.search(r"[\d.]+ \w+ of [\d.]+ \w+ held, slowest map#1 \d+%\]$", last), last
    assert screen.lines[1:] == [""]


def test_elements_that_were_skipped_are_counted() -> None:
    screen = Terminal()
    ds = sw.Dataset.range(10).map(lambda x: 12 // x, on_error="skip")
    assert len(list(_progress(ds, screen, True))) == 9
    assert "1 skipped]" in screen.lines[0] or screen.lines[0].endswith("…")


def test_without_a_known_end_there_is_no_share() -> None:
    screen = Terminal()
    ds = sw.Dataset.range(100).filter(lambda x: x % 2 == 0)
    assert len(list(_progress(ds, screen))) == 50
    assert screen.lines[0].startswith("rows: 50 [")


@pytest.mark.parametrize("front", ["sw", "tf", "numpy"])
def test_any_iterable_of_ours_is_wrapped(front: str) -> None:
    screen = Terminal()
    ds: Any = sw.Dataset.range(6) if front == "sw" else tf.data.Dataset.range(6)
    given = ds.as_numpy_iterator() if front == "numpy" else ds
    seen = [int(x) for x in _progress(given, screen)]
    assert seen == list(range(6))
    assert "6/6" in screen.lines[0]


def test_an_iterator_goes_on_where_it_is_and_stays_open() -> None:
    screen = Terminal()
    it = iter(sw.Dataset.range(10))
    next(it), next(it)
    for element in _progress(it, screen):
        if element == 4:
            break
    gc.collect()
    assert "/10 [" in screen.lines[0]
    assert int(next(it)) == 5


def test_other_iterables_are_counted_too() -> None:
    screen = Terminal()
    assert list(_progress([1, 2, 3], screen)) == [1, 2, 3]
    assert "3/3" in screen.lines[0]


def test_a_loop_left_early_leaves_a_finished_line_and_closes_the_pass() -> None:
    screen = Terminal()
    closed = []

    def rows() -> Iterator[int]:
        try:
            yield from range(100)
        finally:
            closed.append(True)

    ds = sw.Dataset.from_generator(rows, output_signature=sw.TensorSpec((), "int64"))
    for element in _progress(ds, screen):
        if element == 3:
            break
    gc.collect()
    assert closed == [True]
    assert screen.getvalue().endswith("\n")
    assert screen.getvalue().count("\n") == 1


def test_an_error_leaves_a_finished_line_and_comes_through() -> None:
    screen = Terminal()
    ds = sw.Dataset.range(5).map(lambda x: 12 // (3 - x))
    with pytest.raises(sw.errors.SpillwayError):
        list(_progress(ds, screen))
    assert screen.getvalue().endswith("\n")


def test_an_error_in_the_loop_leaves_a_finished_line() -> None:
    screen = Terminal()

    def loop() -> None:
        for _ in _progress(sw.Dataset.range(5), screen):
            raise KeyError("mine")

    with pytest.raises(KeyError):
        loop()
    gc.collect()
    assert screen.getvalue().endswith("\n")


def test_a_file_gets_nothing_unless_it_asks() -> None:
    quiet, asked = io.StringIO(), io.StringIO()
    assert len(list(_progress(sw.Dataset.range(1000), quiet))) == 1000
    assert quiet.getvalue() == ""
    assert len(list(_progress(sw.Dataset.range(1000), asked, True))) == 1000
    assert asked.getvalue().count("\n") == 1
    assert "1,000/1,000" in asked.getvalue()


def test_shown_false_is_silent_on_a_terminal() -> None:
    screen = Terminal()
    assert len(list(_progress(sw.Dataset.range(10), screen, False))) == 10
    assert screen.getvalue() == ""


def test_it_can_be_iterated_over_again() -> None:
    ds = sw.Dataset.range(3)
    shown = sw.progress(ds, shown=False)
    assert len(list(shown)) == len(list(shown)) == len(shown) == 3


@pytest.mark.parametrize("columns", [10, 40, 72, 200])
def test_a_line_never_wraps(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    screen = Terminal()
    list(_progress(sw.Dataset.range(40), screen))
    drawn = [part for line in screen.getvalue().split("\n") for part in line.split("\r")]
    assert max(map(len, drawn)) < max(columns, 80 if columns > 80 else columns)


def test_a_real_terminal_says_how_wide_it_is() -> None:
    from spillway.progress_bar import _columns

    leader, follower = os.openpty()
    try:
        import fcntl
        import struct
        import termios

        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 57, 0, 0))
        with open(follower, "w", closefd=False) as stream:
            assert _columns(stream) == 57
    finally:
        os.close(leader)
        os.close(follower)


def test_a_notebook_gets_one_output_that_is_updated(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []

    class Handle:
        def update(self, data: Any, raw: bool) -> None:
            shown.append(("update", data))

    def display(data: Any, raw: bool, display_id: bool) -> Handle:
        shown.append(("display", data))
        return Handle()

    monkeypatch.setattr("spillway.progress_bar._notebook_display", lambda: display)
    shown_as = Progress(sw.Dataset.range(30), "<b>", None, "rows", None, None, _ticking())
    assert len(list(shown_as)) == 30
    assert [kind for kind, _ in shown].count("display") == 1
    page = shown[-1][1]["text/html"]
    assert 'value="30" max="30"' in page
    assert "&lt;b&gt;: 100%" in page
    assert "30/30" in shown[-1][1]["text/plain"]


def test_closing_twice_draws_once() -> None:
    screen = Terminal()
    bar = ProgressBar("x", 3, stream=screen)
    bar.close()
    bar.close()
    assert screen.getvalue().count("\n") == 1
