"""`Dataset.save`, `load` and `snapshot`: elements in a folder, for later runs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from spillway import _native, errors
from spillway.building import dataset_function, function, make
from spillway.structures import to_structure
from spillway.tensor_convert import is_tensor

if TYPE_CHECKING:
    from spillway.dataset import Dataset

# What TensorFlow hands to `tf.train.CheckpointManager`.
_MANAGER = frozenset(
    (
        "directory", "max_to_keep", "keep_checkpoint_every_n_hours", "checkpoint_name",
        "step_counter", "checkpoint_interval", "init_fn", "last_checkpoint_step",
    )
)  # fmt: skip
# More shards than there can be: whatever wrote them, they are read by turns in the order written.
_ALL_SHARDS = 1 << 16


def _path(path: Any) -> str:
    value = path.numpy() if is_tensor(path) else path
    return os.fsdecode(os.fspath(value))


def shards(shard_func: Callable[..., Any] | None, of: Any, op: str) -> Any:
    """`shard_func` behind the engine's seam; a Python number it returns is an int64."""
    if shard_func is None:
        return None
    return function(shard_func, None, of, op, dtype="int64")


def save(
    dataset: Dataset,
    path: Any,
    compression: str | None,
    shard_func: Callable[..., Any] | None,
    name: str | None,
) -> None:
    """Writes all elements, then puts the folder's metadata in place."""
    shard = shards(shard_func, dataset._node.structure, "save")
    make("save", [_path(path), compression, shard], [dataset], name).get_single_element()


def refuse_checkpoints(checkpoint_args: Any) -> None:
    """`checkpoint_args` of TensorFlow's `save`."""
    if not checkpoint_args:
        return
    if "checkpoint" in checkpoint_args:
        raise ValueError(
            "'Invalid `checkpoint_args`. `checkpoint_args` are not allowed to include 'checkpoint'."
        )
    unknown = sorted(set(checkpoint_args) - _MANAGER)
    if unknown:
        raise TypeError(f"CheckpointManager got unexpected keyword arguments: {unknown}")
    raise errors.UnimplementedError(
        None,
        None,
        "save: `checkpoint_args` is not here: what is interrupted leaves nothing behind, and is "
        "saved again from the beginning",
    )


def load(
    path: Any,
    element_spec: Any,
    compression: str | None,
    reader_func: Callable[[Any], Any] | None,
    wait: bool,
    name: str | None,
    policy: dict[str, Any],
) -> Dataset:
    """The elements of a folder, in the order of `reader_func` over its shards."""
    from spillway.dataset import Dataset

    where = _path(path)
    spec = None if element_spec is None else to_structure(element_spec)
    while True:
        try:
            found = make("load_shards", [where, spec, compression], [], name, policy)
            break
        except FileNotFoundError:
            if not wait:
                raise
        time.sleep(0.2)
    if reader_func is None:
        # Not more than there are: what was saved to one shard is the same pipeline everywhere.
        cycle = max(1, min(os.cpu_count() or 1, len(found)))
        return make("load", [where, spec, compression, cycle], [], name, policy)
    read = reader_func(found)
    if not isinstance(read, Dataset):
        raise errors.InvalidArgumentError(
            None, None, f"load: `reader_func` must return a dataset: {type(read).__name__}"
        )
    return read


def snapshot(
    dataset: Dataset,
    path: Any,
    compression: str | None,
    reader_func: Callable[[Any], Any] | None,
    shard_func: Callable[..., Any] | None,
    name: str | None,
    policy: dict[str, Any],
) -> Dataset:
    """As TensorFlow has it: without `shard_func`, elements are numbered and dealt out in turns."""
    if shard_func is not None:
        cycle = os.cpu_count() or 1
        return _snapshot(dataset, path, compression, reader_func, shard_func, cycle, name, policy)
    count = os.cpu_count() or 1

    def deal(index: Any, _: Any) -> Any:
        return index % count

    numbered = dataset.enumerate()
    kept = _snapshot(numbered, path, compression, reader_func, deal, _ALL_SHARDS, name, policy)
    return kept.map(lambda _, value: value)


def _snapshot(
    dataset: Dataset,
    path: Any,
    compression: str | None,
    reader_func: Callable[[Any], Any] | None,
    shard_func: Callable[..., Any],
    cycle: int,
    name: str | None,
    policy: dict[str, Any],
) -> Dataset:
    structure = dataset._node.structure
    reader = None
    if reader_func is not None:
        of = None
        if structure is not None:
            of = _native.Structure.dataset(_native.Structure.dataset(structure, ()), ())
        reader = dataset_function(reader_func, None, of, "snapshot")
    shard = shards(shard_func, structure, "snapshot")
    params = [_path(path), compression or "NONE", reader, shard, cycle]
    return make("snapshot", params, [dataset], name, policy)
