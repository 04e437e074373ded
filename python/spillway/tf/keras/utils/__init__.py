"""`tf.keras.utils`: datasets of folders of files."""

from __future__ import annotations

from typing import Any

from spillway.tf import _names

from .image_folders import image_dataset_from_directory
from .text_folders import text_dataset_from_directory

__all__ = ["image_dataset_from_directory", "text_dataset_from_directory"]


def __getattr__(name: str) -> Any:
    raise _names.missing(__name__, name)
