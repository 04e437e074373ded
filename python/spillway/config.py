"""`sw.configure` and `sw.memory`."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any

from spillway import _native, competitors
from spillway.shown import shown


def _isolate_by_environment() -> bool | str:
    text = os.environ.get("SPILLWAY_ISOLATE", "").strip().lower()
    known: dict[str, bool | str] = {
        "": False,
        "0": False,
        "false": False,
        "1": True,
        "true": True,
        "auto": "auto",
    }
    if text not in known:
        raise ValueError(f"SPILLWAY_ISOLATE must be 0, 1 or auto: {text!r}")
    return known[text]


def is_guard_wanted() -> bool:
    """Whether SPILLWAY_GUARD does not say no."""
    return os.environ.get("SPILLWAY_GUARD", "").strip().lower() not in ("0", "false", "no")


class _Settings:
    isolate: bool | str = _isolate_by_environment()
    guard_numpy: bool = True
    spill_dir: str | None = None
    cache_dir: str | None = None
    threads: int | None = None


settings = _Settings()


def as_bytes(size: int | float | str) -> int:
    """Bytes, from a number or a text like "2GiB"."""
    if isinstance(size, int | float):
        if not 0 <= size < 2**63:
            raise ValueError(f"a memory size must be between 0 and 2^63 bytes, found {shown(size)}")
        return int(size)
    if not isinstance(size, str):
        raise TypeError(f'a memory size is a number or a text like "2GiB", found {shown(size)}')
    return _native.parse_bytes(size)


class Configured:
    """What `configure` returns: as a context manager it puts the former settings back."""

    def __init__(self, before: dict[str, Any], limit: int) -> None:
        """Remembers what was set before."""
        self._before, self._limit = before, limit

    def __enter__(self) -> Configured:
        """Nothing: the settings hold already."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        """Puts the former settings back."""
        for key, old in self._before.items():
            setattr(settings, key, old)
        _native.set_memory_limit(self._limit)
        _native.guard_numpy(settings.guard_numpy and is_guard_wanted())
        _native.set_spill_directory(settings.spill_dir or "")
        _native.set_threads(settings.threads or 0)


def configure(
    memory_limit: int | str | None = None,
    threads: int | None = None,
    isolate: bool | str | None = None,
    guard_numpy: bool = True,
    spill_dir: str | os.PathLike[str] | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
) -> Configured:
    """Sets the memory limit of all pipelines of the process, and more.

    `memory_limit` is bytes or text like "2GiB"; None derives it from the container and the
    machine. `threads` bounds the threads that run user functions. `isolate=True` runs functions
    and generators of stages written from now on in worker processes, `"auto"` those that can go
    there unnoticed; None: what SPILLWAY_ISOLATE says, else False (docs/isolation.md).
    `guard_numpy=False` lets NumPy allocate what would kill the process. `spill_dir` is where
    buffers go that do not fit. `cache_dir` is where the record of what runs is kept, for
    `sw.postmortem()`; it counts from the first pass on. Also a context manager.

    >>> import spillway as sw
    >>> with sw.configure(memory_limit="64MiB"):
    ...     sw.memory().limit
    67108864
    """
    if isolate not in (None, False, True, "auto"):
        raise ValueError(f'isolate must be False, True or "auto": {shown(isolate)}')
    keys = ("isolate", "guard_numpy", "spill_dir", "cache_dir", "threads")
    before = {key: getattr(settings, key) for key in keys}
    configured = Configured(before, _native.memory_limit())
    limit = _native.default_memory_limit() if memory_limit is None else as_bytes(memory_limit)
    if limit <= 0:
        raise ValueError(f"memory_limit must be positive: {shown(memory_limit)}")
    settings.isolate = _isolate_by_environment() if isolate is None else isolate
    settings.guard_numpy = bool(guard_numpy)
    settings.spill_dir = None if spill_dir is None else os.fspath(spill_dir)
    settings.cache_dir = None if cache_dir is None else os.fspath(cache_dir)
    settings.threads = threads
    _native.set_memory_limit(limit)
    _native.guard_numpy(settings.guard_numpy and is_guard_wanted())
    _native.set_spill_directory(settings.spill_dir or "")
    _native.set_threads(threads or 0)
    if cache_dir is not None:
        from spillway import flight

        flight.look()
    return configured


class Memory:
    """The ledger at one moment: prints as a table.

    >>> import spillway as sw
    >>> sw.memory().used <= sw.memory().limit
    True
    """

    def __init__(self, ledger: dict[str, Any]) -> None:
        """Takes what the engine reports."""
        self.limit: int = ledger["limit"]
        self.effective: int = ledger["effective"]
        self.used: int = ledger["used"]
        self.peak: int = ledger["peak"]
        self.untracked: int = ledger["untracked"]
        self.container: int = ledger["container"]
        self.bound_by: str = ledger["bound_by"]
        self.others: int = ledger["others"]  # what other processes hold
        self.rows: list[dict[str, Any]] = ledger["rows"]
        self.competitors = competitors.competitors() if self._is_short() else []
        self.gpus = competitors.read_gpus()
        self._text: str = ledger["text"]

    def _is_short(self) -> bool:
        """Whether less than was asked for is left: only then others are looked at."""
        return self.effective < self.limit

    def _who_holds_the_rest(self) -> str:
        """Why less than the limit is left: it need not be the other processes."""
        size = _native.format_bytes
        short = self.limit - self.effective
        parts = []
        if self.others >= short / 8:
            parts.append(f"other processes hold {size(self.others)}")
        if self.untracked >= short / 8:
            parts.append(
                f"this process holds {size(self.untracked)} beside Spillway (your own arrays and "
                "objects, and libraries)"
            )
        return (
            f"{' and '.join(parts) or 'the container is small'}, so {size(self.effective)} of the "
            f"limit of {size(self.limit)} are left"
        )

    def _notes(self) -> list[str]:
        """Who else holds memory, in words."""
        size = _native.format_bytes
        notes = []
        if self._is_short():
            notes.append(self._who_holds_the_rest())
            notes += [f"  {each}" for each in self.competitors]
        for gpu in self.gpus:
            notes.append(
                f"GPU {gpu.index} ({gpu.name}): {size(gpu.used)} of {size(gpu.total)} used"
            )
            notes += [
                f"  pid {pid} holds {size(held)}: {competitors.command_of(pid)}"
                for pid, held in gpu.processes
                if pid != os.getpid()
            ]
        return notes

    def __repr__(self) -> str:
        """The table."""
        return self._text + "".join(f"{note}\n" for note in self._notes())

    def _repr_html_(self) -> str:
        import html

        head = html.escape(self._text.splitlines()[0])
        columns = ("held", "peak", "floor", "exported")
        cells = "".join(
            "<tr><td style='text-align:left;padding-left:{}em'>{}</td>{}<td>{}</td></tr>".format(
                row["depth"],
                html.escape(row["name"]),
                "".join(f"<td>{_native.format_bytes(row[c])}</td>" for c in columns),
                html.escape(row["line"]),
            )
            for row in self.rows
        )
        titles = "<th>account</th><th>held</th><th>peak</th><th>guaranteed</th><th>kept by you</th>"
        notes = "".join(f"<div>{html.escape(note)}</div>" for note in self._notes())
        return f"<b>{head}</b><table><tr>{titles}<th>line</th></tr>{cells}</table>{notes}"


def memory() -> Memory:
    """Who holds how much: the limit, every pipeline and stage, and the rest of the process.

    >>> import spillway as sw
    >>> print(sw.memory())  # doctest: +ELLIPSIS
    memory: ...
    """
    return Memory(_native.ledger())
