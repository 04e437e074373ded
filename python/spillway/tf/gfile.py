"""`tf.io.gfile`: files and folders, with TensorFlow's names and errors.

Those of this machine, and through `fsspec` those of other stores ("s3://...", "memory://...").
"""

from __future__ import annotations

import builtins
import errno
import os
import shutil
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, NamedTuple

from spillway import _native, errors, remote
from spillway.native_ops import call
from spillway.tensor_convert import to_tensor

__all__ = [
    "GFile", "copy", "exists", "get_registered_schemes", "glob", "isdir", "join", "listdir",
    "makedirs", "mkdir", "remove", "rename", "rmtree", "stat", "walk",
]  # fmt: skip


# Stores raise Python's classes without a number.
_ERRNO: dict[type[OSError], int] = {
    FileNotFoundError: errno.ENOENT,
    PermissionError: errno.EACCES,
    FileExistsError: errno.EEXIST,
    IsADirectoryError: errno.EISDIR,
    NotADirectoryError: errno.ENOTDIR,
}


class _Translated:
    """TensorFlow's classes for the errors of the system; `path` where they do not name a file."""

    def __init__(self, path: str = "") -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, OSError) and not isinstance(error, errors.SpillwayError):
            number = error.errno or _ERRNO.get(type(error), errno.EIO)
            _native.raise_file_error(_text(error.filename or self._path), number)
        if isinstance(error, ImportError):
            raise errors.UnimplementedError(None, None, str(error)) from error


def _path(path: Any) -> str:
    return _text(os.fspath(path))


def _remote(path: str, method: str, *args: Any, **more: Any) -> Any:
    """A method of the store that has `path`, its errors as TensorFlow's."""
    with _Translated(path):
        store, name = remote.store_of(path)
        return getattr(store, method)(name, *args, **more)


def _text(path: Any) -> str:
    return path if isinstance(path, str) else os.fsdecode(path)


def exists(path: Any) -> bool:
    """Whether a file or folder is there.

    >>> exists("/nowhere")
    False
    """
    where = _path(path)
    if remote.is_remote(where):
        return bool(_remote(where, "exists"))
    return os.path.exists(where)


def isdir(path: Any) -> bool:
    """Whether a folder is there."""
    where = _path(path)
    if remote.is_remote(where):
        return bool(_remote(where, "isdir"))
    return os.path.isdir(where)


def glob(pattern: Any) -> list[str]:
    """The files that match a pattern, or any of several.

    >>> glob(["/nowhere/*", "/nothing"])
    []
    """
    patterns = [pattern] if isinstance(pattern, (str, bytes, os.PathLike)) else list(pattern)
    found = call("matching_files", to_tensor([_path(one) for one in patterns], "string"))
    return [_text(name) for name in found.numpy()]


def listdir(path: Any) -> list[str]:
    """The names in a folder."""
    where = _path(path)
    if remote.is_remote(where):
        found = _remote(where, "ls", detail=False)
        return [str(name).rstrip("/").rsplit("/", 1)[-1] for name in found]
    if not os.path.isdir(where):
        raise errors.NotFoundError(None, None, f"Could not find directory {where}")
    with _Translated():
        return os.listdir(where)


def makedirs(path: Any) -> None:
    """Makes a folder, and those above it."""
    where = _path(path)
    if remote.is_remote(where):
        _remote(where, "makedirs", exist_ok=True)
        return
    with _Translated():
        os.makedirs(where, exist_ok=True)


def mkdir(path: Any) -> None:
    """Makes a folder in one that is there; nothing where it is there itself."""
    where = _path(path)
    if remote.is_remote(where):
        _remote(where, "makedirs", exist_ok=True)
        return
    with _Translated():
        if not os.path.isdir(where):
            os.mkdir(where)


def remove(path: Any) -> None:
    """Removes a file."""
    where = _path(path)
    if remote.is_remote(where):
        _remote(where, "rm_file")
        return
    with _Translated():
        os.remove(where)


def rmtree(path: Any) -> None:
    """Removes a folder and all that is in it; links in it are removed, not followed."""
    where = _path(path)
    if remote.is_remote(where):
        _remote(where, "rm", recursive=True)
        return
    if not os.path.lexists(where):
        raise errors.NotFoundError(None, None, f"{where} not found")
    with _Translated():
        shutil.rmtree(where)


def _free(dst: str, overwrite: bool) -> None:
    there = exists(dst) if remote.is_remote(dst) else os.path.lexists(dst)
    if not overwrite and there:
        raise errors.AlreadyExistsError(None, None, f"file already exists: {dst}")


def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Moves a file or folder."""
    _free(_path(dst), overwrite)
    if remote.is_remote(_path(src)) or remote.is_remote(_path(dst)):
        copy(src, dst, True)
        remove(src)
        return
    with _Translated():
        os.rename(_path(src), _path(dst))


def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copies the content of a file."""
    _free(_path(dst), overwrite)
    if remote.is_remote(_path(src)) or remote.is_remote(_path(dst)):
        with GFile(src, "rb") as old, GFile(dst, "wb") as new:
            while piece := old.read(1 << 20):
                new.write(piece)
        return
    with _Translated():
        shutil.copyfile(_path(src), _path(dst))


class FileStatistics(NamedTuple):
    """What `stat` tells."""

    length: int
    mtime_nsec: int
    is_directory: bool


