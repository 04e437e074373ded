"""What one set of fetches runs: which graphs, in which order, and what is set between them."""

from __future__ import annotations

from typing import Any

from spillway.native_ops import native
from spillway.sessions.operation import Called, Effect, Fed, Made, Read, Result, Source
from spillway.sessions.refusals import missing_feed, uninitialized

_CHECKED = 1 << 20  # what a control input makes is computed for its errors, up to so many items


class _Phase:
    """What is computed at once: one graph of the engine."""

    def __init__(self) -> None:
        self.items: list[tuple[Any, list[Any]]] = []  # who wants which tensors
        self.given: list[Any] = []  # parameters, then what else is fed
        self.sources: list[Source | int] = []  # of `given`; a number: which feed
        self.fresh: set[int] = set()  # variables that are read as they are now
        self.prepared: Any = None

    def tensors(self) -> list[Any]:
        """Everything it computes."""
        return [tensor for _, wanted in self.items for tensor in wanted]


class Program:
    """Fetches and feeds of one kind, ready to run any number of times.

    Plain reads of a variable see the value it had when the run began. What sets the same variable
    runs in the order it was written, each time with the value before it. What a variable starts
    from sees those that are started in the same run before it.
    """

    def __init__(
        self, graph: Any, tensors: list[Any], operations: list[Any], fed: list[Any]
    ) -> None:
        """tensors: symbolic ones to fetch; operations: to run; fed: what comes with the call."""
        self._graph = graph
        self._count = len(tensors)
        self._fed = fed
        self._below: dict[int, list[int]] = {}
        self._phases: dict[int, _Phase] = {}
        self._at: dict[int, int] = {}  # the phase of an effect, a default or a call
        self._schedule(self._needed(tensors, operations))
        for i, tensor in enumerate(tensors):
            self._phase(self._after(self._causes([tensor]))).items.append((i, [tensor]))
        for phase in self._phases.values():
            self._bind(phase)
        self._below.clear()

    # ---- What is needed, and when

    def _serials(self, tensor: Any) -> list[int]:
        found = self._below.get(id(tensor))
        if found is None:
            found = self._below[id(tensor)] = native.serials_below([tensor], self._fed)
        return found

    def _sources(self, tensors: Any) -> list[Source]:
        """Where the parameters below get their values, those that are not fed."""
        known = self._graph._sources
        serials = (serial for tensor in tensors for serial in self._serials(tensor))
        return [known[serial] for serial in serials if serial in known]

    def _causes(self, tensors: Any, starts: bool = False) -> list[Any]:
        """The effects, defaults and operations that come before these tensors are computed.

        starts: what starts a variable that is only read counts, too, where it runs at all.
        """
        found: list[Any] = []
        controls = self._graph._controls
        if controls:
            for tensor in tensors:
                for serial in self._serials(tensor):
                    found.extend(controls.get(serial, ()))
        for source in self._sources(tensors):
            if isinstance(source, Result):
                found.append(source.effect)
            elif isinstance(source, Made):
                found.append(source.call)
            elif isinstance(source, Read):
                found.extend(source.after)
                if starts and not source.after and source.variable._starter is not None:
                    found.append(source.variable._starter)
            elif isinstance(source, Fed) and source.default is not None:
                found.append(source)
        return found

    def _causes_of(self, item: Any, starts: bool = False) -> list[Any]:
        causes = list(item.needs()) + self._causes(item.inputs(), starts)
        return [cause for cause in causes if cause is not item]

    def _needed(self, tensors: list[Any], operations: list[Any]) -> list[Any]:
        """All that must run, in the order it was written: nothing needs what came after it."""
        waiting = [*operations, *self._causes(tensors)]
        seen: dict[int, Any] = {}
        while waiting:
            item = waiting.pop()
            if id(item) not in seen:
                seen[id(item)] = item
                waiting.extend(self._causes_of(item))
        return sorted(seen.values(), key=lambda item: item.serial)

    def _schedule(self, ordered: list[Any]) -> None:
        latest: dict[int, int] = {}  # phase of what set a variable last
        for item in ordered:
            starts = isinstance(item, Effect) and item.starts
            at = self._after(self._causes_of(item, starts))
            if isinstance(item, Effect):
                at = max(at, latest.get(id(item.variable), -1) + 1)
                latest[id(item.variable)] = at
            self._at[id(item)] = at
            if isinstance(item, (Effect, Fed, Called)):
                self._phase(at).items.append((item, list(item.inputs())))
            else:
                # What only computes is over with the phase it waits for: an error there is one of
                # all that waits for it.
                self._at[id(item)] = at - 1
                checked = [t for t in item.inputs() if t._symbolic and _small(t)]
                if checked:
                    self._phase(at).items.append((None, checked))
            if starts:
                self._phase(at).fresh.update(
                    id(source.variable)
                    for source in self._sources(item.inputs())
                    if isinstance(source, Read)
                )

    def _after(self, causes: list[Any]) -> int:
        return max((self._at.get(id(cause), -1) + 1 for cause in causes), default=0)

    def _phase(self, at: int) -> _Phase:
        if at not in self._phases:
            self._phases[at] = _Phase()
        return self._phases[at]

    def _bind(self, phase: _Phase) -> None:
        seen: set[int] = set()
        for source in self._sources(phase.tensors()):
            if id(source.tensor) not in seen:
                seen.add(id(source.tensor))
                phase.given.append(source.tensor)
                phase.sources.append(source)
        for i, tensor in enumerate(self._fed):
            phase.given.append(tensor)
            phase.sources.append(i)

    # ---- Running

    def run(self, values: Any, fed: list[Any], number: int) -> list[Any]:
        """The fetched values, as tensors.

        values: what holds the variables; `fed`: one tensor for each; `number`: of the run.
        """
        run = _Run(values, fed, [None] * self._count)
        for at in sorted(self._phases):
            phase = self._phases[at]
            wanted = phase.tensors()
            given = [run.value(source, phase) for source in phase.sources]
            made = self._prepared(phase, wanted).run(given, number) if wanted else []
            del given
            later = [p for k, p in self._phases.items() if k > at]
            run.settle(phase, made, later)
        return run.out

    @staticmethod
    def _prepared(phase: _Phase, wanted: list[Any]) -> Any:
        prepared = phase.prepared  # another thread may drop it at any time
        if prepared is None:
            prepared = phase.prepared = native.prepare(phase.given, wanted)
        return prepared

    def drop_plans(self) -> int:
        """Lets go of what was planned; it is planned again when it runs. How many there were."""
        count = 0
        for phase in self._phases.values():
            prepared, phase.prepared = phase.prepared, None
            count += 0 if prepared is None else prepared.plans
        return count


