"""Folders of files with a class each: which files, in which order, with which labels.

Order, shuffling and splitting are Keras's, so that a seed gives the same datasets there and here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import spillway.ops.io
import spillway.ops.strings
from spillway.building import AUTOTUNE
from spillway.tf.data.dataset import Dataset

ops: Any = spillway.ops  # made from the engine's definitions: there are no types
_KINDS = {"image": "images", "text": "text files"}


class FolderDataset(Dataset):
    """A dataset of a folder's files that knows their classes and paths."""

    __slots__ = ("class_names", "file_paths")

    def __init__(self, dataset: Dataset, class_names: Any, file_paths: list[str]) -> None:
        """`class_names` is None without labels."""
        super().__init__(dataset._node)
        self.class_names = class_names
        self.file_paths = file_paths


@dataclass(frozen=True)
class Files:
    """Files with a label each; `labels` and `class_names` are None without."""

    paths: list[str]
    labels: Any
    class_names: list[str] | None


@dataclass(frozen=True)
class Wanted:
    """What `image_dataset_from_directory` and `text_dataset_from_directory` are both told."""

    directory: Any
    labels: Any
    label_mode: str | None
    class_names: Any
    batch_size: int | None
    shuffle: bool
    seed: int | None
    validation_split: float | None
    subset: str | None
    follow_links: bool
    format: str
    verbose: bool
    what: str  # "image" or "text"

    def checked(self) -> Wanted:
        """Refused as Keras does; without labels both their source and their mode are None."""
        if self.labels not in ("inferred", None):
            if not isinstance(self.labels, list | tuple):
                raise ValueError(
                    "`labels` argument should be a list/tuple of integer labels, of the same size "
                    f"as the number of {self.what} files in the target directory. If you wish to "
                    "infer the labels from the subdirectory names in the target directory, pass "
                    '`labels="inferred"`. If you wish to get a dataset without labels, pass '
                    f"`labels=None`. Received: labels={self.labels}"
                )
            if self.class_names:
                raise ValueError(
                    'You can only pass `class_names` if `labels="inferred"`. Received: '
                    f"labels={self.labels}, and class_names={self.class_names}"
                )
        if self.label_mode not in ("int", "categorical", "binary", None):
            raise ValueError(
                '`label_mode` argument must be one of "int", "categorical", "binary", or None. '
                f"Received: label_mode={self.label_mode}"
            )
        if self.format != "tf":
            raise ValueError(f'`format` must be "tf" here. Received: format={self.format}')
        self._check_split()
        unlabelled = self.labels is None or self.label_mode is None
        seed = int(np.random.randint(int(1e6))) if self.seed is None else self.seed
        if unlabelled:
            return replace(self, labels=None, label_mode=None, seed=seed)
        return replace(self, seed=seed)

    def _check_split(self) -> None:
        split = self.validation_split
        if split and not 0 < split < 1:
            raise ValueError(f"`validation_split` must be between 0 and 1, received: {split}")
        if bool(split) != bool(self.subset):
            raise ValueError("If `subset` is set, `validation_split` must be set, and inversely.")
        if self.subset not in ("training", "validation", "both", None):
            raise ValueError(
                '`subset` must be either "training", "validation" or "both", received: '
                f"{self.subset}"
            )
        if split and self.shuffle and self.seed is None:
            raise ValueError(
                "If using `validation_split` and shuffling the data, you must provide a `seed` "
                "argument, to make sure that there is no overlap between the training and "
                "validation subset."
            )


def files_in(wanted: Wanted, formats: tuple[str, ...]) -> Files:
    """The files below the directory that end in one of `formats`, shuffled if that is wanted."""
    root = os.fspath(wanted.directory)
    inferred = wanted.labels == "inferred"
    classes = _classes(root, wanted.class_names) if inferred else [""]
    if not inferred and wanted.class_names is not None:
        raise ValueError(
            "When argument `labels` is None or a list, argument `class_names` cannot be specified."
        )
    paths: list[str] = []
    places: list[int] = []
    for place, name in enumerate(classes):
        found = list(_below(os.path.join(root, name), wanted.follow_links, formats))
        paths += found
        places += [place] * len(found)
    files = _labelled(wanted, paths, places, classes)
    if wanted.verbose:
        of = "" if files.class_names is None else f" belonging to {len(files.class_names)} classes"
        print(f"Found {len(paths)} files{of}.")
    if wanted.shuffle:
        np.random.RandomState(wanted.seed).shuffle(files.paths)
        if files.labels is not None:
            np.random.RandomState(wanted.seed).shuffle(files.labels)
    if wanted.label_mode == "binary" and len(files.class_names or ()) != 2:
        raise ValueError(
            'When passing `label_mode="binary"`, there must be exactly 2 class_names. Received: '
            f"class_names={files.class_names}"
        )
    return files


