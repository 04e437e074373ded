"""`sw.postmortem`: what the last process that died here was doing."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from typing import Any

from spillway import _native, flight
from spillway.problems import printable

_CONSUMER, _FUNCTION, _GENERATOR, _WORKER, _FILE, _MEMORY = range(1, 7)
_WIDTH = 60
_NEAR = 0.9  # of what the container allows
_RECENT = 2.0  # seconds before the end


@dataclass(frozen=True)
class Task:
    """What a thread was at when the process died."""

    what: str
    stage: str
    element: int | None
    epoch: int
    seconds: float
    thread: int

    def __str__(self) -> str:
        """One line."""
        on = "" if self.element is None else f" element {self.element}"
        return f"{self.what}{on}: {self.stage} ({self.seconds:.1f} s)"


class Postmortem:
    """A record of a process that died; prints whole. `found` says whether there is one."""

    def __init__(self, facts: dict[str, Any] | None, why: str = "") -> None:
        """Takes what the engine read, or why there is nothing."""
        self.found = facts is not None
        self._why = why
        self._facts: dict[str, Any] = facts or {}
        self.pid: int = self._facts.get("pid", 0)
        self.program: str = printable(self._facts.get("program", ""))
        self.tasks = [_task(task) for task in _innermost(self._facts.get("tasks", []))]
        self.memory: list[dict[str, Any]] = self._facts.get("memory", [])
        self.cause = _cause(self._facts, _native.flight_surroundings()) if facts else ""

    def three_lines(self) -> str:
        """The short form that an import prints."""
        facts = self._facts
        running = str(self.tasks[0]) if self.tasks else self._between()
        more = f", and {len(self.tasks) - 1} more" if len(self.tasks) > 1 else ""
        return "\n".join(
            [
                f"spillway: the last process here died ({self.program}, pid {self.pid}, "
                f"{_when(facts['last_seen'])}); it was in {running}{more}",
                f"  memory: {self._holding()}",
                f"  {self.cause}; more with sw.postmortem() or `spillway postmortem`",
            ]
        )

    def _between(self) -> str:
        """What was handed on last, where only the user's own code ran."""
        element = self._facts.get("handed", -1)
        if element < 0:
            return "your own code, between two elements"
        file = printable(self._facts["handed_file"])
        by = printable(self._facts["handed_by"]) or "a pipeline"
        return f"your own code, after element {element} of {by}" + (
            f", from {file}" if file else ""
        )

    def _holding(self) -> str:
        if not self.memory:
            return "nothing was noted yet"
        last = self.memory[-1]
        text = (
            f"pipelines held {_size(last['used'])} of {_size(last['limit'])}, "
            f"the rest of the process {_size(last['untracked'])}"
        )
        if last["holders"]:
            name, held = last["holders"][0]
            text += f"; most of it {printable(name)}: {_size(held)}"
        return text

    def __repr__(self) -> str:
        """All of it."""
        if not self.found:
            return self._why
        facts = self._facts
        lines = [
            f"process {self.pid} died: {self.program}",
            f"  began {_when(facts['began'])}, last seen {_when(facts['last_seen'])}, "
            f"on {printable(facts['host'])} with {printable(facts['interpreter'])}",
            f"  {self.cause}",
            "",
            "what it was at:" if self.tasks else f"what it was at: {self._between()}",
        ]
        lines += [f"  {task}" for task in self.tasks]
        lines += ["", "memory: " + self._holding(), *_chart(self.memory)]
        if self.memory and self.memory[-1]["holders"]:
            lines.append("who held it at the end:")
            for name, held in self.memory[-1]["holders"]:
                lines.append(f"  {_size(held):>10}  {printable(name)}")
        if facts["report"]:
            ago = max(0.0, float(facts["report_ago"]))
            lines += ["", f"reported {ago:.1f} s before the end:"]
            lines += ["  " + printable(line) for line in facts["report"].splitlines()]
        return "\n".join(lines)

    def __bool__(self) -> bool:
        """Whether there is a record."""
        return self.found

    def _repr_html_(self) -> str:
        import html

        return f"<pre>{html.escape(repr(self))}</pre>"


def postmortem() -> Postmortem:
    """What the last process that died here was doing, on which element, and who held the memory.

    Records lie in the user's cache folder (`sw.configure(cache_dir=)`); only the last is kept.

    >>> import spillway as sw
    >>> isinstance(sw.postmortem().found, bool)
    True
    """
    where = flight.folder()
    if where is None:
        return Postmortem(None, "nothing is recorded: the flight recorder is turned off")
    if os.path.isdir(where):
        tell(where)
        found = _native.last_flight(where)
        if isinstance(found, dict):
            return Postmortem(found)
    text = f"no process died here while a pipeline ran, as far as {printable(where)} knows"
    if flight.why_not:
        text += f"; this one is not recorded: {printable(flight.why_not)}"
    return Postmortem(None, text)


def tell(where: str, program: str = "") -> None:
    """Prints three lines for a record that nobody was told of yet; with `program` of that one."""
    found: Any = _native.take_dead_flight(where, program)
    if found is None:
        return
    facts, others = found
    print(Postmortem(facts).three_lines(), file=sys.stderr)
    if others:
        print(f"  ({others} more died; only the last one is kept)", file=sys.stderr)


