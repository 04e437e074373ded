"""Transformations of `tf.data.experimental` that stand for several methods or for none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spillway.building import AUTOTUNE, make
from spillway.errors import InvalidArgumentError
from spillway.options import Options
from spillway.shown import shown
from spillway.tensor_convert import integer
from spillway.tf.data.dataset import Dataset

Transformation = Callable[[Dataset], Dataset]


def method(name: str, *args: Any, **more: Any) -> Transformation:
    """A method of the dataset it is applied to."""

    def transform(dataset: Dataset) -> Dataset:
        result: Dataset = getattr(dataset, name)(*args, **more)
        return result

    return transform


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Transformation:
    """`shuffle(buffer_size, seed)`, then `repeat(count)`."""

    def transform(dataset: Dataset) -> Dataset:
        given = -1 if count is None else count
        _require(given > 0 or given == -1, "count must be greater than zero or equal to -1.")
        repeated: Dataset = dataset.shuffle(buffer_size, seed).repeat(count)
        return repeated

    return transform


def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: Any,
    num_parallel_batches: int | None = None,
    drop_remainder: bool = False,
    num_parallel_calls: int | None = None,
) -> Transformation:
    """`map(map_func)`, then `batch(batch_size)`; a batch fails as a whole, with its first error.

    >>> import spillway.tf as tf
    >>> both = tf.data.experimental.map_and_batch(lambda x: x + 1, 2)
    >>> [batch.numpy().tolist() for batch in tf.data.Dataset.range(3).apply(both)]
    [[1, 2], [3]]
    """
    if num_parallel_batches is not None and num_parallel_calls is not None:
        raise ValueError(
            "`map_and_batch` allows only one of `num_parallel_batches` and `num_parallel_calls` "
            f"to be set, but `num_parallel_batches` was set to {num_parallel_batches} and "
            f"`num_parallel_calls` as set to {num_parallel_calls}."
        )
    batches = 1 if num_parallel_batches is None else num_parallel_batches
    size = integer(batch_size, "batch_size")
    if num_parallel_calls is None:
        calls = size * integer(batches, "num_parallel_batches")
    else:
        calls = integer(num_parallel_calls, "num_parallel_calls")

    def transform(dataset: Dataset) -> Dataset:
        _require(size > 0, "batch_size must be greater than zero.")
        _require(calls > 0 or calls == AUTOTUNE, "num_parallel_calls must be greater than zero.")
        mapped: Any = dataset.map(map_func, calls)
        together = make("fail_together", [size], [mapped], None)
        batched: Dataset = Dataset(together._node).batch(size, drop_remainder)
        return batched

    return transform


def _require(met: Any, text: str) -> None:
    if not met:
        raise InvalidArgumentError(text)


def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: int,
    block_length: int = 1,
    sloppy: bool = False,
    buffer_output_elements: int | None = None,
    prefetch_input_elements: int | None = None,
) -> Transformation:
    """`Dataset.interleave` with all of the cycle at work; the buffers are the engine's matter."""

    def transform(dataset: Dataset) -> Dataset:
        _require(cycle_length > 0, "`cycle_length` must be > 0")
        _require(block_length > 0, "`block_length` must be > 0")
        ahead = 1 if buffer_output_elements is None else buffer_output_elements
        _require(ahead > 0, "`buffer_output_elements` must be > 0")
        _require((prefetch_input_elements or 0) >= 0, "`prefetch_input_elements` must be >= 0")
        made: Any = dataset.interleave(
            map_func, cycle_length, block_length, cycle_length, not sloppy
        )
        return made  # type: ignore[no-any-return]

    return transform


def read_files(read: Callable[[Any], Any], reads: Any, sloppy: bool) -> Transformation:
    """What `read` makes of each file, by turns of `reads` files: None is one."""
    many = 1 if reads is None else reads
    if many != AUTOTUNE:
        return parallel_interleave(read, many, sloppy=sloppy)
    options = Options()
    options.deterministic = not sloppy

    def transform(dataset: Dataset) -> Dataset:
        made: Any = dataset.interleave(read, num_parallel_calls=many).with_options(options)
        return made  # type: ignore[no-any-return]

    return transform


def copy_to_device(target_device: str, source_device: str = "/cpu:0") -> Transformation:
    """The dataset itself: the only device is the CPU."""
    _refuse_devices(target_device, source_device)
    return method("apply", lambda dataset: dataset)


def prefetch_to_device(device: str, buffer_size: Any = None) -> Transformation:
    """`Dataset.prefetch`: the only device is the CPU."""
    _refuse_devices(device)
    return method("prefetch", AUTOTUNE if buffer_size is None else buffer_size)


def _refuse_devices(*devices: str) -> None:
    for device in devices:
        if "cpu" not in str(device).lower():
            raise InvalidArgumentError(f"device: the only one is the CPU: {shown(device)}")
