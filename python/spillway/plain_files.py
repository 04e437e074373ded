"""Opening the files that a user names: never a FIFO, a device or a socket.

Opening a FIFO may wait for ever, opening a device may do something, and neither has an end.
"""

from __future__ import annotations

import builtins
import os
from typing import IO, Any, cast

from spillway import _native

Path = str | bytes | os.PathLike[str]


def refuse_special(path: Path) -> None:
    """Raises FileError where something is there that is no regular file; folders are let through.

    >>> refuse_special("/dev/null")
    Traceback (most recent call last):
    spillway.errors.FileError: /dev/null: expected a regular file, found a character device...
    """
    _native.refuse_special(os.fsencode(path))


def descriptor(path: Path, flags: int, mode: int = 0o666) -> int:
    """A descriptor of a regular file, as `os.open` gives it."""
    refuse_special(path)
    # Whatever the path has become meanwhile: this does not wait.
    opened = os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY, mode)
    try:
        refuse_special(f"/proc/self/fd/{opened}")
    except BaseException:
        os.close(opened)
        raise
    return opened


def open_plain(path: Path, mode: str = "rb", **how: Any) -> IO[Any]:
    """As the builtin `open`.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file, open_plain(file.name) as same:
    ...     same.read()
    b''
    """
    return builtins.open(path, mode, opener=cast(Any, descriptor), **how)
