"""What would make a pipeline faster or smaller, by the numbers of a pass: one sentence each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from spillway._native import format_bytes

_WORTH = 0.05  # of the time: less is not worth a line of anybody's code
_SHORT_S = 0.1
_SHARE_OF_LIMIT = 0.5  # a cache may take, beside everything else
_MOST_CALLS = 16
_FILES = ("tf_record", "text_lines", "csv_rows", "fixed_length_records", "npy_rows", "tar_samples")
_NOT_CACHED = ("cache", "prefetch", "repeat", "with_options", "on_error", "ignore_errors")
_ORDERS_ANEW = ("shuffle", "random", "sample_from_datasets", "snapshot", "cache")


@dataclass(frozen=True)
class StageFacts:
    """What a stage did in a pass, as far as advice depends on it."""

    name: str
    op: str
    label: str
    inputs: tuple[int, ...] = ()
    rows: int = 0
    bytes: int = 0
    busy_s: float = 0.0
    memory_wait_s: float = 0.0
    peak_bytes: int = 0
    spilled_bytes: int = 0
    parallelism: int = 1
    buffer: int = 0  # rows it was told to hold
    calls: int | None = None  # it was told to have under way; -1: as many as help
    native: bool = True
    why: str = ""  # it runs as Python
    draws: bool = False  # its function may draw random numbers
    row_by_row: bool = False
    isolated: bool = False
    times: int = 1  # a repeat: how often; -1: for ever


@dataclass(frozen=True)
class PassNumbers:
    """The pass: stages in order, sources first; the last is what the consumer reads."""

    stages: Sequence[StageFacts]
    elapsed_s: float
    away_s: float = 0.0
    cpu_s: float = 0.0
    cpus: int = 1
    limit: int = 0
    ended: bool = True

    @property
    def at_work(self) -> float:
        """The share of the time in which the process used a CPU, at most 1."""
        return min(1.0, self.cpu_s / max(self.elapsed_s, 1e-9))

    def share(self, seconds: float) -> str:
        """Of the whole time, in words."""
        return f"{min(1.0, seconds / max(self.elapsed_s, 1e-9)):.0%}".replace("%", " %")

    def saves(self, seconds: float) -> str:
        """So much of the whole time, in words."""
        return f"{duration(seconds)} of {duration(self.elapsed_s)}"


@dataclass(frozen=True)
class Advice:
    """One thing to change: `gain_s` seconds of such a pass, or `gain_bytes` of memory."""

    kind: str
    stage: str
    text: str = field(compare=False)
    gain_s: float = 0.0
    gain_bytes: int = 0

    def __str__(self) -> str:
        """The sentence."""
        return self.text


def duration(seconds: float) -> str:
    """Seconds as a person says them.

    >>> duration(0), duration(4.2e-5), duration(0.0123), duration(2.54), duration(754)
    ('0 s', '42 µs', '12 ms', '2.5 s', '12.6 min')
    """
    if seconds <= 0:
        return "0 s"
    if seconds < 1:
        small, unit = (seconds * 1e3, "ms") if seconds >= 1e-3 else (seconds * 1e6, "µs")
        return f"{small:.0f} {unit}" if small >= 10 else f"{small:.2g} {unit}"
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:.1f} min"


def advise(seen: PassNumbers) -> list[Advice]:
    """All that is worth it, the best first; never empty: it then says why there is nothing.

    >>> slow = StageFacts("map#1", "map", "map(decode)", (0,), busy_s=2.1, calls=None,
    ...     native=False, why="line 7 calls print, which may have effects")
    >>> source = StageFacts("range#0", "range", "range#0", busy_s=0.1)
    >>> print(advise(PassNumbers([source, slow], elapsed_s=2.5, cpu_s=2.4))[0])
    map(decode) took 84 % of the time and runs as Python because line 7 calls print, which may \
have effects: without that it can run natively, which saves up to 2.1 s of 2.5 s
    """
    if seen.elapsed_s < _SHORT_S or not seen.stages:
        text = f"too short to learn from: {duration(seen.elapsed_s)}"
        return [Advice("short", "", text)]
    found = [advice for rule in _RULES for advice in rule(seen)]
    worth = [a for a in found if a.gain_s >= _WORTH * seen.elapsed_s or a.gain_bytes > 0]
    worth.sort(key=lambda a: (a.gain_s >= _WORTH * seen.elapsed_s, a.gain_s, a.gain_bytes))
    return worth[::-1] or [_nothing(seen)]


def _nothing(seen: PassNumbers) -> Advice:
    if seen.away_s >= 0.5 * seen.elapsed_s:
        return Advice(
            "consumer",
            "",
            f"your own code took {seen.share(seen.away_s)} of the time between elements, and the "
            f"pipeline waited for it: nothing to gain here",
        )
    slowest = max(seen.stages, key=lambda s: s.busy_s)
    return Advice(
        "none",
        slowest.name,
        f"nothing to change: the slowest stage is {slowest.label} with "
        f"{seen.share(slowest.busy_s)} of the time, and it runs as fast as it can here",
    )


def _saved(seen: PassNumbers, seconds: float) -> float:
    """Of work that goes on beside the consumer's own, only what it waited for can be saved."""
    return max(0.0, min(seconds, seen.elapsed_s - seen.away_s))


