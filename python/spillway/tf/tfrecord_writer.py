"""`tf.io.TFRecordWriter`: files that `tf.data.TFRecordDataset` and TensorFlow read."""

from __future__ import annotations

import errno
import os
import zlib
from types import TracebackType
from typing import Any

from spillway import _native, errors, remote

_KINDS = ("", "ZLIB", "GZIP")  # as `tf.compat.v1.python_io.TFRecordCompressionType` numbers them
# What zlib calls the frame of each: its own, or gzip's.
_WINDOW = {"ZLIB": zlib.MAX_WBITS, "GZIP": zlib.MAX_WBITS + 16}


class TFRecordOptions:
    """How a `TFRecordWriter` writes."""

    def __init__(
        self,
        compression_type: Any = None,
        flush_mode: int | None = None,
        input_buffer_size: int | None = None,
        output_buffer_size: int | None = None,
        window_bits: int | None = None,
        compression_level: int | None = None,
        compression_method: int | None = None,
        mem_level: int | None = None,
        compression_strategy: int | None = None,
    ) -> None:
        """`compression_type`: '', 'ZLIB' or 'GZIP', or TensorFlow's numbers for them: 0, 1, 2.

        Buffers and flush_mode need no choice here.
        """
        self.compression_type = _compression(compression_type)
        self.level = zlib.Z_DEFAULT_COMPRESSION if compression_level is None else compression_level
        self.strategy = 0 if compression_strategy is None else compression_strategy
        self.memory = zlib.DEF_MEM_LEVEL if mem_level is None else mem_level


def _compression(kind: Any) -> str:
    if isinstance(kind, TFRecordOptions):
        return kind.compression_type
    if isinstance(kind, int) and not isinstance(kind, bool) and 0 <= kind < len(_KINDS):
        return _KINDS[kind]
    if kind is not None and kind not in _KINDS:
        raise ValueError(f'Not a valid compression_type: "{kind}"')
    return kind or ""


class TFRecordWriter:
    """Writes records, each with its checksums, to a file.

    >>> import spillway.tf as tf, tempfile
    >>> path = tempfile.mkdtemp() + "/a.tfrecord"
    >>> with tf.io.TFRecordWriter(path, "GZIP") as writer:
    ...     writer.write(b"one")
    >>> list(tf.data.TFRecordDataset(path, "GZIP").as_numpy_iterator())
    [b'one']
    """

    def __init__(self, path: Any, options: Any = None) -> None:
        """`options`: a `TFRecordOptions`, or its compression_type."""
        chosen = options if isinstance(options, TFRecordOptions) else TFRecordOptions(options)
        self._where = where = os.fsdecode(os.fspath(path))
        try:
            if remote.is_remote(where):
                store, name = remote.store_of(where)
                self._file: Any = store.open(name, "wb")
            else:
                self._file = open(where, "wb")  # noqa: SIM115  (closed by close)
        except OSError as error:
            self._fail(error)
        self._pack: Any = None
        if chosen.compression_type:
            window = _WINDOW[chosen.compression_type]
            self._pack = zlib.compressobj(
                chosen.level, zlib.DEFLATED, window, chosen.memory, chosen.strategy
            )

    def write(self, record: Any) -> None:
        """Appends one record: bytes, or a str as UTF-8."""
        if self._file is None:
            raise errors.FailedPreconditionError("Writer is closed.")
        if isinstance(record, str):
            record = record.encode()
        if not isinstance(record, bytes | bytearray | memoryview):
            raise TypeError(f"a record must be bytes or str: {type(record).__name__}")
        framed = _native.framed_tfrecord(bytes(record))
        try:
            self._file.write(self._pack.compress(framed) if self._pack else framed)
        except OSError as error:
            self._fail(error)

    def flush(self) -> None:
        """Hands what was written to the operating system."""
        if self._file is None:
            raise errors.FailedPreconditionError("Writer is closed.")
        try:
            if self._pack:
                self._file.write(self._pack.flush(zlib.Z_SYNC_FLUSH))
            self._file.flush()
        except OSError as error:
            self._fail(error)

    def close(self) -> None:
        """Ends the file; a second call does nothing."""
        file, self._file = self._file, None
        if file is None:
            return
        try:
            with file:
                if self._pack:
                    file.write(self._pack.flush())
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        """Raises TensorFlow's class for what the system refused: a disk that is full."""
        if isinstance(error, errors.SpillwayError):
            raise error
        _native.raise_file_error(self._where, error.errno or errno.EIO)

    def __enter__(self) -> TFRecordWriter:
        """The writer itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        """Closes it."""
        self.close()
