"""`tf.train`: checkpoints, and the messages of TFRecord files."""

from __future__ import annotations

from typing import Any

from spillway.tf import _names
from spillway.tf.train.checkpoint import Checkpoint, CheckpointOptions
from spillway.tf.train.checkpoint_manager import CheckpointManager
from spillway.tf.train.example import Example, Feature, Features
from spillway.tf.train.state_file import get_checkpoint_state, latest_checkpoint
from spillway.tf.train.values import BytesList, FloatList, Int64List

__all__ = [
    "BytesList",
    "Checkpoint",
    "CheckpointManager",
    "CheckpointOptions",
    "Example",
    "Feature",
    "Features",
    "FloatList",
    "Int64List",
    "get_checkpoint_state",
    "latest_checkpoint",
]


def __getattr__(name: str) -> Any:
    raise _names.missing(__name__, name)
