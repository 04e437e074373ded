"""`tf.io`: what of TensorFlow's input and output is there."""

from __future__ import annotations

from typing import Any

from spillway.tf import _names, gfile
from spillway.tf.gfile import write_file
from spillway.tf.tfrecord_writer import TFRecordOptions, TFRecordWriter

__all__ = ["TFRecordOptions", "TFRecordWriter", "gfile", "write_file"]


def __getattr__(name: str) -> Any:
    raise _names.missing(__name__, name)
