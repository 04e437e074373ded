"""A report of a pass: its numbers, its advice, its page and its trace."""

from __future__ import annotations

import html.parser
import itertools
import json
import stat
from pathlib import Path
from typing import Any

import pytest

import spillway as sw
import spillway.tf as tf
from spillway.advice import PassNumbers, StageFacts, advise
from spillway.audit import Audit, Entry, Pass, StageRow
from spillway.report import AtStage, Point, Report

MIB = 1 << 20
HOSTILE = "</script><script>alert(1)</script><img src=x onerror='alert(2)'>&\"\u2028"


def _stage(name: str, **more: Any) -> StageRow:
    facts: dict[str, Any] = {
        **dict.fromkeys(("rows_in", "rows_out", "used", "filtered", "skipped", "failed"), 0),
        **{"dropped": 0, "held": 0, "bytes": 0, "busy_s": 0.0, "wait_s": 0.0, "parallelism": 1},
        **{"spilled_bytes": 0, "effective": 0, "line": "train.py:3"},
    }
    return StageRow(name=name, **{**facts, **more})


def _entry(**more: Any) -> Entry:
    facts: dict[str, Any] = {
        **{"outcome": "skipped", "stage": "map#1", "line": "train.py:4", "origin": "", "index": 7},
        **{"epoch": 0, "file": "", "offset": -1, "code": 3, "kind": "data", "message": "bad"},
        **{"attempts": 1, "weight": 1},
    }
    return Entry(**{**facts, **more})


def _staged(entries: list[Entry] | None = None, points: int = 20) -> Report:
    """A pass of 2 s: `read` and `decode`, whose numbers grow evenly."""
    stages = [
        _stage("read", rows_out=100, bytes=100 * MIB, busy_s=0.4, peak_bytes=8 * MIB),
        _stage(
            "decode",
            rows_out=100,
            busy_s=1.2,
            wait_s=0.4,
            memory_wait_s=0.1,
            skipped=2,
            consumer_wait_s=0.3,
        ),
    ]
    timeline = [
        Point(
            (i + 1) * 0.1,
            (i + 3) * MIB,
            64 * MIB,
            200 * MIB,
            (AtStage(MIB, 0.02 * (i + 1), 0.0, i), AtStage(i * MIB, 0.06 * (i + 1), 0.02 * i, i)),
        )
        for i in range(points)
    ]
    audit = Audit(100, 98, 0, 2, 0, 0, 0, entries or [], stages)
    run = Pass(2.0, 0.3, 1.5, 24 * MIB, 64 * MIB, 64 * MIB, True)
    return Report(audit, run, timeline)


# ---- Numbers


def test_a_report_has_rows_bytes_times_and_peaks_of_every_stage() -> None:
    ds = sw.Dataset.range(4000).map(lambda x: x * 2).batch(100)
    assert sum(len(batch) for batch in ds) == 4000
    report = ds.report()
    source, mapped, batched = report.stages
    assert [s.rows_out for s in report.stages] == [4000, 4000, 40]
    assert source.bytes_in == 0
    assert mapped.bytes_in == source.bytes >= 32_000
    assert batched.bytes_in == mapped.bytes
    assert batched.bytes >= 32_000
    assert all(s.busy_s > 0 for s in report.stages)
    assert batched.wait_s > 0
    assert mapped.peak_bytes > 0  # a batch of scalars is a slice of its rows
    assert report.run.ended
    assert report.run.elapsed_s >= batched.busy_s
    assert report.run.peak_bytes >= mapped.peak_bytes
    assert report.rows == 40


def test_what_the_consumer_takes_is_told_as_its_own() -> None:
    ds = sw.Dataset.range(50).batch(1)
    total = 0
    for batch in ds:
        total += sum(range(20_000)) + int(batch[0])
    report = ds.report()
    assert report.run.away_s > 0
    assert report.stages[-1].consumer_wait_s == report.run.away_s
    assert report.stages[0].consumer_wait_s == 0


