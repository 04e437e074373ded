"""Leaks are named: the line, how many, how much, how fast, and who holds them."""

from __future__ import annotations

import gc
import inspect
import subprocess
import sys
import threading
import warnings
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf
from spillway import _native, growth, holders, leak_report, lines, tracked

MIB = 1 << 20


@pytest.fixture(autouse=True)
def nothing_left_over() -> Iterator[None]:
    gc.collect()
    yield
    gc.collect()


def line_of(mark: str) -> int:
    """The line of this file that ends with the comment `mark`."""
    source, _ = inspect.getsourcelines(sys.modules[__name__])
    found = [at for at, text in enumerate(source, 1) if text.rstrip().endswith(f"# {mark}")]
    assert len(found) == 1, f"{mark}: {found}"
    return found[0]


def leak_at(mark: str, found: list[leak_report.Leak]) -> leak_report.Leak | None:
    place = f"{__file__}:{line_of(mark)}"
    return next((leak for leak in found if leak.line == place), None)


def alive_at(mark: str) -> int:
    rows = _native.measure_tensor_lines()
    return sum(row[2] for row in rows if row[:2] == (__file__, line_of(mark)))


class Warned:
    """Every warning about memory that grows, in a block."""

    def __enter__(self) -> Warned:
        self._catch = warnings.catch_warnings(record=True)
        self._told = self._catch.__enter__()
        warnings.simplefilter("always")
        return self

    def __exit__(self, *exception: Any) -> None:
        self._catch.__exit__(*exception)

    @property
    def all(self) -> list[str]:
        return [str(w.message) for w in self._told]

    def of(self, mark: str) -> list[str]:
        return [text for text in self.all if f"test_leaks.py:{line_of(mark)}:" in text]


# ---- Tensors


def test_a_line_that_keeps_a_tensor_a_step_is_named_with_count_bytes_and_growth() -> None:
    kept = []
    for _ in range(5):
        kept.append(tf.zeros([1000]) + 1.0)  # one a step
        kept[-1].numpy()
        growth.step()
    leak = leak_at("one a step", sw.leaks())
    assert leak is not None
    assert (leak.what, leak.count) == ("tensor", 5)
    assert 5 * 4000 <= leak.bytes < 5 * 4200
    assert 4000 <= leak.bytes_per_step < 4200
    assert "kept" in leak.holders[0] and "5 items" in leak.holders[0]


def test_a_loop_that_keeps_nothing_is_no_leak() -> None:
    total = tf.constant(0.0)
    for _ in range(20):
        total = total + tf.reduce_sum(tf.ones([100]))  # keeps nothing
        total.numpy()
        growth.step()
    assert leak_at("keeps nothing", sw.leaks()) is None


def test_a_list_that_is_emptied_now_and_then_is_no_leak() -> None:
    kept: list[Any] = []
    for at in range(20):
        if at % 3 == 2:
            kept.clear()
        kept.append(tf.ones([10]))  # emptied
        growth.step()
        assert leak_at("emptied", growth_leaks()) is None
    assert kept


def growth_leaks() -> list[leak_report.Leak]:
    """What leaks() would say, without a step of its own."""
    return [
        leak_report.Leak(line.key[0], line.place, line.count, line.bytes, line.bytes_per_step)
        for line in growth.leaking()
    ]


def test_what_grew_at_first_and_then_stays_is_no_leak() -> None:
    kept = []
    for at in range(40):
        if at < 4:
            kept.append(tf.ones([10]))  # warm-up
        growth.step()
    assert leak_at("warm-up", sw.leaks()) is None
    assert len(kept) == 4


def test_growth_needs_no_tensor_in_every_step() -> None:
    kept = []
    for at in range(12):
        if at % 3 == 0:
            kept.append(tf.ones([10]))  # every third
        growth.step()
    leak = leak_at("every third", sw.leaks())
    assert leak is not None and leak.count == 4