def _innermost(tasks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What says most of each thread: user code first, who waits for others last."""
    threads: dict[int, list[dict[str, Any]]] = {}
    for task in tasks:
        if task["whole"]:
            threads.setdefault(task["thread"], []).append(task)
    shown = []
    for levels in threads.values():
        inner = levels[-1]
        # A read or a wait for memory is told with the stage that it is for.
        stages = [task for task in levels if task["text"]]
        stage = stages[-1] if stages else inner
        shown.append({**inner, "text": stage["text"], "for": stage})
    if any(task["phase"] != _CONSUMER for task in shown):
        shown = [task for task in shown if task["phase"] != _CONSUMER]
    order = {_FUNCTION: 0, _GENERATOR: 0, _WORKER: 1, _FILE: 2, _MEMORY: 3, _CONSUMER: 4}
    return sorted(shown, key=lambda task: (order[task["phase"]], -task["seconds"]))


def _task(task: dict[str, Any]) -> Task:
    phase, stage = task["phase"], task["for"]
    what = {
        _CONSUMER: "waiting for",
        _FUNCTION: "your function,",
        _GENERATOR: "your generator,",
        _WORKER: f"worker process {task['amount'] or '(being started)'},",
        _FILE: f"reading {printable(task['detail'])} at byte {task['amount']},",
        _MEMORY: f"waiting for {_size(task['amount'])} of memory,",
    }[phase]
    element = stage["element"] if stage["element"] >= 0 else None
    text = printable(stage["text"]) or "a pipeline"
    return Task(what, text, element, stage["epoch"], task["seconds"], task["thread"])


def _cause(facts: dict[str, Any], now: tuple[str, int, str]) -> str:
    """As much as the evidence says, and not more."""
    cgroup, kills, boot = now
    last = facts["memory"][-1] if facts["memory"] else None
    before = last["oom_kills"] if last else facts["oom_kills"]
    if facts["boot"] != boot:
        return "cause: probably the machine's own end, which was started again since"
    same = facts["cgroup"] == cgroup and before >= 0 and kills >= 0
    if same and kills > before:
        return (
            "cause: probably the OOM killer: it has killed in this group of processes since "
            f"(oom_kill {before} -> {kills})"
        )
    if not same and last is not None and (near := _nearly_full(facts["memory"])):
        return (
            "cause: probably for want of memory: "
            f"{_size(_in_use(last))} of the {_size(last['container'])} that its container allows "
            f"were used when it was last seen{near}"
        )
    killed = f"; the kernel did not kill for want of memory (oom_kill {kills})" if same else ""
    return (
        "cause: unknown: a crash (SIGSEGV), os._exit or somebody's kill leave no other trace"
        + killed
    )


def _in_use(memory: dict[str, Any]) -> int:
    return max(int(memory["own"]), int(memory["container_used"]))


def _nearly_full(memory: list[dict[str, Any]]) -> str:
    """Whether the container was full at the end, or would have been before the next snapshot."""
    recent = [m for m in memory if m["ago"] <= _RECENT and m["container"] > 0]
    if not recent:
        return ""
    if any(_in_use(m) >= _NEAR * m["container"] for m in recent):
        return "; there was next to nothing left"
    first, last = recent[0], recent[-1]
    took = first["ago"] - last["ago"]
    rate = (_in_use(last) - _in_use(first)) / took if took > 0 else 0.0
    spacing = max(took / max(len(recent) - 1, 1), 0.1)
    if _in_use(last) + 2 * spacing * rate < _NEAR * last["container"]:
        return ""
    return f", growing by {_size(int(rate))} a second"


def _chart(memory: list[dict[str, Any]]) -> list[str]:
    """The last minute against the limit, a column for some of the snapshots."""
    if not memory:
        return []
    step = max(1, -(-len(memory) // _WIDTH))
    parts = [memory[i : i + step] for i in range(0, len(memory), step)]
    top = max(max(max(m["limit"], m["used"], m["own"]) for m in memory), 1)
    rows = 6
    lines = []
    for row in range(rows, 0, -1):
        cells = ""
        for part in parts:
            used = max(m["used"] for m in part) / top * rows
            own = max(m["own"] for m in part) / top * rows
            limit = max(m["limit"] for m in part) / top * rows
            cells += "#" if used > row - 1 else "." if own > row - 1 else " "
            if cells[-1] == " " and row - 1 < limit <= row:
                cells = cells[:-1] + "-"
        label = _size(int(top)) if row == rows else ""
        lines.append(f"  {label:>10} |{cells}|")
    lines.append(
        f"  {'':>10}  the last {memory[0]['ago']:.1f} s; # pipelines, . the whole process, - limit"
    )
    return lines


def _size(size: int) -> str:
    return str(_native.format_bytes(min(max(int(size), 0), 2**63)))


def _when(seconds: float) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))
    except (OverflowError, ValueError, OSError):
        return "at an unknown time"
