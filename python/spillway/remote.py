"""Files of other stores, "s3://...", "gs://...", "http://...", "memory://...", through `fsspec`.

The engine calls `opened`, `RemoteFile.read` and `matching` on its own threads. `fsspec` is imported
when the first such path appears; how to reach a store (keys, endpoints) is `fsspec`'s own
configuration. Reads are ranges of at most a few MiB. What may pass (a dropped connection, a
timeout, a 5xx answer) is tried again with growing pauses; attempts and time are bounded.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from spillway.interruptions import pass_on

ATTEMPTS = 5
BACKOFF = 0.1  # seconds before the second attempt, doubled each time
TOTAL_SECONDS = 60.0  # no attempt begins later than so
CHECK_SECONDS = 5.0  # a file that is read in pieces is compared with what it was so often

_NOT_FOUND, _DENIED, _PRECONDITION, _UNIMPLEMENTED = 5, 7, 9, 12
_UNKNOWN, _UNAVAILABLE, _DATA_LOSS = 2, 14, 15
_TRANSIENT_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})
# Classes of aiohttp, botocore, urllib3 and requests, none of which are imported here.
_TRANSIENT_NAMES = frozenset(
    {
        "ClientConnectionError", "ClientConnectorError", "ClientOSError", "ClientPayloadError",
        "ServerDisconnectedError", "ServerTimeoutError", "EndpointConnectionError",
        "ConnectTimeoutError", "ReadTimeoutError", "IncompleteRead", "ChunkedEncodingError",
        "ConnectionClosedError", "ResponseStreamingError",
    }
)  # fmt: skip
# What tells one version of a file from another, where a store says any of it.
_TAGS = ("ETag", "etag", "generation", "md5", "mtime", "LastModified", "last_modified", "created")


class Failure(NamedTuple):
    """What went wrong, for the engine: TensorFlow's code, who must act, our class, and the rest."""

    code: int
    kind: str
    type: str
    message: str
    offset: int
    attempts: int
    cause: BaseException | None


class _ChangedError(Exception):
    """The file is not what it was when it was opened."""


class _ShortError(ConnectionError):
    """Fewer bytes came than were asked for."""


