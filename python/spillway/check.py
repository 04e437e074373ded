"""The pre-flight check: everything is read, decoded and run once, before it is needed."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from spillway import _native, nest
from spillway.building import AUTOTUNE
from spillway.check_log import CheckLog, Progress, read_log
from spillway.dtypes import string
from spillway.errors import BudgetError, ElementTooLarge, SpillwayError
from spillway.manifest import Expected, compare, read_manifest
from spillway.native_ops import call
from spillway.problems import Problem, Problems
from spillway.progress_bar import ProgressBar
from spillway.specs import TensorSpec

if TYPE_CHECKING:
    from spillway.dataset import Dataset

_MOST_KEPT = 10_000
_TURN_S = 0.1
_NOTED_EVERY_S = 5.0
_ORIGIN = re.compile(r"(\w+)(?:#\d+)? element (\d+)")
_NAMING_FILES = ("from_tensor_slices", "list_files")


def check_dataset(
    dataset: Dataset,
    progress: bool | None,
    text: str | None,
    manifest: str | os.PathLike[str] | None,
    output: str | os.PathLike[str] | None,
    resume: bool,
) -> Problems:
    """`Dataset.check`."""
    from spillway.dataset import INFINITE_CARDINALITY, Dataset

    checked = Dataset(_native.preflight(dataset._node))
    if checked.cardinality() == INFINITE_CARDINALITY:
        raise ValueError(
            "check: the pipeline must end: its source goes on for ever; check dataset.take(n)"
        )
    passes: list[Dataset] = []
    expected = [] if manifest is None else read_manifest(manifest)
    if manifest is not None:
        passes.append(manifest_pass(expected))
    if text is not None:
        looked_at = [text_pass(source, text) for source in _sources(checked._node)]
        found = [each for each in looked_at if each is not None]
        if not found:
            raise ValueError(
                "check: text= looks at the files that the pipeline's sources name (list_files, "
                "from_tensor_slices of paths, TextLineDataset): none of them does"
            )
        passes += found
    bar = ProgressBar("check", None, "elements", progress)
    checking = Checking([*passes, checked], bar, output, resume)
    checking.names[0] = [each.path for each in expected]
    return checking.run()


class Checking:
    """Runs some pipelines to their ends, and collects what fails."""

    def __init__(
        self,
        passes: Sequence[Dataset],
        bar: ProgressBar,
        output: str | os.PathLike[str] | None,
        resume: bool,
    ) -> None:
        """`output`: where problems and the position are written; `resume`: goes on from there."""
        if resume and output is None:
            raise ValueError("check: resume=True needs output=, the file of the interrupted check")
        counts = [each.cardinality() for each in passes]
        bar.total = sum(counts) if all(count >= 0 for count in counts) else None
        self._passes = passes
        self.names: dict[int, Sequence[str]] = {}  # of a pass: the files of its elements
        self._bar = bar
        self._look: Callable[[Any], None] | None = None
        self._at = Progress()
        self._problems = Problems(unit=bar.unit)
        self._seen: set[tuple[str, str, int | None]] = set()
        self._skipped = 0
        self._latest: tuple[str, str, int | None] | None = None
        if resume and output is not None:
            earlier = read_log(output, _MOST_KEPT)
            self._at = earlier.progress
            for problem in earlier.problems:
                self._keep(problem)
            self._problems.unlisted = max(0, self._at.problems - len(self._problems))
        self._log = CheckLog(output, append=resume)
        bar.begin_at(self._at.checked, self._at.problems)

    def run(self, look: Callable[[Any], None] | None = None) -> Problems:
        """All passes, from where an earlier check was; `look` is shown every good element."""
        first, state = self._at.number, self._at.state
        self._look = look
        try:
            if not self._at.complete:
                for number in range(first, len(self._passes)):
                    self._at.number = number
                    self._run_pass(self._passes[number], state if number == first else None)
                self._at.complete = True
                self._log.note(self._at)
        finally:
            self._bar.update(self._at.checked, self._problems.total)
            self._bar.close()
            self._log.close()
        self._problems.checked = self._at.checked
        self._problems.elapsed = self._bar.elapsed
        return self._problems

    def _run_pass(self, dataset: Dataset, state: bytes | None) -> None:
        it: Any = iter(dataset)
        self._skipped = 0  # of this pass, taken from its audit
        with it:
            if state is not None:
                it.restore(state)
            more, noted = True, time.monotonic()
            done = replace(self._at)
            try:
                while more:
                    done = self._done(it, dataset)
                    rows, more, failed = self._turn(it)
                    self._at.checked += rows + len(failed)
                    for entry in failed:
                        self._found(self._problem(entry, dataset))
                    self._bar.update(self._at.checked, self._problems.total)
                    if time.monotonic() - noted >= _NOTED_EVERY_S:
                        self._log.note(self._done(it, dataset))
                        noted = time.monotonic()
            except BaseException:
                # What interrupted a turn may have come anywhere in it: it is run again.
                self._at = done
                self._log.note(done)
                raise
            self._problems.unlisted += self._take_skipped(it, dataset)

    def _turn(self, it: Any) -> tuple[int, bool, list[dict[str, Any]]]:
        """About a tenth of a second's work: good elements, whether there is more, what failed."""
        if self._look is None:
            turn: tuple[int, bool, list[dict[str, Any]]] = it._run_for(_TURN_S)
            return turn
        rows, until, end = 0, time.monotonic() + _TURN_S, object()
        while time.monotonic() < until:
            try:
                element = next(it, end)
            except SpillwayError as error:
                if isinstance(error, BudgetError) and not isinstance(error, ElementTooLarge):
                    raise
                return rows, True, [_entry_of(error)]
            if element is end:
                return rows, False, []
            self._look(element)
            rows += 1
        return rows, True, []

    def _take_skipped(self, it: Any, dataset: Dataset) -> int:
        """Elements that were left out, which only the audit has; how many it could not keep."""
        audit = it._audit()
        skipped = [entry for entry in audit["entries"] if entry["outcome"] == "skipped"]
        more = skipped[self._skipped :]
        self._skipped = len(skipped)
        self._at.checked += len(more)
        for entry in more:
            self._found(self._problem(entry, dataset))
        return int(audit["entries_lost"]) if skipped else 0

    def _problem(self, entry: dict[str, Any], dataset: Dataset) -> Problem:
        names, index = self.names.get(self._at.number, ()), entry["index"]
        if 0 <= index < len(names):
            entry = {**entry, "file": names[index]}
        return problem_of(entry, dataset)

    def _done(self, it: Any, dataset: Dataset) -> Progress:
        """What is done so far, as it would be noted."""
        if not self._log.writes:
            return self._at
        self._take_skipped(it, dataset)
        self._at.state, self._at.problems = it.save(), self._problems.total
        return replace(self._at)

    def _found(self, problem: Problem) -> None:
        if self._is_known(problem):
            return
        self._log.add(problem)
        if len(self._problems) < _MOST_KEPT:
            self._keep(problem)
        else:
            self._problems.unlisted += 1

    def _keep(self, problem: Problem) -> None:
        self._problems.append(problem)
        self._seen.add(_key(problem))

    def _is_known(self, problem: Problem) -> bool:
        """Of those that are too many to be kept, only the latest: a file's come together."""
        key = _key(problem)
        known = key in self._seen or key == self._latest
        self._latest = key
        return known


