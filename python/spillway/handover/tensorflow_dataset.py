"""`Dataset.to_tf`: a real `tf.data.Dataset`, for Keras."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spillway import nest
from spillway.errors import OutOfRangeError
from spillway.explain import Explanation
from spillway.handover.elements import Handed, framework, refuse_datasets
from spillway.interruptions import meaning_of
from spillway.specs import NoneSpec

if TYPE_CHECKING:
    from spillway.dataset import Dataset

_ALIGNMENT = 64  # other arrays are copied by TensorFlow


def handed_over(dataset: Dataset) -> Any:
    """See `Dataset.to_tf`."""
    tf = framework("to_tf", "tensorflow", "tensorflow")
    refuse_datasets(dataset, "to_tf")
    spec = dataset.element_spec
    if spec is None:
        raise TypeError(_unknown(dataset))
    leaves = [leaf for leaf in nest.flatten(spec) if not _is_none(leaf)]
    if not leaves:
        raise TypeError(f"to_tf: elements have no tensors: element_spec={spec!r}")
    dtypes = [tf.as_dtype(leaf.dtype.name) for leaf in leaves]
    shapes = [None if leaf.shape.rank is None else leaf.shape.as_list() for leaf in leaves]
    empty = tuple([_empty(leaf) for leaf in leaves])
    count = dataset._node.cardinality
    made = tf.data.Dataset.from_generator(
        lambda: _Flat(dataset, count, empty),
        output_signature=(tf.TensorSpec((), tf.bool), *[tf.TensorSpec(None, d) for d in dtypes]),
    )
    if count != tf.data.UNKNOWN_CARDINALITY:
        made = made.apply(tf.data.experimental.assert_cardinality(count))

    def element(there: Any, *values: Any) -> Any:
        raised = tf.cond(there, lambda: True, lambda: tf.numpy_function(_missing, [], tf.bool))
        with tf.control_dependencies([raised]):
            values = tuple([tf.identity(value) for value in values])
        for value, shape in zip(values, shapes, strict=True):
            value.set_shape(shape)
        return _packed(spec, values)

    return made.map(element)


class _Flat:
    """One pass, as `from_generator` takes it: tuples of arrays, behind True.

    An error of an element is raised in its place, and the next element is there to be asked for.
    TensorFlow holds a dataset to the number of elements it was told; behind one that failed, what
    is then missing in the end are tuples behind False, which are errors too. Without them its
    ignore_errors() would ask for the rest for ever.
    """

    __slots__ = ("_empty", "_failed", "_left", "_pass")

    def __init__(self, dataset: Dataset, count: int, empty: tuple[Any, ...]) -> None:
        self._pass = Handed(dataset, lambda array: array, _ALIGNMENT, main_waits=True)
        self._left, self._empty = count, empty
        self._failed = False

    def __iter__(self) -> _Flat:
        return self

    def __next__(self) -> Any:
        try:
            value = next(self._pass)
        except StopIteration:
            if not self._failed or self._left <= 0:
                raise
            self._left -= 1
            return (False, *self._empty)
        except Exception as error:
            self._failed = not meaning_of(error)
            raise
        self._left -= 1
        return (True, *[leaf for leaf in nest.flatten(value) if leaf is not None])


def _missing() -> bool:
    raise OutOfRangeError("to_tf: missing, since elements of this pass failed, as was told before")


def _empty(leaf: Any) -> Any:
    kind = leaf.dtype.as_numpy_dtype
    return np.zeros(0, kind) if kind is not object else np.array([], object)


def _is_none(leaf: Any) -> bool:
    return leaf is None or isinstance(leaf, NoneSpec)


def _packed(spec: Any, values: tuple[Any, ...]) -> Any:
    rest = iter(values)
    return nest.map_structure(lambda leaf: None if _is_none(leaf) else next(rest), spec)


def _unknown(dataset: Dataset) -> str:
    """The stage to blame is the last whose function runs as Python."""
    text = "to_tf: TensorFlow asks what elements look like before the first one is made"
    for stage in reversed(Explanation(dataset._node).stages):
        if not stage["native"] or stage["stage"] == "from_generator":
            text += f", and {stage['stage']} does not say"
            where = f" ({stage['line']})" if stage["line"] else ""
            return f"{text}{where}: give it output_signature=sw.TensorSpec(shape, dtype)"
    return f"{text}: give its stages output_signature=sw.TensorSpec(shape, dtype)"