def _classes(root: str, names: Any) -> list[str]:
    """The folders in `root` by name, or those that are named, in that order."""
    found = sorted(
        name
        for name in os.listdir(root)
        if not name.startswith(".") and os.path.isdir(os.path.join(root, name))
    )
    if names is None:
        return found
    if not set(names) <= set(found):
        raise ValueError(
            "The `class_names` passed did not match the names of the subdirectories of the target "
            f"directory. Expected: {found} (or a subset of it), but received: class_names={names}"
        )
    return list(names)


def _below(folder: str, follow_links: bool, formats: tuple[str, ...]) -> Iterator[str]:
    for root, _, names in sorted(os.walk(folder, followlinks=follow_links), key=lambda at: at[0]):
        for name in sorted(names):
            if name.lower().endswith(formats):
                yield os.path.join(root, name)


def _labelled(wanted: Wanted, paths: list[str], places: list[int], classes: list[str]) -> Files:
    if wanted.labels is None:
        return Files(paths, None, None)
    if wanted.labels == "inferred":
        return Files(paths, np.asarray(places, "int32"), classes)
    if len(wanted.labels) != len(paths):
        raise ValueError(
            "Expected the lengths of `labels` to match the number of files in the target "
            f"directory. len(labels) is {len(wanted.labels)} while we found {len(paths)} files in "
            f"directory {wanted.directory}."
        )
    names = [str(label) for label in sorted(set(wanted.labels))]
    return Files(paths, list(wanted.labels), names)


def _part(files: Files, wanted: Wanted, subset: str | None) -> Files:
    """The last files are for validation."""
    if not wanted.validation_split:
        return files
    held = int(wanted.validation_split * len(files.paths))
    training = subset == "training"
    print(f"Using {len(files.paths) - held if training else held} files for {subset}.")
    chosen = slice(-held) if training else slice(-held, None)
    labels = None if files.labels is None else files.labels[chosen]
    return Files(files.paths[chosen], labels, files.class_names)


def dataset_of(
    wanted: Wanted, formats: tuple[str, ...], load: Callable[[Any], Any]
) -> FolderDataset | list[FolderDataset]:
    """What the two functions return; `load` makes an element of a path."""
    wanted = wanted.checked()
    files = files_in(wanted, formats)
    both = wanted.subset == "both"
    parts = ["training", "validation"] if both else [wanted.subset]
    chosen = [(part, _part(files, wanted, part)) for part in parts]
    for part, found in chosen:
        if not found.paths:
            which = f"{part} " if both else ""
            raise ValueError(
                f"No {which}{_KINDS[wanted.what]} found in directory {wanted.directory}. Allowed "
                f"formats: {formats}"
            )
    made = [
        _dataset(found, wanted, wanted.shuffle and not (both and part == "validation"), load)
        for part, found in chosen
    ]
    return made if both else made[0]


def _dataset(
    files: Files, wanted: Wanted, shuffle: bool, load: Callable[[Any], Any]
) -> FolderDataset:
    ds: Any = Dataset.from_tensor_slices(files.paths)
    if wanted.label_mode is not None:
        ds = Dataset.zip((ds, _label_rows(files, wanted.label_mode)))
    if shuffle:
        buffer = 1024 if wanted.batch_size is None else wanted.batch_size * 8
        ds = ds.shuffle(buffer, seed=wanted.seed)
    if wanted.label_mode is None:
        ds = ds.map(load, num_parallel_calls=AUTOTUNE)
    else:
        ds = ds.map(lambda path, label: (load(path), label), num_parallel_calls=AUTOTUNE)
    if wanted.batch_size is not None:
        ds = ds.batch(wanted.batch_size)
    return FolderDataset(ds.prefetch(AUTOTUNE), files.class_names, files.paths)


def _label_rows(files: Files, mode: str) -> Any:
    rows: Any = Dataset.from_tensor_slices(files.labels)
    if mode == "binary":
        return rows.map(lambda x: ops.expand_dims(ops.cast(x, "float32"), axis=-1))
    if mode == "categorical":
        classes = len(files.class_names or ())
        return rows.map(lambda x: ops.one_hot(x, classes))
    return rows
