"""`tf.train.Checkpoint`: where iterators are, in a file.

>>> import spillway.tf as tf, tempfile
>>> it = iter(tf.data.Dataset.range(5))
>>> checkpoint = tf.train.Checkpoint(iterator=it)
>>> next(it).numpy()
np.int64(0)
>>> with tempfile.TemporaryDirectory() as folder:
...     path = checkpoint.save(folder + "/ckpt")
...     a = next(it).numpy(), next(it).numpy()
...     status = checkpoint.restore(path).assert_consumed()
>>> a, next(it).numpy()
((np.int64(1), np.int64(2)), np.int64(1))
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spillway.tensor import Tensor
from spillway.tf.train import checkpoint_file, state_file, trackable
from spillway.tf.train.checkpoint_file import CheckpointFile

_COUNTER = "save_counter"


@dataclass(slots=True)
class CheckpointOptions:
    """TensorFlow's options. Saving is complete when it returns, with `enable_async` as well.

    experimental_write_callbacks: called after each write, with the path if they take one.
    """

    experimental_io_device: str | None = None
    experimental_enable_async_checkpoint: bool = False
    experimental_write_callbacks: Sequence[Callable[..., Any]] | None = None
    enable_async: bool = False
    experimental_skip_slot_variables: bool = False
    experimental_sharding_callback: Any = None

    def __post_init__(self) -> None:
        """The older name of `enable_async` means the same."""
        self.enable_async = self.enable_async or self.experimental_enable_async_checkpoint


class LoadStatus:
    """What `restore` found. Names count as found when both sides have them."""

    def __init__(self, file: CheckpointFile | None) -> None:
        """Nothing is restored yet."""
        self._file = file
        self._left = set(file.where) if file else set[str]()
        self._unmatched: list[str] = []
        self._matched = 0

    def _bind(self, path: str, value: Any) -> None:
        """Restores one thing, if the file has it."""
        if self._file is None or path not in self._file.where:
            self._unmatched.append(path)
            return
        trackable.restore(value, self._file.read(path), path)
        self._left.discard(path)
        self._matched += 1

    def assert_consumed(self) -> LoadStatus:
        """Raise AssertionError unless all of the file and all of the program's things matched."""
        self.assert_existing_objects_matched()
        unused = sorted(self._left - {_COUNTER})
        if unused:
            raise AssertionError(
                f"Unresolved object in checkpoint: nothing in the program is named {unused}"
            )
        return self

    def assert_existing_objects_matched(self) -> LoadStatus:
        """Raise AssertionError unless everything in the program was in the file."""
        if self._file is None:
            raise AssertionError(
                "No checkpoint specified (save_path=None); nothing is being restored."
            )
        if self._unmatched:
            raise AssertionError(
                f"Found {len(self._unmatched)} Python objects that were not bound to checkpointed "
                f"values, likely due to changes in the Python program: {self._unmatched}"
            )
        return self

    def assert_nontrivial_match(self) -> LoadStatus:
        """Raise AssertionError unless at least one thing was restored."""
        if not self._matched:
            raise AssertionError("Nothing in the checkpoint matched anything in the program.")
        return self

    def expect_partial(self) -> LoadStatus:
        """Says that a difference is meant."""
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """Nothing is left to do: `restore` restored."""

    def initialize_or_restore(self, session: Any = None) -> None:
        """Nothing is left to do: `restore` restored."""


class Checkpoint:
    """Saves and restores iterators, variables and structures of them, by the names given.

    root: one thing, or a Checkpoint, whose own names are used without a prefix.
    """

    def __init__(self, root: Any = None, **kwargs: Any) -> None:
        """Holds `root`, and each keyword under its name."""
        self._status: LoadStatus | None = None
        self._counter = 0
        self._root: Any = None
        self._children: dict[str, Any] = {}
        if root is not None:
            self._root = _checked("root", root)
        for name, value in kwargs.items():
            setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        """Holds one more thing; what a restore before had for it, it gets now."""
        if not name.startswith("_"):
            if name == _COUNTER:
                raise AttributeError("property 'save_counter' of 'Checkpoint' has no setter")
            self._children[name] = _checked(name, value)
            if self._status is not None:
                for path, leaf in trackable.leaves(value, trackable.join("", name)):
                    self._status._bind(path, leaf)
        object.__setattr__(self, name, value)

    @property
    def save_counter(self) -> Any:
        """How often `save` was called, restored with the rest; an int64 tensor."""
        return Tensor(np.asarray(self._counter, np.int64))

    def _trackable_children(self) -> dict[str, Any]:
        inner = self._root
        own = inner._trackable_children() if hasattr(inner, "_trackable_children") else {}
        return {**own, **self._children}

    def _leaves(self) -> list[tuple[str, Any]]:
        found = []
        if self._root is not None and not hasattr(self._root, "_trackable_children"):
            found += list(trackable.leaves(self._root, ""))
        return found + list(trackable.leaves(self, ""))

    def write(
        self, file_prefix: str | os.PathLike[str], options: CheckpointOptions | None = None
    ) -> str:
        """Writes the states to exactly this path; it does not become the folder's latest."""
        prefix = os.fspath(file_prefix)
        entries = {path: trackable.saved(leaf) for path, leaf in self._leaves()}
        entries[_COUNTER] = trackable.array_bytes(np.int64(self._counter))
        checkpoint_file.write(prefix, entries)
        for callback in (options.experimental_write_callbacks if options else None) or ():
            callback(*([prefix] if inspect.signature(callback).parameters else []))
        return prefix

    def save(
        self, file_prefix: str | os.PathLike[str], options: CheckpointOptions | None = None
    ) -> str:
        """Writes the states to `file_prefix`-N and makes it the folder's latest checkpoint."""
        self._counter += 1
        try:
            path = self.write(f"{os.fspath(file_prefix)}-{self._counter}", options)
        except BaseException:
            self._counter -= 1
            raise
        state = state_file.CheckpointState(path, [path])
        state_file.update(os.path.dirname(path), state)
        return path

    def read(
        self, save_path: str | os.PathLike[str], options: CheckpointOptions | None = None
    ) -> LoadStatus:
        """Restores what `write` wrote."""
        status = LoadStatus(CheckpointFile.open(os.fspath(save_path)))
        for path, leaf in self._leaves():
            status._bind(path, leaf)
        self._status = status
        return status

    def restore(
        self, save_path: str | os.PathLike[str] | None, options: CheckpointOptions | None = None
    ) -> LoadStatus:
        """Restores what `save` wrote, and goes on with its numbers; None restores nothing."""
        if save_path is None:
            return LoadStatus(None)
        status = self.read(save_path, options)
        if status._file is not None and _COUNTER in status._file.where:
            counter = trackable.array_of(status._file.read(_COUNTER), _COUNTER)
            self._counter = int(counter.reshape(-1)[0]) if counter.size == 1 else 0
        return status

    def sync(self) -> None:
        """Waits for saves under way: there are none."""


def _checked(name: str, value: Any) -> Any:
    if not trackable.is_trackable(value):
        raise ValueError(
            f"`Checkpoint` was expecting {name} to be a trackable object (an object derived from "
            f"`Trackable`), got {value}. Iterators, variables, and lists, dicts and checkpoints of "
            "them can be saved."
        )
    return value