def test_a_pass_that_ends_is_a_step() -> None:
    before = growth.steps()
    for _ in sw.Dataset.range(3):
        pass
    assert growth.steps() == before + 1
    ds = tf.data.Dataset.range(3)
    for _ in ds:
        pass
    it = iter(ds)
    next(it)
    assert growth.steps() == before + 2  # one that was not finished is none


def test_elements_that_are_kept_belong_to_the_line_that_began_the_pass() -> None:
    kept = []
    for _ in range(4):
        for x in tf.data.Dataset.range(3):  # the pass
            kept.append(x)
    leak = leak_at("the pass", sw.leaks())
    assert leak is not None and leak.count == 12


def test_bytes_are_those_the_ledger_charges_each_buffer_once() -> None:
    before = tensors_held()
    wide = tf.ones([256, 1024]) + 0.0  # wide
    wide.numpy()
    narrow = tf.reshape(wide, [1024, 256])
    narrow.numpy()
    charged = tensors_held() - before
    rows = {row[:2]: row for row in _native.measure_tensor_lines()}
    counted = sum(row[4] for key, row in rows.items() if key[0] == __file__)
    assert counted >= MIB
    assert rows[__file__, line_of("wide")][4] <= charged


def tensors_held() -> int:
    return sum(row["held"] for row in sw.memory().rows if row["name"] == "tensors")


def test_a_pending_tensor_holds_no_bytes_but_what_it_waits_for_does() -> None:
    source = tf.constant(np.ones([512, 512], "float32"))  # waited for
    pending = source * 2.0 + tf.random.normal([512, 512])  # pending
    assert not pending._known
    del source
    gc.collect()
    rows = {row[:2]: row for row in _native.measure_tensor_lines()}
    assert rows[__file__, line_of("pending")][4] < 1024
    assert rows[__file__, line_of("waited for")][4] >= MIB