def _runs_as_python(seen: PassNumbers) -> list[Advice]:
    found = []
    for stage in seen.stages:
        if stage.native or not stage.why or stage.op == "from_generator":
            continue
        gain = _saved(seen, stage.busy_s)
        text = (
            f"{stage.label} took {seen.share(stage.busy_s)} of the time and runs as Python "
            f"because {stage.why}: without that it can run natively, which saves up to "
            f"{seen.saves(gain)}"
        )
        # At most: what a native form takes is not known. Ranked by the half of it.
        found.append(Advice("python", stage.name, text, gain / 2))
    return found


def _more_calls(seen: PassNumbers) -> list[Advice]:
    found = []
    idle_s = seen.elapsed_s * (1 - seen.at_work)
    for stage in seen.stages:
        if stage.op != "map" or stage.isolated:
            continue
        # Where the process did not work it is this stage that waits, if it lasted about as long.
        waits = not stage.native and seen.at_work <= 0.5 and stage.busy_s >= 0.5 * idle_s
        told = stage.calls
        if told is not None and not (waits and 0 < told <= stage.parallelism):
            continue
        if waits:
            now = told or 1
            calls = now * max(2, min(_MOST_CALLS, round(1 / max(seen.at_work, 1 / _MOST_CALLS))))
            gain = _saved(seen, stage.busy_s * (1 - now / calls))
            theirs = f"its {now} calls at a time" if told else "its calls"
            text = (
                f"{stage.label} took {seen.share(stage.busy_s)} of the time, and {theirs} "
                f"mostly wait (the process used {duration(seen.cpu_s)} of CPU): "
                f"num_parallel_calls=sw.AUTOTUNE saves about {seen.saves(gain)} with {calls} at "
                f"a time"
            )
            found.append(Advice("calls", stage.name, text, gain))
        elif seen.cpus > 1 and not stage.native:
            gain = _saved(seen, stage.busy_s * (1 - 1 / seen.cpus)) * 0.9
            text = (
                f"{stage.label} took {seen.share(stage.busy_s)} of the time as Python on one of "
                f"{seen.cpus} CPUs: num_parallel_calls={seen.cpus}, isolate=True runs it in "
                f"worker processes and saves about {seen.saves(gain)}"
            )
            found.append(Advice("isolate", stage.name, text, gain))
        elif seen.cpus > 1 and stage.row_by_row:
            gain = _saved(seen, stage.busy_s * (1 - 1 / seen.cpus))
            text = (
                f"{stage.label} took {seen.share(stage.busy_s)} of the time on one of {seen.cpus} "
                f"CPUs: num_parallel_calls=sw.AUTOTUNE saves about {seen.saves(gain)}"
            )
            found.append(Advice("calls", stage.name, text, gain))
    return found


def _slow_source(seen: PassNumbers) -> list[Advice]:
    found = []
    readers = {i: stage for stage in seen.stages for i in stage.inputs}
    for number, stage in enumerate(seen.stages):
        if stage.busy_s < 0.3 * seen.elapsed_s or stage.isolated:
            continue
        reader = readers[number].label if number in readers else "the consumer"
        waits = seen.at_work < 0.5
        k = 4 if waits else seen.cpus
        gain = _saved(seen, stage.busy_s * (1 - 1 / max(k, 1)))
        begin = f"{reader} waits for {stage.label}, which took {seen.share(stage.busy_s)}"
        if stage.op == "from_generator" and (waits or seen.cpus > 1):
            how = "" if waits else ", isolate=True"
            text = (
                f"{begin} of the time: parallel={k}{how} with its work split in args= "
                f"(docs/slow-sources.md) saves about {seen.saves(gain)}"
            )
            found.append(Advice("source", stage.name, text, gain))
        elif stage.op in _FILES and k > 1:
            text = (
                f"{begin} of the time: reading several files at a time, by interleave(..., "
                f"num_parallel_calls=sw.AUTOTUNE) over their names, saves about "
                f"{seen.saves(gain)}"
            )
            found.append(Advice("source", stage.name, text, gain))
    return found