def stat(path: Any) -> FileStatistics:
    """Length, time of change and kind of a file."""
    where = _path(path)
    if remote.is_remote(where):
        about = _remote(where, "info")
        folder = about.get("type") == "directory"
        return FileStatistics(int(about.get("size") or 0), 0, folder)
    with _Translated():
        found = os.stat(where)
    return FileStatistics(found.st_size, found.st_mtime_ns, os.path.isdir(where))


def walk(
    top: Any, topdown: bool = True, onerror: Callable[[Any], Any] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Folders below one, each with its folders and files, sorted."""
    if remote.is_remote(_path(top)):
        store, name = remote.store_of(_path(top))
        for where, folders, files in store.walk(name, topdown=topdown):
            yield str(store.unstrip_protocol(where)), sorted(folders), sorted(files)
        return
    for where, folders, files in os.walk(_path(top), topdown, onerror):
        folders.sort()
        yield where, folders, sorted(files)


def join(path: Any, *paths: Any) -> str:
    """Parts of a path as one.

    >>> join("a", "b")
    'a/b'
    """
    return os.path.join(_path(path), *(_path(part) for part in paths))


def get_registered_schemes() -> list[str]:
    """What paths may begin with: beside these, all that `fsspec` knows where it is installed.

    >>> get_registered_schemes()[:2]
    ['', 'file']
    """
    try:
        from fsspec import available_protocols
    except ImportError:
        return ["", "file"]
    return ["", "file", *sorted(set(available_protocols()) - {"file"})]


class GFile:
    """A file that is read or written: "r", "w", "a", with "+" for both, with "b" for bytes."""

    def __init__(self, name: Any, mode: str = "r") -> None:
        """Opened when it is first used."""
        if mode.replace("b", "") not in ("r", "w", "a", "r+", "w+", "a+"):
            raise errors.InvalidArgumentError(
                None, None, "mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'"
            )
        self._name = name
        self._mode = mode
        self._file: Any = None

    @property
    def name(self) -> Any:
        """As it was given."""
        return self._name

    @property
    def mode(self) -> str:
        """As it was given."""
        return self._mode

    def _open(self, what: str = "") -> Any:
        if self._file is None:
            text = "b" not in self._mode
            how = {"encoding": "utf-8", "newline": "\n"} if text else {}
            where = _path(self._name)
            with _Translated(where):
                if remote.is_remote(where):
                    store, name = remote.store_of(where)
                    self._file = store.open(name, self._mode, **how)
                else:
                    self._file = builtins.open(where, self._mode, **how)  # type: ignore[call-overload]  # noqa: SIM115  (closed by close)
        if what and not getattr(self._file, what)():
            doing = "reading" if what == "readable" else "writing"
            raise errors.PermissionDeniedError(None, None, f"File isn't open for {doing}")
        return self._file

    def read(self, n: int = -1) -> Any:
        """The rest, or `n` of it."""
        with _Translated():
            return self._open("readable").read(n)

    def readline(self) -> Any:
        """The next line with its end; empty at the end of the file."""
        with _Translated():
            return self._open("readable").readline()

    def readlines(self) -> list[Any]:
        """The lines that are left."""
        with _Translated():
            return list(self._open("readable").readlines())

    def write(self, file_content: Any) -> None:
        """Writes text, or bytes."""
        file = self._open("writable")
        if "b" in self._mode and isinstance(file_content, str):
            file_content = file_content.encode()
        elif "b" not in self._mode and isinstance(file_content, bytes):
            file_content = file_content.decode()
        with _Translated():
            file.write(file_content)

    def seek(self, offset: Any = None, whence: int = 0, position: Any = None) -> None:
        """Goes to an offset from the beginning, from here (1) or from the end (2)."""
        with _Translated():
            self._open().seek(position if offset is None else offset, whence)

    def tell(self) -> int:
        """Where it is."""
        with _Translated():
            return int(self._open().tell())

    def seekable(self) -> bool:
        """Always True."""
        return True

    def size(self) -> int:
        """Bytes of the file."""
        if self._file is not None and self._file.writable():
            self._file.flush()
        return stat(self._name).length

    def flush(self) -> None:
        """Hands on what was written."""
        if self._file is not None:
            with _Translated():
                self._file.flush()

    def close(self) -> None:
        """Ends it; using it opens it anew."""
        if self._file is not None:
            file, self._file = self._file, None
            with _Translated():
                file.close()

    def __enter__(self) -> GFile:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes it."""
        self.close()

    def __iter__(self) -> Iterator[Any]:
        """Line by line."""
        while line := self.readline():
            yield line

    next = readline


def write_file(filename: Any, contents: Any, name: Any = None) -> None:
    """Writes one string to a file, making the folders above it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_file(folder + "/new/a", "abc")
    ...     exists(folder + "/new/a")
    True
    """
    path, content = to_tensor(filename, "string"), to_tensor(contents, "string")
    for what, value in (("filename", path), ("contents", content)):
        if value.shape.rank != 0:
            raise errors.InvalidArgumentError(
                None, None, f"Input {what} tensor must be scalar, but had shape: {value.shape}"
            )
    where = os.fsdecode(path.numpy())
    if remote.is_remote(where):
        with GFile(where, "wb") as out:
            out.write(content.numpy())
        return
    with _Translated():
        os.makedirs(os.path.dirname(where) or ".", exist_ok=True)
        with builtins.open(where, "wb") as file:
            file.write(content.numpy())
