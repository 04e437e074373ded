"""The methods of `Dataset` that tell of it: before it runs, and of its last pass."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, cast

from spillway import _native
from spillway.audit import Audit
from spillway.explain import Explanation
from spillway.forecast import Forecast
from spillway.problems import Problems
from spillway.report import Report

if TYPE_CHECKING:
    from spillway.dataset import Dataset


class Inspection:
    """What a dataset tells of itself; each has a module of its own behind it."""

    __slots__ = ()

    _node: _native.Node
    _last: Any  # the facts of the last pass; None before it

    def explain(self) -> Explanation:
        """What runs natively, what as Python and why, with the line; what is fused, and what the
        last pass shrank or spilled.

        >>> import spillway as sw
        >>> print(sw.Dataset.range(3).map(lambda x: print(x)).explain())  # doctest: +ELLIPSIS
        range...
        map                Python...
            <lambda> runs as Python: ...calls print, which may have effects
        """
        last = [] if self._last is None else Audit.of(self._last.facts()).stages
        return Explanation(self._node, last)

    def forecast(self) -> Forecast:
        """What each stage will hold, before anything runs: no function is called, nothing read.

        >>> import spillway as sw
        >>> with sw.configure(memory_limit="64MiB"):
        ...     made = sw.Dataset.random(seed=1).take(10**7).shuffle(10**7, seed=2).forecast()
        >>> made.fits, made.outcome
        (False, 'spills')
        """
        from spillway.stage_forecast import forecast_dataset

        return forecast_dataset(cast("Dataset", self))

    def audit(self) -> Audit:
        """What became of every element in the last pass over this very dataset."""
        if self._last is None:
            raise RuntimeError("audit: this dataset was not iterated yet")
        return Audit.of(self._last.facts())

    def report(self) -> Report:
        """What every stage of the last pass did, waited for and held; what would help.

        `.save("report.html")` is one page with the memory over time, `.save("trace.json")` a trace
        for Perfetto (docs/report.md).
        """
        if self._last is None:
            raise RuntimeError("report: this dataset was not iterated yet")
        return Report.of(self._last.facts(), self._last.timeline(), self._node)

    def check(
        self,
        progress: bool | None = None,
        text: str | None = None,
        manifest: str | os.PathLike[str] | None = None,
        output: str | os.PathLike[str] | None = None,
        resume: bool = False,
    ) -> Problems:
        """Reads, decodes and runs everything once, on all cores: the bad files, before training.

        Every element of the sources goes through every function; shuffle, repeat, batch, cache and
        prefetch are left out, and nothing is skipped, whatever `on_error` says (docs/check.md).

        `text="utf-8"` also looks at the files the sources name: empty, NUL, not UTF-8, cut inside a
        character. `manifest`: a file of sizes or SHA-256 sums. `output`: every problem is written
        there as it is found, and `resume=True` goes on where an interrupted check was. `progress`:
        None shows a bar on a terminal and in a notebook.

        >>> import spillway as sw
        >>> ds = sw.Dataset.range(4).map(lambda x: 12 // x).shuffle(4).batch(2)
        >>> ds.check()  # doctest: +ELLIPSIS
        1 problem, 4 elements checked
          file  offset  element  reason
          -     -       0        map#1, ...: Integer division by zero
        """
        from spillway.check import check_dataset

        return check_dataset(cast("Dataset", self), progress, text, manifest, output, resume)
