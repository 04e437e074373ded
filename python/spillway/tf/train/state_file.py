"""The text file `checkpoint` of a folder: which checkpoints are there, and which is the latest.

Written as TensorFlow writes it, so that either can find the other's latest one.
"""

from __future__ import annotations

import os
import re
import warnings
import zlib
from dataclasses import dataclass, field

from spillway.errors import CorruptFile, FileError
from spillway.plain_files import open_plain
from spillway.tf.train.checkpoint_file import SUFFIX, write_atomically
from spillway.tf.train.values import escaped

_NAME = "checkpoint"
_CHECKSUM = re.compile(rb"# crc32 ([0-9a-f]{8})\n\Z")  # a comment to TensorFlow
_LARGEST = 1 << 24
_LINE = re.compile(r'\s*(\w+):\s*(?:"((?:[^"\\]|\\.)*)"|([-+.\w]+))\s*')
_SIMPLE = {"n": b"\n", "r": b"\r", "t": b"\t", '"': b'"', "'": b"'", "\\": b"\\"}


@dataclass(slots=True)
class CheckpointState:
    """What the file says; paths are those of checkpoints without their suffix."""

    model_checkpoint_path: str = ""
    all_model_checkpoint_paths: list[str] = field(default_factory=list)
    all_model_checkpoint_timestamps: list[float] = field(default_factory=list)
    last_preserved_timestamp: float = 0.0


def _path_of(folder: str, latest_filename: str | None) -> str:
    return os.path.join(folder, latest_filename or _NAME)


def _unescaped(text: str) -> str:
    def one(match: re.Match[str]) -> str:
        code = match[1]
        byte = bytes([int(code, 8) & 255]) if code.isdigit() else _SIMPLE.get(code, code.encode())
        return byte.decode("latin-1")

    raw = re.sub(r"\\([0-7]{1,3}|.)", one, text.encode().decode("latin-1"))
    return raw.encode("latin-1").decode()


def _whole(path: str, content: bytes) -> str:
    """The text, if it is what was written; files of TensorFlow have no checksum."""
    seal = _CHECKSUM.search(content)
    if seal is not None and int(seal[1], 16) != zlib.crc32(content[: seal.start()]):
        raise CorruptFile(
            f"{path}: the file does not have its checksum: it was changed or damaged; name the "
            "checkpoint to restore, or remove the file",
            file=path,
        )
    return content.decode()


def _parse(text: str) -> CheckpointState:
    state = CheckpointState()
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise ValueError(f"not a line of a checkpoint's state: {line[:80]!r}")
        key, quoted, number = match.groups()
        if key == "model_checkpoint_path" and quoted is not None:
            state.model_checkpoint_path = _unescaped(quoted)
        elif key == "all_model_checkpoint_paths" and quoted is not None:
            state.all_model_checkpoint_paths.append(_unescaped(quoted))
        elif key == "all_model_checkpoint_timestamps" and number is not None:
            state.all_model_checkpoint_timestamps.append(float(number))
        elif key == "last_preserved_timestamp" and number is not None:
            state.last_preserved_timestamp = float(number)
        else:
            raise ValueError(f"not a line of a checkpoint's state: {line[:80]!r}")
    return state


def get_checkpoint_state(
    checkpoint_dir: str | os.PathLike[str], latest_filename: str | None = None
) -> CheckpointState | None:
    """What a folder's `checkpoint` says; None, with a warning, when it cannot be read.

    CorruptFile, a DataLossError, where it is not what was written.
    """
    folder = os.fspath(checkpoint_dir)
    path = _path_of(folder, latest_filename)
    try:
        with open_plain(path) as file:
            content = file.read(_LARGEST)
        state = _parse(_whole(path, content))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except CorruptFile:
        raise
    except (OSError, ValueError, FileError) as error:
        warnings.warn(f"{path}: ignored, it cannot be read: {error}", stacklevel=2)
        return None
    if not state.model_checkpoint_path:
        warnings.warn(f"{path}: ignored, it names no checkpoint", stacklevel=2)
        return None
    # Relative ones lie in the folder itself.
    state.model_checkpoint_path = os.path.join(folder, state.model_checkpoint_path)
    state.all_model_checkpoint_paths = [
        os.path.join(folder, one) for one in state.all_model_checkpoint_paths
    ]
    return state


def update(folder: str, state: CheckpointState, latest_filename: str | None = None) -> None:
    """Writes a folder's `checkpoint`; paths below the folder relative to it."""

    def line(key: str, path: str) -> str:
        inside = os.path.relpath(path, folder or ".")
        shown = path if inside.startswith(os.pardir + os.sep) else inside
        return f'{key}: "{escaped(shown.encode())}"\n'

    text = line("model_checkpoint_path", state.model_checkpoint_path)
    for path in state.all_model_checkpoint_paths:
        text += line("all_model_checkpoint_paths", path)
    for timestamp in state.all_model_checkpoint_timestamps:
        text += f"all_model_checkpoint_timestamps: {timestamp!r}\n"
    if state.last_preserved_timestamp:
        text += f"last_preserved_timestamp: {state.last_preserved_timestamp!r}\n"
    os.makedirs(folder or ".", exist_ok=True)
    content = text.encode()
    content += b"# crc32 %08x\n" % zlib.crc32(content)
    write_atomically(_path_of(folder, latest_filename), [content])


def latest_checkpoint(
    checkpoint_dir: str | os.PathLike[str], latest_filename: str | None = None
) -> str | None:
    """The path of a folder's latest checkpoint, for `Checkpoint.restore`; None when there is none.

    >>> latest_checkpoint("a folder that is not there")
    """
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None:
        return None
    if not os.path.isfile(state.model_checkpoint_path + SUFFIX):
        warnings.warn(
            f"Couldn't match files for checkpoint {state.model_checkpoint_path}", stacklevel=2
        )
        return None
    return state.model_checkpoint_path
