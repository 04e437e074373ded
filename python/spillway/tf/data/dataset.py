"""`tf.data.Dataset`: the dataset whose elements are tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import spillway
from spillway import arguments, nest
from spillway.specs import TypeSpec
from spillway.tensor import Tensor, convert_to_tensor
from spillway.tf._front import fronted, has_front_parts, to_front
from spillway.tf.data import resampling
from spillway.tf.data.adopted import Adopted, call
from spillway.tf.data.iterator import Iterator, NumpyIterator

# TensorFlow's methods that are not here, and what does their work.
_ELSEWHERE = {
    "ragged_batch": "padded_batch",
    "sparse_batch": "padded_batch",
}


def _missing(name: str, owner: Any) -> AttributeError:
    text = f"tf.data.Dataset has no {name!r}"
    if name in _ELSEWHERE:
        text += f": it is TensorFlow's, and not here yet; the nearest is {_ELSEWHERE[name]!r}"
    return AttributeError(text, name=name, obj=owner)


class _Names(type):
    def __getattr__(cls, name: str) -> Any:
        raise _missing(name, cls)


@arguments.name_methods
class Dataset(Adopted, metaclass=_Names):
    """A pipeline: made by its sources and methods, run by iterating over it.

    All that `spillway.Dataset` has; elements are tensors, and so is what `cardinality`, `reduce`
    and `get_single_element` return.

    >>> import spillway.tf as tf
    >>> ds = tf.data.Dataset.range(5).map(lambda x: x * x).batch(2)
    >>> [batch.numpy().tolist() for batch in ds]
    [[0, 1], [4, 9], [16]]
    """

    __slots__ = ()

    def __iter__(self) -> Iterator:
        """A fresh pass; see `tf.data.Iterator`."""
        return Iterator(self)

    def as_numpy_iterator(self) -> NumpyIterator:
        """The elements as NumPy values; see `tf.data.NumpyIterator`."""
        self._refuse_datasets()
        return NumpyIterator(self)

    def cardinality(self) -> Any:
        """Number of elements as an int64 tensor; INFINITE_CARDINALITY or UNKNOWN_CARDINALITY.

        >>> import spillway.tf as tf
        >>> tf.data.Dataset.range(5).batch(2).cardinality()
        Tensor(3, shape=(), dtype=int64)
        """
        return Tensor(np.asarray(self._node.cardinality, np.int64))

    def fingerprint(self) -> Any:
        """Equal for equal pipelines: `spec_hash` as a uint64 tensor."""
        return Tensor(np.asarray(self.spec_hash(), np.uint64))

    def get_single_element(self, name: str | None = None) -> Any:
        """The only element; InvalidArgumentError when there are none or more.

        >>> import spillway.tf as tf
        >>> tf.data.Dataset.from_tensors("a").get_single_element()
        Tensor(b'a', shape=(), dtype=string)
        """
        return to_front(spillway.Dataset(self._node).get_single_element())

    def reduce(  # type: ignore[override]  # TensorFlow's order of arguments, here and below
        self,
        initial_state: Any,
        reduce_func: Callable[..., Any],
        name: str | None = None,
        output_signature: Any = None,
    ) -> Any:
        """Folds all elements into one state, at once.

        >>> import spillway.tf as tf
        >>> tf.data.Dataset.range(5).reduce(np.int64(0), lambda state, x: state + x)
        Tensor(10, shape=(), dtype=int64)
        """
        function = fronted(reduce_func) if has_front_parts(self.element_spec) else reduce_func
        result = spillway.Dataset.reduce(self, initial_state, function, output_signature, name)
        return to_front(result)

    def map(  # type: ignore[override]
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        synchronous: bool | None = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
        **more: Any,
    ) -> Dataset:
        """Each element through `map_func`; `spillway.Dataset.map` tells of further keywords.

        >>> import spillway.tf as tf
        >>> [int(x) for x in tf.data.Dataset.range(3).map(lambda x: x + 1)]
        [1, 2, 3]
        """
        if synchronous and num_parallel_calls is not None:
            raise ValueError(
                "`synchronous` is not supported with `num_parallel_calls`, but "
                f"`num_parallel_calls` was set to {num_parallel_calls}."
            )
        arguments = {
            "num_parallel_calls": num_parallel_calls,
            "deterministic": deterministic,
            "name": name,
            **more,
        }
        mapped: Dataset = call(spillway.Dataset.map, self, (map_func,), arguments)
        return mapped

    def padded_batch(
        self,
        batch_size: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: bool = False,
        name: str | None = None,
        **policy: Any,
    ) -> Dataset:
        """Batches elements padded to the largest; a padding value has its component's dtype.

        >>> import spillway.tf as tf
        >>> ds = tf.data.Dataset.range(1, 3).map(lambda n: tf.fill([n], n))
        >>> next(iter(ds.padded_batch(2, padding_values=tf.constant(-1, tf.int64)))).numpy()
        array([[ 1, -1],
               [ 2,  2]])
        """
        arguments = (batch_size, padded_shapes, _typed(padding_values), drop_remainder)
        more = {"name": name, **policy}
        made: Dataset = call(spillway.Dataset.padded_batch, self, arguments, more)
        return made

    def rejection_resample(
        self,
        class_func: Callable[..., Any],
        target_dist: Any,
        initial_dist: Any = None,
        seed: int | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Drops elements so that classes come about as often as `target_dist` says.

        Gives pairs of class and element. Without `initial_dist` how often classes come is
        learnt on the way.

        >>> import spillway.tf as tf
        >>> ds = tf.data.Dataset.range(2000).rejection_resample(
        ...     lambda x: x % 2, [0.9, 0.1], [0.5, 0.5], seed=1)
        >>> 0.85 < np.mean([int(c) == 0 for c, _ in ds]) < 0.95
        np.True_
        """
        return resampling.resample(self, class_func, target_dist, initial_dist, seed, name)

    @staticmethod
    def from_generator(  # type: ignore[override]
        generator: Any,
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = None,
        output_signature: Any = None,
        name: str | None = None,
        **more: Any,
    ) -> Dataset:
        """Elements of a generator; what can be a tensor of `args` arrives as its NumPy value.

        >>> import spillway.tf as tf
        >>> def count(n):
        ...     yield from range(n)
        >>> spec = tf.TensorSpec([], tf.int32)
        >>> [int(x) for x in tf.data.Dataset.from_generator(
        ...     count, args=(2,), output_signature=spec)]
        [0, 1]
        """
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        for given, argument in ((output_types, "output_types"), (output_shapes, "output_shapes")):
            if given is not None and output_signature is not None:
                raise TypeError(
                    f"The `{argument}` argument can not be used together with the "
                    "`output_signature` argument."
                )
        if output_types is None and output_signature is None:
            raise TypeError(
                "To specify the output signature you need to provide either the "
                "`output_signature` argument or the `output_types` argument."
            )
        for leaf in nest.flatten(output_signature):
            if leaf is not None and not isinstance(leaf, TypeSpec):
                raise TypeError(
                    "`output_signature` must contain objects that are subclass of `tf.TypeSpec` "
                    f"but found {type(leaf)} which is not."
                )
        passed = None if args is None else tuple([_as_tensorflow_passes(arg) for arg in args])
        made = spillway.Dataset.from_generator(
            generator, output_types, output_shapes, passed, output_signature, name=name, **more
        )
        return Dataset(made._node)

    @staticmethod
    def load(
        path: Any,
        element_spec: Any = None,
        compression: str | None = None,
        reader_func: Callable[[Any], Any] | None = None,
        wait: bool = False,
        name: str | None = None,
        **policy: Any,
    ) -> Dataset:
        """The elements that `save` wrote to a folder; `spillway.Dataset.load` tells the rest.

        >>> import spillway.tf as tf, tempfile
        >>> path = tempfile.mkdtemp()
        >>> tf.data.Dataset.range(3).save(path)
        >>> tf.data.Dataset.load(path).cardinality()
        Tensor(3, shape=(), dtype=int64)
        """
        reader = fronted(reader_func)
        made = spillway.Dataset.load(
            path, element_spec, compression, reader, wait, name=name, **policy
        )
        return Dataset(made._node)

    def __getitem__(self, index: int) -> Any:
        """One element by its position, where every stage can be asked out of order.

        >>> import spillway.tf as tf
        >>> tf.data.Dataset.range(10).batch(4)[1]
        Tensor([4 5 6 7], shape=(4,), dtype=int64)
        """
        return to_front(super().__getitem__(index))

    def __getattr__(self, name: str) -> Any:
        """Names what does the work of TensorFlow's methods that are not here."""
        raise _missing(name, self)


def _typed(padding_values: Any) -> Any:
    """Python's numbers with the dtype they have as tensors, as TensorFlow takes them."""
    return nest.map_structure(
        lambda value: None if value is None else convert_to_tensor(value), padding_values
    )


def _as_tensorflow_passes(argument: Any) -> Any:
    try:
        return convert_to_tensor(argument).numpy()
    except (TypeError, ValueError):
        return argument
