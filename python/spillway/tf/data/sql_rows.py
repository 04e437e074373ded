"""The rows of a query, read from an SQLite file that the query cannot change."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from typing import Any
from urllib.parse import quote, unquote

from spillway import _native, errors, nest
from spillway.plain_files import refuse_special
from spillway.tf.data.sql_values import Casting, converter

_STEPS = 10_000  # of SQLite's machine, well under a millisecond, between looks at the stop flag
_FAILURES = (sqlite3.Error, sqlite3.Warning, ValueError)  # ValueError: texts that Python refuses
_SHOWN = 500  # characters of a query in a message

# Virtual tables prepare changes of their own tables when they are read: what a query changes
# is refused when it runs, by the file that is open for reading only.
_ALLOWED = frozenset(
    {
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_FUNCTION,
        sqlite3.SQLITE_RECURSIVE,
        sqlite3.SQLITE_INSERT,
        sqlite3.SQLITE_UPDATE,
        sqlite3.SQLITE_DELETE,
    }
)
_SCHEMA_PRAGMAS = frozenset(  # tell of what they are given
    {
        "collation_list", "compile_options", "database_list", "foreign_key_list", "function_list",
        "index_info", "index_list", "index_xinfo", "module_list", "pragma_list", "table_info",
        "table_list", "table_xinfo",
    }
)  # fmt: skip
_FACT_PRAGMAS = frozenset(  # tell when they are given nothing, and would set otherwise
    {
        "application_id", "data_version", "encoding", "freelist_count", "page_count", "page_size",
        "schema_version", "user_version",
    }
)  # fmt: skip
_VERBS = {
    sqlite3.SQLITE_ATTACH: "open or write the file",
    sqlite3.SQLITE_PRAGMA: "run the pragma",
}

# TensorFlow's for BUSY, CORRUPT, NOTADB, TOOBIG and plain errors; the rest was not seen there.
_CLASSES: dict[int, type[errors.SpillwayError]] = {  # by SQLite's primary code
    sqlite3.SQLITE_ABORT: errors.AbortedError,
    sqlite3.SQLITE_AUTH: errors.PermissionDeniedError,
    sqlite3.SQLITE_PERM: errors.PermissionDeniedError,
    sqlite3.SQLITE_BUSY: errors.UnavailableError,
    sqlite3.SQLITE_LOCKED: errors.UnavailableError,
    sqlite3.SQLITE_PROTOCOL: errors.UnavailableError,
    sqlite3.SQLITE_CANTOPEN: errors.InvalidArgumentError,
    sqlite3.SQLITE_NOTADB: errors.InvalidArgumentError,
    sqlite3.SQLITE_CORRUPT: errors.CorruptFile,
    sqlite3.SQLITE_FULL: errors.ResourceExhaustedError,
    sqlite3.SQLITE_TOOBIG: errors.ResourceExhaustedError,
    sqlite3.SQLITE_INTERRUPT: errors.CancelledError,
    sqlite3.SQLITE_READONLY: errors.FailedPreconditionError,
}


def rows(source: str, query: str, dtypes: tuple[str, ...], like: Any) -> Iterator[Any]:
    """Each row of the result as an element of the form of `like`, one at a time.

    The connection is opened by the first and closed with the last, or when the generator is
    closed: all of it on the thread that iterates.

    >>> list(rows(":memory:", "VALUES (1, 'a'), (2, NULL)", ("int8", "string"), (0, 0)))
    [(1, b'a'), (2, b'')]
    """
    reading = _Reading(source, query)
    with closing(reading.open()) as database, closing(Casting()) as casting:
        cursor = reading.start(database)
        names = [column[0] for column in cursor.description or ()]
        if len(names) != len(dtypes):
            raise reading.error(
                errors.InvalidArgumentError,
                f"The number of columns in query ({len(names)}) must match the number of elements "
                f"in output_types ({len(dtypes)}): columns {', '.join(names) or 'none'}; types "
                f"{', '.join(dtypes)}",
            )
        converters = [converter(dtype, casting) for dtype in dtypes]
        flat = type(like) is tuple and not any(nest.is_nested(part) for part in like)
        for row in reading.each(database, cursor):
            values = tuple([f(value) for f, value in zip(converters, row, strict=True)])
            yield values if flat else nest.pack_like(like, values)


class _Reading:
    """One pass over a result, and the words for what goes wrong in it."""

    def __init__(self, source: str, query: str) -> None:
        self._source = source
        self._query = query
        self._row = 0
        self._refused = ""

    def open(self) -> sqlite3.Connection:
        if "\0" in self._source:
            raise self.error(errors.InvalidArgumentError, "the name must not have a NUL in it")
        memory = self._source in ("", ":memory:")
        if not memory:
            # SQLite opens files behind Python's back: so the engine knows whose rows these are.
            sys.audit("open", _path(self._source), None, os.O_RDONLY)
            refuse_special(_path(self._source))
        try:
            database = sqlite3.connect(
                ":memory:" if memory else _read_only(self._source), uri=True, isolation_level=None
            )
        except _FAILURES as error:
            raise self._cannot_open(error) from error
        try:
            self._prepare(database)
        except _FAILURES as error:
            database.close()
            raise self._failed(error) from error
        return database

    def _prepare(self, database: sqlite3.Connection) -> None:
        database.text_factory = bytes  # strings need not be UTF-8
        # A value exists three times on its way: in SQLite, as Python's bytes, in the engine.
        most = max(1, min(_native.memory_limit() // 4, 2**31 - 1))
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, most)
        database.set_progress_handler(_native.stop_wanted, _STEPS)
        # Views and the like come with the file: they may call only what is harmless.
        database.execute("PRAGMA trusted_schema=OFF")
        database.execute("PRAGMA query_only=ON")
        database.execute("BEGIN")  # one state of the file for all of the pass
        database.execute("PRAGMA schema_version")  # reads it: a query need not, and it may be none
        # "Read-only" is said of one file: ATTACH and VACUUM INTO would still write others.
        database.set_authorizer(self._authorize)

    def start(self, database: sqlite3.Connection) -> sqlite3.Cursor:
        try:
            return database.execute(self._query)
        except _FAILURES as error:
            raise self._failed(error) from error

    def each(self, database: sqlite3.Connection, cursor: sqlite3.Cursor) -> Iterator[Any]:
        while True:
            try:
                row = cursor.fetchone()
            except _FAILURES as error:
                yield from self._held_back(database)
                raise self._failed(error) from error
            if row is None:
                return
            yield row
            self._row += 1

    def _held_back(self, database: sqlite3.Connection) -> Iterator[Any]:
        """The row before the one that failed: Python reads one ahead, and drops it then."""
        query = self._query.rstrip().rstrip(";")
        try:
            cursor = database.execute(f"SELECT * FROM ({query}\n) LIMIT 1 OFFSET {self._row}")
            row = cursor.fetchone()
        except _FAILURES:
            return
        if row is not None:
            yield row
            self._row += 1

    def error(self, kind: type[errors.SpillwayError], what: str) -> errors.SpillwayError:
        query = self._query if len(self._query) <= _SHOWN else self._query[:_SHOWN] + "..."
        return kind(f"SqlDataset: {self._source}: {what}\n  query {query}")

    def _authorize(self, action: int, first: str | None, second: str | None, *_: Any) -> int:
        name = (first or "").lower()
        told = name in _SCHEMA_PRAGMAS or (name in _FACT_PRAGMAS and second is None)
        if action in _ALLOWED or (action == sqlite3.SQLITE_PRAGMA and told):
            return sqlite3.SQLITE_OK
        self._refused = f"it would {_VERBS.get(action, 'change')} {first or 'the database'}"
        return sqlite3.SQLITE_DENY

    def _failed(self, error: Exception) -> errors.SpillwayError:
        code = getattr(error, "sqlite_errorcode", None)
        if code == sqlite3.SQLITE_READONLY:  # but not its extensions, which speak of the file
            self._refused = str(error)
        if self._refused:
            what = f"the query must only read: {self._refused}"
            return self.error(errors.InvalidArgumentError, what)
        if isinstance(error, UnicodeError):
            what = f"a name or a message of the file is not UTF-8: {error}"
            return self.error(errors.CorruptFile, what)
        if code is None:  # of Python's module, before SQLite saw the query
            what = f"the query must be one statement without parameters and NULs: {error}"
            return self.error(errors.InvalidArgumentError, what)
        where = f"row {self._row} cannot be read" if self._row else "the query failed"
        kind = _CLASSES.get(code & 0xFF, errors.UnknownError)
        return self.error(kind, f"{where}: {error} [{_name(error)}]{_hint(code & 0xFF)}")

    def _cannot_open(self, error: Exception) -> errors.SpillwayError:
        path = _path(self._source)
        if not os.path.exists(path):
            return self.error(errors.MissingFile, "there is no such file")
        if os.path.isdir(path):
            return self.error(errors.InvalidArgumentError, "the file is a folder")
        if not os.access(path, os.R_OK):
            return self.error(errors.PermissionDeniedError, "the file must be readable")
        return self.error(errors.InvalidArgumentError, f"{error} [{_name(error)}]")


def _hint(code: int) -> str:
    if code == sqlite3.SQLITE_CANTOPEN:
        return (
            ": in WAL mode the folder must be one that may be written, or the name "
            "file:...?immutable=1 where nobody changes the file"
        )
    if code == sqlite3.SQLITE_READONLY:
        return ": a writer left it unfinished; sqlite3 repairs it when it is opened for writing"
    if code == sqlite3.SQLITE_TOOBIG:
        limit = _native.memory_limit()
        return f": a value may have a quarter of the memory limit of {limit:,} bytes"
    return ""


def _name(error: Exception) -> str:
    return str(getattr(error, "sqlite_errorname", type(error).__name__))


def _path(source: str) -> str:
    if source.startswith("file:"):
        return unquote(source[5:].partition("?")[0].partition("#")[0])
    return source


def _read_only(source: str) -> str:
    """The URI of a file, or the one that was given, whose last word on the mode is `ro`.

    >>> _read_only("file:a.db?mode=rwc&immutable=1#part")
    'file:a.db?mode=rwc&immutable=1&mode=ro'
    """
    if source.startswith("file:"):
        given = source.partition("#")[0]
        return f"{given}{'&' if '?' in given else '?'}mode=ro"
    return f"file://{quote(os.fsencode(os.path.abspath(source)))}?mode=ro"
