"""The methods of `Dataset` that hand its elements over to other frameworks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from spillway.dataset import Dataset


class HandOver:
    """Each framework has a module of its own behind it, which is loaded when it is asked for."""

    __slots__ = ()

    def to_torch(self) -> Any:
        """The elements as torch's tensors: an `IterableDataset` that needs no DataLoader.

        Tensors are yours alone, to be written to; most show the engine's bytes without a copy,
        which stay charged while a tensor holds them. Strings stay bytes. With a `DataLoader`,
        `num_workers` is 0 and `batch_size` None (docs/handover.md)::

            for x, y in ds.batch(32).to_torch():
                loss = step(model, x, y)
        """
        from spillway.handover import torch_tensors

        return torch_tensors.handed_over(cast("Dataset", self))

    def to_jax(self) -> Any:
        """The elements as JAX's arrays, to be iterated over as often as you like.

        On the CPU most arrays show the engine's bytes without a copy, which stay charged while JAX
        holds them. Strings stay bytes (docs/handover.md)::

            for x, y in ds.batch(32).to_jax():
                params = step(params, x, y)
        """
        from spillway.handover import jax_arrays

        return jax_arrays.handed_over(cast("Dataset", self))

    def to_tf(self) -> Any:
        """A real `tf.data.Dataset` of TensorFlow's, with this `element_spec`.

        Every pass of TensorFlow's is one of this dataset's. An error keeps its text on the way
        (docs/handover.md)::

            model.fit(ds.batch(32).to_tf(), epochs=2)
        """
        from spillway.handover import tensorflow_dataset

        return tensorflow_dataset.handed_over(cast("Dataset", self))