def test_tensors_that_went_to_disk_are_counted_there() -> None:
    with sw.configure(memory_limit="32MiB"), Warned():
        kept = []
        for number in range(48):
            kept.append(tf.zeros([MIB // 4]) + float(number))  # goes to disk
            kept[-1].numpy()
            growth.step()
        leak = leak_at("goes to disk", sw.leaks())
    assert leak is not None and leak.count == 48
    assert leak.on_disk >= 16 * MIB
    assert leak.bytes + leak.on_disk >= 47 * MIB


def test_counts_stay_right_when_tensors_end_on_other_threads() -> None:
    kept = [tf.constant(float(at)) for at in range(100)]  # other threads
    assert alive_at("other threads") == 100
    parts = [kept[at::4] for at in range(4)]
    kept.clear()
    threads = [threading.Thread(target=part.clear) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert alive_at("other threads") == 0


def test_the_table_of_lines_is_bounded_and_charged() -> None:
    kept: list[Any] = []
    for at in range(40):
        text = "\n".join("kept.append(tf.constant(1.0))" for _ in range(100))
        exec(compile(text, f"made up {at}", "exec"), {"tf": tf, "kept": kept})
    rows = _native.measure_tensor_lines()
    assert len(rows) <= 2049
    elsewhere = next(row for row in rows if row[0] == "")
    assert sum(row[2] for row in rows) >= 4000 and elsewhere[2] > 0
    charged = next(row for row in sw.memory().rows if row["name"] == "lines of tensors")
    assert 0 < charged["held"] <= MIB
    kept.clear()
    gc.collect()
    assert not [row for row in _native.measure_tensor_lines() if row[0].startswith("made up")]


def test_a_line_without_tensors_gives_its_place_to_a_new_one() -> None:
    for at in range(30):
        text = "\n".join("tf.constant(1.0)" for _ in range(100))
        exec(compile(text, f"short-lived {at}", "exec"), {"tf": tf})
        growth.step()
    late = tf.constant(2.0)  # late
    assert alive_at("late") == 1
    assert float(late) == 2.0


# ---- The warning


def test_a_thousand_tensors_kept_without_any_step_are_warned_of_once() -> None:
    with sw.configure(memory_limit="512MiB"), Warned() as warned:
        kept = []
        for _ in range(1500):
            kept.append(tf.constant(np.ones([100, 100])))  # no step
    (text,) = warned.of("no step")
    assert "1,024 tensors alive, 80.0 MiB (16 % of the memory limit), +80.0 KiB each" in text
    assert "kept.append(tf.constant(np.ones([100, 100])))" in text
    assert "held by list 'kept'" in text and "items)" in text
    assert "sw.leaks()" in text


def test_a_hundred_small_tensors_that_are_kept_are_listed_and_not_warned_of() -> None:
    with Warned() as warned:
        kept = []
        for _ in range(100):
            kept.append(tf.constant(np.ones(10)))  # a hundred small
        leak = leak_at("a hundred small", sw.leaks())
    assert leak is not None and leak.count == 100
    assert not warned.of("a hundred small")


def test_ninety_that_are_kept_are_not_listed() -> None:
    kept = []
    for _ in range(90):
        kept.append(tf.constant(np.ones(10)))  # ninety small
    assert leak_at("ninety small", sw.leaks()) is None


def test_a_line_is_warned_of_again_when_it_has_doubled_not_before() -> None:
    with sw.configure(memory_limit="64MiB"), Warned() as warned:
        kept = []
        for _ in range(24):
            kept.append(tf.zeros([MIB // 8]) + 1.0)  # half a MiB a step
            kept[-1].numpy()
            growth.step()
    texts = warned.of("half a MiB a step")
    assert [text.split("\n")[1].split()[0] for text in texts] == ["3", "6", "12", "24"]
    assert all("a step" in text for text in texts)


def test_less_than_a_hundredth_of_the_limit_is_listed_and_not_warned_of() -> None:
    with sw.configure(memory_limit="1GiB"), Warned() as warned:
        losses = []
        for _ in range(2000):
            losses.append(tf.constant(0.5))  # losses
            growth.step()
        leak = leak_at("losses", sw.leaks())
    assert not warned.of("losses")
    assert leak is not None and leak.count == 2000


def test_garbage_in_cycles_is_no_leak() -> None:
    class Ring:
        def __init__(self) -> None:
            self.me = self
            self.value = tf.zeros([MIB // 8]) + 1.0  # in a cycle
            self.value.numpy()

    gc.disable()
    try:
        with sw.configure(memory_limit="64MiB"), Warned() as warned:
            for _ in range(10):
                Ring()
                growth.step()
            found = sw.leaks()
    finally:
        gc.enable()
    assert not warned.of("in a cycle")
    assert leak_at("in a cycle", found) is None


def test_a_warning_that_is_an_error_is_raised_by_the_step() -> None:
    with sw.configure(memory_limit="64MiB"), warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = []
        with pytest.raises(UserWarning, match="memory grows at"):
            for _ in range(4):
                kept.append(tf.zeros([MIB // 4]) + 1.0)
                kept[-1].numpy()
                growth.step()


def test_what_shows_a_warning_may_use_tensors_and_ask_for_leaks() -> None:
    seen = []
    with sw.configure(memory_limit="64MiB"), warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda *_: seen.append((float(tf.constant(1.0)), repr(sw.leaks())))
        kept = []
        for _ in range(4):
            kept.append(tf.zeros([MIB // 4]) + 1.0)
            kept[-1].numpy()
            growth.step()
    assert seen and seen[0][0] == 1.0


# ---- Who holds them


class Model:
    def __init__(self) -> None:
        self.cache = [tf.constant(1.0)]


class Slotted:
    __slots__ = ("value",)
    value: Any


GLOBAL: list[Any] = []
GLOBAL_DICT: dict[str, Any] = {}


def test_a_global_list_is_named_with_its_module() -> None:
    GLOBAL.append(tf.constant(1.0))
    try:
        assert holders.who_holds(GLOBAL[:1]) == ["list 'GLOBAL' in test_leaks.py (1 item)"]
    finally:
        GLOBAL.clear()


def test_a_dict_the_collector_does_not_know_is_found_all_the_same() -> None:
    GLOBAL_DICT["x"] = tf.constant(1.0)
    try:
        (text,) = holders.who_holds([GLOBAL_DICT["x"]])
        assert text == "dict 'GLOBAL_DICT' in test_leaks.py (1 item)"
    finally:
        GLOBAL_DICT.clear()


def test_an_attribute_is_named_with_its_class() -> None:
    model = Model()
    assert holders.who_holds(model.cache[:]) == ["attribute 'cache' of Model (list, 1 item)"]
    slotted = Slotted()
    slotted.value = tf.constant(1.0)
    assert "attribute 'value' of Slotted" in holders.who_holds([slotted.value])


def test_a_local_variable_is_named_with_its_function() -> None:
    mine = [tf.constant(1.0)]
    (text,) = holders.who_holds(mine[:])
    assert text.startswith("list 'mine' of test_a_local_variable") and "(1 item)" in text


def test_a_closure_is_named_by_its_function() -> None:
    def make() -> Any:
        inner = tf.constant(1.0)
        return lambda: inner

    function = make()
    (text,) = holders.who_holds([function()])
    assert text.startswith("closure of") and "make.<locals>" in text


def test_looking_for_holders_keeps_nothing_alive() -> None:
    model = Model()
    ref = weakref.ref(model.cache[0])
    holders.who_holds(model.cache[:])
    model.cache.clear()
    assert ref() is None


def test_objects_that_object_to_being_looked_at_do_no_harm() -> None:
    class Hostile:
        def __init__(self, value: Any) -> None:
            object.__setattr__(self, "value", value)

        def __getattribute__(self, name: str) -> Any:
            raise RuntimeError(name)

        def __eq__(self, other: object) -> bool:
            raise RuntimeError("==")

        __hash__ = None  # type: ignore[assignment]

    value = tf.constant(1.0)
    hostile = [Hostile(value)]
    assert "attribute 'value' of Hostile" in holders.who_holds([value])
    assert len(hostile) == 1


# ---- Variables, sessions, iterators


# Stands for a class of the package's: the line that counts is the one that makes a Thing.
THING = """
class Thing:
    def __init__(self, what, size):
        self.size = size
        tracked.track(what, self, lambda it: it.size)
"""
_made: dict[str, Any] = {"tracked": tracked}
exec(compile(THING, lines.PACKAGE + "thing.py", "exec"), _made)
Thing: Any = _made["Thing"]


def test_variables_made_in_a_loop_are_reported_as_such() -> None:
    kept = []
    for _ in range(1000):
        kept.append(Thing("variable", 40_000))  # variables
        if len(kept) % 100 == 0:
            growth.step()
    leak = leak_at("variables", sw.leaks())
    assert leak is not None
    place = f"{__file__}:{line_of('variables')}"
    assert str(leak) == (f"variable created 1,000 x at {place} (38.1 MiB live, +3.81 MiB a step)")
    assert "assign" in leak.advice


def test_open_sessions_are_listed_with_their_line_and_bytes() -> None:
    session = Thing("session", 4096)  # open session
    place = f"{__file__}:{line_of('open session')}"
    assert leak_report.OpenSession(place, 4096) in sw.open_sessions()
    assert f"session made at {place}: session = Thing" in repr(sw.leaks())
    tracked.untrack(session)
    assert not [each for each in sw.open_sessions() if each.line == place]


def test_a_session_nobody_closed_nor_reaches_is_counted() -> None:
    Thing("session", 4096)  # dropped session
    place = f"{__file__}:{line_of('dropped session')}"
    assert not [each for each in sw.open_sessions() if each.line == place]
    text = repr(sw.leaks())
    assert f"1 session was never closed; freed when nobody could reach it any more: {place}" in text


def test_iterators_that_are_kept_open_are_counted_by_their_line() -> None:
    kept = []
    for _ in range(5):
        kept.append(iter(tf.data.Dataset.range(3)))  # kept open
        growth.step()
    leak = leak_at("kept open", sw.leaks())
    assert leak is not None and (leak.what, leak.count) == ("iterator", 5)


# ---- How it looks


def test_the_report_shows_the_source_of_the_line_and_what_to_do() -> None:
    kept = []
    for _ in range(4):
        kept.append(tf.ones([10]))  # shown
        growth.step()
    found = sw.leaks()
    text = repr(found)
    assert "kept.append(tf.ones([10]))  # shown" in text
    assert "let them go once they were used" in text
    page = found._repr_html_()
    assert "<table>" in page and "kept.append" in page


def test_the_notebooks_table_escapes_what_it_shows() -> None:
    found = leak_report.Leaks([leak_report.Leak("tensor", "<b>:1", 1, 1, 1.0, ("<i>",))])
    page = found._repr_html_()
    assert "<i>" not in page and "&lt;b&gt;" in page


# ---- Graphs


class Graph:
    """What `growth` asks of a graph."""

    def __init__(self) -> None:
        self.lines: dict[str, int] = {}
        tracked.track("graph", self, lambda it: 0)

    @property
    def node_count(self) -> int:
        return sum(self.lines.values())

    def nodes_by_line(self) -> dict[str, int]:
        return dict(self.lines)

    def add(self, line: str, count: int = 1) -> None:
        self.lines[line] = self.lines.get(line, 0) + count


def test_nodes_added_to_a_graph_in_a_loop_are_reported_as_such() -> None:
    graph = Graph()
    graph.add("model.py:3", 500)
    for _ in range(5):
        graph.add("model.py:9", 2)
        growth.step()
    found = [leak for leak in sw.leaks() if leak.what == "node"]
    assert [(leak.line, leak.count) for leak in found] == [("model.py:9", 10)]
    assert str(found[0]).startswith(
        "adding nodes to a graph in a loop: 10 nodes at model.py:9 (10.0 KiB live, +2.00 KiB a step"
    )
    assert found[0].advice.startswith("build once, before the loop")


def test_graphs_that_come_and_go_are_no_loop_of_nodes() -> None:
    for _ in range(6):
        graph = Graph()
        graph.add("model.py:12", 7)
        growth.step()
        del graph
    assert not [leak for leak in sw.leaks() if leak.line == "model.py:12"]


def test_many_nodes_of_a_loop_are_warned_of() -> None:
    graph = Graph()
    with Warned() as warned:
        for _ in range(5):
            graph.add("model.py:15", 400)
            growth.step()
    (text,) = [text for text in warned.all if "model.py:15" in text]
    assert text.startswith("adding nodes to a graph in a loop: model.py:15\n  1,200 nodes")


def test_the_value_of_a_variable_is_no_leak_beside_the_variable() -> None:
    kept = []
    for _ in range(5):
        kept.append((Thing("variable", 40), tf.ones([10])))  # with its value
        growth.step()
    place = f"{__file__}:{line_of('with its value')}"
    assert [leak.what for leak in sw.leaks() if leak.line == place] == ["variable"]


# ---- The page


def test_the_examples_of_the_page_hold() -> None:
    page = Path(__file__).resolve().parents[1] / "docs" / "leaks.md"
    command = [sys.executable, "-m", "doctest", "-o", "ELLIPSIS", str(page)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stdout
    assert page.read_text().count(">>> ") > 5


def test_a_large_graph_that_is_built_once_is_no_loop() -> None:
    graph = Graph()
    with Warned() as warned:
        for _ in range(2000):
            graph.add("model.py:21")
        growth.step()
        assert not [leak for leak in sw.leaks() if leak.line == "model.py:21"]
    assert not warned.all


def test_lines_of_other_objects_are_bounded_and_give_their_places_away() -> None:
    kept: list[Any] = []
    for at in range(30):
        text = "\n".join("kept.append(Thing('variable', 1))" for _ in range(100))
        exec(compile(text, f"many {at}", "exec"), {"Thing": Thing, "kept": kept})
    assert len(tracked._by_line) <= tracked.MOST_LINES + len(tracked.KINDS)
    assert len(tracked.at_line(("variable", "", 0))) > 1000
    growth.step()
    kept.clear()
    growth.step()
    late = Thing("variable", 1)  # late variable
    assert len(tracked.at_line(("variable", __file__, line_of("late variable")))) == 1
    assert late.size == 1
