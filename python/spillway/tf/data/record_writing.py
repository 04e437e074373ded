"""`tf.data.experimental.TFRecordWriter`: a dataset of strings becomes a file."""

from __future__ import annotations

import os
from typing import Any

from spillway import opaque
from spillway.dtypes import string
from spillway.errors import InvalidArgumentError
from spillway.specs import TensorSpec
from spillway.symbolic import TraceBreak
from spillway.tensor_convert import to_tensor
from spillway.tf import nest, tfrecord_writer
from spillway.tf.data.dataset import Dataset

_RECORD = TensorSpec([], string)


class TFRecordWriter:
    """Writes the elements of a dataset, which are strings, as the records of a file.

    >>> import spillway.tf as tf, tempfile
    >>> path = tempfile.mkdtemp() + "/a.tfrecord"
    >>> ds = tf.data.Dataset.range(3).map(tf.strings.as_string)
    >>> tf.data.experimental.TFRecordWriter(path).write(ds)
    >>> list(tf.data.TFRecordDataset(path).as_numpy_iterator())
    [b'0', b'1', b'2']
    """

    def __init__(self, filename: Any, compression_type: Any = None) -> None:
        """A path, and '', 'ZLIB' or 'GZIP'; the file is opened by `write`."""
        path = os.fspath(filename) if isinstance(filename, os.PathLike) else filename
        self._path = to_tensor(path, "string")
        self._kind = to_tensor("" if compression_type is None else compression_type, "string")

    def write(self, dataset: Dataset) -> None:
        """Writes all elements, one after the other, over what the file had.

        An element that fails ends the file behind those before it.
        """
        if not isinstance(dataset, Dataset):
            raise TypeError(
                f"Invalid `dataset`. Expected a `tf.data.Dataset` object but got {type(dataset)}."
            )
        _refuse_other(dataset.element_spec)
        if opaque.tracing():  # before the file is opened, and emptied for nothing
            raise TraceBreak("writes a file")
        path, kind = _text("filename", self._path), _text("compression_type", self._kind)
        with tfrecord_writer.TFRecordWriter(path, kind) as file:
            elements = dataset.as_numpy_iterator()
            try:
                for record in elements:
                    _write(file, record)
            finally:
                elements.close()


def _text(what: str, value: Any) -> str:
    if value.shape.rank != 0:
        raise InvalidArgumentError(f"{what} must be a scalar: its shape is {value.shape}")
    return os.fsdecode(value.numpy())


def _write(file: tfrecord_writer.TFRecordWriter, record: Any) -> None:
    """Elements are looked at too: their spec may leave the shape open, or be unknown itself."""
    if not isinstance(record, bytes):
        raise InvalidArgumentError(
            f"TFRecordWriter: elements must be scalar strings: {type(record).__name__} of shape "
            f"{getattr(record, 'shape', ())}"
        )
    file.write(record)


def _refuse_other(spec: Any) -> None:
    if spec is None or (isinstance(spec, TensorSpec) and spec.is_compatible_with(_RECORD)):
        return
    shapes = nest.map_structure(lambda part: part.shape, spec)
    dtypes = nest.map_structure(lambda part: part.dtype, spec)
    raise TypeError(
        "Invalid `dataset`. Expected a `dataset` that produces scalar `tf.string` elements, but "
        f"got a dataset which produces elements with shapes {shapes} and types {dtypes}."
    )