def _status(error: BaseException) -> int:
    """The HTTP status an error of a client library stands for; 0: none."""
    for name in ("status", "status_code", "code"):
        found = getattr(error, name, None)
        if isinstance(found, int) and not isinstance(found, bool):
            return found
    response = getattr(error, "response", None)
    if isinstance(response, dict):
        return int(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    return int(getattr(response, "status_code", 0) or 0)


def _may_pass(error: BaseException) -> bool:
    """Whether the same may succeed when it is tried again."""
    # fsspec says FileNotFoundError where a server did not answer; the cause knows better.
    if isinstance(error, FileNotFoundError):
        return error.__cause__ is not None and _may_pass(error.__cause__)
    if isinstance(error, TimeoutError | ConnectionError):
        return True
    names = {kind.__name__ for kind in type(error).__mro__}
    return _status(error) in _TRANSIENT_STATUS or bool(names & _TRANSIENT_NAMES)


def _failure(path: str, error: BaseException, offset: int, attempts: int) -> Failure:
    words = f"{type(error).__name__}: {error}".strip().rstrip(":")
    if isinstance(error, _ChangedError):
        return Failure(_DATA_LOSS, "data", "CorruptFile", str(error), offset, attempts, None)
    if isinstance(error, ImportError):
        return Failure(_UNIMPLEMENTED, "user", "", f"{path}: {error}", offset, attempts, error)
    status = _status(error)
    if _may_pass(error):
        code, kind, what = _UNAVAILABLE, "transient", f"gave up after {attempts} attempts: {words}"
    elif isinstance(error, FileNotFoundError) or status == 404:
        code, kind, what = _NOT_FOUND, "data", "No such file or directory"
    elif isinstance(error, PermissionError) or status in (401, 403):
        code, kind, what = _DENIED, "data", f"Permission denied ({words})"
    elif isinstance(error, IsADirectoryError):
        code, kind, what = _PRECONDITION, "data", "Is a directory"
    else:
        code, kind, what = _UNKNOWN, "data", words
    return Failure(code, kind, "FileError", f"{path}; {what}", offset, attempts, error)


def _trying(path: str, offset: int, attempt: Callable[[], Any]) -> Any:
    """What `attempt` returns, tried again while that may help; or a `Failure`."""
    begun = time.monotonic()
    pause = BACKOFF
    for number in range(1, ATTEMPTS + 1):
        try:
            return attempt()
        except Exception as error:
            pass_on(error)
            late = time.monotonic() - begun + pause > TOTAL_SECONDS
            if number == ATTEMPTS or late or not _may_pass(error):
                return _failure(path, error, offset, number)
        time.sleep(pause)
        pause *= 2
    raise AssertionError("unreachable")


def store_of(path: str) -> tuple[Any, str]:
    """The file system of `fsspec` for a path, and what it calls the file.

    >>> store, name = store_of("memory://a/b")
    >>> name
    '/a/b'
    """
    scheme = path.split("://", 1)[0]
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise ImportError(
            f"paths that begin with {scheme}:// are read through fsspec: pip install fsspec"
        ) from error
    try:
        store, name = url_to_fs(path)
    except ValueError as error:
        raise ImportError(f"fsspec knows no store for {scheme}:// ({error})") from error
    return store, name


class RemoteFile:
    """One file, as it was when it was opened; used by any number of threads."""

    def __init__(self, path: str) -> None:
        """Asks the store for its size."""
        self._path = path
        self._store, self._name = store_of(path)
        about = self._store.info(self._name)
        if about.get("type") == "directory":
            raise IsADirectoryError(path)
        if about.get("size") is None:
            raise OSError("the store does not say how large the file is")
        self.size = int(about["size"])
        self._tags = _tags(about)
        self._checked = time.monotonic()
        # A server that ignores ranges sends all of a file for each of them.
        self.whole = about.get("partial") is False

    def read(self, offset: int, count: int) -> Any:
        """`count` bytes from `offset`, all of them; or a `Failure`."""
        return _trying(self._path, offset, lambda: self._range(offset, count))

    def _range(self, offset: int, count: int) -> bytes:
        data: bytes = self._store.cat_file(self._name, start=offset, end=offset + count)
        if len(data) > count and len(data) == self.size:
            data = data[offset : offset + count]
        partial = offset > 0 or count < self.size
        last = offset + count >= self.size
        due = time.monotonic() - self._checked > CHECK_SECONDS
        if len(data) != count or (partial and (last or due)):
            self._compare()
        if len(data) != count:
            raise _ShortError(f"expected {count} bytes at offset {offset}, found {len(data)}")
        return data

    def _compare(self) -> None:
        """Raises where the file is another than it was."""
        self._store.invalidate_cache()
        try:
            about = self._store.info(self._name)
        except FileNotFoundError as error:
            if _may_pass(error):
                raise
            raise _ChangedError(f"{self._path}: the file was removed while it was read") from error
        self._checked = time.monotonic()
        if int(about.get("size") or 0) != self.size:
            raise _ChangedError(
                f"{self._path}: the file changed its size while it was read: expected "
                f"{self.size} bytes, found {about.get('size')}"
            )
        if _tags(about) != self._tags:
            raise _ChangedError(f"{self._path}: the file was replaced while it was read")


def _tags(about: dict[str, Any]) -> list[tuple[str, str]]:
    return [(key, str(about[key])) for key in _TAGS if about.get(key) is not None]


def opened(path: str) -> Any:
    """A `RemoteFile`, or a `Failure`."""
    return _trying(path, -1, lambda: RemoteFile(path))


def matching(pattern: str) -> Any:
    """The paths that match, each with its scheme; or a `Failure`."""

    def find() -> list[str]:
        store, name = store_of(pattern)
        if not any(mark in name for mark in "*?["):
            return [pattern] if store.exists(name) else []
        return [str(store.unstrip_protocol(found)) for found in store.glob(name)]

    return _trying(pattern, -1, find)


def is_remote(path: str) -> bool:
    """Whether a path names another store.

    >>> is_remote("s3://bucket/key"), is_remote("/tmp/a"), is_remote("a:b")
    (True, False, False)
    """
    scheme, mark, _ = path.partition("://")
    return bool(mark) and scheme.replace("+", "").replace("-", "").replace(".", "").isalnum()