def _key(problem: Problem) -> tuple[str, str, int | None]:
    """A file is told of once; an element without one, by its stage and index."""
    return (problem.file, "", None) if problem.file else ("", problem.stage, problem.index)


def _entry_of(error: SpillwayError) -> dict[str, Any]:
    """An exception as an entry of an audit has it."""
    numbers = {"offset": error.offset, "index": error.index}
    texts = {"file": error.file, "origin": error.origin, "stage": error.stage, "line": error.line}
    return {
        **{name: -1 if value is None else value for name, value in numbers.items()},
        **{name: value or "" for name, value in texts.items()},
        "message": error.message,
        "kind": error.kind,
    }


def problem_of(entry: dict[str, Any], dataset: Dataset) -> Problem:
    """An entry of an audit, with the file that the element was made of, where that is known."""
    file = entry["file"] or _file_of_source(entry["origin"], dataset._node)
    return Problem(
        file=file,
        reason=entry["message"],
        offset=entry["offset"] if entry["offset"] >= 0 else None,
        index=entry["index"] if entry["index"] >= 0 else None,
        stage=entry["stage"],
        line=entry["line"],
        kind=entry["kind"],
    )


def _file_of_source(origin: str, root: _native.Node) -> str:
    """The path that the element was at its source, where it was one and it is there."""
    from spillway.dataset import Dataset

    match = _ORIGIN.match(origin)
    if match is None:
        return ""
    found = [node for node in _sources(root) if node.op == match[1]]
    if len(found) != 1 or match[1] not in _NAMING_FILES:
        return ""
    source = Dataset(found[0])
    column = _path_column(source)
    if column is None:
        return ""
    path = os.fsdecode(nest.flatten(source._at(int(match[2])))[column])
    return path if os.path.lexists(path) else ""


def _sources(node: _native.Node) -> Iterator[_native.Node]:
    if not node.inputs:
        yield node
    for each in node.inputs:
        yield from _sources(each)


def _path_column(dataset: Dataset) -> int | None:
    """Which component holds paths: the only one of scalar strings."""
    leaves = nest.flatten(dataset.element_spec)
    found = [
        i
        for i, leaf in enumerate(leaves)
        if isinstance(leaf, TensorSpec) and leaf.dtype == string and leaf.shape.rank == 0
    ]
    return found[0] if len(found) == 1 else None


def text_pass(source: _native.Node, text: str) -> Dataset | None:
    """A pass over the files that a source names; None where it names none."""
    from spillway.dataset import Dataset

    if source.op == "text_lines":
        return file_pass(source.files(), text, "text")
    dataset = Dataset(source)
    column = _path_column(dataset) if source.op in _NAMING_FILES else None
    if column is None:
        return None

    def look(*element: Any) -> Any:
        path = nest.flatten(element)[column]
        return call("check_file", path, "text", text)

    return dataset.map(look, num_parallel_calls=AUTOTUNE)


def file_pass(
    paths: Iterable[Any], text: str | None, format: str | None = None, jobs: int = AUTOTUNE
) -> Dataset:
    """A pass that reads and decodes files whole."""
    from spillway.dataset import Dataset

    files = [os.fsencode(path) for path in paths]
    if not files:
        return Dataset.range(0)
    wanted, encoding = format or "", text or ""

    def look(path: Any) -> Any:
        return call("check_file", path, wanted, encoding)

    return Dataset.from_tensor_slices(files).map(look, num_parallel_calls=jobs)


def manifest_pass(expected: Sequence[Expected], jobs: int = AUTOTUNE) -> Dataset:
    """A pass that compares files with what a manifest says of them."""
    from spillway.dataset import Dataset

    def look(index: Any) -> Any:
        compare(expected[int(index)])
        return index

    return Dataset.range(len(expected)).map(look, num_parallel_calls=jobs)