def _cache(seen: PassNumbers) -> list[Advice]:
    """The smallest of the places that save about as much as the best."""
    if not seen.ended:
        return []
    places = []
    for number, stage in enumerate(seen.stages):
        inside = _below(seen.stages, number)
        if stage.op in _NOT_CACHED or any(_changes(seen.stages[i]) for i in inside):
            continue
        epochs = _epochs(seen.stages, number)
        size = stage.bytes // epochs
        if 0 < size <= seen.limit * _SHARE_OF_LIMIT:
            spent = sum(seen.stages[i].busy_s for i in inside)
            # In a pass of one epoch nothing is saved, but in each that follows.
            again = spent if epochs == 1 else spent * (epochs - 1) / epochs
            places.append((_saved(seen, again), size, epochs, stage))
    best = max((place[0] for place in places), default=0.0)
    good = [place for place in places if place[0] >= 0.9 * best > 0]
    if not good:
        return []
    gain, size, epochs, stage = min(good, key=lambda place: place[1])
    when = "from the second epoch on" if epochs == 1 else f"in such {epochs:,} epochs"
    text = (
        f"cache() after {stage.label}: saves {seen.saves(gain)} {when}, needs "
        f"{format_bytes(size)} of {format_bytes(seen.limit)}"
    )
    # Nothing in the first epoch: behind what helps at once by as much.
    return [Advice("cache", stage.name, text, gain * 0.7)]


def _epochs(stages: Sequence[StageFacts], number: int) -> int:
    """How often the stages behind it ask for all of its elements."""
    times = 1
    for at, stage in enumerate(stages):
        if stage.op == "repeat" and number in _below(stages, at):
            times *= max(stage.times, 1)
    return times


def _changes(stage: StageFacts) -> bool:
    """Whether a cache would freeze what is meant to differ from epoch to epoch."""
    return stage.op in _ORDERS_ANEW or stage.draws


def _below(stages: Sequence[StageFacts], number: int) -> set[int]:
    found: set[int] = set()
    left = [number]
    while left:
        at = left.pop()
        if at not in found:
            found.add(at)
            left.extend(stages[at].inputs)
    return found


def _short_of_memory(seen: PassNumbers) -> list[Advice]:
    found = []
    for stage in seen.stages:
        if not stage.spilled_bytes and stage.memory_wait_s < _WORTH * seen.elapsed_s:
            continue
        lost = [f"wrote {format_bytes(stage.spilled_bytes)} to disk"] if stage.spilled_bytes else []
        if stage.memory_wait_s >= 0.001:
            lost.append(f"waited {duration(stage.memory_wait_s)} for memory")
        each = stage.bytes // stage.rows if stage.rows else 0
        if stage.op == "shuffle" and each and stage.buffer:
            wanted = min(stage.buffer, stage.rows) * each
            fitting = max(1, int(seen.limit * _SHARE_OF_LIMIT) // each)
            do = (
                f"buffer_size={fitting:,} fits {format_bytes(seen.limit)}, and memory_limit="
                f'"{format_bytes(wanted * 2).replace(" ", "")}" holds all of it'
            )
        else:
            do = "a higher memory_limit, or smaller batches and buffers, would do"
        # Of a stage that spills most of its own time is writing and reading.
        gain = _saved(seen, stage.memory_wait_s + (stage.busy_s if stage.spilled_bytes else 0))
        text = f"{stage.label} {' and '.join(lost)}: {do}, which saves up to {seen.saves(gain)}"
        found.append(Advice("memory", stage.name, text, gain / 2, stage.spilled_bytes or 1))
    return found


def _fewer_calls(seen: PassNumbers) -> list[Advice]:
    if seen.cpu_s < 0.8 * seen.cpus * seen.elapsed_s:
        return []
    found = []
    enough = 2 * seen.cpus
    for stage in seen.stages:
        told = stage.calls or 0
        if told <= enough or stage.parallelism <= enough or not stage.peak_bytes:
            continue
        smaller = stage.peak_bytes * enough // stage.parallelism
        text = (
            f"{stage.label} has {stage.parallelism} calls under way on {seen.cpus} CPUs that are "
            f"all busy: num_parallel_calls={enough} does the same work and holds about "
            f"{format_bytes(smaller)} instead of {format_bytes(stage.peak_bytes)}"
        )
        found.append(Advice("fewer", stage.name, text, 0.0, stage.peak_bytes - smaller))
    return found


_RULES: tuple[Callable[[PassNumbers], list[Advice]], ...] = (
    _runs_as_python,
    _more_calls,
    _slow_source,
    _cache,
    _short_of_memory,
    _fewer_calls,
)