def test_a_prefetch_waits_for_its_input_and_is_not_busy_with_it() -> None:
    def slow(x: Any) -> Any:
        return sum(range(20_000)) + int(x)

    ds = sw.Dataset.range(100).map(slow).prefetch(4)
    assert len(list(ds)) == 100
    _, mapped, ahead = ds.report().stages
    assert ahead.wait_s > ahead.busy_s
    assert mapped.busy_s > ahead.busy_s


def test_a_prefetch_that_nobody_asks_waits_for_its_consumer() -> None:
    ds = sw.Dataset.range(400).batch(1).prefetch(2)
    for batch in ds:
        sum(range(20_000)) + int(batch[0])
    assert ds.report().stages[-1].consumer_wait_s > 0


def test_an_iterator_tells_of_its_own_pass_so_far() -> None:
    ds = sw.Dataset.range(100)
    it = iter(ds)
    next(it)
    report = it.report()
    assert not report.run.ended
    assert "not at its end" in repr(report)
    assert report.advice


def test_the_tf_front_reports_the_same() -> None:
    ds = tf.data.Dataset.range(100).batch(10)
    it = iter(ds)
    assert len(list(it)) == 10
    assert [s.rows_out for s in it.report().stages] == [100, 10]
    assert [s.rows_out for s in ds.report().stages] == [100, 10]


def test_a_dataset_that_was_not_iterated_has_no_report() -> None:
    with pytest.raises(RuntimeError, match="not iterated yet"):
        sw.Dataset.range(3).report()


