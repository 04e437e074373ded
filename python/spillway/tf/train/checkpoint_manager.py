"""`tf.train.CheckpointManager`: the latest checkpoints of a folder; older ones are deleted."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from typing import Any

from spillway.tf.train import state_file
from spillway.tf.train.checkpoint import Checkpoint, CheckpointOptions
from spillway.tf.train.checkpoint_file import SUFFIX


class CheckpointManager:
    """Saves to a folder and keeps the last `max_to_keep`; None keeps all.

    keep_checkpoint_every_n_hours: one in so many hours is kept for ever beside these.
    step_counter, checkpoint_interval: `save` does nothing until so many steps were made.
    init_fn: called by `restore_or_initialize` when there is nothing to restore.

    >>> import spillway.tf as tf, tempfile
    >>> it = iter(tf.data.Dataset.range(5))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     manager = tf.train.CheckpointManager(tf.train.Checkpoint(it=it), folder, max_to_keep=2)
    ...     paths = [manager.save() for _ in range(3)]
    ...     print([os.path.basename(path) for path in manager.checkpoints])
    ['ckpt-2', 'ckpt-3']
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: str | os.PathLike[str],
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
        step_counter: Any = None,
        checkpoint_interval: int | None = None,
        init_fn: Callable[[], Any] | None = None,
        last_checkpoint_step: int | None = None,
    ) -> None:
        """Goes on with the checkpoints that the folder has."""
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(
                f"Expected a positive integer or `None` for `max_to_keep`, got {max_to_keep}."
            )
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError(
                "`step_counter` should be passed if `checkpoint_interval` is not None."
            )
        self._checkpoint = checkpoint
        self._directory = os.fspath(directory)
        self._prefix = os.path.join(self._directory, checkpoint_name)
        self._max_to_keep = max_to_keep
        self._keep_seconds = (keep_checkpoint_every_n_hours or 0) * 3600.0
        self._steps = step_counter
        self._interval = checkpoint_interval
        self._last_step = last_checkpoint_step
        self._init = init_fn
        self._latest: str | None = None
        self._preserved = time.time() - 1.0
        self._times: dict[str, float] = {}  # of those that may be deleted, oldest first
        self._recover()

    def _recover(self) -> None:
        state = state_file.get_checkpoint_state(self._directory)
        if state is None:
            return
        now = time.time()
        self._latest = state.model_checkpoint_path
        self._preserved = min(state.last_preserved_timestamp, now)
        paths, times = state.all_model_checkpoint_paths, state.all_model_checkpoint_timestamps
        folder = os.path.realpath(self._directory)
        # Without times nothing is known to be younger than what is kept for ever. What lies
        # elsewhere is not ours to delete, whatever the file says.
        for path, written in zip(paths, times, strict=False):
            inside = os.path.realpath(os.path.dirname(path)) == folder
            if inside and min(written, now) > self._preserved:
                self._times[path] = min(written, now)

    @property
    def directory(self) -> str:
        """Where the checkpoints lie."""
        return self._directory

    @property
    def checkpoint(self) -> Checkpoint:
        """What is saved."""
        return self._checkpoint

    @property
    def checkpoint_interval(self) -> int | None:
        """The least number of steps between two checkpoints."""
        return self._interval

    @property
    def latest_checkpoint(self) -> str | None:
        """The path of the last one; None when there is none."""
        return self._latest

    @property
    def checkpoints(self) -> list[str]:
        """The paths of those that are kept for now, oldest first."""
        return list(self._times)

    def save(
        self,
        checkpoint_number: Any = None,
        check_interval: bool = True,
        options: CheckpointOptions | None = None,
    ) -> str | None:
        """Writes a checkpoint, deletes what is too many; None when it is too early for one."""
        if self._interval is not None:
            step = int(self._steps)
            if self._last_step is not None:
                early = check_interval and step < self._last_step + self._interval
                if step == self._last_step or early:
                    return None
            self._last_step = step
        number = self._checkpoint._counter + 1
        chosen = number if checkpoint_number is None else int(checkpoint_number)
        self._checkpoint._counter = number
        path = self._checkpoint.write(f"{self._prefix}-{chosen}", options)
        self._times.pop(path, None)
        self._times[path] = time.time()
        self._latest = path
        self._record()
        if self._sweep():
            self._record()
        return path

    def restore_or_initialize(self) -> str | None:
        """Restores the latest and gives its path; without one calls `init_fn` and gives None."""
        if self._latest is not None:
            self._checkpoint.restore(self._latest)
            if self._interval is not None:
                self._last_step = int(self._steps)
            return self._latest
        if self._init is not None:
            self._init()
        return None

    def sync(self) -> None:
        """Waits for saves under way: there are none."""
        self._checkpoint.sync()

    def _record(self) -> None:
        assert self._latest is not None
        state = state_file.CheckpointState(
            self._latest, list(self._times), list(self._times.values()), self._preserved
        )
        state_file.update(self._directory, state)

    def _sweep(self) -> bool:
        swept = False
        while self._max_to_keep is not None and len(self._times) > self._max_to_keep:
            path = next(iter(self._times))
            written = self._times.pop(path)
            swept = True
            if self._keep_seconds and written - self._keep_seconds >= self._preserved:
                self._preserved = written
                continue
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path + SUFFIX)
        return swept
