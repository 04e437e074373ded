"""`tf.data.TFRecordDataset`, `TextLineDataset` and `FixedLengthRecordDataset`."""

from __future__ import annotations

from typing import Any

from spillway import arguments
from spillway.record_files import records
from spillway.tf.data.dataset import Dataset


@arguments.name_methods
class TFRecordDataset(Dataset):
    """The records of TFRecord files as strings, both checksums of each compared.

    >>> import spillway.tf as tf, tempfile
    >>> path = tempfile.mkdtemp() + "/a.tfrecord"
    >>> with tf.io.TFRecordWriter(path) as writer:
    ...     writer.write(b"one")
    >>> list(tf.data.TFRecordDataset([path]).as_numpy_iterator())
    [b'one']
    """

    __slots__ = ()

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        """Paths, or a dataset of them; `compression_type` is '', 'ZLIB' or 'GZIP'."""
        params = (compression_type, buffer_size, False)
        super().__init__(records("tf_record", filenames, num_parallel_reads, params, name)._node)


@arguments.name_methods
class TextLineDataset(Dataset):
    """The lines of text files, without their ends.

    >>> import spillway.tf as tf, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = path.write_text("one\\ntwo")
    >>> list(tf.data.TextLineDataset(path).as_numpy_iterator())
    [b'one', b'two']
    """

    __slots__ = ()

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        """Paths, or a dataset of them; `compression_type` is '', 'ZLIB' or 'GZIP'."""
        params = (compression_type, buffer_size)
        super().__init__(records("text_lines", filenames, num_parallel_reads, params, name)._node)


@arguments.name_methods
class FixedLengthRecordDataset(Dataset):
    """The records of files whose records all have the same length.

    >>> import spillway.tf as tf, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.bin"
    >>> _ = path.write_bytes(b"HEADonetwo")
    >>> ds = tf.data.FixedLengthRecordDataset(path, record_bytes=3, header_bytes=4)
    >>> list(ds.as_numpy_iterator())
    [b'one', b'two']
    """

    __slots__ = ()

    def __init__(
        self,
        filenames: Any,
        record_bytes: Any,
        header_bytes: Any = None,
        footer_bytes: Any = None,
        buffer_size: Any = None,
        compression_type: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        """Paths, or a dataset of them; `compression_type` is '', 'ZLIB' or 'GZIP'."""
        params = (record_bytes, header_bytes, footer_bytes, buffer_size, compression_type)
        made = records("fixed_length_records", filenames, num_parallel_reads, params, name)
        super().__init__(made._node)