def test_the_text_names_what_was_skipped_and_leaves_out_empty_columns() -> None:
    ds = sw.Dataset.range(10).map(lambda x: 12 // x, on_error="skip")
    assert len(list(ds)) == 9
    text = repr(ds.report())
    assert "9 elements in" in text
    assert "1 skipped" in text
    head = text.splitlines()[1]
    assert "skipped" in head
    assert "spilled" not in head
    assert "memory" not in head


def test_a_long_pass_has_a_timeline_of_what_it_held() -> None:
    def slow(x: Any) -> Any:
        return sum(range(60_000)) + int(x)

    ds = sw.Dataset.range(100_000).map(slow).batch(2)
    it = iter(ds)
    while len(it.report().timeline) < 3:
        next(it)
    timeline = it.report().timeline
    assert len(timeline[0].stages) == 3
    assert timeline[0].at_s > 0
    assert all(a.at_s < b.at_s for a, b in itertools.pairwise(timeline))
    assert all(p.used <= p.limit for p in timeline)
    assert timeline[-1].stages[1].busy_s > timeline[0].stages[1].busy_s
    it.close()
    assert len(ds.report().timeline) >= 3


# ---- Advice, by staged numbers


def _source(**more: Any) -> StageFacts:
    return StageFacts("range#0", "range", "range#0", (), **{"busy_s": 0.05, **more})


def _map(**more: Any) -> StageFacts:
    return StageFacts("map#1", "map", "map(decode)", (0,), **{"busy_s": 2.1, **more})


def _advice(*stages: StageFacts, **more: Any) -> Any:
    facts: dict[str, Any] = {"elapsed_s": 2.5, "cpu_s": 2.4, "cpus": 1, "limit": 2 << 30}
    return advise(PassNumbers(stages, **{**facts, **more}))


def test_a_python_function_is_told_of_with_its_line_and_at_most_what_it_takes() -> None:
    slow = _map(native=False, why="train.py:7 calls print, which may have effects", calls=None)
    first = _advice(_source(), slow)[0]
    assert first.kind == "python"
    assert str(first) == (
        "map(decode) took 84 % of the time and runs as Python because train.py:7 calls print, "
        "which may have effects: without that it can run natively, which saves up to 2.1 s of 2.5 s"
    )


def test_a_function_that_waits_gets_more_calls() -> None:
    slow = _map(native=False, why="x.py:1 calls get")
    first = _advice(_source(), slow, cpu_s=0.25)[0]
    assert first.kind == "calls"
    assert first.gain_s == pytest.approx(2.1 * 0.9)
    assert str(first) == (
        "map(decode) took 84 % of the time, and its calls mostly wait (the process used 250 ms of "
        "CPU): num_parallel_calls=sw.AUTOTUNE saves about 1.9 s of 2.5 s with 10 at a time"
    )


def test_a_function_whose_calls_all_wait_gets_more_than_it_was_given() -> None:
    slow = _map(native=False, calls=4, parallelism=4)
    first = _advice(_source(), slow, cpu_s=0.25)[0]
    assert first.kind == "calls"
    assert "its 4 calls at a time mostly wait" in str(first)
    assert str(first).endswith("with 40 at a time")


def test_a_function_that_was_given_calls_it_does_not_need_is_not_told_to_have_more() -> None:
    for stage in (_map(native=False, calls=8), _map(native=False, calls=-1, parallelism=8)):
        assert all(a.kind not in ("calls", "isolate") for a in _advice(stage, cpu_s=0.2))


def test_a_short_function_is_not_blamed_for_anothers_waiting() -> None:
    slow = _map(native=False, calls=-1, parallelism=16)
    short = StageFacts("map#2", "map", "map(scale)", (1,), busy_s=0.2, native=False)
    assert all(a.stage != "map#2" for a in _advice(_source(), slow, short, cpu_s=0.25))


def test_python_that_computes_goes_to_worker_processes() -> None:
    slow = _map(native=False)
    first = _advice(_source(), slow, cpus=4)[0]
    assert first.kind == "isolate"
    assert first.gain_s == pytest.approx(2.1 * 0.75 * 0.9)
    assert "num_parallel_calls=4, isolate=True" in str(first)


def test_native_rows_that_come_one_by_one_go_to_all_cpus() -> None:
    first = _advice(_source(), _map(row_by_row=True), cpus=4)[0]
    assert first.kind == "calls"
    assert first.gain_s == pytest.approx(2.1 * 0.75)


def test_a_cache_is_advised_where_it_saves_most_and_is_smallest() -> None:
    decoded = _map(rows=1000, bytes=310 * MIB, calls=4)
    batched = StageFacts("batch#2", "batch", "batch#2", (1,), bytes=330 * MIB, busy_s=0.05)
    found = {a.kind: a for a in _advice(_source(bytes=1000), decoded, batched)}
    assert str(found["cache"]) == (
        "cache() after map(decode): saves 2.1 s of 2.5 s from the second epoch on, needs "
        "310 MiB of 2.00 GiB"
    )
    assert found["cache"].stage == "map#1"


def test_a_cache_in_front_of_a_repeat_is_sized_by_one_epoch() -> None:
    decoded = _map(rows=1000, bytes=300 * MIB, calls=4)
    again = StageFacts("repeat#2", "repeat", "repeat#2", (1,), times=3)
    found = {a.kind: a for a in _advice(_source(bytes=1000), decoded, again)}
    assert str(found["cache"]) == (
        "cache() after map(decode): saves 1.4 s of 2.5 s in such 3 epochs, needs 100 MiB of "
        "2.00 GiB"
    )


@pytest.mark.parametrize(
    ("why", "stage", "numbers"),
    [
        ("too large", {"bytes": 1500 * MIB}, {}),
        ("draws random numbers", {"bytes": MIB, "draws": True}, {}),
        ("was not read to its end", {"bytes": MIB}, {"ended": False}),
    ],
)
def test_no_cache_is_advised_for_what(
    why: str, stage: dict[str, Any], numbers: dict[str, Any]
) -> None:
    found = _advice(_source(), _map(calls=4, **stage), **numbers)
    assert all(a.kind != "cache" or a.stage != "map#1" for a in found), why


def test_no_cache_is_advised_behind_a_shuffle_or_another_cache() -> None:
    for op in ("shuffle", "cache"):
        above = StageFacts("x#1", op, op, (0,), bytes=MIB, busy_s=2.0)
        later = StageFacts("map#2", "map", "map(f)", (1,), bytes=MIB, busy_s=0.3, calls=2)
        assert all(a.kind != "cache" for a in _advice(_source(), above, later))


def test_a_slow_generator_is_told_to_run_several_times() -> None:
    source = StageFacts("from_generator#0", "from_generator", "from_generator(rows)", busy_s=2.2)
    reader = StageFacts("batch#1", "batch", "batch#1", (0,), busy_s=0.1)
    waiting = _advice(source, reader, cpu_s=0.2)[0]
    assert waiting.kind == "source"
    assert "batch#1 waits for from_generator(rows), which took 88 % of the time" in str(waiting)
    assert "parallel=4 with" in str(waiting)
    assert waiting.gain_s == pytest.approx(2.2 * 0.75)
    computing = _advice(source, reader, cpus=2)[0]
    assert "parallel=2, isolate=True" in str(computing)


def test_slow_files_are_read_several_at_a_time() -> None:
    source = StageFacts("tf_record#0", "tf_record", "tf_record#0", busy_s=2.0)
    assert "interleave" in str(_advice(source, cpu_s=0.5)[0])


def test_a_shuffle_that_spills_is_told_what_would_fit() -> None:
    buffered = StageFacts(
        "shuffle#1", "shuffle", "shuffle#1", (0,), rows=10_000, bytes=10_000 * MIB, busy_s=1.0,
        memory_wait_s=0.8, spilled_bytes=3000 * MIB, buffer=5000,
    )  # fmt: skip
    found = {a.kind: str(a) for a in _advice(_source(), buffered)}
    assert "wrote 2.93 GiB to disk and waited 800 ms for memory" in found["memory"]
    assert "buffer_size=1,024 fits" in found["memory"]
    assert found["memory"].endswith("which saves up to 1.8 s of 2.5 s")


def test_more_calls_than_cpus_can_do_are_told_to_be_fewer() -> None:
    many = _map(calls=64, parallelism=64, peak_bytes=190 * MIB)
    found = {a.kind: a for a in _advice(_source(), many, cpus=2, cpu_s=5.0)}
    assert "num_parallel_calls=4 does the same work and holds about 11.9 MiB" in str(found["fewer"])
    assert found["fewer"].gain_bytes > 170 * MIB
    idle = _advice(_source(), many, cpus=2, cpu_s=1.0)
    assert all(a.kind != "fewer" for a in idle)


def test_a_slow_consumer_is_told_that_there_is_nothing_to_gain() -> None:
    found = _advice(_source(), _map(busy_s=0.1, calls=2), away_s=2.3)
    assert [a.kind for a in found] == ["consumer"]
    assert "your own code took 92 % of the time" in str(found[0])


def test_what_overlaps_with_the_consumer_cannot_be_saved_again() -> None:
    slow = _map(native=False)
    found = _advice(_source(), slow, away_s=2.0, cpu_s=0.2)
    assert found[0].gain_s <= 0.5


def test_a_pass_that_took_no_time_has_no_advice() -> None:
    assert [a.kind for a in _advice(_source(), elapsed_s=0.01)] == ["short"]


def test_real_advice_names_the_function_and_the_line() -> None:
    def decode(x: Any) -> Any:
        print(end="")
        return sum(range(30_000)) + int(x)

    ds = sw.Dataset.range(300).map(decode)
    list(ds)
    while ds.report().run.elapsed_s < 0.12:  # on a fast machine
        ds = sw.Dataset.range(300 * 20).map(decode)
        list(ds)
    texts = [str(a) for a in ds.report().suggestions]
    assert any("map(decode) took" in text and "calls print" in text for text in texts), texts


# ---- The page and the trace


class _Page(html.parser.HTMLParser):
    """What elements there are, and what text is in scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]
        assert not any((value or "").startswith("http") for _, value in attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


def _parsed(text: str) -> _Page:
    page = _Page()
    page.feed(text)
    return page


def test_the_page_is_one_file_that_asks_nobody(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    _staged([_entry(file="/data/a.jpg", offset=12, message="not a JPEG")]).save(path)
    text = path.read_text("utf-8")
    page = _parsed(text)
    assert "http" not in text.replace('http-equiv="Content-Security-Policy"', "")
    assert "link" not in page.tags
    assert "img" not in page.tags
    for words in ("decode", "limit 64.0 MiB", "/data/a.jpg, byte 12", "not a JPEG", "train.py:4"):
        assert words in page.text or words.replace(".0", "") in page.text, words
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_nothing_of_the_users_becomes_markup(tmp_path: Path) -> None:
    entry = _entry(
        stage=HOSTILE, line=HOSTILE, origin=HOSTILE, file=HOSTILE, message=HOSTILE, outcome=HOSTILE
    )
    report = _staged([entry])
    report.stages[0] = _stage(HOSTILE, line=HOSTILE, busy_s=1.0)
    report.save(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text("utf-8")
    page = _parsed(text)
    assert page.tags.count("script") == 2
    assert "img" not in page.tags
    assert "onerror" not in page.attributes
    assert "<img" not in text
    fragment = _parsed(report._repr_html_())
    assert "script" not in fragment.tags
    assert "img" not in fragment.tags


def test_a_name_that_is_no_utf8_is_written_escaped(tmp_path: Path) -> None:
    _staged([_entry(file="bad\udcff.jpg")]).save(tmp_path / "r.html")
    assert "bad\\udcff.jpg" in (tmp_path / "r.html").read_text("utf-8")


def test_a_pass_without_points_says_so(tmp_path: Path) -> None:
    _staged(points=0).save(tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text("utf-8")
    assert "every 100 ms" in text
    assert "polygon" not in text


def test_many_errors_are_counted_and_not_all_listed() -> None:
    from spillway.report_page import page

    text = page(_staged([_entry(message=f"bad {i}") for i in range(500)]))
    assert "bad 199" in text
    assert "bad 200" not in text
    assert "and 300 more" in text


def test_a_stage_is_drawn_for_each_that_held_something() -> None:
    from spillway.report_chart import memory

    picture = memory(_staged())
    assert picture.count("<polygon") == 2 + 1  # and what others hold
    assert "decode: 19" in picture
    assert "nan" not in picture


def test_the_trace_has_a_thread_a_stage_spans_and_counters(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    _staged().save(path)
    trace = json.loads(path.read_text("utf-8"))
    events = trace["traceEvents"]
    names = {e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert names == {"read", "decode"}
    spans = [e for e in events if e["ph"] == "X"]
    assert {e["name"] for e in spans} == {"busy", "waits for input"}
    for thread in (1, 2):
        own = sorted((e["ts"], e["dur"]) for e in spans if e["tid"] == thread)
        assert all(a + d <= b + 1 for (a, d), (b, _) in itertools.pairwise(own))
    busy = sum(e["args"]["seconds"] for e in spans if e["tid"] == 2 and e["name"] == "busy")
    assert busy == pytest.approx(1.2)
    counters = [e for e in events if e["ph"] == "C" and e["name"] == "held by stage (bytes)"]
    assert len(counters) == 20
    assert set(counters[0]["args"]) == {"read", "decode"}


def test_a_short_pass_has_a_trace_of_its_sums() -> None:
    from spillway.report_trace import trace

    spans = [e for e in json.loads(trace(_staged(points=0)))["traceEvents"] if e["ph"] == "X"]
    assert {e["tid"] for e in spans} == {1, 2}


def test_another_ending_of_the_name_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(ValueError, match=r"\.html .* or \.json"):
        _staged().save("report.txt")