class _Run:
    """One run: what is known so far."""

    def __init__(self, values: Any, fed: list[Any], out: list[Any]) -> None:
        self._values = values
        self._fed = fed
        self._before: dict[int, Any] = {}  # variables as they were when the run began
        self._results: dict[Any, Any] = {}  # what effects, defaults and calls made
        self.out = out

    def value(self, source: Source | int, phase: _Phase) -> Any:
        """The value of a parameter in a phase."""
        if isinstance(source, int):
            return self._fed[source]
        if isinstance(source, Result):
            return self._results[id(source.effect)]
        if isinstance(source, Made):
            return self._results[id(source.call)][source.at]
        if isinstance(source, Fed):
            if source.default is None:
                raise missing_feed(source)
            return self._results[id(source)]
        assert isinstance(source, Read)
        variable = source.variable
        value = None
        if not (source.after or source.latest or id(variable) in phase.fresh):
            value = self._before.get(id(variable))
        if value is None:
            value = variable._load(self._values)
        if value is None:
            raise uninitialized(variable, source.line)
        return value

    def settle(self, phase: _Phase, made: list[Any], later: list[_Phase]) -> None:
        """Hands out what a phase made, then sets variables, then calls functions."""
        behind = 0
        calls = []
        for item, wanted in phase.items:
            values, behind = made[behind : behind + len(wanted)], behind + len(wanted)
            if isinstance(item, int):
                self.out[item] = values[0]
            elif isinstance(item, Effect):
                self._keep_for(later, item.variable)
                item.variable._store(self._values, values[0])
                self._results[id(item)] = values[0]
            elif isinstance(item, Fed):
                self._results[id(item)] = values[0]
            elif isinstance(item, Called):
                calls.append((item, values))
        for item, values in calls:
            self._results[id(item)] = item.call(values)

    def _keep_for(self, later: list[_Phase], variable: Any) -> None:
        """Keeps a variable's value for those who read it as it was when the run began."""
        if id(variable) not in self._before and any(
            isinstance(source, Read)
            and source.variable is variable
            and not source.after
            and not source.latest
            for phase in later
            for source in phase.sources
        ):
            self._before[id(variable)] = variable._load(self._values)


def _small(tensor: Any) -> bool:
    shape = tensor.shape
    return bool(shape.is_fully_defined() and shape.num_elements() <= _CHECKED)
